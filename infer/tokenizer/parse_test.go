package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestParseAccepts checks the variants of the supported tokenizer that real files contain:
// each must give the same ids as smallTree.
func TestParseAccepts(t *testing.T) {
	seq := func(list string, members ...any) tree { return tree{"type": "Sequence", list: members} }
	byteLevel := tree{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}
	tests := map[string]func(tree){
		"merges as strings": func(f tree) {
			m := at(f, "model")
			for i, pair := range m["merges"].([]any) {
				m["merges"].([]any)[i] = fmt.Sprintf("%s %s", pair.([]any)...)
			}
		},
		"sequences of one": func(f tree) {
			f["normalizer"] = seq("normalizers")
			f["pre_tokenizer"] = seq("pretokenizers", byteLevel)
			f["post_processor"] = seq("processors", byteLevel)
			f["decoder"] = seq("decoders", byteLevel)
		},
		"ByteLevel post-processor": func(f tree) { f["post_processor"] = byteLevel },
		"use_regex left out":       func(f tree) { delete(at(f, "pre_tokenizer"), "use_regex") },
		"model type left out":      func(f tree) { delete(at(f, "model"), "type") },
		"options of BPE that cannot matter": func(f tree) {
			m := at(f, "model")
			m["dropout"], m["unk_token"], m["fuse_unk"], m["byte_fallback"] = 0.0, "<|end|>", true, true
			m["continuing_subword_prefix"], m["end_of_word_suffix"], m["ignore_merges"] = "", "", false
		},
		"escapes in JSON": func(f tree) {
			// RawMessage keeps \u escapes unchanged.
			f["model"].(tree)["merges"].([]any)[0] = json.RawMessage(`[ "\u0068" ,"\u0065"]`)
			f["model"].(tree)["merges"].([]any)[4] = json.RawMessage("\t\"\\u0120\\u0020w\"\n")
		},
		"truncation and padding": func(f tree) {
			f["truncation"], f["padding"] = tree{"max_length": 2}, tree{"length": 50}
		},
		"special token in added_tokens only": func(f tree) { delete(at(f, "model", "vocab"), "<|end|>") },
	}
	want := small(t, nil).Encode("hello world, <|end|>")
	for name, change := range tests {
		tok := small(t, change)
		if got := tok.Encode("hello world, <|end|>"); !slices.Equal(got, want) {
			t.Errorf("%s: Encode = %v, want %v", name, got, want)
		}
		if id, ok := tok.SpecialID("<|end|>"); id != 265 || !ok || tok.Size() != 266 {
			t.Errorf("%s: special id %d, %v, size %d, want 265, true, 266", name, id, ok, tok.Size())
		}
	}
}

// TestParseIndented checks that blanks between the parts of the JSON, which most published files
// have, change nothing.
func TestParseIndented(t *testing.T) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, encodeTree(t, smallTree()), "\r\n", "\t "); err != nil {
		t.Fatal(err)
	}
	tok, err := Parse(indented.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode("hello world"); !slices.Equal(got, []int{259, 260, 261, 'l', 'd'}) {
		t.Errorf("Encode(hello world) = %v, want %v", got, []int{259, 260, 261, 'l', 'd'})
	}
}

// TestParseAllowsGapsInIDs checks that a vocabulary may skip ids, within limits.
func TestParseAllowsGapsInIDs(t *testing.T) {
	tok := small(t, func(f tree) { at(f, "model", "vocab")["hello"] = 1000 })
	if tok.Size() != 1001 || string(tok.Bytes(1000)) != "hello" {
		t.Errorf("Size() = %d, Bytes(1000) = %q, want 1001, hello", tok.Size(), tok.Bytes(1000))
	}
	for _, id := range []int{259, 266, 999} {
		if got := tok.Bytes(id); got != nil {
			t.Errorf("Bytes(%d) = %q for an id that is not used, want nil", id, got)
		}
	}
	if got := tok.Encode("hello"); !slices.Equal(got, []int{1000}) {
		t.Errorf("Encode(hello) = %v, want [1000]", got)
	}
	// With 267 tokens, the highest id can be at most 4*267-1 (see TestParseRefuses).
	tok = small(t, func(f tree) { at(f, "model", "vocab")["xy"] = 4*267 - 1 })
	if tok.Size() != 4*267 {
		t.Errorf("Size() = %d, want %d", tok.Size(), 4*267)
	}
}

