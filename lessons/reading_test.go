package lessons

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// The limits on the length of a lesson, counted in words that are visible without opening a fold.
// Words in a question do not count, since questions are interactive.
const (
	mostWords   = 900 // in a lesson
	mostInARow  = 250 // without an interactive part
	mostToTouch = 80  // before the first interactive part, including the lead
)

// wordsIn counts the words of a fragment of HTML.
func wordsIn(fragment string) (n int) {
	z := html.NewTokenizer(strings.NewReader(fragment))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return n
		case html.TextToken:
			n += len(wordsOf(string(z.Text())))
		}
	}
}

// reading is the result of counting a lesson's words.
type reading struct {
	words, folded  int // visible words, and words behind folds
	toTouch        int // words before the first interactive part; -1 if there is none
	row            int // the longest run of words in a section without an interactive part
	sections, does int // number of sections, and number of sections with an interactive part
}

// readingOf counts a lesson's words in the order in which they are read.
func readingOf(lesson *Lesson) reading {
	r := reading{words: wordsIn(lesson.Title) + wordsIn(lesson.Lead), toTouch: -1, sections: len(lesson.Sections)}
	for _, s := range lesson.Sections {
		row, touched := 0, false
		read := func(fragment string) {
			n := wordsIn(fragment)
			r.words, row = r.words+n, row+n
			r.row = max(r.row, row)
		}
		touch := func() {
			if r.toTouch < 0 {
				r.toTouch = r.words
			}
			row, touched = 0, true
		}
		read(s.TitleHTML)
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case Prose:
				read(b.HTML)
			case Aside:
				read(b.Title + " " + b.HTML)
			case Picture:
				read(b.Caption)
			case Fold:
				read(b.Title + " " + b.Of)
				r.folded += wordsIn(b.HTML)
			case Widget:
				touch()
				read(b.Caption + " " + b.Notice)
			case Check:
				touch()
			}
		}
		if touched {
			r.does++
		}
	}
	for _, n := range lesson.Notes {
		r.words += wordsIn(n.HTML)
	}
	return r
}

// TestReadingLengths checks that the lessons respect the limits above, and logs their
// lengths with -v.
func TestReadingLengths(t *testing.T) {
	does, sections := 0, 0
	for _, lesson := range course(t).Lessons {
		r := readingOf(lesson)
		t.Logf("%-22s %5d words, %4d more behind folds; %3d to the first thing to touch; at most %3d in a row; "+
			"something to do in %d of %d sections",
			lesson.Slug, r.words, r.folded, r.toTouch, r.row, r.does, r.sections)
		does, sections = does+r.does, sections+r.sections
		if r.words > mostWords {
			t.Errorf("%s has %d words, want at most %d", lesson.Slug, r.words, mostWords)
		}
		if r.row > mostInARow {
			t.Errorf("%s has %d words without an interactive part, want at most %d", lesson.Slug, r.row, mostInARow)
		}
		if r.toTouch < 0 || r.toTouch > mostToTouch {
			t.Errorf("%s has no interactive part for %d words, want at most %d", lesson.Slug, r.toTouch, mostToTouch)
		}
	}
	if r := readingOf(course(t).Lesson("inside-one-pass")); r.toTouch > 40 {
		t.Errorf("the lesson on attention has %d words before the counters, want at most 40", r.toTouch)
	}
	t.Logf("something to do in %d of %d sections, which is %d%%", does, sections, 100*does/sections)
}

// TestReadingOfCountsWords checks which words are counted, and in which order.
func TestReadingOfCountsWords(t *testing.T) {
	got := readingOf(&Lesson{
		Title: "Two words", Lead: "<em>one</em>",
		Sections: []*Section{
			{TitleHTML: "a", Blocks: []Block{
				Prose{"b <b>c</b>"}, Fold{"Show", "it", "d e f"}, Widget{Caption: "g", Notice: "h"}, Prose{"i"},
			}},
			{TitleHTML: "j", Blocks: []Block{Aside{Title: "k", HTML: "l"}}},
		},
		Notes: []Note{{HTML: "m"}},
	})
	want := reading{words: 15, folded: 3, toTouch: 8, row: 5, sections: 2, does: 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
