package tokenizer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// oraclePath is the file that contains texts with the ids that another implementation assigns to
// them. The header of make.mjs in the same folder describes how the file is generated.
const oraclePath = "../../testdata/tokenizer/strings.jsonl"

// oracleLine is one text of the oracle file.
type oracleLine struct {
	Text string `json:"text"`
	IDs  []int  `json:"ids"`
}

// oracle reads the oracle file, and checks that it was generated with this tokenizer.
func oracle(tb testing.TB) []oracleLine {
	tb.Helper()
	model, err := os.ReadFile(bundledPath)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := os.ReadFile(oraclePath)
	if err != nil {
		tb.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var head struct {
		SHA256  string `json:"tokenizer_sha256"`
		Strings int    `json:"strings"`
	}
	if err := dec.Decode(&head); err != nil {
		tb.Fatalf("%s: %v", oraclePath, err)
	}
	sum := sha256.Sum256(model)
	if got := hex.EncodeToString(sum[:]); got != head.SHA256 {
		tb.Fatalf(
			"%s was made from another %s: rerun testdata/tokenizer/make.mjs as described in its header", oraclePath,
			bundledPath,
		)
	}
	var lines []oracleLine
	for dec.More() {
		var line oracleLine
		if err := dec.Decode(&line); err != nil {
			tb.Fatalf("%s, text %d: %v", oraclePath, len(lines)+1, err)
		}
		lines = append(lines, line)
	}
	if len(lines) != head.Strings || len(lines) < 2000 {
		tb.Fatalf("%s has %d texts, want %d, at least 2,000", oraclePath, len(lines), head.Strings)
	}
	return lines
}

// TestEncodeMatchesHuggingFace compares the ids of 2,000 texts with the ids from
// @huggingface/tokenizers, and checks that the ids of each text decode to that text.
func TestEncodeMatchesHuggingFace(t *testing.T) {
	tok := bundled(t)
	for i, line := range oracle(t) {
		if got := tok.Encode(line.Text); !slices.Equal(got, line.IDs) {
			t.Errorf("line %d: Encode(%q) = %v, want %v", i+2, line.Text, got, line.IDs)
		}
		if got := tok.Decode(line.IDs); got != line.Text {
			t.Errorf("line %d: Decode(%v) = %q, want %q", i+2, line.IDs, got, line.Text)
		}
	}
}