// TestParseRefuses checks which files are rejected, and with which errors.
func TestParseRefuses(t *testing.T) {
	vocab := func(key string, value any) func(tree) {
		return func(f tree) { at(f, "model", "vocab")[key] = value }
	}
	model := func(key string, value any) func(tree) {
		return func(f tree) { at(f, "model")[key] = value }
	}
	set := func(key string, value any) func(tree) { return func(f tree) { f[key] = value } }
	merge := func(i int, value any) func(tree) {
		return func(f tree) { at(f, "model")["merges"].([]any)[i] = value }
	}
	added := func(tokens ...any) func(tree) { return set("added_tokens", tokens) }
	end := tree{"id": 265, "content": "<|end|>", "special": true}

	tests := []struct {
		change func(tree)
		want   string // the whole error, without "tokenizer: "
	}{
		{set("normalizer", tree{"type": "NFKC"}), `normalizer: type "NFKC" is not supported; want none or NFC`},
		{
			set("normalizer", tree{"type": "Sequence", "normalizers": []any{tree{"type": "Lowercase"}}}),
			`normalizer: Sequence[0]: type "Lowercase" is not supported; want none or NFC`,
		},
		{set("pre_tokenizer", nil), `pre_tokenizer is missing; want ByteLevel`},
		{
			set("pre_tokenizer", tree{"type": "Metaspace"}),
			`pre_tokenizer: type "Metaspace" is not supported; want ByteLevel`,
		},
		{set("pre_tokenizer", 7), `pre_tokenizer is a JSON number, want an object`},
		{set("pre_tokenizer", tree{"type": 7}), `pre_tokenizer.type is a JSON number, want a string`},
		{
			set("pre_tokenizer", tree{"type": "ByteLevel", "use_regex": false}),
			`pre_tokenizer: use_regex false is not supported without a Split step; want true`,
		},
		{
			set(
				"pre_tokenizer",
				tree{"type": "Sequence", "pretokenizers": []any{tree{"type": "Split"}, tree{"type": "ByteLevel"}}},
			),
			`pre_tokenizer: Sequence[0]: the options of Split and of the ByteLevel after it are not supported ` +
				`together`,
		},
		{
			set("pre_tokenizer", tree{"type": "Sequence", "pretokenizers": []any{tree{"type": "Sequence"}}}),
			`pre_tokenizer: Sequence[0]: type "Sequence" is not supported; want ByteLevel`,
		},
		{
			set("pre_tokenizer", tree{"type": "Sequence", "pretokenizers": []any{nil}}),
			`pre_tokenizer: Sequence[0] is null`,
		},
		{
			set("post_processor", tree{"type": "TemplateProcessing"}),
			`post_processor: the template must end with the input text (A); at most one token may precede it`,
		},
		{
			set("normalizer", tree{"type": strings.Repeat("x", maxStepBytes)}),
			`normalizer has 1048587 bytes, more than the limit of 1048576`, // {"type":""} is 11 bytes
		},
		{
			set("pre_tokenizer", tree{"type": "Sequence", "pretokenizers": 1}),
			`pre_tokenizer.pretokenizers is a JSON number, want an array`,
		},
		{set("decoder", nil), `decoder is missing; want ByteLevel`},
		{set("decoder", tree{"type": "WordPiece"}), `decoder: type "WordPiece" is not supported; want ByteLevel`},

		{set("model", nil), `model is missing`},
		{model("type", "Unigram"), `model: type "Unigram" is not supported; want BPE`},
		{model("dropout", 0.1), `model: dropout 0.1 is not supported because it skips merges at random; want none`},
		{model("continuing_subword_prefix", "##"), `model: continuing_subword_prefix "##" is not supported; want none`},
		{model("end_of_word_suffix", "</w>"), `model: end_of_word_suffix "</w>" is not supported; want none`},

		{added(tree{"content": "x", "special": true}), `added_tokens[0] "x": id is missing`},
		{added(tree{"id": 265, "special": true}), `added_tokens[0] "": content is missing or empty`},
		{
			added(tree{"id": 265, "content": "<tool>"}, end),
			`added_tokens: "<|end|>" and "<tool>" both have id 265`,
		},
		{
			added(end, tree{"id": 97, "content": "<tool>"}),
			`model.vocab: "a" has id 97, which added_tokens assigns to "<tool>"`,
		},
		{
			added(tree{"id": -1, "content": "x", "special": true}),
			`added_tokens[0] "x": id -1 is out of range; want 0 to 2000000`,
		},
		{
			added(end, tree{"id": 265, "content": "x", "special": true}),
			`added_tokens[1] "x": id 265 already belongs to "<|end|>"`,
		},
		{
			added(end, tree{"id": 266, "content": "<|end|>", "special": true}),
			`added_tokens[1] "<|end|>": already listed with id 265`,
		},

		{set("added_tokens", tree{}), `added_tokens is not a JSON array`},
		{added(end, 5), `added_tokens[1] is a JSON number, want an object`},
		{added(tree{"id": 1.5}), `added_tokens[0].id is a JSON number 1.5, want a whole number`},
		{added(tree{"content": 1}), `added_tokens[0].content is a JSON number, want a string`},
		{
			added(end, tree{"id": 266, "content": "x", "lstrip": "no"}),
			`added_tokens[1].lstrip is a JSON string, want true or false`,
		},
		{
			added(end, tree{"id": 266, "content": "x", "rstrip": 1}),
			`added_tokens[1].rstrip is a JSON number, want true or false`,
		},
		{
			added(tree{"id": 265, "content": "x", "single_word": []any{}}),
			`added_tokens[0].single_word is a JSON array, want true or false`,
		},
		{
			added(tree{"id": 265, "content": "x", "normalized": "yes"}),
			`added_tokens[0].normalized is a JSON string, want true or false`,
		},
		{
			added(end, tree{"id": 266, "content": strings.Repeat("x", maxAddedBytes+1)}),
			`added_tokens[1] "` + strings.Repeat("x", 40) + `"...: content has 1025 bytes, more than the limit of 1024`,
		},
		{
			added(end, tree{"id": 266, "content": "he"}),
			`model.vocab: "he" has id 256 here, but id 266 in added_tokens`,
		},

		{
			func(f tree) {
				var tokens []any
				for i := range maxAdded + 1 {
					tokens = append(tokens, tree{"id": 1000 + i, "content": fmt.Sprint("<", i, ">"), "special": true})
				}
				f["added_tokens"] = tokens
			},
			`added_tokens has more than 65536 entries`,
		},

		{model("vocab", nil), `model.vocab: missing`},
		{model("vocab", []any{}), `model.vocab: not a JSON object`},
		{
			func(f tree) {
				f["added_tokens"] = []any{tree{"id": 0, "content": "<|end|>", "special": true}}
				at(f, "model")["vocab"] = tree{"<|end|>": 0}
			},
			`model.vocab: no token represents text`,
		},
		{vocab("x", 1.5), `model.vocab: the id of "x" is not a whole number`},
		{vocab("x", "5"), `model.vocab: the id of "x" is not a whole number`},
		{vocab("x", tree{}), `model.vocab: the id of "x" is not a whole number`},
		{vocab("x", -1), `model.vocab: "x": id -1 is out of range; want 0 to 2000000`},
		{vocab("x", 2_000_001), `model.vocab: "x": id 2000001 is out of range; want 0 to 2000000`},
		{vocab("x", json.Number("99999999999999999999")), `model.vocab: the id of "x" is not a whole number`},
		{vocab("x", 1_999_999), `model.vocab: the highest id is 1999999, but there are only 266 tokens`},
		{vocab("xy", 4*267), `model.vocab: the highest id is 1068, but there are only 267 tokens`},
		{vocab("xy", 259), `model.vocab: "hello" and "xy" both have id 259`},
		{vocab("xy", 265), `model.vocab: "xy" has id 265, which added_tokens assigns to "<|end|>"`},
		{vocab("<|end|>", 266), `model.vocab: "<|end|>" has id 266 here, but id 265 in added_tokens`},
		{vocab("", 266), `model.vocab: the token with id 266 is empty`},
		{vocab("x y", 266), `model.vocab: "x y" (id 266): character ' ' (U+0020) does not represent a byte`},
		{vocab("日", 266), `model.vocab: "日" (id 266): character '日' (U+65E5) does not represent a byte`},
		{
			vocab(strings.Repeat("日", 50), 266),
			`model.vocab: "` + strings.Repeat("日", 40) +
				`"... (id 266): character '日' (U+65E5) does not represent a byte`,
		},
		{
			func(f tree) { delete(at(f, "model", "vocab"), "Ġ") },
			`model.merges[4]: the left part "Ġ" is not in model.vocab`,
		},
		{
			added(end, tree{"id": 'a', "content": "a", "special": true}),
			`model.merges[6]: the left part "a" is not in model.vocab`,
		},

		{model("merges", nil), `model.merges is missing`},
		{model("merges", tree{}), `model.merges is not a JSON array`},
		{
			merge(3, []any{"hell", "x"}),
			`model.merges[3]: merging "hell" and "x" produces "hellx", which is not in model.vocab`,
		},
		{merge(3, []any{"hel", "o"}), `model.merges[3]: the left part "hel" is not in model.vocab`},
		{merge(3, []any{"h", "日"}), `model.merges[3]: the right part "日" is not in model.vocab`},
		{merge(3, []any{"", "h"}), `model.merges[3]: the left part "" is not in model.vocab`},
		{merge(3, "hello"), `model.merges[3]: got "hello", want two parts separated by a space`},
		{merge(3, "h e l"), `model.merges[3]: got "h e l", want two parts separated by a space`},
		{merge(3, []any{"h"}), `model.merges[3]: want an array of two strings, or one string with a space`},
		{merge(3, []any{"h", "e", "l"}), `model.merges[3]: want an array of two strings, or one string with a space`},
		{merge(3, []any{"h", 5}), `model.merges[3]: want an array of two strings, or one string with a space`},
		{
			merge(3, []any{[]any{}, []any{}}),
			`model.merges[3]: want an array of two strings, or one string with a space`,
		},
		{merge(3, nil), `model.merges[3]: want an array of two strings, or one string with a space`},
		{merge(8, []any{"h", "e"}), `model.merges[8]: repeats model.merges[0]`},
		{
			added(end, tree{"id": 256, "content": "he", "special": true}),
			`model.merges[0]: merging "h" and "e" would produce the special token "he", which is not allowed`,
		},
	}
	for _, tt := range tests {
		f := smallTree()
		tt.change(f)
		tok, err := Parse(encodeTree(t, f))
		if err == nil || tok != nil {
			t.Errorf("Parse accepts a file, want the error %q", tt.want)
			continue
		}
		if got, want := err.Error(), "tokenizer: "+tt.want; got != want {
			t.Errorf("Parse returns the error\n\t%s\nwant\n\t%s", got, want)
		}
	}
}

