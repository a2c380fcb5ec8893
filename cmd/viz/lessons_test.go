package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLessonsCheckReportsErrors: the worked example has no errors. For a folder with errors, the
// command prints one line for each error and returns exit code 2, and a server does not start with
// that folder.
func TestLessonsCheckReportsErrors(t *testing.T) {
	t.Parallel()
	out := ok(t, "lessons", "check", "../../testdata/lessons")
	if !strings.Contains(out, "has no errors: 1 lesson, 2 questions, 2 cards, 1 walkthrough") {
		t.Fatalf("got %q, want it to contain %q", out, "has no errors: 1 lesson, 2 questions, 2 cards, 1 walkthrough")
	}
	dir := t.TempDir()
	text := "---\ntitle: Mine\nslug: mine\nnumber: 1\nminutes: 2\ndifficulty: gentle\nlead: It is mine.\n---\n\n" +
		"## One {#one}\n\na <script>x</script>\n\nb {=calc(1/) 2}\n"
	path := filepath.Join(dir, "01-mine.md")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lessons", "check", dir}, {"serve", "-no-open", "-lessons", dir}} {
		f := try(t, nil, "", args...)
		if f.code != exitUsage || !strings.Contains(f.errors, path+":12: HTML") ||
			!strings.Contains(f.errors, path+":14: ") {
			t.Errorf(
				"%q: exit code %d: %s; want %d with %q and %q", args, f.code, f.errors, exitUsage,
				path+":12: HTML", path+":14: ",
			)
		}
	}
	for _, args := range [][]string{{"lessons", "paint"}, {"lessons", "check"}, {"lessons", "check", "a", "b"}} {
		if f := try(t, nil, "", args...); f.code != exitUsage || f.errors == "" {
			t.Errorf("%q: exit code %d: %s; want %d, non-empty", args, f.code, f.errors, exitUsage)
		}
	}
}
