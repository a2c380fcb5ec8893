package checkpoint

import (
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

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid " +
	"sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 269060552\n"

// pickle is what a PyTorch file in a zip archive begins with.
const pickle = "PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00archive/data.pkl\x80\x02}"

// foreignFiles are files that people give as a model, each with a part of the
// message and what it is called.
var foreignFiles = []struct{ file, text, kind, want string }{
	{
		"m.gguf", lfsPointer, "git-LFS pointer",
		`is a git-LFS pointer: the file itself, of 269060552 bytes, was not fetched; run "git lfs pull"`,
	},
	{"m.gguf", lfsPointer[:60], "git-LFS pointer", "the large file itself was not fetched"},
	{"m.bin", lfsPointer, "git-LFS pointer", "is a git-LFS pointer"},
	{
		"m.gguf", "<!DOCTYPE html>\n<html><head>", "web page",
		`is a web page and not the file it is called; on Hugging Face a file's address has "/resolve/"`,
	},
	{"m.gguf", "\n <HTML>", "web page", "is a web page"},
	{"pytorch_model.bin", pickle, "PyTorch file", "is a Python pickle, which may hold programs and is not read"},
	{"consolidated.00.pth", pickle, "PyTorch file", "is a Python pickle"},
	{"pytorch_model.bin", "PK\x03\x04 another beginning", "PyTorch file", "is a Python pickle"},
	{"old.bin", "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch file", "is a Python pickle"},
	{"old.pt", "\x80\x04\x95\x00\x00", "PyTorch file", "is a Python pickle"},
	{"m.zip", "PK\x03\x04\x14\x00\x00\x00\x00\x00model.gguf", "zip archive", "is a zip archive; unpack it first"},
	{"tf_model.h5", "\x89HDF\r\n\x1a\n", "HDF5 file", "is an HDF5 file"},
	{"m.gguf", "FUGG\x00\x00\x00\x03", "big-endian GGUF", "is a GGUF file in big-endian order"},
	{"ggml-model-q4_0.bin", "tjgg\x03\x00\x00\x00", "GGML file", "is in a format that llama.cpp gave up in 2023"},
	{"ggml-model.bin", "lmgg\x00\x7d\x00\x00", "GGML file", "gave up in 2023"},
	{"ggml-model.bin", "fmgg\x01\x00\x00\x00", "GGML file", "gave up in 2023"},
	{"m.gguf.gz", "\x1f\x8b\x08\x00", "gzip file", "is compressed with gzip; unpack it first"},
	{"m.xz", "\xfd7zXZ\x00", "xz file", "is compressed with xz"},
	{"m.zst", "\x28\xb5\x2f\xfd\x00", "Zstandard file", "is compressed with Zstandard"},
	{"m.npy", "\x93NUMPY\x01\x00", "NumPy array", "is a NumPy array"},
	{
		"m.gguf", "hello, world", "",
		"is not a model that can be read: give a Hugging Face folder, a GGUF file, or a .bin file",
	},
	{"m.gguf", "GG", "", "read 2 of 4 bytes"},
	{"m.gguf", "", "", "read 0 of 4 bytes"},
	{"model.safetensors", "\x02\x00\x00\x00\x00\x00\x00\x00{}", "", "is a part of a model; give the folder instead"},
}

func TestForeignFilesAreNamed(t *testing.T) {
	for _, test := range foreignFiles {
		folder := fstest.MapFS{test.file: &fstest.MapFile{Data: []byte(test.text)}}
		var d *Description
		refuse(t, len(test.text), test.kind, test.file+": ", test.want, func() (err error) {
			d, err = Files{}.describeFile(folder, test.file)
			return err
		})
		if d.Format != test.kind || d.Checkpoint != nil {
			t.Errorf("%s: described as %q, want %q", test.file, d.Format, test.kind)
		}
	}
}

// foreignInFolder changes a sound folder; each change is refused with that
// message.
var foreignInFolder = []struct {
	name   string
	change func(fstest.MapFS)
	want   string
}{
	{"configuration is a pointer", replace(configFile, lfsPointer), "config.json: is a git-LFS pointer"},
	{"tokenizer is a pointer", replace(tokenizerFile, lfsPointer), "tokenizer.json: is a git-LFS pointer"},
	{
		"weights are a pointer", replace(weightsFile, lfsPointer),
		"model.safetensors: is a git-LFS pointer: the file itself, of 269060552 bytes",
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
	{"weights of Keras", instead("tf_model.h5"), `"tf_model.h5" is a format that is not read`},
	{"weights of Flax", instead("flax_model.msgpack"), `"flax_model.msgpack" is a format that is not read`},
	{"adapter", instead("adapter_model.safetensors"), "adapter_model.safetensors changes the weights of another model"},
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
	}, "behind the last tensor, belong to none"},
}

