//go:build unix

package files

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// patience limits a wait. Only a failing test waits that long.
const patience = time.Minute

// TestPipesAreRefusedAtOnce: a named pipe without a writer is rejected immediately, even if it
// replaces a file between the check and the opening. So are sockets and devices.
func TestPipesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := fixture.Pipe(t, dir, "pipe"), fixture.Socket(t, dir, "socket")
	for _, c := range []struct {
		what string
		open func() error
		want string
	}{
		{"a pipe", func() error { _, err := Open(pipe); return err }, "is a named pipe"},
		{"a pipe in a file's place", func() error { _, err := opened(pipe); return err }, "is a named pipe"},
		{"a pipe in a folder's place", func() error { _, err := Names(pipe, 1); return err }, "not a directory"},
		{"a pipe in a folder", func() error { _, err := Folder(dir).Open("pipe"); return err }, "is a named pipe"},
		{"a pipe to read", func() error { _, err := Read(pipe, 1); return err }, "is a named pipe"},
		{"a pipe inside", func() error { _, err := inside(t, dir).Read("pipe", 1); return err }, "is a named pipe"},
		{
			"a pipe inside, as a folder",
			func() error { _, err := inside(t, dir).Names("pipe", 1); return err }, "not a directory",
		},
		{"a socket", func() error { _, err := Open(socket); return err }, "is a socket"},
		{"a device", func() error { _, err := Open("/dev/zero"); return err }, "is a device"},
		{"a device in a file's place", func() error { _, err := opened("/dev/zero"); return err }, "is a device"},
	} {
		result := make(chan error, 1)
		go func() { result <- c.open() }()
		select {
		case err := <-result:
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.what, err, c.want)
			}
		case <-time.After(patience):
			t.Errorf("%s: the call blocks", c.what)
			w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0) // unblocks the waiting Open
			if err != nil {
				t.Fatal(err)
			}
			w.Close()
		}
	}
	if _, err := opened(socket); err == nil {
		t.Error("a socket that replaced a file was opened")
	}
}

func inside(t *testing.T, dir string) *Inside {
	d, err := OpenInside(dir)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { d.Close() })
	return d
}
