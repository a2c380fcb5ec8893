package tab

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/files"
)

// TestChunksReadAnyRange: a file that is fetched in chunks can be read at any offset. A chunk is
// not fetched again unless another chunk has been needed in the meantime. If a chunk is shorter
// than it should be for the file's size, reading fails.
func TestChunksReadAnyRange(t *testing.T) {
	t.Parallel()
	whole := make([]byte, 2*chunkBytes+100)
	for i := range whole {
		whole[i] = byte(i * 7 / 3)
	}
	fetched, read := 0, 0
	p := &chunks{
		size: int64(len(whole)), read: func(n int) { read += n },
		fetch: func(from, to int64) ([]byte, error) { fetched++; return whole[from:to], nil },
	}
	got, err := io.ReadAll(io.NewSectionReader(p, 0, p.size))
	if err != nil || !bytes.Equal(got, whole) || fetched != 3 || read != len(whole) {
		t.Errorf(
			"read %d bytes, %v, in %d chunks of %d bytes; want the whole file, <nil>, in 3 chunks, each read once",
			len(got), err, fetched, read,
		)
	}
	part := make([]byte, 10)
	for _, at := range []int64{0, chunkBytes - 3, 2 * chunkBytes, p.size - 10} {
		if n, err := p.ReadAt(part, at); n != 10 || err != nil || !bytes.Equal(part, whole[at:at+10]) {
			t.Errorf("at %d: got %d bytes %v, %v; want 10, %v, <nil>", at, n, part, err, whole[at:at+10])
		}
	}
	if n, err := p.ReadAt(part, p.size-4); n != 4 || err != io.EOF {
		t.Errorf("beyond the end: got %d bytes, %v; want 4, %v", n, err, io.EOF)
	}
	p.fetch = func(from, to int64) ([]byte, error) { return whole[from : to-1], nil }
	if n, err := p.ReadAt(part, 0); n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that has become shorter: got %d bytes, %v; want 0, %v", n, err, io.ErrUnexpectedEOF)
	}
}

func TestTopLevelFileOfSelection(t *testing.T) {
	t.Parallel()
	for chosen, want := range map[string]string{
		"model.gguf": "model.gguf", "folder/config.json": "config.json",
		"folder/onnx/model.onnx": "", "folder/": "", "": "",
	} {
		if name, top := topOf(chosen); top != (want != "") || top && name != want {
			t.Errorf("topOf(%q) = %q, %v; want %q", chosen, name, top, want)
		}
	}
}

const fixtures = "../../testdata/models/"

// fromDisk returns files from a fixture folder, fetched in chunks.
func fromDisk(t *testing.T, folder string, names ...string) Files {
	t.Helper()
	list := Files{}
	for _, name := range names {
		data, err := os.ReadFile(fixtures + folder + name)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = &chunks{
			size: int64(len(data)), read: func(int) {},
			fetch: func(from, to int64) ([]byte, error) { return data[from:to], nil },
		}
	}
	return list
}

// TestOpenOwnModel: a visitor's model produces the same results as the model that the program opens
// by its path. If its weights do not fit in memory, they are rounded; if the rounded weights do not
// fit either, the model is refused.
func TestOpenOwnModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder string
		names  []string
		path   string
		called string
	}{
		{"", []string{"llama-q4_k_m.gguf"}, "llama-q4_k_m.gguf", "llama-q4_k_m"},
		{"qwen3/", []string{"config.json", "model.safetensors", "tokenizer.json"}, "qwen3", "mine"},
		{"llama2c/", []string{"untied.bin", "tokenizer.bin"}, "llama2c/untied.bin", "untied"},
	} {
		m, format, err := OpenOwn(fromDisk(t, c.folder, c.names...), "mine", ownLimit)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		want, err := checkpoint.OpenPath(fixtures + c.path)
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		if m.Hash() != want.Hash || m.Name() != c.called || format != want.Format || m.Quant() != infer.QuantNone {
			t.Errorf(
				"%s is %s, %s, %s, %s; want %s, %s, %s, %s", c.path, m.Name(), format, m.Quant(), m.Hash(), c.called,
				want.Format, infer.QuantNone, want.Hash,
			)
		}
		exact, rounded := infer.WeightMemory(want, infer.QuantNone), infer.WeightMemory(want, infer.QuantInt8)
		m, _, err = OpenOwn(fromDisk(t, c.folder, c.names...), "mine", exact-1)
		if err != nil || m.Quant() != infer.QuantInt8 {
			t.Errorf("%s, one byte over the limit: %v; want no error, m.Quant() = %q", c.path, err, infer.QuantInt8)
		}
		_, _, err = OpenOwn(fromDisk(t, c.folder, c.names...), "mine", rounded-1)
		if err == nil || !strings.Contains(err.Error(), "too large for a browser") {
			t.Errorf(
				"%s, over the limit: got error %v, want an error containing %q", c.path, err, "too large for a browser",
			)
		}
	}
}

// counting counts the bytes that are read.
type counting struct {
	Source
	n *int
}

