package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// headBytes is the number of bytes at the start of a file that identify it.
const headBytes = 512

// A foreign describes a file that is easily mistaken for a model.
type foreign struct {
	kind string // the kind of file, for a description
	say  string // the sentence that rejects it
}

// pointer matches the pointer file that Git LFS stores in place of a large file.
var pointer = regexp.MustCompile(`^version https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?size (\d{1,18})\n`)

const pickled = "a Python pickle, which is not supported because it can contain code; look for a " +
	"model.safetensors at the same source, or convert the model with transformers: " +
	"AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(OTHER)"

// signatures maps the first bytes of files to the kinds of files that are not supported.
var signatures = []struct {
	magic string
	foreign
}{
	{"\x80\x02", foreign{"PyTorch file", "is " + pickled}},
	{"\x80\x03", foreign{"PyTorch file", "is " + pickled}},
	{"\x80\x04", foreign{"PyTorch file", "is " + pickled}},
	{
		"\x89HDF\r\n",
		foreign{
			"HDF5 file",
			"is an HDF5 file, as TensorFlow and Keras write it; convert the model to safetensors or GGUF",
		},
	},
	{"FUGG", foreign{"big-endian GGUF", "is a big-endian GGUF file; only little-endian files are supported"}},
	{"lmgg", ggml},
	{"fmgg", ggml},
	{"tjgg", ggml},
	{"algg", ggml},
	{"\x1f\x8b", foreign{"gzip file", "is compressed with gzip; unpack it first"}},
	{"\xfd7zXZ", foreign{"xz file", "is compressed with xz; unpack it first"}},
	{"\x28\xb5\x2f\xfd", foreign{"Zstandard file", "is compressed with Zstandard; unpack it first"}},
	{"\x93NUMPY", foreign{"NumPy array", "is a NumPy array, not a model"}},
}

var ggml = foreign{"GGML file", "is in a format that llama.cpp dropped in 2023; convert the model to GGUF"}

// identify recognizes common kinds of files that are not models by their first bytes.
func identify(name string, head []byte) (foreign, bool) {
	if bytes.HasPrefix(head, []byte("version https://git-lfs")) {
		size := "the actual file"
		if m := pointer.FindSubmatch(head); m != nil {
			size = "the actual file of " + string(m[1]) + " bytes"
		}
		return foreign{
			"git-LFS pointer",
			fmt.Sprintf(`is a Git LFS pointer: %s was not fetched; run "git lfs pull" in the folder`, size),
		}, true
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		if bytes.Contains(head, []byte("data.pkl")) || path.Ext(name) == ".bin" || strings.HasPrefix(
			path.Ext(name), ".pt",
		) {
			return foreign{"PyTorch file", "is " + pickled}, true
		}
		return foreign{"zip archive", "is a zip archive; unpack it first"}, true
	}
	start := strings.ToLower(strings.TrimSpace(string(head)))
	if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
		return foreign{
			"web page",
			`is a web page, not the file that its name suggests; ` +
				`to download a file from Hugging Face, use the URL with "/resolve/" instead of "/blob/"`,
		}, true
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return s.foreign, true
		}
	}
	return foreign{}, false
}

// foreignFile is the error that rejects a file recognized by identify.
type foreignFile struct {
	name string
	foreign
}

func (e foreignFile) Error() string { return e.name + ": " + e.say }

// checkHead rejects a file whose first bytes show that it is not a supported model.
func checkHead(name string, r io.ReaderAt, size int64) error {
	head := make([]byte, min(headBytes, size))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if f, known := identify(name, head); known {
		return foreignFile{name, f}
	}
	return nil
}
