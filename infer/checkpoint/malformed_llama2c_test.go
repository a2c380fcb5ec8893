package checkpoint

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// llama2cFile returns a llama2.c model with the given numbers in its header and zeros as weights.
// It is valid for dim 4, hidden_dim 3, one layer, two heads, one key/value head, 259 tokens and 8
// positions.
func llama2cFile(header ...uint32) []byte {
	const (
		embedding = 259 * 4
		block     = 4 + 16 + 8 + 8 + 16 + 4 + 12 + 12 + 12 // norms, q, k, v, o, gate, down, up
		tables    = 8 * 2
	)
	return join(u32(header...), make([]byte, 4*(embedding+block+4+tables)))
}

var smallLlama2c = []uint32{4, 3, 1, 2, 1, 259, 8}

// smallVersion1 returns the same model in version 1.
func smallVersion1() []byte {
	head := join(u32(llama2cMagic, 1), u32(smallLlama2c...), []byte{1})
	head = append(head, make([]byte, llama2cHeader-len(head))...)
	return join(head, make([]byte, 4*(259*4+92+4)))
}

// smallTokenizerBin returns the vocabulary of that model, with each entry passed through change.
func smallTokenizerBin(change func(id int, score, length uint32, text string) (uint32, uint32, string)) []byte {
	tokens, _ := smallTokens()
	b := u32(6)
	for id, text := range tokens {
		score, length := uint32(0), uint32(len(text))
		if change != nil {
			score, length, text = change(id, score, length, text)
		}
		b = join(b, u32(score, length), []byte(text))
	}
	return b
}

// llama2cWith returns a copy of the header with one number replaced.
func llama2cWith(i int, n int32) []byte {
	header := append([]uint32{}, smallLlama2c...)
	header[i] = uint32(n)
	return llama2cFile(header...)
}

// malformedLlama2c lists malformed llama2.c models, each with part of the message.
var malformedLlama2c = []struct {
	name string
	file []byte
	want string
}{
	{"27 bytes", make([]byte, 27), "file has 27 bytes, too few for a header"},
	{"zeros", make([]byte, 1000), "header: dim is 0, want 1 to 65536"},
	{"negative width", llama2cWith(0, -4), "header: dim is -4"},
	{"hidden_dim absurd", llama2cWith(1, math.MaxInt32), "header: hidden_dim is 2147483647"},
	{"no layers", llama2cWith(2, 0), "header: n_layers is 0"},
	{"layers beyond the file", llama2cWith(2, 1024), "weights of this shape end at byte"},
	{"no heads", llama2cWith(3, 0), "header: n_heads is 0"},
	{"odd heads", llama2cWith(3, 4), "is not an even head size"},
	{"key heads do not divide", llama2cWith(4, 3), "n_heads 2 is not a multiple of n_kv_heads 3"},
	{"few tokens", llama2cWith(5, 258), "header: vocab_size is 258, want 259 to"},
	{"least number of all", llama2cWith(5, math.MinInt32), "header: vocab_size is"},
	{"output of its own, but not there", llama2cWith(5, -259), "weights of this shape end at byte"},
	{"context absurd", llama2cWith(6, 1<<30), "header: seq_len is 1073741824"},
	{"a byte less", llama2cFile(smallLlama2c...)[1:], "header: "},
	{"cut", llama2cFile(smallLlama2c...)[:4000], "the file ends at byte 4000"},
	{"a byte more", append(llama2cFile(smallLlama2c...), 0), "the file ends at byte "},
	{"version 2", join(u32(llama2cMagic, 2), make([]byte, 300)), "version 2 of llama2.c's format"},
	{"version 1, short", join(u32(llama2cMagic, 1), make([]byte, 100)), "want at least 256 for the header"},
	{"version 1, cut", smallVersion1()[:2000], "the file ends at byte 2000"},
}

