package lessons

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/languages"
	"github.com/tokenbytoken/viz/infer/terms"
)

// walkCourse loads the course and calls a function with each fragment of Markdown.
func walkCourse(t *testing.T, see func(*fragment)) *Course {
	t.Helper()
	table, err := readMath(mathJSON)
	if err != nil {
		t.Fatal(err)
	}
	files, err := languages.Course(languages.English)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(files, table)
	l.onPiece = see
	l.load()
	if err := l.problems.err(); err != nil {
		t.Fatal(err)
	}
	return l.course
}

// folderOf returns a folder with the given files.
func folderOf(files map[string]string) fs.FS {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

// course loads the real course.
func course(t testing.TB) *Course {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCourseHasItsParts(t *testing.T) {
	c := course(t)
	for what, n := range map[string][2]int{
		"lessons": {len(c.Lessons), 14}, "outcomes": {len(c.Outcomes), 5}, "terms": {len(c.Terms), 10},
		"questions": {len(c.Questions), 7}, "cards": {len(c.Cards), 12}, "references": {len(c.References), 12},
	} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], what, n[1])
		}
	}
	kinds := map[WidgetKind]int{}
	for _, lesson := range c.Lessons {
		for _, s := range lesson.Sections {
			checks := 0
			for _, b := range s.Blocks {
				switch b := b.(type) {
				case Widget:
					kinds[b.Kind]++
					if b.Notice == "" {
						t.Errorf("%s: the widget %s has no notice", s.Key(), b.ID)
					}
				case Check: // TestLessonsAskAgain checks the questions about earlier lessons
					if !strings.HasPrefix(b.Question.Section, lesson.Slug+"#") {
						continue
					}
					checks++
					if b.Question.Section != s.Key() {
						t.Errorf(
							"section %s asks %s, which belongs to %s; want only its own questions",
							s.Key(), b.Question.ID,
							b.Question.Section,
						)
					}
				}
			}
			if checks != 1 && lesson.Number > 0 {
				t.Errorf("%s asks %d questions of its own, want 1", s.Key(), checks)
			}
		}
	}
	for kind := range widgetInputs {
		if kinds[kind] == 0 {
			t.Errorf("no lesson has the widget %s", kind)
		}
	}
	for _, s := range course(t).Lesson("calling-an-api").Sections {
		if s.ID == "pitfalls" && strings.Count(s.text, "\n") < 7 {
			t.Errorf("fewer than seven pitfalls in %q", s.text)
		}
	}
}

// TestLookupByName: lookups by name find every listed item and nothing else.
func TestLookupByName(t *testing.T) {
	c := course(t)
	for _, lesson := range c.Lessons {
		if c.Lesson(lesson.Slug) != lesson || lesson.Href() != "/learn/"+lesson.Slug {
			t.Errorf("Lesson(%q) is a different lesson", lesson.Slug)
		}
		for _, s := range lesson.Sections {
			if c.Section(s.Key()) != s || !strings.HasPrefix(s.Href(), lesson.Href()+"#") {
				t.Errorf("Section(%q) is a different section", s.Key())
			}
		}
	}
	for _, q := range c.Questions {
		if c.Question(q.ID) != q {
			t.Errorf("Question(%q) is a different question", q.ID)
		}
	}
	for _, card := range c.Cards {
		if c.Card(card.ID) != card {
			t.Errorf("Card(%q) is a different card", card.ID)
		}
	}
	for _, term := range c.Terms {
		if got := c.Term(term.ID); got == nil || got.ID != term.ID || got.Name != term.Name {
			t.Errorf("Term(%q) is a different term", term.ID)
		}
	}
	for _, s := range c.Starts {
		if c.Start(s.Key) != s {
			t.Errorf("Start(%q) is a different start", s.Key)
		}
	}
	if c.Lesson("none") != nil || c.Section("the-loop#none") != nil || c.Question("none") != nil ||
		c.Card("none") != nil || c.Term("none") != nil || c.Start("none") != nil {
		t.Error("a lookup found something that does not exist")
	}
}

