package lessons

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Problem is an error in the course's files. Its message begins with the file and the line.
type Problem struct {
	File string // relative to the content folder
	Line int    // from 1
	Say  string
}

// Error returns a message such as `kv-cache.md:12: there is no term "kv-cash"`.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Say) }

// position is a line of a file.
type position struct {
	file string
	line int
}

func (p position) down(lines int) position { return position{p.file, p.line + lines} }

// problems collects all errors, so an author sees all of them at once.
type problems struct{ list []*Problem }

func (ps *problems) add(at position, format string, args ...any) {
	p := &Problem{at.file, at.line, fmt.Sprintf(format, args...)}
	for _, old := range ps.list {
		if *old == *p {
			return
		}
	}
	ps.list = append(ps.list, p)
}

// in is like err, but prepends the folder dir to the file names.
func (ps *problems) in(dir string) error {
	for _, p := range ps.list {
		p.File = filepath.Join(dir, filepath.FromSlash(p.File))
	}
	return ps.err()
}

// err joins the problems in the order of files and lines. It returns nil if there are none.
func (ps *problems) err() error {
	slices.SortStableFunc(ps.list, func(a, b *Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	var list []error
	for _, p := range ps.list {
		list = append(list, p)
	}
	return errors.Join(list...)
}
