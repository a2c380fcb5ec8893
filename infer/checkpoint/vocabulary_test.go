package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// smallTypes returns the types of smallTokens' tokens, with the given changes by id.
func smallTypes(change map[int]uint32) ggufPair {
	types := join(u32(5), u64(259))
	for id := range 259 {
		kind, ok := change[id]
		switch {
		case ok:
		case id == 0:
			kind = 2
		case id < 3:
			kind = 3
		default:
			kind = 6
		}
		types = append(types, u32(kind)...)
	}
	return ggufPair{"tokenizer.ggml.token_type", ggufArray, types}
}

// malformedVocabularies lists changes to the vocabulary of the small GGUF model, each with the
// error that rejects it.
var malformedVocabularies = []struct {
	name   string
	change func(*ggufModel)
	want   string
}{
	{"added token twice", func(m *ggufModel) {
		tokens, _ := smallTokens()
		tokens[100], tokens[101] = "zz", "zz"
		m.set(textsPair("tokenizer.ggml.tokens", tokens))
		m.set(smallTypes(map[int]uint32{100: 4, 101: 4}))
	}, "token 101: already listed with id 100"},
	{"added token empty", func(m *ggufModel) {
		tokens, _ := smallTokens()
		tokens[100] = ""
		m.set(textsPair("tokenizer.ggml.tokens", tokens))
		m.set(smallTypes(map[int]uint32{100: 4}))
	}, "token 100: content is missing or empty"},
	{"added token too long", func(m *ggufModel) {
		tokens, _ := smallTokens()
		tokens[100] = strings.Repeat("z", 2000)
		m.set(textsPair("tokenizer.ggml.tokens", tokens))
		m.set(smallTypes(map[int]uint32{100: 4}))
	}, "token 100: content has 2000 bytes, more than the limit of 1024"},
	{"nothing but special tokens", func(m *ggufModel) {
		all := map[int]uint32{}
		for id := range 259 {
			all[id] = 3
		}
		m.set(smallTypes(all))
	}, "no token represents text"},
	{
		"no such type of token", func(m *ggufModel) { m.set(smallTypes(map[int]uint32{7: 9})) },
		"token_type[7] is 9, want 1 to 6",
	},
	{"a split pattern that is not computed", func(m *ggufModel) {
		m.set(textPair("tokenizer.ggml.model", "gpt2"))
		m.set(textPair("tokenizer.ggml.pre", "falcon"))
	}, `unknown split pattern "falcon"; want one of dbrx, gpt-2, gpt-neox, `},
}

func TestMalformedVocabularies(t *testing.T) {
	for _, test := range malformedVocabularies {
		m := smallGGUF()
		test.change(m)
		data := m.bytes()
		refuse(
			t, len(data), test.name, "m.gguf: ", test.want,
			func() error { return openMemory("m.gguf", map[string][]byte{"m.gguf": data}) },
		)
	}
}

// TestGGUFVocabularyWithHoles: a vocabulary may lack the token for a byte. Only texts that contain
// that byte are affected. It may also have user-defined tokens, which Encode finds in a text.
func TestGGUFVocabularyWithHoles(t *testing.T) {
	m := smallGGUF()
	tokens, _ := smallTokens()
	tokens[3+'A'], tokens[3+'B'] = "zz", "  "
	m.set(textsPair("tokenizer.ggml.tokens", tokens))
	m.set(smallTypes(map[int]uint32{3 + 'A': 1, 3 + 'B': 4}))
	d, err := Files{}.describeFile(fstest.MapFS{"m.gguf": {Data: m.bytes()}}, "m.gguf")
	if err != nil {
		t.Fatal(err)
	}
	c := d.Checkpoint
	defer c.Close()
	// The tokens are the space that is added in front, a, the user-defined token for two spaces,
	// the space that is added after it, and b.
	if got, want := c.Tokenizer.Encode("a  b"), []int{
		3 + ' ', 3 + 'a', 3 + 'B', 3 + ' ', 3 + 'b',
	}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
	for text, want := range map[string]string{
		"ab  C": "",
		"a  A":  `the vocabulary has no token for byte 0x41 of "A" (U+0041) at line 1, character 4`,
	} {
		if err := c.Tokenizer.Check(text); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("Check(%q) = %v, want %q", text, err, want)
		}
	}
}

// TestAddedTokensBeyondTheEmbedding: a folder's tokenizer may have added tokens that the model has
// no rows for, as in the smallest Gemma 3 models, which lack the row of the image token.
func TestAddedTokensBeyondTheEmbedding(t *testing.T) {
	folder := tinyFolder(t)
	var file map[string]any
	if err := json.Unmarshal(folder[tokenizerFile].Data, &file); err != nil {
		t.Fatal(err)
	}
	file["added_tokens"] = append(file["added_tokens"].([]any), map[string]any{
		"id": 4096, "content": "<picture>", "special": true,
	},
		map[string]any{"id": 4097, "content": "<frame>", "special": false})
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	folder[tokenizerFile] = &fstest.MapFile{Data: data}
	c, err := Open(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := c.Tokenizer.Size(); n != c.Config.Vocab || n != 4096 {
		t.Errorf("got %d tokens for %d rows; want %d, 4096", n, c.Config.Vocab, c.Config.Vocab)
	}
	for _, text := range []string{"<picture>", "<frame>"} {
		if ids := c.Tokenizer.Encode(text); slices.Max(ids) >= 4096 || c.Tokenizer.Decode(ids) != text {
			t.Errorf(
				"Encode(%s) = %v; want slices.Max(ids) less than 4096, c.Tokenizer.Decode(ids) = %q", text, ids, text,
			)
		}
	}
}
