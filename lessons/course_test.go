package lessons

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// walkCourse loads the course and calls a function with each fragment of Markdown.
func walkCourse(t *testing.T, see func(*fragment)) *Course {
	t.Helper()
	table, err := readMath(mathJSON)
	if err != nil {
		t.Fatal(err)
	}
	files, err := content(English)
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
func course(t *testing.T) *Course {
	t.Helper()
	c, err := Load(English)
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
				case Check:
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
				t.Errorf("%s asks %d questions, want 1", s.Key(), checks)
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

// TestLanguagesHaveAllFiles: every language has the same files as English. For an unknown language,
// Load returns an error that names it.
func TestLanguagesHaveAllFiles(t *testing.T) {
	files := func(language string) (list []string) {
		folder, err := content(language)
		if err != nil {
			t.Fatal(err)
		}
		err = fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
			if !d.IsDir() {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, language := range Languages() {
		if got, want := files(language), files(English); !slices.Equal(got, want) {
			t.Errorf("%s has the files %q, want %q", language, got, want)
		}
		if _, err := Load(language); err != nil {
			t.Errorf("%s: %v", language, err)
		}
	}
	if _, err := Load("xx"); err == nil || !strings.Contains(err.Error(), `"xx"`) {
		t.Errorf("an unknown language: got error %v, want an error containing %q", err, `"xx"`)
	}
}