// TestTranslationsAreComplete: the course has the same ids in the same order in all languages.
func TestTranslationsAreComplete(t *testing.T) {
	c := course(t)
	want := idsOf(c)
	if len(want) < 200 {
		t.Errorf("English has only %d ids", len(want))
	}
	for _, translated := range c.translations {
		if got := idsOf(translated); !slices.Equal(got, want) {
			t.Errorf("%s has the ids %q, want %q", translated.Tag, got, want)
		}
	}
}

// idsOf returns the ids of everything in a course to which a page or a learner's progress can refer.
func idsOf(c *Course) (list []string) {
	add := func(kind, id string) { list = append(list, kind+" "+id) }
	for _, l := range c.Lessons {
		add("lesson", l.Slug)
		for _, s := range l.Sections {
			add("section", s.Key())
			for _, b := range s.Blocks {
				if w, ok := b.(Widget); ok {
					add("widget", w.ID)
				}
			}
		}
	}
	for _, q := range c.Questions {
		right := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.Right })
		add("question", fmt.Sprintf(
			"%s (%s) in %s for %s with %d choices, right %d, and %d points", q.ID, q.Kind, q.Section, q.Outcome,
			len(q.Choices), right, len(q.Rubric),
		))
	}
	for _, x := range c.Cards {
		add("card", x.ID)
	}
	for _, o := range c.Outcomes {
		add("outcome", o.ID)
	}
	for _, s := range c.Starts {
		add("start", fmt.Sprintf("%s at %s of step %d", s.Key, s.Stage, s.Step))
	}
	for _, w := range c.Walks {
		add("walkthrough", w.Slug)
		for _, s := range w.Steps {
			ask := ""
			if s.Ask != nil {
				ask = string(s.Ask.Kind)
			}
			add("step", fmt.Sprintf("with %d actions, asks %q", len(s.Do), ask))
		}
	}
	var terms []string // ordered by name, so in another order in every language
	for _, x := range c.Terms {
		terms = append(terms, "term "+x.ID)
	}
	slices.Sort(terms)
	return append(list, terms...)
}

// TestTranslatedCourse: the course is shown in the language of a request if it is translated, with
// the same ids, and otherwise in English. An instructor's own lessons are part of every language.
func TestTranslatedCourse(t *testing.T) {
	const title, translated = "\ntitle: ", "\ntitle: Auf Deutsch: "
	english, german := builtIn()[languages.English], fstest.MapFS{}
	err := fs.WalkDir(english, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(english, path)
		german[path] = &fstest.MapFile{Data: bytes.Replace(text, []byte(title), []byte(translated), 1)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	own, err := ReadOwn(ownExample)
	if err != nil {
		t.Fatal(err)
	}
	c, err := read(map[string]fs.FS{"en": english, "de": german}, func(l *loader) error {
		l.loadOwn(own)
		return l.problems.err()
	})
	if err != nil {
		t.Fatal(err)
	}
	in := func(tag string) *Course { return c.In(terms.With(t.Context(), &terms.Language{Tag: tag})) }
	if got := in("fr"); got != c || c.Tag != "en" || c.In(context.Background()) != c {
		t.Errorf("in French: got the course in %q, want the one in English", got.Tag)
	}
	de := in("de")
	if got, want := idsOf(de), idsOf(c); de.Tag != "de" || !slices.Equal(got, want) {
		t.Fatalf("in German: got the ids %q in %q, want %q", got, de.Tag, want)
	}
	for i, l := range c.Lessons {
		want := "Auf Deutsch: " + l.Title
		if l.Own {
			want = l.Title
		}
		if got := de.Lesson(l.Slug); got != de.Lessons[i] || got.Title != want {
			t.Errorf("%s: got the title %q, want %q", l.Slug, got.Title, want)
		}
	}
	if text := de.WalkText("cache"); !strings.Contains(text, translated) {
		t.Errorf("the walkthrough is not in German: %.80q", text)
	}
}
