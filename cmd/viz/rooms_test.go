package main

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goCommand runs the go command at the top of the repository.
func goCommand(t *testing.T, args ...string) io.Reader {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = filepath.Join("..", "..")
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(out))
}

// TestProgramsLinkNoNATSServer: the program does not link the NATS server, which only tests use,
// and the program for browsers does not link the NATS client, either.
func TestProgramsLinkNoNATSServer(t *testing.T) {
	for program, without := range map[string]string{"./cmd/viz": "/nats-server/", "./cmd/viz/tab": "/nats-io/"} {
		t.Run(program, func(t *testing.T) {
			if program == "./cmd/viz/tab" {
				t.Setenv("GOOS", "js")
				t.Setenv("GOARCH", "wasm")
			}
			list, err := io.ReadAll(goCommand(t, "list", "-deps", program))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(list), module+"/web/journal\n") {
				t.Error("the list of packages lacks web/journal: the list is wrong")
			}
			for dep := range strings.Lines(string(list)) {
				if strings.Contains(dep, without) {
					t.Errorf("the program links %s", strings.TrimSpace(dep))
				}
			}
		})
	}
}
