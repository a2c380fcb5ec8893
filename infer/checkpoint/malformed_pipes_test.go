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

// Anything that is not a file is rejected immediately: opening a pipe would
// wait for a writer.
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
	folder := t.TempDir()
	for name, f := range tinyFolder(t) {
		if err := os.WriteFile(filepath.Join(folder, name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	weights := filepath.Join(folder, weightsFile)
	if err := os.Remove(weights); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(weights, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		files Files
		want  string
	}{
		{Files{Model: pipe}, "pipe.gguf: is a named pipe"},
		{Files{Model: filepath.Join(dir, "socket.bin")}, "socket.bin: is a socket"},
		{Files{Model: "/dev/zero"}, "zero: is a device"},
		{Files{Model: folder}, "model.safetensors: is a named pipe"},
		{Files{Model: sound, Tokenizer: pipe}, "pipe.gguf: is a named pipe"},
		{Files{Model: sound, Tokenizer: dir}, "is a folder"},
	} {
		if _, err := test.files.Open(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.files, err, test.want)
		}
	}
}
