package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestAssemblyIsUpToDate: the assembly in the tree equals the generator's
// output.
func TestAssemblyIsUpToDate(t *testing.T) {
	for name := range files {
		want, err := Generate(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name+"_amd64.s"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s_amd64.s differs from the output of its template: run go generate ./infer/kernel", name)
		}
	}
}