// TestParseRefusesText checks that Parse rejects malformed files that json.Marshal cannot generate.
func TestParseRefusesText(t *testing.T) {
	good := string(encodeTree(t, smallTree()))
	replace := func(old, with string) string {
		if strings.Count(good, old) != 1 {
			t.Fatalf("%q must be in the file exactly once", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	tests := []struct{ file, want string }{
		{"", `invalid JSON at byte 0: unexpected end of JSON input`},
		{"{\n,", `invalid JSON at byte 3: invalid character ',' looking for beginning of object key string`},
		{good[:len(good)-1], fmt.Sprintf(`invalid JSON at byte %d: unexpected end of JSON input`, len(good)-1)},
		{
			good + "x",
			fmt.Sprintf(`invalid JSON at byte %d: invalid character 'x' after top-level value`, len(good)+1),
		},
		{"[]", `the file is a JSON array, want an object (near byte 1)`},
		{`{"model":5}`, `model is a JSON number, want an object (near byte 10)`},
		{`{"model":{"ignore_merges":"no"}}`, `model.ignore_merges is a JSON string, want true or false (near byte 30)`},
		{`{"model":{"dropout":"no"}}`, `model.dropout is a JSON string, want a number (near byte 24)`},
		{"null", `pre_tokenizer is missing; want ByteLevel`},
		{`{"model":{"merges":[],"vocab":{},"merges":[]}}`, `duplicate model.merges`},
		{replace(`"model":{`, `"model":{"vocab":{}},"model":{`), `duplicate model.vocab`},
		// The reported position is the position in the file, counting the long lists that precede
		// the error.
		{
			replace(`"type":"BPE"`, `"type":5`),
			fmt.Sprintf(
				`model.type is a JSON number, want a string (near byte %d)`,
				strings.Index(good, `"type":"BPE"`)+len(`"type":5`),
			),
		},
		{
			replace(`"hello":259`, `"hello":259,"hello":266`),
			`model.vocab: "hello" is listed twice, with ids 259 and 266`,
		},
		{replace(`"hello":259`, `"hello":259,"hello":259`), `model.vocab: "hello" and "hello" both have id 259`},
		{
			replace(`"hello":259`, "\"h\xff\":259"),
			"model.vocab: \"h\ufffd\" (id 259): character '\ufffd' (U+FFFD) does not represent a byte",
		},
	}
	for _, tt := range tests {
		tok, err := Parse([]byte(tt.file))
		if err == nil || tok != nil {
			t.Errorf("Parse accepts a file, want the error %q", tt.want)
			continue
		}
		if got, want := err.Error(), "tokenizer: "+tt.want; got != want {
			t.Errorf("Parse returns the error\n\t%s\nwant\n\t%s", got, want)
		}
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); err == nil ||
		err.Error() != "tokenizer: the file has 50331649 bytes, more than the limit of 50331648" {
		t.Errorf("Parse of a file that is too large: got error %v, want one with its size and the limit", err)
	}
}

// TestParseMemory: parsing a large file allocates no more than the file's size plus 64 MiB,
// including memory that is freed during parsing. With VIZ_LONG=1, the file is as large as Gemma
// 3's.
func TestParseMemory(t *testing.T) {
	data, tokens := fixture.Tokenizer(150_000), 150_000
	if os.Getenv("VIZ_LONG") != "" {
		data, tokens = gemmaLike(), 262_145
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tok, err := Parse(data)
	runtime.ReadMemStats(&after)
	if err != nil || tok.Size() != tokens {
		t.Fatalf("got %v, want no error, tok.Size() = %d", err, tokens)
	}
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(len(data)+64<<20); used > most {
		t.Errorf("%d bytes were allocated for a file of %d, want at most %d", used, len(data), most)
	}
}
