package checkpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid " +
	"sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 269060552\n"

// pickle is the beginning of a PyTorch file in a zip archive.
const pickle = "PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00archive/data.pkl\x80\x02}"

// foreignFiles lists files that are easily mistaken for a model, each with its kind and part of the
// message.
var foreignFiles = []struct{ file, text, kind, want string }{
	{
		"m.gguf", lfsPointer, "git-LFS pointer",
		`is a Git LFS pointer: the actual file of 269060552 bytes was not fetched; run "git lfs pull"`,
	},
	{"m.gguf", lfsPointer[:60], "git-LFS pointer", "the actual file was not fetched"},
	{"m.bin", lfsPointer, "git-LFS pointer", "is a Git LFS pointer"},
	{
		"m.gguf", "<!DOCTYPE html>\n<html><head>", "web page",
		`is a web page, not the file that its name suggests; to download a file from Hugging Face`,
	},
	{"m.gguf", "\n <HTML>", "web page", "is a web page"},
	{"pytorch_model.bin", pickle, "PyTorch file", "is a Python pickle, which is not supported"},
	{"consolidated.00.pth", pickle, "PyTorch file", "is a Python pickle"},
	{"pytorch_model.bin", "PK\x03\x04 another beginning", "PyTorch file", "is a Python pickle"},
	{"old.bin", "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch file", "is a Python pickle"},
	{"old.pt", "\x80\x04\x95\x00\x00", "PyTorch file", "is a Python pickle"},
	{"m.zip", "PK\x03\x04\x14\x00\x00\x00\x00\x00model.gguf", "zip archive", "is a zip archive; unpack it first"},
	{"tf_model.h5", "\x89HDF\r\n\x1a\n", "HDF5 file", "is an HDF5 file"},
	{"m.gguf", "FUGG\x00\x00\x00\x03", "big-endian GGUF", "is a big-endian GGUF file"},
	{"ggml-model-q4_0.bin", "tjgg\x03\x00\x00\x00", "GGML file", "is in a format that llama.cpp dropped in 2023"},
	{"ggml-model.bin", "lmgg\x00\x7d\x00\x00", "GGML file", "dropped in 2023"},
	{"ggml-model.bin", "fmgg\x01\x00\x00\x00", "GGML file", "dropped in 2023"},
	{"m.gguf.gz", "\x1f\x8b\x08\x00", "gzip file", "is compressed with gzip; unpack it first"},
	{"m.xz", "\xfd7zXZ\x00", "xz file", "is compressed with xz"},
	{"m.zst", "\x28\xb5\x2f\xfd\x00", "Zstandard file", "is compressed with Zstandard"},
	{"m.npy", "\x93NUMPY\x01\x00", "NumPy array", "is a NumPy array"},
	{
		"m.gguf", "hello, world", "",
		"is not a supported model; specify a Hugging Face folder, a GGUF file or a llama2.c .bin file",
	},
	{"m.gguf", "GG", "", "read 2 of 4 bytes"},
	{"m.gguf", "", "", "read 0 of 4 bytes"},
	{"model.safetensors", "\x02\x00\x00\x00\x00\x00\x00\x00{}", "", "is part of a model; specify its folder instead"},
}

func TestUnsupportedFilesAreNamed(t *testing.T) {
	for _, test := range foreignFiles {
		folder := fstest.MapFS{test.file: &fstest.MapFile{Data: []byte(test.text)}}
		var d *Description
		refuse(t, len(test.text), test.kind, test.file, test.want, func() (err error) {
			d, err = Files{}.describeFile(folder, test.file)
			return err
		})
		if d.Format != test.kind || d.Checkpoint != nil {
			t.Errorf("%s: described as %q, want %q", test.file, d.Format, test.kind)
		}
	}
}