func (c counting) ReadAt(b []byte, at int64) (int, error) {
	*c.n += len(b)
	return c.Source.ReadAt(b, at)
}

// TestOpenOwnRefusesLargeModelUnread: a model that does not fit is refused before its weights
// are read, which would take minutes for a file of many gigabytes.
func TestOpenOwnRefusesLargeModelUnread(t *testing.T) {
	t.Parallel()
	const name = "llama-f16.gguf"
	read, own := 0, fromDisk(t, "", name)
	_, _, err := OpenOwn(Files{name: counting{own[name], &read}}, "mine", 1000)
	if err == nil || !strings.Contains(err.Error(), "too large for a browser") {
		t.Errorf("limit of 1,000 bytes: got error %v, want one containing %q", err, "too large for a browser")
	}
	if whole := int(own.Bytes()); read == 0 || read >= whole {
		t.Errorf("%d bytes of %d were read; want not 0, less than %d", read, whole, whole)
	}
}

// TestOpenOwnRefusalGivesReasons: a refusal gives the same reasons as a server's.
func TestOpenOwnRefusalGivesReasons(t *testing.T) {
	t.Parallel()
	config := fromDisk(t, "qwen3/", "config.json", "tokenizer.json")
	picture := Files{"cat.png": bytes.NewReader([]byte("\x89PNG\r\n\x1a\n12345678"))}
	short := Files{"x.gguf": bytes.NewReader([]byte("GGUF\x03\x00"))}
	for _, c := range []struct {
		name      string
		files     Files
		say, says string
	}{
		{"nothing", Files{}, "no files", ""},
		{"no weights", config, "files are missing", "model folder has no model.safetensors"},
		{"no vocabulary", fromDisk(t, "llama2c/", "untied.bin"), "files are missing", "tokenizer.bin"},
		{"a picture", picture, "can’t be opened", "cat.png"},
		{"weights alone", fromDisk(t, "qwen3/", "model.safetensors"), "files are missing", "config.json"},
		{"cut short", short, "can’t be opened", "x.gguf"},
		{
			"two models", fromDisk(t, "", "llama-f16.gguf", "llama-q8_0.gguf"), "can’t be opened",
			"contains 2 models; specify one of them",
		},
	} {
		_, _, err := OpenOwn(c.files, "mine", ownLimit)
		var no *refusal
		if !errors.As(err, &no) {
			t.Errorf("%s: got error %v, want an error of type *refusal", c.name, err)
			continue
		}
		why := strings.Join(no.why, "\n")
		if !strings.Contains(no.Error(), c.say) || !strings.Contains(why, c.says) ||
			strings.Contains(why, "-tokenizer") {
			t.Errorf(
				"%s: got %q, reasons %q; want %q in it, reasons with %q, without %q", c.name, no.say, why, c.say,
				c.says, "-tokenizer",
			) // a page has no flags
		}
	}
}

// TestFilesAreAFolder: the files are listed as in a folder on disk.
func TestFilesAreAFolder(t *testing.T) {
	t.Parallel()
	list, err := fromDisk(t, "qwen3/", "tokenizer.json", "config.json").ReadDir(".")
	if err != nil || len(list) != 2 || list[0].Name() != "config.json" || list[1].IsDir() {
		t.Errorf("got list %v, %v; want two files, config.json first, <nil>", list, err)
	}
	info, err := list[0].Info()
	if err != nil || files.Regular(info) != nil || info.Size() == 0 {
		t.Errorf("got %v, %v; want no error, Size() not 0", info, err)
	}
}

// summed is a file whose SHA-256 is computed elsewhere.
type summed struct {
	Source
	sum func() ([]byte, error)
}

func (s summed) SHA256() ([]byte, error) { return s.sum() }

// TestModelHashUsesGivenSum: the model's hash depends only on the given checksum of the weights
// file. Without a checksum, the model is not opened.
func TestModelHashUsesGivenSum(t *testing.T) {
	t.Parallel()
	open := func(sum func() ([]byte, error)) (string, error) {
		list := fromDisk(t, "qwen3/", "config.json", "model.safetensors", "tokenizer.json")
		if sum != nil {
			list["model.safetensors"] = summed{list["model.safetensors"], sum}
		}
		c, err := checkpoint.Open(list, "qwen3")
		if err != nil {
			return "", err
		}
		defer c.Close()
		return c.Hash, nil
	}
	want, err := open(nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(fixtures + "qwen3/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := sha256.Sum256(data), sha256.Sum256(nil)
	if got, err := open(func() ([]byte, error) { return right[:], nil }); err != nil || got != want {
		t.Errorf("the hash is %q, %v, want %q", got, err, want)
	}
	if got, err := open(func() ([]byte, error) { return wrong[:], nil }); err != nil || got == want {
		t.Errorf("the sum of other bytes gives the hash %q, %v; want a hash other than %q, <nil>", got, err, want)
	}
	if _, err := open(func() ([]byte, error) { return nil, io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("without a sum: got error %v, want %v", err, io.ErrClosedPipe)
	}
}
