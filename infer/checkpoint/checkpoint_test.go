package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// tinyTensors fills every tensor of tiny's layout with the value 1 in bfloat16.
func tinyTensors(t *testing.T) []stored {
	t.Helper()
	config, _, err := parseConfig(tiny.json(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []stored
	for _, s := range config.layout() {
		values := 1
		for _, n := range s.shape {
			values *= n
		}
		tensors = append(tensors, stored{s.name, "BF16", s.shape, words16(slices.Repeat([]uint16{0x3f80}, values)...)})
	}
	return tensors
}

// tinyFolder returns a complete model folder with the bundled model's tokenizer.
func tinyFolder(t *testing.T) fstest.MapFS {
	t.Helper()
	tokenizerJSON, err := os.ReadFile(filepath.FromSlash("../bundled/target/tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		configFile:    {Data: tiny.json()},
		weightsFile:   {Data: writeSafetensors(tinyTensors(t)...)},
		tokenizerFile: {Data: tokenizerJSON},
	}
}

// sequential hides the methods of files that fs.File does not have, so that they can be read only
// sequentially.
type sequential struct{ fs.FS }

type sequentialFile struct{ f fs.File }

func (s sequential) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return sequentialFile{f}, nil
}

func (s sequentialFile) Read(p []byte) (int, error) { return s.f.Read(p) }
func (s sequentialFile) Stat() (fs.FileInfo, error) { return s.f.Stat() }
func (s sequentialFile) Close() error               { return s.f.Close() }

// TestOpenReadsEveryKindOfFolder: a folder yields the same model whether it is in memory, on disk
// or made of files that can only be read sequentially.
func TestOpenReadsEveryKindOfFolder(t *testing.T) {
	folder := tinyFolder(t)
	folder[tokenizerConfigFile] = &fstest.MapFile{Data: []byte(`{"add_bos_token":true}`)}
	folder[generationFile] = &fstest.MapFile{Data: []byte(`{"eos_token_id":[3,2]}`)}
	disk := t.TempDir()
	if err := os.CopyFS(disk, folder); err != nil {
		t.Fatal(err)
	}
	lines := ""
	for _, name := range []string{configFile, weightsFile, tokenizerFile} {
		lines += fmt.Sprintf("%x  %s\n", sha256.Sum256(folder[name].Data), name)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(lines)))

	for kind, fsys := range map[string]fs.FS{
		"memory": folder, "disk": os.DirFS(disk), "sequential": sequential{folder},
	} {
		t.Run(kind, func(t *testing.T) {
			c, err := Open(fsys, "tiny")
			if err != nil {
				t.Fatal(err)
			}
			if c.Config.Name != "tiny" || c.Config.BOS != 1 || !slices.Equal(c.Config.EOS, []int{3, 2}) {
				t.Errorf(
					"name %q, BOS %d, EOS %v; want %q, 1, %v", c.Config.Name, c.Config.BOS, c.Config.EOS, "tiny",
					[]int{3, 2},
				)
			}
			if c.Hash != hash {
				t.Errorf("hash %s, want %s", c.Hash, hash)
			}
			// The embedding has 4096×4 values. A layer has 92: norms 4+4, q and o 4×4, k and v 2×4,
			// and gate, up and down 3×4. The last norm has 4.
			if want := int64(4096*4 + 2*92 + 4); c.Parameters() != want || c.Bytes() != 2*want {
				t.Errorf("%d parameters in %d bytes, want %d in %d", c.Parameters(), c.Bytes(), want, 2*want)
			}
			if c.Tokenizer.Size() != 4096 {
				t.Errorf("tokenizer has %d tokens, want 4096", c.Tokenizer.Size())
			}
			down, err := c.Float32("model.layers.1.mlp.down_proj.weight", 4, 3)
			if err != nil || !slices.Equal(down, slices.Repeat([]float32{1}, 12)) {
				t.Errorf("down_proj is %v, %v, want twelve ones", down, err)
			}
			if err := errors.Join(c.Close(), c.Close()); err != nil {
				t.Errorf("Close twice: %v", err)
			}
		})
	}
}

// TestHashCoversAllFiles: the hash depends on each of the three files and
// nothing else.
func TestHashCoversAllFiles(t *testing.T) {
	hashOf := func(change func(fstest.MapFS)) string {
		folder := tinyFolder(t)
		change(folder)
		c, err := Open(folder, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash
	}
	add := func(name, tail string) func(fstest.MapFS) {
		return func(folder fstest.MapFS) {
			folder[name] = &fstest.MapFile{Data: slices.Concat(folder[name].Data, []byte(tail))}
		}
	}
	plain := hashOf(func(fstest.MapFS) {})
	for _, name := range []string{configFile, tokenizerFile} {
		if hashOf(add(name, "\n")) == plain {
			t.Errorf("one more byte in %s does not change the hash", name)
		}
	}
	if hashOf(func(folder fstest.MapFS) {
		data := slices.Clone(folder[weightsFile].Data)
		data[len(data)-2] ^= 1 // the last bit of the last value
		folder[weightsFile] = &fstest.MapFile{Data: data}
	}) == plain {
		t.Errorf("a changed weight does not change the hash")
	}
	if hashOf(func(f fstest.MapFS) { f["README.md"] = &fstest.MapFile{Data: []byte("x")} }) != plain {
		t.Error("another file changes the hash")
	}
}

func TestOpenRefusesBrokenFolders(t *testing.T) {
	// weights edits the list of tensors; if edit returns nil for a tensor, the tensor is dropped.
	weights := func(edit func(s stored) []stored) func(*testing.T, fstest.MapFS) {
		return func(t *testing.T, folder fstest.MapFS) {
			var tensors []stored
			for _, s := range tinyTensors(t) {
				tensors = append(tensors, edit(s)...)
			}
			folder[weightsFile] = &fstest.MapFile{Data: writeSafetensors(tensors...)}
		}
	}
	drop := func(name string) func(*testing.T, fstest.MapFS) {
		return weights(func(s stored) []stored {
			if s.name == name {
				return nil
			}
			return []stored{s}
		})
	}
	reshape := func(name string, shape ...int) func(*testing.T, fstest.MapFS) {
		return weights(func(s stored) []stored {
			if s.name == name {
				s.shape = shape
			}
			return []stored{s}
		})
	}
	extra := func(name string) func(*testing.T, fstest.MapFS) {
		return weights(func(s stored) []stored {
			if s.name == "model.norm.weight" {
				return []stored{s, {name, s.dtype, s.shape, s.data}}
			}
			return []stored{s}
		})
	}
	remove := func(name string) func(*testing.T, fstest.MapFS) {
		return func(_ *testing.T, folder fstest.MapFS) { delete(folder, name) }
	}
	replace := func(name string, data []byte) func(*testing.T, fstest.MapFS) {
		return func(_ *testing.T, folder fstest.MapFS) { folder[name] = &fstest.MapFile{Data: data} }
	}
	config := func(pairs ...any) func(*testing.T, fstest.MapFS) {
		return replace(configFile, tiny.with(pairs...).json())
	}
	tests := []struct {
		name   string
		change func(*testing.T, fstest.MapFS)
		want   string // the whole message, or just its beginning if want ends in …
	}{
		{"no config", remove(configFile), "model folder has no config.json"},
		{"no weights", remove(weightsFile), "model folder has no model.safetensors"},
		{"no tokenizer", remove(tokenizerFile), "model folder has no tokenizer.json"},
		{"shards", func(t *testing.T, folder fstest.MapFS) {
			delete(folder, weightsFile)
			folder[indexFile] = &fstest.MapFile{Data: []byte(`{}`)}
		}, "model.safetensors.index.json: weight_map is missing"},
		{"weights are a folder", func(t *testing.T, folder fstest.MapFS) {
			delete(folder, weightsFile)
			folder[weightsFile+"/x"] = &fstest.MapFile{}
		}, "model.safetensors: is a folder, not a file"},
		{
			"config too long", replace(configFile, make([]byte, maxConfigBytes+1)),
			"config.json has 1048577 bytes, which exceeds the limit of 1048576",
		},
		{"broken config", replace(configFile, []byte(`{`)), "config.json: is not a JSON object: …"},
		{
			"broken tokenizer_config", replace(tokenizerConfigFile, []byte(`{`)),
			"tokenizer_config.json: is not a JSON object: …",
		},
		{
			"broken generation_config", replace(generationFile, []byte(`7`)),
			"generation_config.json: is not a JSON object: …",
		},
		{"broken tokenizer", replace(tokenizerFile, []byte(`{`)), "tokenizer.json: …"},
		{
			"broken weights", replace(weightsFile, []byte(`short`)),
			"model.safetensors: file has 5 bytes, want at least 8 for the header length",
		},
		{
			"missing projection", drop("model.layers.1.mlp.up_proj.weight"),
			"model.safetensors: layer 1: missing mlp.up_proj.weight",
		},
		{
			"missing embedding", drop("model.embed_tokens.weight"),
			"model.safetensors: missing model.embed_tokens.weight",
		},
		{"missing last norm", drop("model.norm.weight"), "model.safetensors: missing model.norm.weight"},
		{
			"output neither tied nor there", config("tie_word_embeddings", false),
			"model.safetensors: missing lm_head.weight",
		},
		{
			"transposed", reshape("model.layers.0.mlp.down_proj.weight", 3, 4),
			"model.safetensors: layer 0: mlp.down_proj has shape [3 4], want [4 3]",
		},
		{
			"flat", reshape("model.layers.1.self_attn.q_proj.weight", 16),
			"model.safetensors: layer 1: self_attn.q_proj has shape [16], want [4 4]",
		},
		{
			"norm with two dimensions", reshape("model.norm.weight", 4, 1),
			"model.safetensors: model.norm has shape [4 1], want [4]",
		},
		{
			"other key heads", config("num_key_value_heads", 2),
			"model.safetensors: layer 0: self_attn.k_proj has shape [2 4], want [4 4]",
		},
		{
			"layers beyond the file", config("num_hidden_layers", 3),
			"model.safetensors: layer 2: missing input_layernorm.weight",
		},
		{
			"layers left over", config("num_hidden_layers", 1),
			`model.safetensors: unexpected tensor "model.layers.1.input_layernorm.weight" for llama with 1 layers`,
		},
		{
			"bias", extra("model.layers.0.self_attn.q_proj.bias"),
			`model.safetensors: unexpected tensor "model.layers.0.self_attn.q_proj.bias" for llama with 2 layers`,
		},
		{"tokenizer larger", func(t *testing.T, folder fstest.MapFS) {
			config("vocab_size", 4095)(t, folder)
			weights(func(s stored) []stored {
				if s.name == "model.embed_tokens.weight" {
					s.shape, s.data = []int{4095, 4}, s.data[:4095*4*2]
				}
				return []stored{s}
			})(t, folder)
		}, `tokenizer.json has 4096 tokens, but vocab_size in config.json is only 4095: " bought" has id 4095, ` +
			`but the model has only 4095 rows`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := tinyFolder(t)
			test.change(t, folder)
			_, err := Open(folder, "")
			want, cut := strings.CutSuffix(test.want, "…")
			if err == nil || !strings.HasPrefix(err.Error(), want) || !cut && err.Error() != want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if missing := strings.HasPrefix(want, "model folder has no"); errors.Is(err, fs.ErrNotExist) != missing {
				t.Errorf("errors.Is(err, fs.ErrNotExist) is %v, want %v", !missing, missing)
			}
		})
	}
}

// TestOpenAcceptsUnusualFolders: a tokenizer may use fewer ids than the embedding has rows; a tied
// model may still store its output matrix; and old files contain rotary frequencies, which are not
// weights.
func TestOpenAcceptsUnusualFolders(t *testing.T) {
	folder := tinyFolder(t)
	folder[configFile] = &fstest.MapFile{Data: tiny.with("vocab_size", 4100).json()}
	tensors := tinyTensors(t)
	rows := words16(slices.Repeat([]uint16{0x3f80}, 4100*4)...)
	tensors[0].shape, tensors[0].data = []int{4100, 4}, rows
	tensors = append(tensors,
		stored{"lm_head.weight", "BF16", []int{4100, 4}, rows},
		stored{"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", []int{1}, words32(0)})
	folder[weightsFile] = &fstest.MapFile{Data: writeSafetensors(tensors...)}
	c, err := Open(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := int64(4100*4 + 2*92 + 4); c.Parameters() != want || c.Bytes() != 2*(want+4100*4) {
		t.Errorf("%d parameters in %d bytes, want %d in %d", c.Parameters(), c.Bytes(), want, 2*(want+4100*4))
	}
}

// TestFileWithAWrongSize: a file that is shorter or longer than its stated size is rejected, not
// padded or truncated.
func TestFileWithAWrongSize(t *testing.T) {
	for claim, want := range map[int64]string{
		2 * chunkBytes: "unexpected end of file after 1048586 of 2097152 bytes",
		chunkBytes + 9: "unexpected data after the stated size of 1048585 bytes",
	} {
		_, err := readChunks(strings.NewReader(strings.Repeat("x", chunkBytes+10)), claim)
		if err == nil || err.Error() != want {
			t.Errorf("stated size %d: got %v, want %s", claim, err, want)
		}
	}
}

// TestChunksJoin: reads that cross chunk boundaries return all bytes.
func TestChunksJoin(t *testing.T) {
	data := make([]byte, 2*chunkBytes+5)
	for i := range data {
		data[i] = byte(i % 251)
	}
	c, err := readChunks(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range maps.All(
		map[int64]int{0: 10, chunkBytes - 3: 6, chunkBytes: 1, 2: 2*chunkBytes + 3, int64(len(data)): 0},
	) {
		p := make([]byte, n)
		if got, err := c.ReadAt(p, at); got != n || err != nil || string(p) != string(data[at:at+int64(n)]) {
			t.Errorf("reading %d bytes from %d: got %d, %v; want all of them unchanged", n, at, got, err)
		}
	}
	if n, err := c.ReadAt(make([]byte, 9), int64(len(data))-4); n != 4 || err == nil {
		t.Errorf("beyond the end: read %d, %v, want 4 and an error", n, err)
	}
}
