package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const twoFaults = `# a list

fault one-thing
  The first thing
  goes wrong.
  package ./a ./b
  run TestX|TestY
  file a/a.go
  <<<<
	x := 1
  ====
	x := 2
  >>>>
  <<<<
return
  ====
  >>>>

fault another
  It goes wrong too.
  package ./c
  before none
  file c.js
  <<<<
a
  ====
b
  >>>>
`

func TestParse(t *testing.T) {
	faults, err := parse(twoFaults)
	if err != nil {
		t.Fatal(err)
	}
	want := []*fault{
		{
			name: "one-thing", behaviour: "The first thing goes wrong.", packages: []string{"./a", "./b"},
			run:   "TestX|TestY",
			edits: []edit{{"a/a.go", "\tx := 1", "\tx := 2"}, {"a/a.go", "return", ""}},
		},
		{
			name: "another", behaviour: "It goes wrong too.", packages: []string{"./c"}, before: "none",
			edits: []edit{{"c.js", "a", "b"}},
		},
	}
	if !reflect.DeepEqual(faults, want) {
		t.Errorf("%+v\nwant %+v", faults, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, spoil := range map[string]string{
		"name":       "fault One\n",
		"no edit":    "fault one\n  It is wrong.\n  package ./a\n",
		"no package": "fault one\n  It is wrong.\n  file a\n  <<<<\na\n  ====\n  >>>>\n",
		"no end":     "fault one\n  It is wrong.\n  package ./a\n  file a\n  <<<<\na\n  ====\nb\n",
		"no file":    "fault one\n  It is wrong.\n  package ./a\n  <<<<\na\n  ====\nb\n  >>>>\n",
		"no change":  "fault one\n  It is wrong.\n  package ./a\n  file a\n  <<<<\na\n  ====\na\n  >>>>\n",
		"no old":     "fault one\n  It is wrong.\n  package ./a\n  file a\n  <<<<\n\n  ====\na\n  >>>>\n",
		"a key":      "fault one\n  It is wrong.\n  package ./a\n  found TestX\n",
		"a pattern":  "fault one\n  It is wrong.\n  package ./a\n  run Test(\n  file a\n  <<<<\na\n  ====\nb\n  >>>>\n",
	} {
		if faults, err := parse(spoil); err == nil {
			t.Errorf("%s: taken as %+v", name, faults)
		}
	}
}

// tree is a small checkout.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644),
		); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An old text is found where the list says, or else in the only other place
// that has it, ignoring white space; tests and generated code do not count.
func TestTextIsFoundAfterItMoved(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/a.go":       "package a\n\nvar x = 1\nvar twice, Twice = 2, 2\n",
		"b/b.go":       "package b\n\nfunc f() {\n\tif   true {\n\t\treturn\n\t}\n}\n",
		"b/b_test.go":  "package b\n\nvar x = 1 // and if true {\n",
		"b/b_templ.go": "package b\n\nif true {\n",
		"c.js":         "let two = 2; let Two = two\n",
	})
	for _, row := range []struct{ file, old, want, text string }{
		{"a/a.go", "x = 1", "a/a.go", "package a\n\nvar NEW\nvar twice, Twice = 2, 2\n"},
		{"a/gone.go", "x = 1", "a/a.go", "package a\n\nvar NEW\nvar twice, Twice = 2, 2\n"},
		{"a/a.go", "if true {\n\treturn\n}", "b/b.go", "package b\n\nfunc f() {\n\tNEW\n}\n"},
		{"a/a.go", "twice", "a/a.go", "package a\n\nvar x = 1\nvar NEW, Twice = 2, 2\n"},
		{"a/a.go", "2", "", ""},       // twice in the file that is named
		{"b/b.go", "two", "", ""},     // twice in another
		{"a/a.go", "nothing", "", ""}, // nowhere
	} {
		c, s := &changed{files: map[string]string{}}, newSource(dir)
		file, at, err := s.find(c, edit{row.file, row.old, "NEW"})
		if row.want == "" {
			if err == nil {
				t.Errorf("%s, %q: found in %s", row.file, row.old, file)
			}
			continue
		}
		if err != nil || file != row.want {
			t.Errorf("%s, %q: in %q, %v; want %s", row.file, row.old, file, err, row.want)
			continue
		}
		if text := s.text(c, file); text[:at[0]]+"NEW"+text[at[1]:] != row.text {
			t.Errorf("%s, %q: %q", row.file, row.old, text[:at[0]]+"NEW"+text[at[1]:])
		}
	}
}