func TestMalformedLlama2c(t *testing.T) {
	vocabulary := smallTokenizerBin(nil)
	for name, data := range map[string][]byte{
		"first layout": llama2cFile(smallLlama2c...), "version 1": smallVersion1(),
	} {
		if err := openMemory("m.bin", map[string][]byte{"m.bin": data, llama2cTokens: vocabulary}); err != nil {
			t.Fatalf("the valid file, %s: %v", name, err)
		}
	}
	for _, test := range malformedLlama2c {
		refuse(t, len(test.file), test.name, "m.bin: ", test.want, func() error {
			return openMemory("m.bin", map[string][]byte{"m.bin": test.file, llama2cTokens: vocabulary})
		})
	}
	const missing, of = "model folder has no tokenizer.bin", "the vocabulary of m.bin"
	refuse(t, 0, "no vocabulary", missing, of, func() error {
		return openMemory("m.bin", map[string][]byte{"m.bin": llama2cFile(smallLlama2c...)})
	})
	refuse(t, 0, "three bytes", "m.bin: ", "read 3 of 4 bytes", func() error {
		return openMemory("m.bin", map[string][]byte{"m.bin": {1, 2, 3}})
	})
}

// malformedTokenizerBin lists malformed vocabularies, each with part of the message.
var malformedTokenizerBin = []struct {
	name string
	file []byte
	want string
}{
	{"empty", nil, "unexpected end of file at byte 0"},
	{"only the longest length", u32(6), "has 4 bytes, but 259 tokens take at least 2076"},
	{"cut inside a token", smallTokenizerBin(nil)[:3000], "unexpected end of file"},
	{
		"longest length too small", join(u32(5), smallTokenizerBin(nil)[4:]),
		"max_token_length is 5, but the longest token has 6",
	},
	{
		"longest length too large", join(u32(7), smallTokenizerBin(nil)[4:]),
		"max_token_length is 7, but the longest token has 6",
	},
	{
		"longest length negative", join(u32(1<<32-6), smallTokenizerBin(nil)[4:]),
		"max_token_length is -6, but the longest token has 6",
	},
	{"a token too many", append(smallTokenizerBin(nil), 0), "after the model's 259 tokens"},
	{"negative length", smallTokenizerBin(func(id int, score, length uint32, text string) (uint32, uint32, string) {
		if id == 7 {
			length = 1<<32 - 1
		}
		return score, length, text
	}), "token 7 has length -1, want 0 to 256"},
	{"length beyond the file", smallTokenizerBin(func(
		id int, score, length uint32, text string,
	) (uint32, uint32, string) {
		if id == 7 {
			length = 1 << 30
		}
		return score, length, text
	}), "token 7 has length 1073741824"},
	{"score NaN", smallTokenizerBin(func(id int, score, length uint32, text string) (uint32, uint32, string) {
		if id == 8 {
			score = math.Float32bits(float32(math.NaN()))
		}
		return score, length, text
	}), "token 8: the score is NaN"},
	{"long token", smallTokenizerBin(func(id int, score, length uint32, text string) (uint32, uint32, string) {
		if id == 9 {
			return score, 300, strings.Repeat("x", 300)
		}
		return score, length, text
	}), "token 9 has length 300, want 0 to 256"},
	{"byte twice", smallTokenizerBin(func(id int, score, length uint32, text string) (uint32, uint32, string) {
		if id == 10 {
			text = "<0x00>"
		}
		return score, length, text
	}), "duplicate token <0x00>"},
	{"empty token", smallTokenizerBin(func(id int, score, length uint32, text string) (uint32, uint32, string) {
		if id == 11 {
			return score, 0, ""
		}
		return score, length, text
	}), "token 11: the token with id 11 is empty"},
}

func TestMalformedTokenizerBin(t *testing.T) {
	for _, test := range malformedTokenizerBin {
		refuse(t, len(test.file), test.name, llama2cTokens+": ", test.want, func() error {
			return openMemory(
				"m.bin", map[string][]byte{"m.bin": llama2cFile(smallLlama2c...), llama2cTokens: test.file},
			)
		})
	}
}

