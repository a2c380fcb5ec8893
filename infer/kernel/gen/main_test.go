package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The assembly in the tree is what the generator writes.
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
			t.Errorf("%s_amd64.s is not what its template gives: run go generate ./infer/kernel", name)
		}
	}
}
