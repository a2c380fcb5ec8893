package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The faults that measure the tests can still be made, and the program that
// makes them works: ./... skips testdata.
func TestFaultListsApply(t *testing.T) {
	t.Parallel()
	c := exec.Command("go", "test", "./testdata/faults")
	c.Dir = filepath.Join("..", "..")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
