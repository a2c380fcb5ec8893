package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// readme is the README followed by the pages that it leads to.
func readme(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, page := range []string{
		"README.md", "cmd/viz/README.md", "cmd/viz/OPERATING.md", "web/PRIVACY.md", "web/api/README.md",
		"web/site/README.md", "web/cluster/README.md", "lessons/README.md", "infer/README.md",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestReadmeIsShort: a newcomer reads 8 KB at most.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 8<<10 {
		t.Errorf("README.md has %d bytes, want at most %d", len(text), 8<<10)
	}
}

// The README's pages show what the command next to it really prints.
func TestReadmeExample(t *testing.T) {
	command := `$ go run ./cmd/viz trace -prompt "Once upon a time there was a" -n 1 -rows 5 -temp 1 -seed 11`
	_, shown, found := strings.Cut(readme(t), "```console\n"+command+"\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !found || !closed {
		t.Fatalf("README.md lacks the example %s", command)
	}
	got := ok(
		t, "trace", "-prompt", "Once upon a time there was a", "-n", "1", "-rows", "5", "-temp", "1", "-seed", "11",
	)
	sameText(t, textTime.ReplaceAllString(got, "  0 ms"), textTime.ReplaceAllString(shown, "  0 ms"))
}

// The tables of the README's pages have every flag, and no others.
func TestReadmeFlags(t *testing.T) {
	text := readme(t)
	known := map[string]bool{"version": true}
	for _, f := range []*flags{
		new(serveOptions).flags(), new(traceOptions).flags(), new(whyOptions).flags(), new(scoreOptions).flags(),
		new(inspectOptions).flags(),
		new(benchOptions).flags(), new(siteOptions).flags(),
		new(loadOptions).flags(), new(dataOptions).flags(), new(roomsOptions).flags(), new(checkOptions).flags(),
		new(backupOptions).flags(),
	} {
		for _, x := range f.listed {
			known[x.name] = true
			if row := strings.TrimRight("| `-"+x.name+" "+x.arg, " ") + "` |"; !strings.Contains(text, row) {
				t.Errorf("README.md lacks a row %s", row)
			}
		}
	}
	for line := range strings.Lines(text) {
		if name, isFlag := strings.CutPrefix(line, "| `-"); isFlag {
			if name := name[:strings.IndexAny(name, " `")]; !known[name] {
				t.Errorf("README.md has a flag -%s that does not exist", name)
			}
		}
	}
}

// Every field of the JSON objects of viz rooms and viz check is described in STAGES.md.
func TestRoomsAndChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "infer", "STAGES.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Rooms and checks\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("STAGES.md does not say what %s of %s is", name, of)
			}
			look(of.Field(i).Type)
		}
	}
	look(reflect.TypeFor[roomObject]())
	look(reflect.TypeFor[checked]())
}

// Every field of the JSON form is described in STAGES.md.
// Promise: STAGES.md describes every field of the JSON that `viz trace` prints.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "infer", "STAGES.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Stages\n")
	text, _, found := strings.Cut(text, "\n## ")
	if !found {
		t.Fatal("STAGES.md has no section on stages")
	}
	missing := map[string]bool{}
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case object:
			for name, value := range v {
				if !strings.Contains(text, "`"+name+"`") {
					missing[name] = true
				}
				look(value)
			}
		case []any:
			for _, value := range v {
				look(value)
			}
		}
	}
	// Characters of several tokens and a stop string produce the rarer fields.
	for _, o := range objects(
		t,
		ok(
			t, "trace", "-prompt", "東京", "-n", "30", "-temp", "3", "-top-p", "1", "-rows", "3", "-stop", " a",
			"-json",
		),
	) {
		look(o)
	}
	for name := range missing {
		t.Errorf("STAGES.md does not say what %q is", name)
	}
}