func replace(name, text string) func(fstest.MapFS) {
	return func(f fstest.MapFS) { f[name] = &fstest.MapFile{Data: []byte(text)} }
}

// instead has another file where the weights were.
func instead(name string) func(fstest.MapFS) {
	return func(f fstest.MapFS) {
		delete(f, weightsFile)
		if name != "" {
			f[name] = &fstest.MapFile{Data: []byte(pickle)}
		}
	}
}

func TestForeignFilesInAFolderAreNamed(t *testing.T) {
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

// One file of weights under another name is as good.
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

// malformedTypes are safetensors files with formats that are known and cannot be read, and some that are not.
var malformedTypes = []struct {
	name string
	file []byte
	want string
}{
	{
		"bytes behind the data", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, make([]byte, 5)...),
		"bytes 4 to 5, behind the last tensor, belong to none",
	},
	{"data without tensors", file(`{}`, 0), "bytes 0 to 1, behind the last tensor, belong to none"},
	{
		"bytes", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, make([]byte, 4)...),
		`tensor "a" has type U8; F32, F16 and BF16 can be read`,
	},
	{
		"8-bit floats",
		file(
			`{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},`+
				`"b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[2,4]}}`,
			make([]byte, 4)...,
		),
		`tensor "a" has type F8_E4M3, as one more has`,
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
		`dtype "f32"; F32, F16 and BF16 can be read`,
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

func TestMalformedTypes(t *testing.T) {
	for _, test := range malformedTypes {
		refuse(t, len(test.file), test.name, "", test.want, func() error {
			_, err := parseSafetensors(fileWeights(test.file), int64(len(test.file)))
			return err
		})
	}
}

// Folders that hold other things than one model.
func TestFoldersOfFiles(t *testing.T) {
	gguf := smallGGUF().bytes()
	for _, test := range []struct {
		name  string
		files map[string]string // a text, or a link where it begins with "→ "
		want  string            // "" opens it
		model string            // its name then
	}{
		{"empty", map[string]string{}, "model folder has no config.json", ""},
		{"one GGUF file", map[string]string{"a.gguf": string(gguf), "README.md": "x"}, "", "a"},
		{"and its eyes", map[string]string{"a.gguf": string(gguf), "mmproj-a.gguf": "x"}, "", "a"},
		{"with the configuration it was made of", map[string]string{"a.gguf": string(gguf), configFile: "{}"}, "", "a"},
		{
			"three GGUF files",
			map[string]string{"a.gguf": "", "b.gguf": "", "c.gguf": ""},
			`holds 3 models; give one of them: "a.gguf", "b.gguf", "c.gguf"`, "",
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
		{"cache without a snapshot", map[string]string{"models--o--n/snapshots/x": ""}, "holds 0 snapshots", ""},
		{
			"cache with two snapshots",
			map[string]string{"models--o--n/snapshots/r1/a": "", "models--o--n/snapshots/r2/a": ""},
			`give one of the folders in snapshots: "r1", "r2"`, "",
		},
		{
			"cache that leads elsewhere",
			map[string]string{
				"models--o--n/refs/main": "../../../..", "models--o--n/snapshots/r1/a": "",
				"models--o--n/snapshots/r2/a": "",
			},
			"refs/main names none of them", "",
		},
		{
			"cache that was not fetched whole",
			map[string]string{"models--o--n/snapshots/r1/" + configFile: "→ ../../blobs/abc"},
			"config.json: is a link to a file that is not there; was the model fetched whole?", "",
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

// A folder in the cache gives its model the model's name, not the revision's.
func TestNameOfASnapshot(t *testing.T) {
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

// splitGGUF is the sound small model in three parts.
func splitGGUF() map[string]*ggufModel {
	whole := smallGGUF()
	parts := map[string]*ggufModel{}
	for i := range 3 {
		part := &ggufModel{version: 3}
		if i == 0 {
			part.pairs = slices.Clone(whole.pairs)
		}
		part.pairs = append(
			part.pairs, ggufPair{"split.no", 2, []byte{byte(i), 0}}, ggufPair{"split.count", 2, []byte{3, 0}},
			ggufPair{"split.tensors.count", 5, u32(11)},
		)
		for at, t := range whole.tensors {
			if at%3 != i {
				continue
			}
			end := uint64(len(whole.data))
			if at+1 < len(whole.tensors) {
				end = whole.tensors[at+1].offset
			}
			data := whole.data[t.offset:end]
			t.offset = uint64(len(part.data))
			part.tensors, part.data = append(part.tensors, t), append(part.data, data...)
		}
		parts[partName("m", i+1, 3)] = part
	}
	return parts
}

// A model in parts opens whole, whichever part is named.
func TestSplitGGUF(t *testing.T) {
	files := map[string][]byte{}
	for name, part := range splitGGUF() {
		files[name] = part.bytes()
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d, err := Files{}.describeFile(asFS(files), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.Name != "m" || len(d.Files) != 3 || len(d.Tensors) != 11 || len(d.Checkpoint.Types()) != 1 {
			t.Errorf("%s: %q, %d files, %d tensors", name, d.Name, len(d.Files), len(d.Tensors))
		}
		if err := d.Checkpoint.Verify(); err != nil {
			t.Error(err)
		}
		d.Checkpoint.Close()
	}
}

func asFS(files map[string][]byte) fs.FS {
	folder := fstest.MapFS{}
	for name, data := range files {
		folder[name] = &fstest.MapFile{Data: data}
	}
	return folder
}

// malformedSplits change the parts of a sound model; each change is refused
// with that message.
var malformedSplits = []struct {
	name   string
	change func(parts map[string]*ggufModel, files map[string][]byte)
	want   string
}{
	{"second part missing", without(2), "model folder has no m-00002-of-00003.gguf, part 2 of the 3 of this model"},
	{"first part missing", without(1), "model folder has no m-00001-of-00003.gguf"},
	{"two parts missing", without(1, 2), "2 of the 3 parts are missing in all"},
	{
		"parts in the wrong order", setSplit(2, ggufPair{"split.no", 2, []byte{2, 0}}),
		"m-00002-of-00003.gguf: split.no is 2 and split.count 3, want 1 and 3",
	},
	{
		"another count", setSplit(3, ggufPair{"split.count", 2, []byte{4, 0}}),
		"m-00003-of-00003.gguf: split.no is 2 and split.count 4",
	},
	{"count a text", setSplit(3, textPair("split.count", "3")), "split.count 3, want 2 and 3"},
	{"no numbers", func(parts map[string]*ggufModel, files map[string][]byte) {
		parts[partName("m", 2, 3)].pairs = nil
	}, "split.no is <nil>"},
	{
		"another number of tensors", setSplit(1, ggufPair{"split.tensors.count", 5, u32(12)}),
		"split.tensors.count is 12, the parts hold 11",
	},
	{"a tensor in two parts", func(parts map[string]*ggufModel, _ map[string][]byte) {
		parts[partName("m", 2, 3)].tensors[0].name = parts[partName("m", 1, 3)].tensors[0].name
	}, `m-00002-of-00003.gguf: tensor "token_embd.weight" is in another part as well`},
	{"a part cut short", func(_ map[string]*ggufModel, files map[string][]byte) {
		name := partName("m", 3, 3)
		files[name] = files[name][:max(0, len(files[name])-40)]
	}, "m-00003-of-00003.gguf: tensor "},
	{"a part of nothing", func(_ map[string]*ggufModel, files map[string][]byte) {
		files[partName("m", 2, 3)] = nil
	}, "m-00002-of-00003.gguf: byte 0: the file ends"},
	{"a part that is a pointer", func(_ map[string]*ggufModel, files map[string][]byte) {
		files[partName("m", 2, 3)] = []byte(lfsPointer)
	}, "m-00002-of-00003.gguf: is a git-LFS pointer"},
}

func without(numbers ...int) func(map[string]*ggufModel, map[string][]byte) {
	return func(_ map[string]*ggufModel, files map[string][]byte) {
		for _, n := range numbers {
			delete(files, partName("m", n, 3))
		}
	}
}

func setSplit(n int, p ggufPair) func(map[string]*ggufModel, map[string][]byte) {
	return func(parts map[string]*ggufModel, _ map[string][]byte) { parts[partName("m", n, 3)].set(p) }
}

func TestMalformedSplits(t *testing.T) {
	for _, test := range malformedSplits {
		parts, files := splitGGUF(), map[string][]byte{}
		test.change(parts, map[string][]byte{})
		for name, part := range parts {
			files[name] = part.bytes()
		}
		test.change(splitGGUF(), files)
		refuse(t, 20_000, test.name, "", test.want, func() error {
			d, err := Files{}.describeFile(asFS(files), partName("m", 3, 3))
			for _, reason := range Reasons(err) {
				if d.Checkpoint == nil && strings.Contains(reason, test.want) {
					return fmt.Errorf("%s", reason)
				}
			}
			return err
		})
	}
	alone := smallGGUF()
	alone.set(wholePair("split.count", 3))
	refuse(t, 20_000, "renamed part", "renamed.gguf: ", "is one of the 3 parts of a model; they are found by their "+
		"names only", func() error {
		return openMemory("renamed.gguf", map[string][]byte{"renamed.gguf": alone.bytes()})
	})
	name := partName("m", 1, 99999)
	refuse(t, 20_000, "many parts", name, "one of 99999 parts, the limit is 1024", func() error {
		return openMemory(name, map[string][]byte{name: smallGGUF().bytes()})
	})
}