// foreignInFolder lists changes to a valid folder, each with the message that rejects it.
var foreignInFolder = []struct {
	name   string
	change func(fstest.MapFS)
	want   string
}{
	{"configuration is a pointer", replace(configFile, lfsPointer), "config.json: is a Git LFS pointer"},
	{"tokenizer is a pointer", replace(tokenizerFile, lfsPointer), "tokenizer.json: is a Git LFS pointer"},
	{
		"weights are a pointer", replace(weightsFile, lfsPointer),
		"model.safetensors: is a Git LFS pointer: the actual file of 269060552 bytes",
	},
	{"generation is a web page", replace(generationFile, "<!doctype html>"), "generation_config.json: is a web page"},
	{"weights are a web page", replace(weightsFile, "<!doctype html>"), "model.safetensors: is a web page"},
	{"weights are a pickle", replace(weightsFile, pickle), "model.safetensors: is a Python pickle"},
	{
		"pickle beside", instead("pytorch_model.bin"),
		`model folder has no model.safetensors; "pytorch_model.bin" is a Python pickle`,
	},
	{"pickle in parts", instead("pytorch_model-00001-of-00002.bin"), "is a Python pickle"},
	{"weights of Meta", instead("consolidated.00.pth"), `"consolidated.00.pth" is a Python pickle`},
	{"weights of Keras", instead("tf_model.h5"), `"tf_model.h5" is in an unsupported format`},
	{"weights of Flax", instead("flax_model.msgpack"), `"flax_model.msgpack" is in an unsupported format`},
	{"adapter", instead("adapter_model.safetensors"), "adapter_model.safetensors is an adapter for another model"},
	{"nothing beside", instead(""), "model folder has no model.safetensors"},
	{"two weights", func(f fstest.MapFS) {
		f["a.safetensors"], f["b.safetensors"] = f[weightsFile], f[weightsFile]
		delete(f, weightsFile)
	}, `has no model.safetensors, nor model.safetensors.index.json, but "a.safetensors", "b.safetensors"`},
	{"weights under another name, cut", func(f fstest.MapFS) {
		f["model.fp16.safetensors"] = &fstest.MapFile{Data: f[weightsFile].Data[:2000]}
		delete(f, weightsFile)
	}, "model.fp16.safetensors: "},
	{"bytes behind the weights", func(f fstest.MapFS) {
		f[weightsFile] = &fstest.MapFile{Data: slices.Concat(f[weightsFile].Data, make([]byte, 10))}
	}, "unexpected data after the last tensor"},
}

func replace(name, text string) func(fstest.MapFS) {
	return func(f fstest.MapFS) { f[name] = &fstest.MapFile{Data: []byte(text)} }
}

// instead returns a function that replaces a folder's weights with another file.
func instead(name string) func(fstest.MapFS) {
	return func(f fstest.MapFS) {
		delete(f, weightsFile)
		if name != "" {
			f[name] = &fstest.MapFile{Data: []byte(pickle)}
		}
	}
}

func TestUnsupportedFilesInAFolderAreNamed(t *testing.T) {
	for _, test := range foreignInFolder {
		folder := tinyFolder(t)
		test.change(folder)
		size := 0
		for _, f := range folder {
			size += len(f.Data)
		}
		refuse(t, size, test.name, "", test.want, func() error {
			_, err := Open(folder, "m")
			return err
		})
	}
}

