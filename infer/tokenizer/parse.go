package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Limits for files. They make sure that a hostile file is rejected early and cheaply. Gemma 3's
// file, which is the largest published file for a supported model, has 262,144 tokens, 514,906
// merges, 6,415 added tokens and 33 MB.
const (
	MaxBytes     = 48 << 20 // of the file
	maxRestBytes = 8 << 20  // of the file without its three lists
	maxTokens    = 1 << 19
	maxMerges    = 1 << 20
	maxStepBytes = 1 << 20 // of one part of the pipeline
	maxAdded     = 1 << 16
	maxID        = 2_000_000
	// A file can skip ids, but the tables are as long as the highest id requires, so the highest id
	// must be within a small multiple of the number of entries.
	maxIDsPerEntry = 4
)

// A file is the part of a tokenizer.json that determines how text becomes ids. The lists are kept
// as raw text and read item by item, so that an error can name the item, reading stops at the first
// invalid item, and a repeated key is detected.
type file struct {
	added string // JSON, "" if it is missing (lists.go)

	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         *model          `json:"model"`
}

type addedToken struct {
	ID      *int64 `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`

	SingleWord bool  `json:"single_word"`
	LStrip     bool  `json:"lstrip"`
	RStrip     bool  `json:"rstrip"`
	Normalized *bool `json:"normalized"` // if absent: true for tokens that are not special
}

// normalized reports whether the token is searched for in the normalized text.
func (a addedToken) normalized() bool {
	if a.Normalized == nil {
		return !a.Special
	}
	return *a.Normalized
}

type model struct {
	Type                    string   `json:"type"`
	Dropout                 *float64 `json:"dropout"`
	ContinuingSubwordPrefix string   `json:"continuing_subword_prefix"`
	EndOfWordSuffix         string   `json:"end_of_word_suffix"`
	IgnoreMerges            bool     `json:"ignore_merges"`
	ByteFallback            bool     `json:"byte_fallback"`

	vocab, merges string // JSON, "" if they are missing (lists.go)
}

// Parse parses a Hugging Face tokenizer.json with a byte-level BPE that has a supported split
// pattern, or with a SentencePiece BPE with byte fallback. An error names the part of the file that
// is wrong or not supported:
//
//	tokenizer: model.merges[12]: the left part "xy" is not in model.vocab
//	tokenizer: normalizer: type "Lowercase" is not supported; want none or NFC
//
// Parse ignores parts that cannot change the ids of plain text: unk_token and fuse_unk
// ([Tokenizer.Check] rejects a text with a byte that has no token), and truncation and
// padding, which are limits for the caller to set. It also ignores unknown members.
//
// The file is untrusted. Parse rejects a file of more than [MaxBytes] or with an id over
// 2,000,000 or over four times the number of tokens, and never panics. It allocates no more
// than the file's size plus 64 MiB. The file must not be modified during the call; Parse
// does not retain it.
func Parse(tokenizerJSON []byte) (*Tokenizer, error) {
	t, _, err := Describe(tokenizerJSON)
	return t, err
}

// Describe is like [Parse], and also returns the special tokens, by id. If it rejects the file, it
// still returns the special tokens that it could read.
func Describe(tokenizerJSON []byte) (t *Tokenizer, special map[int32]string, err error) {
	t = &Tokenizer{start: -1}
	if err := t.parse(tokenizerJSON); err != nil {
		return nil, t.specials, fmt.Errorf("tokenizer: %w", err)
	}
	return t, t.specials, nil
}

func (t *Tokenizer) parse(data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("the file has %d bytes, more than the limit of %d", len(data), MaxBytes)
	}
	f, err := decodeFile(data)
	if err != nil {
		return err
	}
	added, err := t.readAdded(f.added)
	if err := cmp.Or(t.readPipeline(f), checkModel(f.Model), err); err != nil {
		return err
	}
	t.readMatchers(added)
	if err := t.readVocab(f.Model.vocab); err != nil {
		return err
	}
	if err := t.readMerges(f.Model.merges); err != nil {
		return err
	}
	t.wholePieces = f.Model.IgnoreMerges
	if int(t.start) >= t.Size() {
		return fmt.Errorf(
			"post_processor: the leading token has id %d, but the vocabulary ends at %d", t.start, t.Size()-1,
		)
	}
	return nil
}

// explainType returns an error that names the value with the wrong JSON type. The name is `whole`
// for the decoded value itself, and otherwise prefix followed by the field's path.
func explainType(whole, prefix string, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", whole, err)
	}
	field := whole
	if wrong.Field != "" {
		field = prefix + wrong.Field
	}
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int64:
		want = "a whole number"
	case reflect.Float64:
		want = "a number"
	case reflect.Slice:
		want = "an array"
	}
	return fmt.Errorf("%s is a JSON %s, want %s", field, wrong.Value, want)
}

// checkModel rejects kinds of models, and options of BPE, that produce different ids than merging
// bytes by rank does.
func checkModel(m *model) error {
	switch {
	case m == nil:
		return errors.New("model is missing")
	case m.Type != "BPE" && m.Type != "": // files from 2020 have no type
		return fmt.Errorf("model: type %s is not supported; want BPE", quote(m.Type))
	case m.Dropout != nil && *m.Dropout != 0:
		return fmt.Errorf("model: dropout %g is not supported because it skips merges at random; want none", *m.Dropout)
	case m.ContinuingSubwordPrefix != "":
		return fmt.Errorf(
			"model: continuing_subword_prefix %s is not supported; want none", quote(m.ContinuingSubwordPrefix),
		)
	case m.EndOfWordSuffix != "":
		return fmt.Errorf("model: end_of_word_suffix %s is not supported; want none", quote(m.EndOfWordSuffix))
	}
	return nil
}

// quote quotes a string from the file for an error message, truncated to 40 characters.
func quote(s string) string {
	left := 40
	for i := range s {
		if left == 0 {
			return fmt.Sprintf("%q...", s[:i])
		}
		left--
	}
	return fmt.Sprintf("%q", s)
}

// isNull reports whether a part of the file is absent or null.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
