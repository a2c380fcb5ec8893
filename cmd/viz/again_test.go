package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRestartCommandRepeatsFlagsAndEnvironment: the command line contains exactly the given flags
// and environment, and a shell passes its arguments on unchanged.
func TestRestartCommandRepeatsFlagsAndEnvironment(t *testing.T) {
	folder := "/srv/it's a class; rm -rf $HOME/`x`\\"
	env := map[string]string{"VIZ_ROOM_TTL": "12h", "VIZ_ADDR": "127.0.0.1:9"}
	for name, c := range map[string]struct {
		program string
		args    []string
		want    []string // the arguments that a shell passes on
	}{
		"nothing": {"viz", nil, []string{"viz", "-room-ttl", "12h", "-addr", "0.0.0.0:8080"}},
		"this run's": {
			"/tmp/go-build123/b001/exe/viz", nil,
			[]string{"go", "run", "./cmd/viz", "-room-ttl", "12h", "-addr", "0.0.0.0:8080"},
		},
		"all kinds": {
			"./my viz",
			[]string{
				"-no-open", "-storybook=false", "-data", folder, "-allow-host", "a.example,b.example",
				"--allow-host=c.example", "-addr=127.0.0.1:1", "-model", "", "-room-ttl", "30d",
			},
			[]string{
				"./my viz", "-no-open", "-storybook=false", "-data", folder, "-allow-host", "a.example,b.example",
				"-allow-host", "c.example",
				"-model", "", "-room-ttl", "30d", "-addr", "0.0.0.0:8080",
			},
		},
	} {
		f := (&serveOptions{}).flags()
		if err := f.parse(c.args, func(name string) string { return env[name] }, io.Discard); err != nil {
			t.Fatal(err)
		}
		command := f.again(c.program, []string{"addr"}, "-addr", "0.0.0.0:8080")
		if got := byShell(t, command); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\nis passed on as %q, want %q", name, command, got, c.want)
		}
	}
	for arg, want := range map[string]string{"": `""`, `C:\Users\me`: `C:\Users\me`, `C:\My class`: `"C:\My class"`} {
		if got := quoted("windows", arg); got != want {
			t.Errorf("on Windows, %q is quoted as %s, want %s", arg, got, want)
		}
	}
}

// byShell splits a command line into arguments with sh.
func byShell(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	list := strings.Split(string(out), "\x00")
	return list[:len(list)-1]
}

// TestPrintedCommandOpensTheServer: run in a shell, the command that a local server prints starts
// the same server, open to the network.
func TestPrintedCommandOpensTheServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "two words")
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", data, "-allow-host", "class.example", "-room-ttl", "36h")
	if s.end() != exitDone {
		t.Fatalf("ending the server: want exit code %d; stderr: %s", exitDone, s.errors)
	}
	printed := s.out.String() // complete only after the server has ended
	lines := strings.Split(printed, "\n")
	at := slices.IndexFunc(
		lines, func(line string) bool { return strings.HasPrefix(line, "Only this machine can reach it.") },
	)
	if at < 0 {
		t.Fatalf("the server printed %q first, want the command that opens it to the network", printed)
	}
	args := byShell(t, strings.TrimSpace(lines[at+1]))
	args = args[slices.Index(args, "-no-open"):] // the name of this test binary precedes it
	for _, want := range []string{"-no-open", "-data", data, "class.example", "36h"} {
		if !slices.Contains(args, want) {
			t.Errorf("%q lacks %q", args, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, complaints, exit := newOutput(), newOutput(), make(chan int, 1)
	go func() { exit <- run(ctx, args, func(string) string { return "" }, nil, out, complaints) }()
	select {
	case <-out.line:
	case code := <-exit:
		t.Fatalf("%q: got exit code %d: %s; want the server to run", args, code, complaints)
	}
	cancel()
	<-exit
	for _, want := range []string{
		"Others on the network can reach it too", "class.example", "Warning: this is plain HTTP",
		fmt.Sprintf("Classes can reach it at http://%s", lanHost()),
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q prints %q, which lacks %q", args, out, want)
		}
	}
}