// malformedIndexes lists contents of model.safetensors.index.json, each with part of the message.
// The folder has two shards: one.safetensors with the embedding, and two.safetensors with the rest.
var malformedIndexes = []struct{ name, text, want string }{
	{"empty", ``, "model.safetensors.index.json: is not a JSON object"},
	{"list", `[]`, "model.safetensors.index.json: is not a JSON object"},
	{"no map", `{"metadata":{}}`, "model.safetensors.index.json: weight_map is missing"},
	{"map a list", `{"weight_map":[]}`, "weight_map is [], want an object of file names"},
	{"empty map", `{"weight_map":{}}`, "weight_map has 0 tensors, want 1 to 65536"},
	{"file a number", `{"weight_map":{"a":1}}`, `weight_map is {"a":1}, want an object of file names`},
	{
		"another folder", `{"weight_map":{"a":"../one.safetensors"}}`,
		`"a" is in "../one.safetensors", want the name of a .safetensors file in the same folder`,
	},
	{"below", `{"weight_map":{"a":"x/one.safetensors"}}`, `want the name of a .safetensors file in the same folder`},
	{
		"from the root", `{"weight_map":{"a":"/etc/one.safetensors"}}`,
		`want the name of a .safetensors file in the same folder`,
	},
	{"no safetensors", `{"weight_map":{"a":"config.json"}}`, `want the name of a .safetensors file in the same folder`},
	{
		"file missing", `{"weight_map":{"a":"none.safetensors"}}`,
		"model folder has no none.safetensors, which model.safetensors.index.json names",
	},
	{
		"tensor not there", `{"weight_map":{"model.embed_tokens.weight":"one.safetensors","ghost":"one.safetensors"}}`,
		`one.safetensors lacks tensor "ghost", which model.safetensors.index.json assigns to it`,
	},
	{
		"tensor elsewhere", `{"weight_map":{"model.norm.weight":"one.safetensors"}}`,
		`one.safetensors contains tensor "model.embed_tokens.weight", ` +
			"which model.safetensors.index.json does not assign to it",
	},
	{
		"a file left out", `{"weight_map":{"model.embed_tokens.weight":"one.safetensors"}}`,
		"model.safetensors.index.json: layer 0: missing input_layernorm.weight",
	},
}

// shardedFolder returns tinyFolder with its weights in two files.
func shardedFolder(t *testing.T) fstest.MapFS {
	t.Helper()
	folder := tinyFolder(t)
	tensors := tinyTensors(t)
	delete(folder, weightsFile)
	folder["one.safetensors"] = &fstest.MapFile{Data: writeSafetensors(tensors[:1]...)}
	folder["two.safetensors"] = &fstest.MapFile{Data: writeSafetensors(tensors[1:]...)}
	index := map[string]string{}
	for i, x := range tensors {
		index[x.name] = []string{"one.safetensors", "two.safetensors"}[min(i, 1)]
	}
	folder[indexFile] = &fstest.MapFile{Data: object{"weight_map": index}.json()}
	return folder
}

func TestMalformedIndexes(t *testing.T) {
	for _, test := range malformedIndexes {
		folder := shardedFolder(t)
		folder[indexFile] = &fstest.MapFile{Data: []byte(test.text)}
		refuse(t, 1<<20, test.name, "", test.want, func() error {
			_, err := Open(folder, "")
			return err
		})
	}
	folder := shardedFolder(t)
	folder["two.safetensors"] = &fstest.MapFile{Data: []byte("short")}
	refuse(t, 1<<20, "a damaged shard", "two.safetensors: ", "file has 5 bytes", func() error {
		_, err := Open(folder, "")
		return err
	})
	folder = shardedFolder(t)
	folder["two.safetensors"] = &fstest.MapFile{Data: writeSafetensors(tinyTensors(t)...)}
	const twice = `duplicate tensor "model.embed_tokens.weight"; another file also contains it`
	refuse(t, 1<<20, "a tensor in both", "two.safetensors: ", twice, func() error {
		_, err := Open(folder, "")
		return err
	})
}

// TestShardsReadLikeOneFile: weights in several files yield the same model as in a single file, and
// the hash depends on every file.
func TestShardsReadLikeOneFile(t *testing.T) {
	folder := shardedFolder(t)
	c, err := Open(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	whole, err := Open(tinyFolder(t), "")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for _, s := range c.Config.layout() {
		a, err := c.Float32(s.name, s.shape...)
		b, werr := whole.Float32(s.name, s.shape...)
		if err != nil || werr != nil || len(a) != len(b) || a[0] != b[0] || a[len(a)-1] != b[len(b)-1] {
			t.Errorf(
				"%s: got %v, %v; want no error, len(a) = %d, a[0] = %v, a[len(a)-1] = %v", s.name, err, werr, len(b),
				b[0], b[len(b)-1],
			)
		}
	}
	if c.Bytes() != whole.Bytes() || c.Hash == whole.Hash {
		t.Errorf("%d bytes, want %d; hashes %s, %s", c.Bytes(), whole.Bytes(), c.Hash, whole.Hash)
	}
	data := folder["two.safetensors"].Data
	data[len(data)-1] ^= 1
	other, err := Open(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Hash == c.Hash {
		t.Error("a changed weight does not change the hash")
	}
}
