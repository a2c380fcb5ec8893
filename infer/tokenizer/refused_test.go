package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMalformedShapesAreRefused checks that malformed files, which are changed copies of a valid
// file, are rejected.
func TestMalformedShapesAreRefused(t *testing.T) {
	for _, test := range []struct{ shape, old, with, want string }{
		{
			"gemma3", `"type":"Replace","pattern":{"String":" "},"content":"▁"`,
			`"type":"Replace","pattern":{"String":" "},"content":"_"`,
			"normalizer: want an optional Prepend of ▁, then Replace \" \" with ▁",
		},
		{
			"gemma3", `"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"}`, `"normalizer":null`,
			`pre_tokenizer: type "Split" is not supported; want Metaspace, or none`,
		},
		{
			"gemma3", `"type":"Split","pattern":{"String":" "}`, `"type":"Split","pattern":{"String":"x"}`,
			`pre_tokenizer: type "Split" is not supported; want Metaspace, or none`,
		},
		{
			"gemma3", `"type":"Split","pattern":{"String":" "}`, `"type":"Split","pattern":{"Regex":" "}`,
			`pre_tokenizer: type "Split" is not supported; want Metaspace, or none`,
		},
		{
			"gemma3", `{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}`,
			`{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":false}`,
			"pre_tokenizer: an earlier step already adds ▁",
		},
		{
			"gemma3", `"byte_fallback":true`, `"byte_fallback":false`,
			`normalizer: type "Replace" is not supported; want none or NFC`,
		},
		{
			"gemma3", `"[multimodal]":5`, `"[multimodal]":4`,
			`model.vocab: "[multimodal]" has id 4 here, but id 5 in added_tokens`,
		},
		{"gemma3", `"<0x00>":`, `"<0x01>":`, "model.vocab: duplicate token <0x01>"},
		{
			"gemma3", `"content":"<mask>"`, `"content":"<unused0>"`,
			`added_tokens[6] "<unused0>": already listed with id 4`,
		},
		{
			"gemma3", `"merges":[["\n","\n\n\n\n\n\n\n"]`, `"merges":[["\n","\n\n\n\n\n\n\n\n"]`,
			`model.merges[0]: merging "\n" and "\n\n\n\n\n\n\n\n" ` +
				`produces "\n\n\n\n\n\n\n\n\n", which is not in model.vocab`,
		},
		{
			"olmo2", `"behavior":"Removed","invert":true`, `"behavior":"Removed","invert":false`,
			`pre_tokenizer: Sequence[0]: behavior "Removed" with invert false is not supported; want Isolated`,
		},
		{
			"olmo2", `"behavior":"Removed","invert":true`, `"behavior":"MergedWithNext","invert":true`,
			`pre_tokenizer: Sequence[0]: behavior "MergedWithNext" with invert true is not supported; want Isolated`,
		},
		{
			"olmo2", `"type":"Split","pattern":{"Regex":"`, `"type":"Split","pattern":{"Regex":"x|`,
			"pre_tokenizer: Sequence[0]: unknown pattern \"x|(?i:",
		},
		{
			"codegen", `"content":"         "`, `"content":"        "`,
			`added_tokens[24] "        ": already listed with id 539`,
		},
		{
			"codegen", `"normalized":true`, `"normalized":1`,
			"added_tokens[1].normalized is a JSON number, want true or false",
		},
		{"codegen", `"added_tokens":[`, `"added_tokens":["<x>",`, "added_tokens[0] is a JSON string, want an object"},
		{"qwen3", `"Regex":`, `"String":`, "pre_tokenizer: Sequence[0]: unknown pattern "},
		{
			"qwen3", `{"type":"NFC"}`, `{"type":"NFC","type":"NFKC"}`,
			`normalizer: type "NFKC" is not supported; want none or NFC`,
		},
		{
			"smollm2", `"individual_digits":true`, `"individual_digits":1`,
			"pre_tokenizer: Sequence[0].individual_digits is a JSON number, want true or false",
		},
		{
			"smollm2", `"type":"Digits"`, `"type":"UnicodeScripts"`,
			`pre_tokenizer: Sequence[0]: type "UnicodeScripts" is not supported`,
		},
	} {
		data, err := os.ReadFile(filepath.Join(shapesFolder, "kinds", test.shape+".json"))
		if err != nil {
			t.Fatal(err)
		}
		replace := strings.NewReplacer("\n", `\n`) // as in JSON
		changed := strings.Replace(string(data), replace.Replace(test.old), replace.Replace(test.with), 1)
		if changed == string(data) || !json.Valid([]byte(changed)) {
			t.Errorf("%s: %s is not in the file, or replacing it leaves invalid JSON", test.shape, test.old)
			continue
		}
		if _, err := Parse([]byte(changed)); err == nil || !strings.HasPrefix(err.Error(), "tokenizer: "+test.want) {
			t.Errorf("%s with %s: got %v, want %s", test.shape, test.with, err, test.want)
		}
	}
}

// TestUnknownMembersAreIgnored: unknown members, and duplicate members outside the long lists,
// change nothing. Published files have both.
func TestUnknownMembersAreIgnored(t *testing.T) {
	good := string(encodeTree(t, smallTree()))
	for _, change := range [][2]string{
		{`"version":"1.0"`, `"version":"1.0","_generated_by":{"x":[1,{"vocab":{}}]},"version":"2.0"`},
		{`"type":"BPE"`, `"type":"Unigram","unk_id":0,"type":"BPE"`},
		{`"special":true`, `"special":true,"origin":"base","special":true`},
		{`"normalizer":null`, `"normalizer":{"type":"NFKC"},"normalizer":null`},
	} {
		changed := strings.Replace(good, change[0], change[1], 1)
		if changed == good {
			t.Fatalf("%s is not in the file", change[0])
		}
		tok, err := Parse([]byte(changed))
		if err != nil || len(tok.Encode("hello")) != 1 {
			t.Errorf("with %s: got error %v, want none, and one token for hello", change[1], err)
		}
	}
}