// TestWeightsUnderAnotherName: a single weights file may have any name.
func TestWeightsUnderAnotherName(t *testing.T) {
	folder := tinyFolder(t)
	folder["model.fp16.safetensors"] = folder[weightsFile]
	delete(folder, weightsFile)
	c, err := Open(folder, "m")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// malformedTypes lists safetensors files with formats that are known but cannot be read, and with
// unknown formats.
var malformedTypes = []struct {
	name string
	file []byte
	want string
}{
	{
		"bytes behind the data", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 5)...),
		"unexpected data after the last tensor (bytes 4 to 5)",
	},
	{"data without tensors", file(`{}`, 0), "unexpected data after the last tensor (bytes 0 to 1)"},
	{
		"bytes", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`tensor "a" has type U8; supported types are F32, F16 and BF16`,
	},
	{
		"8-bit floats",
		file(
			`{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},`+
				`"b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[2,4]}}`,
			make([]byte, 4)...,
		),
		`tensor "a" has type F8_E4M3 (and so does one more)`,
	},
	{
		"4-bit floats", file(`{"a":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`tensor "a" has type F4`,
	},
	{
		"truth values of another size",
		file(`{"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		"has shape [3] and dtype BOOL, which take 3 bytes, but spans 4",
	},
	{
		"lower case", file(`{"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`dtype "f32"; supported types are F32, F16 and BF16`,
	},
	{
		"long name", file(`{"a":{"dtype":"F32F32F32F32F32F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`dtype "F32F32F32F32F32F32"`,
	},
	{
		"escape sequence", file(`{"a":{"dtype":"F\u001b[2J","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`dtype "F\x1b[2J"`,
	},
}

func TestMalformedTensorTypes(t *testing.T) {
	for _, test := range malformedTypes {
		refuse(t, len(test.file), test.name, "", test.want, func() error {
			_, err := parseSafetensors(fileWeights(test.file), int64(len(test.file)))
			return err
		})
	}
}

// TestFoldersWithoutExactlyOneModel: a folder that does not contain exactly one model is rejected,
// unless only one of its files can be the intended model.
func TestFoldersWithoutExactlyOneModel(t *testing.T) {
	gguf := smallGGUF().bytes()
	for _, test := range []struct {
		name  string
		files map[string]string // contents, or the target of a link after "→ "
		want  string            // part of the error; "" if the model opens
		model string            // the name of the opened model
	}{
		{"empty", map[string]string{}, "model folder has no config.json", ""},
		{"one GGUF file", map[string]string{"a.gguf": string(gguf), "README.md": "x"}, "", "a"},
		{"and its eyes", map[string]string{"a.gguf": string(gguf), "mmproj-a.gguf": "x"}, "", "a"},
		{"with the configuration it was made of", map[string]string{"a.gguf": string(gguf), configFile: "{}"}, "", "a"},
		{
			"three GGUF files",
			map[string]string{"a.gguf": "", "b.gguf": "", "c.gguf": ""},
			`contains 3 models; specify one of them: "a.gguf", "b.gguf", "c.gguf"`, "",
		},
		{
			"seven GGUF files",
			map[string]string{
				"1.gguf": "", "2.gguf": "", "3.gguf": "", "4.gguf": "", "5.gguf": "", "6.gguf": "", "7.gguf": "",
			},
			`"5.gguf", …`, "",
		},
		{
			"llama2.c",
			map[string]string{
				"m.bin": string(llama2cFile(smallLlama2c...)), llama2cTokens: string(smallTokenizerBin(nil)),
			},
			"", "m",
		},
		{
			"a vocabulary alone",
			map[string]string{llama2cTokens: string(smallTokenizerBin(nil))},
			"model folder has no config.json", "",
		},
		{
			"cache",
			map[string]string{
				"models--o--n/refs/main": "rev1\n", "models--o--n/blobs/abc": string(gguf),
				"models--o--n/snapshots/rev0/a.gguf": "x", "models--o--n/snapshots/rev1/a.gguf": "→ ../../blobs/abc",
			},
			"", "a",
		},
		{"cache with one snapshot", map[string]string{"models--o--n/snapshots/rev1/a.gguf": string(gguf)}, "", "a"},
		{"cache without a snapshot", map[string]string{"models--o--n/snapshots/x": ""}, "contains 0 snapshots", ""},
		{
			"cache with two snapshots",
			map[string]string{"models--o--n/snapshots/r1/a": "", "models--o--n/snapshots/r2/a": ""},
			`specify one of the folders in snapshots: "r1", "r2"`, "",
		},
		{
			"cache that leads elsewhere",
			map[string]string{
				"models--o--n/refs/main": "../../../..", "models--o--n/snapshots/r1/a": "",
				"models--o--n/snapshots/r2/a": "",
			},
			"refs/main matches none of them", "",
		},
		{
			"cache that was not fetched whole",
			map[string]string{"models--o--n/snapshots/r1/" + configFile: "→ ../../blobs/abc"},
			"config.json is a broken link; the download may be incomplete", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				err := error(nil)
				if to, link := strings.CutPrefix(text, "→ "); link {
					err = os.Symlink(to, path)
				} else {
					err = os.WriteFile(path, []byte(text), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if has(dir, "models--o--n") {
				dir = filepath.Join(dir, "models--o--n")
			}
			c, err := OpenPath(dir)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want == "":
				if c.Config.Name != test.model {
					t.Errorf("called %q, want %q", c.Config.Name, test.model)
				}
				c.Close()
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// TestCacheSnapshotGetsModelName: a model in the cache gets the model's name, not the name of the
// revision.
func TestCacheSnapshotGetsModelName(t *testing.T) {
	for path, want := range map[string]string{
		"/hub/models--HuggingFaceTB--SmolLM2-135M/snapshots/93efa2f0": "SmolLM2-135M",
		"/hub/models--gpt2/snapshots/607a30d7":                        "gpt2",
		"/home/me/snapshots/x":                                        "x",
		"/home/me/models/tiny":                                        "tiny",
	} {
		if got := folderName(filepath.FromSlash(path)); got != want {
			t.Errorf("%s is called %q, want %q", path, got, want)
		}
	}
}
