package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// smallPieces returns a SentencePiece BPE as a tokenizer.json. It has <unk>, <s>, </s>, the bytes
// from id 3 on, and
//
//	259  ▁    260  a    261  b    262  ▁+a    263  a+b    264  ▁+ab
func smallPieces() tree {
	vocab := tree{"<unk>": 0, "<s>": 1, "</s>": 2, "▁": 259, "a": 260, "b": 261, "▁a": 262, "ab": 263, "▁ab": 264}
	for b := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", b)] = 3 + b
	}
	added := []any{}
	for id, name := range []string{"<unk>", "<s>", "</s>"} {
		added = append(added, tree{"id": id, "content": name, "special": true})
	}
	return tree{
		"added_tokens": added,
		"model": tree{
			"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "<unk>",
			"vocab": vocab, "merges": []any{"▁ a", "a b", "▁ ab"},
		},
	}
}

// pipelineSeeds holds the four parts that surround the model in published files, and slightly
// invalid variants of them.
var pipelineSeeds = [][4]string{
	{`null`, `{"type":"ByteLevel","add_prefix_space":false}`, `null`, `{"type":"ByteLevel"}`},
	{
		`{"type":"NFC"}`,
		`{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel"}]}`,
		`{"type":"ByteLevel","trim_offsets":false}`, `{"type":"ByteLevel"}`,
	},
	{
		`{"type":"Sequence","normalizers":[{"type":"NFC"}]}`,
		`{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}`,
		`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},` +
			`{"Sequence":{"id":"A"}}],"special_tokens":{"<s>":{"ids":[1]}}}`,
		`{"type":"ByteLevel"}`,
	},
	{
		`{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},` +
			`{"type":"Replace","pattern":{"String":" "},"content":"▁"}]}`,
		`null`,
		`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},` +
			`{"Sequence":{"id":"A"}}],"special_tokens":{"<s>":{"ids":[1]}}}`,
		`{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},` +
			`{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}`,
	},
	{
		`null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false}`, `null`,
		`{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Metaspace"}]}`,
	},
	{`{"type":"Replace","pattern":{"String":" "},"content":"▁"}`, `null`, `null`, `{"type":"ByteFallback"}`},
	{
		`{"type":"Replace","pattern":{"String":" "},"content":"▁"}`,
		`{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}`, `null`,
		`{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},` +
			`{"type":"ByteFallback"},{"type":"Fuse"}]}`,
	},
	{
		`null`,
		`{"type":"Sequence","pretokenizers":[{"type":"Split",` +
			`"pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|` +
			` ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Removed","invert":true},` +
			`{"type":"ByteLevel","use_regex":false}]}`,
		`null`, `{"type":"ByteLevel"}`,
	},
	{`{"type":"Lowercase"}`, `{"type":"Whitespace"}`, `{"type":"BertProcessing"}`, `{"type":"WordPiece"}`},
	{
		`{"type":"Sequence","normalizers":null}`,
		`{"type":"Split","pattern":{"Regex":"\\d"},"behavior":"Removed","invert":true}`, `[]`, `{}`,
	},
	{
		`{"type":5}`, `{"pretokenizers":[{}]}`, `{"type":"TemplateProcessing","single":[]}`,
		`{"type":"Sequence","decoders":[null]}`,
	},
}

// FuzzPipeline puts any four parts around a valid model of one of the two kinds. Nothing panics,
// and an error names the part that is wrong. All steps of accepted files have a type that Parse
// supports, and encoding and decoding a text does not change it, except as documented for those
// steps.
func FuzzPipeline(f *testing.F) {
	for _, s := range pipelineSeeds {
		for _, pieces := range []bool{false, true} {
			f.Add(pieces, s[0], s[1], s[2], s[3], "ab  b▁a 1²\u00e9e\u0301 日本\xff<s>")
		}
	}
	bases := map[bool]tree{false: smallTree(), true: smallPieces()}
	f.Fuzz(func(t *testing.T, pieces bool, normalizer, preTokenizer, postProcessor, decoder, text string) {
		parts := map[string]string{
			"normalizer": normalizer, "pre_tokenizer": preTokenizer, "post_processor": postProcessor,
			"decoder": decoder,
		}
		file := tree{"added_tokens": bases[pieces]["added_tokens"], "model": bases[pieces]["model"]}
		for name, part := range parts {
			if !json.Valid([]byte(part)) {
				return // FuzzParse tests such files
			}
			file[name] = json.RawMessage(part)
		}
		tok, err := Parse(encodeTree(t, file))
		if err != nil {
			names := []string{"normalizer", "pre_tokenizer", "post_processor", "decoder"}
			if pieces { // a byte-level pipeline cannot read that vocabulary
				names = append(names, "model.vocab")
			}
			if !slices.ContainsFunc(names, func(name string) bool {
				return strings.HasPrefix(err.Error(), "tokenizer: "+name)
			}) {
				t.Fatalf("got error %q, want one that names a part", err)
			}
			return
		}
		for name, part := range parts {
			for _, kind := range typesOf(part) {
				if !slices.Contains(knownTypes, kind) {
					t.Fatalf("%s %s is accepted, want only supported types", name, part)
				}
			}
		}
		ids := tok.Encode(text)
		for _, id := range ids {
			if id < 0 || id >= tok.Size() || tok.Bytes(id) == nil {
				t.Fatalf("%q becomes %v: %d is not an ordinary token", text, ids, id)
			}
		}
		if got, want := tok.Decode(ids), cameBack(tok, text); got != want {
			t.Fatalf("%q becomes %v, which decodes to %q; want %q", text, ids, got, want)
		}
	})
}

var knownTypes = []string{
	"ByteLevel", "NFC", "Sequence", "Split", "Digits", "TemplateProcessing",
	"Prepend", "Replace", "Metaspace", "ByteFallback", "Fuse", "Strip",
}

// typesOf lists the types of a part's steps. It omits a step whose "type" key has different
// capitalization, which encoding/json also accepts.
func typesOf(part string) []string {
	var list []string
	var step map[string]any
	if json.Unmarshal([]byte(part), &step) != nil {
		return nil
	}
	members := []any{step}
	for key, value := range step {
		if list, ok := value.([]any); ok && slices.Contains(
			[]string{"normalizers", "pretokenizers", "processors", "decoders"}, key,
		) {
			members = append(members, list...)
		}
	}
	for _, m := range members {
		m, _ := m.(map[string]any)
		for key, value := range m {
			if strings.EqualFold(key, "type") && key != "type" {
				return nil
			}
			if kind, ok := value.(string); ok && key == "type" {
				list = append(list, kind)
			}
		}
	}
	return list
}

// cameBack returns the documented result of [Tokenizer.Encode] followed by Decode.
func cameBack(tok *Tokenizer, text string) string {
	if tok.nfc {
		text = norm.NFC.String(text)
	}
	if tok.addPrefixSpace && text != "" && !strings.HasPrefix(text, " ") {
		text = " " + text
	}
	if tok.characters {
		text = strings.ReplaceAll(text, "▁", " ")
		if tok.prefix == prefixMissing || tok.prefix == prefixFirst {
			text = strings.TrimPrefix(text, " ")
		}
	}
	return text
}
