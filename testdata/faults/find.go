package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source reads a checkout's files, each once.
type source struct {
	tree  string
	texts map[string]string
	names []string // files worth searching, found when first needed
}

func newSource(tree string) *source { return &source{tree: tree, texts: map[string]string{}} }

// changed is what a fault does to a checkout: the new texts of files, by path.
type changed struct {
	files map[string]string
	moved []string // files in which a text was found instead of where the list says
}

// apply works out the files that a fault changes. It fails if an old text is
// not found, or in more than one place, or if a Go file could not be parsed
// with the new one.
func (s *source) apply(f *fault) (*changed, error) {
	c := &changed{files: map[string]string{}}
	for _, e := range f.edits {
		file, at, err := s.find(c, e)
		if err != nil {
			return nil, err
		}
		if file != e.file {
			c.moved = append(c.moved, file)
		}
		text := s.text(c, file)
		c.files[file] = text[:at[0]] + e.new + text[at[1]:]
	}
	for file, text := range c.files {
		if strings.HasSuffix(file, ".go") {
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, 0); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// text returns a file with the edits so far, "" if it is missing.
func (s *source) text(c *changed, file string) string {
	if text, ok := c.files[file]; ok {
		return text
	}
	if _, ok := s.texts[file]; !ok {
		b, _ := os.ReadFile(filepath.Join(s.tree, filepath.FromSlash(file)))
		s.texts[file] = string(b)
	}
	return s.texts[file]
}

// find returns the file and the offset of an edit's old text: in the file that
// the list names, or in the only other file that has it.
func (s *source) find(c *changed, e edit) (file string, at []int, err error) {
	for _, places := range []func(text, old string) [][]int{exactly, loosely} {
		found := places(s.text(c, e.file), e.old)
		if len(found) == 1 {
			return e.file, found[0], nil
		}
		if len(found) > 1 {
			return "", nil, fmt.Errorf("%s has the old text in %d places: %s", e.file, len(found), firstLine(e.old))
		}
	}
	names, err := s.search()
	if err != nil {
		return "", nil, err
	}
	var where []string
	for _, name := range names {
		for _, place := range loosely(s.text(c, name), e.old) {
			where = append(where, name)
			file, at = name, place
		}
	}
	switch len(where) {
	case 0:
		return "", nil, fmt.Errorf("neither %s nor another file has the old text: %s", e.file, firstLine(e.old))
	case 1:
		return file, at, nil
	}
	return "", nil, fmt.Errorf("%s lacks the old text, and more than one other place has it (%s): %s",
		e.file, strings.Join(slices.Compact(where), ", "), firstLine(e.old))
}

// search lists the files that a text may have moved to.
func (s *source) search() ([]string, error) {
	if s.names != nil {
		return s.names, nil
	}
	err := filepath.WalkDir(s.tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "vendor" || (path != s.tree && strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if searched(name) {
			rel, err := filepath.Rel(s.tree, path)
			if err != nil {
				return err
			}
			s.names = append(s.names, filepath.ToSlash(rel))
		}
		return nil
	})
	if err == nil && s.names == nil {
		err = errors.New("no source files in " + s.tree)
	}
	return s.names, err
}

func searched(name string) bool {
	switch filepath.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_templ.go")
	case ".templ", ".js", ".css", ".md":
		return true
	}
	return false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// exactly finds where a text contains another, byte for byte.
func exactly(text, old string) (places [][]int) {
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return places
		}
		places = append(places, []int{from + i, from + i + len(old)})
		from += i + 1
	}
}

// loosely finds where a text has the same words, whatever the white space
// between them.
func loosely(text, old string) [][]int {
	words := strings.Fields(old)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`)).FindAllStringIndex(text, -1)
}
