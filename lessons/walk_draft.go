package lessons

import (
	"io/fs"
	"path"
	"slices"
)

// ReadWalk parses one walkthrough, the text of a file in the folder walks, in the context of this
// course: the walkthrough may use the course's questions and link to its sections. The file's name
// is assumed to match its slug. The problems are sorted by line. A walkthrough with problems may
// lack the faulty parts.
func (c *Course) ReadWalk(text string) (*Walk, []*Problem) {
	l := *c.loader // loaded data is shared, but only read
	beside := *c
	beside.Walks = nil
	l.course, l.problems, l.own = &beside, &problems{}, true
	l.cited, l.formulas, l.figures = map[string]bool{}, nil, nil
	name := path.Join(walkFolder, "walk.md")
	if d := split(name, text, &problems{}); idForm.MatchString(d.front["slug"].value) {
		name = path.Join(walkFolder, d.front["slug"].value+".md")
	}
	if l.plainText(name, text); len(l.problems.list) > 0 {
		return &Walk{}, l.problems.list
	}
	l.readWalk(split(name, text, l.problems))
	w := beside.Walks[0]
	_ = l.problems.err() // sorts them
	return w, l.problems.list
}

// WalkText returns the text of the built-in walkthrough with the given slug, or "" if there is
// none.
func (c *Course) WalkText(slug string) string {
	names, err := fs.Glob(c.loader.files, walkFolder+"/*.md")
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return numbered.ReplaceAllString(path.Base(name), "") == slug+".md"
	})
	if i < 0 {
		return ""
	}
	data, err := fs.ReadFile(c.loader.files, names[i])
	if err != nil {
		return ""
	}
	return string(data)
}
