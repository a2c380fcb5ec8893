//go:build unix

package checkpoint

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAndDevicesAreRefused: anything that is not a regular file is rejected without opening
// it, since opening a pipe would wait for a writer.
func TestPipesAndDevicesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, sound := filepath.Join(dir, "pipe.gguf"), filepath.Join(dir, "m.bin")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.WriteFile(sound, llama2cFile(smallLlama2c...), 0o600); err != nil {
		t.Fatal(err)
	}
	// with returns a valid folder in which one file is a pipe.
	with := func(file string) string {
		folder := t.TempDir()
		for name, f := range tinyFolder(t) {
			if err := os.WriteFile(filepath.Join(folder, name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if file != weightsFile && strings.HasSuffix(file, ".safetensors") {
			index := `{"weight_map": {"model.norm.weight": "` + file + `"}}`
			if err := os.WriteFile(filepath.Join(folder, indexFile), []byte(index), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(folder, file)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(file, "model") { // otherwise, the other weights would be opened first
			if err := os.RemoveAll(filepath.Join(folder, weightsFile)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	parts := filepath.Join(dir, "parts")
	if err := os.Mkdir(parts, 0o700); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(parts, "m-00001-of-00002.gguf")
	split := smallGGUF()
	split.set(wholePair("split.no", 0))
	split.set(wholePair("split.count", 2))
	if err := os.WriteFile(first, split.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(parts, "m-00002-of-00002.gguf"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		files Files
		want  string
	}{
		{Files{Model: pipe}, "pipe.gguf: is a named pipe"},
		{Files{Model: filepath.Join(dir, "socket.bin")}, "socket.bin: is a socket"},
		{Files{Model: "/dev/zero"}, "zero: is a device"},
		{Files{Model: with(weightsFile)}, "model.safetensors: is a named pipe"},
		{Files{Model: with(configFile)}, "config.json: is a named pipe"},
		{Files{Model: with("tokenizer.json")}, "tokenizer.json: is a named pipe"},
		{Files{Model: with(indexFile)}, indexFile + ": is a named pipe"},
		{Files{Model: with("model-00001.safetensors")}, "model-00001.safetensors: is a named pipe"},
		{Files{Model: first}, "m-00002-of-00002.gguf: is a named pipe"},
		{Files{Model: sound, Tokenizer: pipe}, "pipe.gguf: is a named pipe"},
		{Files{Model: sound, Tokenizer: dir}, "is a folder"},
	} {
		if _, err := test.files.Open(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.files, err, test.want)
		}
	}
}