// Edits are applied in order, and a Go file must still parse afterwards.
func TestApply(t *testing.T) {
	dir := tree(t, map[string]string{"a.go": "package a\n\nvar x = 1\n", "b.css": "a { color: red }\n"})
	f := &fault{edits: []edit{{"a.go", "x = 1", "x = 2"}, {"a.go", "x = 2", "y = 3"}, {"b.css", "red", "blue"}}}
	c, err := newSource(dir).apply(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{
		"a.go": "package a\n\nvar y = 3\n", "b.css": "a { color: blue }\n",
	}; !maps.Equal(c.files, want) {
		t.Errorf("%q, want %q", c.files, want)
	}
	f.edits[1].new = "y = = 3"
	if _, err := newSource(dir).apply(f); err == nil {
		t.Error("what is not Go is taken")
	}
}

func TestRecordKeepsTheRestOfTheList(t *testing.T) {
	dir := tree(t, map[string]string{"x.txt": twoFaults})
	for range 2 { // the second time the lines are replaced
		faults, err := readLists(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			if err := errors.Join(record(f, "after", "none"), record(f, "before", "TestX (short)")); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "x.txt"))
	if err != nil {
		t.Fatal(err)
	}
	results := "  before TestX (short)\n  after none\n"
	want := strings.Replace(twoFaults, "  file a/a.go\n", results+"  file a/a.go\n", 1)
	want = strings.Replace(want, "  before none\n", results, 1)
	if string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
}

func TestChoose(t *testing.T) {
	all := []*fault{
		{name: "one-two", list: "d/engine-a.txt"},
		{name: "one-three", list: "d/web-a.txt"},
		{name: "four", list: "d/web-b.txt"},
	}
	for names, want := range map[string]string{
		"all": "one-two one-three four", "one-*": "one-two one-three", "web-a": "one-three",
		"web-*.txt four": "one-three four", "engine-a.txt": "one-two",
	} {
		chosen, err := choose(all, strings.Fields(names), false)
		var got []string
		for _, f := range chosen {
			got = append(got, f.name)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v; want %s", names, got, err, want)
		}
	}
	if _, err := choose(all, []string{"five"}, false); err == nil {
		t.Error("a name that there is not is taken")
	}
}

// The results of go test are distinguished: a test that fails, a build that
// fails, a timeout, and a pattern without a test.
func TestReadEvents(t *testing.T) {
	for name, row := range map[string]struct {
		events string
		want   result
		fails  bool
	}{
		"passed": {
			`{"Action":"run","Package":"m/a","Test":"TestX"}` + "\n" + `{"Action":"pass","Package":"m/a"}`,
			result{},
			false,
		},
		"failed": {
			`{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"fail","Package":"m/a","Test":"TestX/sub"}
{"Action":"fail","Package":"m/a","Test":"TestX"}
{"Action":"fail","Package":"m/a"}`, result{pkg: "m/a", tests: []string{"TestX"}}, false,
		},
		"out of time": {
			`{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Output":"panic: test timed out after 1s\n"}
{"Action":"output","Package":"m/a","Output":"\tTestY (3s)\n"}
{"Action":"fail","Package":"m/a","Test":"TestX"}
{"Action":"fail","Package":"m/a"}`, result{pkg: "m/a", tests: []string{"TestY"}, timeout: true}, false,
		},
		"no build": {
			`{"Action":"build-output","Output":"x.go:1: no\n"}` + "\n" +
				`{"Action":"fail","Package":"m/a","FailedBuild":"m/a"}`,
			result{},
			true,
		},
		"no test": {`{"Action":"pass","Package":"m/a"}`, result{}, true},
	} {
		got, err := readEvents(strings.NewReader(row.events))
		if (err != nil) != row.fails || got.pkg != row.want.pkg || got.timeout != row.want.timeout || !slices.Equal(
			got.tests, row.want.tests,
		) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, row.want)
		}
	}
}

// The lists of this checkout can be read, and each of their faults can be made
// in it. If this fails the code has changed: update the old text of the entry
// to the current code, so that the behaviour can still be broken.
func TestEveryFaultCanBeMade(t *testing.T) {
	top, err := moduleTop()
	if err != nil {
		t.Fatal(err)
	}
	all, err := readLists(filepath.Join(top, "testdata", "faults"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 90 {
		t.Errorf("there are %d faults", len(all))
	}
	src := newSource(top)
	for _, f := range all {
		if _, err := src.apply(f); err != nil {
			t.Errorf("%s: %v\nto make by hand: %s", f.name, err, f.behaviour)
		}
	}
}
