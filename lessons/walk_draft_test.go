package lessons

import (
	"strings"
	"testing"
)

// TestReadWalkReportsAllErrors: a draft is parsed in the context of the course, all its errors are
// reported by line, and the course does not change.
func TestReadWalkReportsAllErrors(t *testing.T) {
	c := course(t)
	for _, w := range c.Walks {
		text := c.WalkText(w.Slug)
		got, problems := c.ReadWalk(text)
		if len(problems) > 0 || got.Title != w.Title || len(got.Steps) != len(w.Steps) {
			t.Errorf(
				"%s: got %d of %d steps, problems %v; want the title, all steps, no problems", w.Slug, len(got.Steps),
				len(w.Steps), problems,
			)
			continue
		}
		for i, s := range got.Steps {
			lines := strings.Split(text, "\n")
			if i >= strings.Count(text, "\n## ") { // the exit ticket has no headings
				if s.Line <= len(lines) || s.Ask.Question != w.Steps[i].Ask.Question {
					t.Errorf("%s: step %d is %+v, want the ticket's question after the text", w.Slug, i+1, s)
				}
				continue
			}
			if s.Say != w.Steps[i].Say || !strings.HasPrefix(lines[s.Line-1], "## ") {
				t.Errorf(
					"%s: step %d, line %d: %q; want s.Say = %q, lines[s.Line-1] beginning with %q", w.Slug, i+1, s.Line,
					lines[s.Line-1], w.Steps[i].Say, "## ",
				)
			}
		}
	}
	head := "---\ntitle: A walk\nslug: mine\nminutes: 3\nlead: Short.\n---\n"
	step := "## One {#one}\n::: do\nstart prompt=\"Once\"\n:::\nLook.\n"
	walks := len(c.Walks)
	for _, x := range []struct {
		text string
		line int
		say  string
	}{
		{"", 1, "title"},
		{head, 1, "no step"},
		{head + "## One {#one}\nLook.\n", 7, "must begin with"},
		{head + step + "::: ask question id=q-none\n:::\n", 12, "q-none"},
		{head + step + "See [there](learn:none#none).\n", 12, "none"},
		{head + strings.Replace(step, "Once\"", "Once\" temperature=hot", 1), 9, "temperature"},
		{head + step + "\x01\n", 12, "control character"},
		{strings.Replace(head, "mine", "Not an id", 1) + step, 3, "invalid id"},
	} {
		w, problems := c.ReadWalk(x.text)
		if w == nil || len(problems) == 0 {
			t.Errorf("%q: got %v; want w not nil, at least one element", x.text, problems)
			continue
		}
		found := false
		for _, p := range problems {
			found = found || p.Line == x.line && strings.Contains(p.Say, x.say)
		}
		if !found {
			t.Errorf("%q: %v; want %q in line %d", x.text, problems, x.say, x.line)
		}
	}
	if _, problems := c.ReadWalk(head + step + "Asks.\n\n::: ask question id=" + c.Questions[0].ID + "\n:::\n"); len(
		problems) > 0 {
		t.Errorf("a question of the course was not found: got %v, want 0 elements", problems)
	}
	if len(c.Walks) != walks || c.Walk("mine") != nil {
		t.Error("reading a draft changed the course")
	}
}

// FuzzReadWalk: ReadWalk never panics, and every problem has a line within the text.
func FuzzReadWalk(f *testing.F) {
	f.Add("---\ntitle: A\nslug: a\nminutes: 3\nlead: b\n---\n" +
		"## A {#a}\n::: do\nstart prompt=x\n:::\nb $x$ {=1} [[c]]\n")
	f.Add(course(f).WalkText("cache"))
	f.Add("::: ask number answer={=1}\n\n:::\n")
	c, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, problems := c.ReadWalk(text)
		if w == nil {
			t.Fatal("no walkthrough")
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > strings.Count(text, "\n")+2 {
				t.Fatalf(
					"a problem in line %d: %s; want at least 1 and at most %d", p.Line, p.Say,
					strings.Count(text, "\n")+2,
				)
			}
		}
	})
}
