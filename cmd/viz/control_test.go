package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestControlSocketRefusesSymlinkedFolder: if the control folder is a symbolic
// link, no socket is created in the link's target, and the target's permissions do not change.
func TestControlSocketRefusesSymlinkedFolder(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Chmod(other, 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, controlFolder)); err != nil {
		t.Fatal(err)
	}
	if l, err := listenControl(dir); err == nil {
		l.Close()
		t.Error("the socket is in another folder")
	}
	if after, err := os.Stat(other); err != nil || after.Mode() != before.Mode() {
		t.Errorf("the other folder has mode %v, %v; want %v", after.Mode(), err, before.Mode())
	}
}
