package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A fault is one entry of a list.
type fault struct {
	name      string
	behaviour string
	packages  []string // as for go test, the one that should see it first
	run       string   // for go test -run; empty: all tests
	before    string   // recorded result, "" if there is none
	after     string
	edits     []edit
	list      string // the list's file
}

// An edit replaces the only place in a file that has the old text.
type edit struct {
	file     string // from the top of the tree, with slashes
	old, new string
}

var nameRule = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// readLists reads every list of a folder, in the order of their names. An error
// names the file, the line and what is wrong there.
func readLists(dir string) ([]*fault, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []*fault
	at := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		faults, err := parse(string(b))
		if err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
		for _, f := range faults {
			if other, twice := at[f.name]; twice {
				return nil, fmt.Errorf("%s: fault %s is in %s too", file, f.name, other)
			}
			at[f.name], f.list = file, file
		}
		all = append(all, faults...)
	}
	return all, nil
}

// parse reads the text of one list.
func parse(text string) ([]*fault, error) {
	var faults []*fault
	var f *fault
	var file string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		key, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch {
		case line == "" || strings.HasPrefix(lines[i], "#"):
		case strings.HasPrefix(lines[i], "fault "):
			if !nameRule.MatchString(value) {
				return nil, fmt.Errorf("%d: %q is not a name of lower-case words and hyphens", i+1, value)
			}
			f, file = &fault{name: value}, ""
			faults = append(faults, f)
		case f == nil:
			return nil, fmt.Errorf("%d: %q is before the first fault", i+1, line)
		case line == "<<<<":
			e, end, err := parseEdit(lines, i)
			if err != nil {
				return nil, err
			}
			if file == "" {
				return nil, fmt.Errorf("%d: fault %s has an edit before its file", i+1, f.name)
			}
			e.file = file
			f.edits, i = append(f.edits, e), end
		case key == "file":
			file = value
		case !f.set(key, value):
			if len(f.packages)+len(f.edits) > 0 || file != "" {
				return nil, fmt.Errorf("%d: fault %s: no line begins with %q after the behaviour", i+1, f.name, key)
			}
			f.behaviour = strings.TrimSpace(f.behaviour + " " + line)
		}
	}
	for _, f := range faults {
		if f.behaviour == "" || len(f.packages) == 0 || len(f.edits) == 0 {
			return nil, fmt.Errorf(" fault %s lacks its behaviour, package or edit", f.name)
		}
		if _, err := regexp.Compile(f.run); err != nil {
			return nil, fmt.Errorf(" fault %s: %w", f.name, err)
		}
	}
	return faults, nil
}

// set stores the value of a line that begins with a key, and reports whether it
// does. A behaviour may begin with a key's word only if that is capitalised.
func (f *fault) set(key, value string) bool {
	switch key {
	case "package":
		f.packages = strings.Fields(value)
	case "run":
		f.run = value
	case "before":
		f.before = value
	case "after":
		f.after = value
	default:
		return false
	}
	return true
}

// parseEdit reads the edit that begins on line start and returns its last line.
func parseEdit(lines []string, start int) (edit, int, error) {
	middle := -1
	for i := start + 1; i < len(lines); i++ {
		switch strings.TrimSpace(lines[i]) {
		case "====":
			if middle >= 0 {
				return edit{}, 0, fmt.Errorf("%d: a second ==== in one edit", i+1)
			}
			middle = i
		case ">>>>":
			if middle < 0 {
				return edit{}, 0, fmt.Errorf("%d: an edit without ====", i+1)
			}
			e := edit{old: strings.Join(lines[start+1:middle], "\n"), new: strings.Join(lines[middle+1:i], "\n")}
			if strings.TrimSpace(e.old) == "" {
				return edit{}, 0, fmt.Errorf("%d: an edit without an old text", start+1)
			}
			if e.old == e.new {
				return edit{}, 0, fmt.Errorf("%d: an edit that changes nothing", start+1)
			}
			return e, i, nil
		}
	}
	return edit{}, 0, fmt.Errorf("%d: an edit without its >>>>", start+1)
}

// choose picks faults by name, list, pattern or "all", in the lists' order.
// Without a name it picks all of them if whole says so.
func choose(all []*fault, names []string, whole bool) ([]*fault, error) {
	if len(names) == 0 {
		if whole {
			return all, nil
		}
		return nil, fmt.Errorf("which fault? `list` names them, `all` is all of them")
	}
	picked := map[*fault]bool{}
	for _, name := range names {
		found := false
		for _, f := range all {
			list := strings.TrimSuffix(filepath.Base(f.list), ".txt")
			asList := strings.TrimSuffix(filepath.Base(name), ".txt")
			byName, err := path.Match(name, f.name)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", name, err)
			}
			byList, _ := path.Match(asList, list)
			if name == "all" || byName || byList {
				picked[f], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no fault and no list is called %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(f *fault) bool { return !picked[f] }), nil
}

// tierOf returns the tier of a recorded result: "short", "long", "none", or ""
// if nothing is recorded.
func tierOf(result string) string {
	switch {
	case strings.HasSuffix(result, "(short)"):
		return "short"
	case strings.HasSuffix(result, "(long)"):
		return "long"
	case result != "":
		return "none"
	}
	return ""
}

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// record writes a result into the entry's list, as its line `when` (before or
// after), and changes nothing else.
func record(f *fault, when, result string) error {
	b, err := os.ReadFile(f.list)
	if err != nil {
		return err
	}
	lines := strings.Split(string(b), "\n")
	at := slices.Index(lines, "fault "+f.name)
	if at < 0 {
		return fmt.Errorf("%s: fault %s has gone", f.list, f.name)
	}
	line := "  " + when + " " + result
	for i := at + 1; i < len(lines); i++ {
		key, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		if key == when {
			lines[i] = line
			break
		}
		if key == "file" || key == "after" {
			lines = slices.Insert(lines, i, line)
			break
		}
	}
	return os.WriteFile(f.list, []byte(strings.Join(lines, "\n")), 0o644)
}
