package tokenizer

import (
	"encoding/json"
	"os"
	"testing"
)

// bundledPath is the path of the built-in model's tokenizer.
const bundledPath = "../bundled/target/tokenizer.json"

// bundled parses the built-in model's tokenizer.
func bundled(tb testing.TB) *Tokenizer {
	tb.Helper()
	data, err := os.ReadFile(bundledPath)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := Parse(data)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// A tree is a tokenizer.json as a tree of JSON values, so that tests can change parts of it.
type tree = map[string]any

// smallTree returns the smallest tokenizer with merges. The byte b has id b, merge i produces id
// 256+i, and <|end|> has the next id.
//
//	256  he     257  l+l    258  he+ll = hell    259  hell+o = hello
//	260  Ġ+w    261  o+r    262  a+a             263  b+a
//	264  aa+aa  265  <|end|>
func smallTree() tree {
	vocab := tree{}
	for b := range 256 {
		vocab[spell([]byte{byte(b)})] = b
	}
	merges := []any{}
	for i, m := range [][2]string{
		{"h", "e"},
		{"l", "l"},
		{"he", "ll"},
		{"hell", "o"},
		{"Ġ", "w"},
		{"o", "r"},
		{"a", "a"},
		{"b", "a"},
		{"aa", "aa"},
	} {
		merges = append(merges, []any{m[0], m[1]})
		vocab[m[0]+m[1]] = 256 + i
	}
	vocab["<|end|>"] = 265
	return tree{
		"version": "1.0",
		"added_tokens": []any{
			tree{"id": 265, "content": "<|end|>", "special": true, "normalized": false},
		},
		"normalizer":     nil,
		"pre_tokenizer":  tree{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
		"post_processor": nil,
		"decoder":        tree{"type": "ByteLevel"},
		"model":          tree{"type": "BPE", "dropout": nil, "vocab": vocab, "merges": merges},
	}
}

// at returns the object at the given path in t.
func at(t tree, path ...string) tree {
	for _, key := range path {
		t = t[key].(tree)
	}
	return t
}

// encodeTree encodes t as JSON.
func encodeTree(tb testing.TB, t tree) []byte {
	tb.Helper()
	data, err := json.Marshal(t)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// small parses smallTree after modifying it with change, which may be nil.
func small(tb testing.TB, change func(tree)) *Tokenizer {
	tb.Helper()
	f := smallTree()
	if change != nil {
		change(f)
	}
	t, err := Parse(encodeTree(tb, f))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
