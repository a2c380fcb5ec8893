//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestPipesAreRefused: a named pipe, a socket, a device or a folder is refused immediately if it is
// given in place of a file.
// Promise: A pipe, socket, device or folder in place of a file is refused at once; no command hangs on it.
func TestPipesAreRefused(t *testing.T) {
	dir, secret := t.TempDir(), t.TempDir()
	pipe, socket := fixture.Pipe(t, dir, "pipe"), fixture.Socket(t, dir, "socket")
	fixture.Pipe(t, secret, "cookie-secret")
	if got := try(t, nil, "", "serve", "-data", secret); got.code == exitDone ||
		!strings.Contains(got.errors, "cookie-secret: is a named pipe") {
		t.Errorf(
			"a secret that is a pipe: exit %d: %s; want anything but %d with %q", got.code, got.errors,
			exitDone, "cookie-secret: is a named pipe",
		)
	}
	cert, key, _ := selfSigned(t)
	llama2c := "../../testdata/models/llama2c/version1.bin"
	for path, want := range map[string]string{
		pipe: "is a named pipe", socket: "is a socket", "/dev/zero": "is a device", dir: "",
	} {
		for name, args := range map[string][]string{
			"-model":     {"serve", "-model", path},
			"-draft":     {"serve", "-draft", path},
			"a path":     {"inspect", path},
			"-tokenizer": {"trace", "-prompt", "a", "-model", llama2c, "-tokenizer", path},
			"-tls-cert":  {"serve", "-tls-cert", path, "-tls-key", key},
			"-tls-key":   {"serve", "-tls-cert", cert, "-tls-key", path},
			"-data":      {"serve", "-data", path},
		} {
			if path == dir && name == "-data" {
				continue // this flag accepts a folder
			}
			if got := try(t, nil, "", args...); got.code != exitUsage || !strings.Contains(got.errors+got.out, want) &&
				name != "-data" {
				t.Errorf(
					"%s %s: got exit code %d: %s; want %d, and %q in the output", name, path, got.code, got.errors,
					exitUsage, want,
				)
			}
		}
	}
}
