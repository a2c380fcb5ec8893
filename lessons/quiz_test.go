package lessons

import (
	"html"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The bounds on the quiz as a whole.
const (
	// The share of right answers for those who always choose the longest, or the shortest, choice.
	leastByLength, mostByLength = 0.15, 0.30
	leastRecall                 = 30 // questions that ask for a written answer
)

// byLength returns the expected number of right answers for a learner who always makes the choice
// that pick prefers among the lengths. If several choices have that length, one of them is drawn.
func byLength(list []*Question, pick func(lengths []int) int) (right float64) {
	for _, q := range list {
		var lengths []int
		for _, c := range q.Choices {
			lengths = append(lengths, utf8.RuneCountInString(c.Text))
		}
		chosen, among, hit := pick(lengths), 0.0, 0.0
		for i, c := range q.Choices {
			if lengths[i] != chosen {
				continue
			}
			if among++; c.Right {
				hit = 1
			}
		}
		right += hit / among
	}
	return right
}

// TestQuizLengthsGiveNothingAway: the longest choice is right about as often as chance suggests, and so
// is the shortest.
// Promise: The length of a choice in the quiz does not give away the answer.
func TestQuizLengthsGiveNothingAway(t *testing.T) {
	var list []*Question
	for _, q := range course(t).Questions {
		if q.Kind == "choice" {
			list = append(list, q)
		}
	}
	for name, pick := range map[string]func(lengths []int) int{
		"longest":  func(lengths []int) int { return slices.Max(lengths) },
		"shortest": func(lengths []int) int { return slices.Min(lengths) },
	} {
		share := byLength(list, pick) / float64(len(list))
		t.Logf("the %s choice is right in %.1f%% of %d questions", name, 100*share, len(list))
		if share < leastByLength || share > mostByLength {
			t.Errorf("the %s choice is right in %.1f%% of the questions, want %.0f%% to %.0f%%", name, 100*share,
				100*leastByLength, 100*mostByLength)
		}
	}
}

// TestByLengthSharesTies: a choice that is longer than all others counts 1, one of two longest 1/2.
func TestByLengthSharesTies(t *testing.T) {
	question := func(right int, texts ...string) *Question {
		q := &Question{Kind: "choice"}
		for i, text := range texts {
			q.Choices = append(q.Choices, Choice{Text: text, Right: i == right})
		}
		return q
	}
	list := []*Question{
		question(0, "long", "no", "c"), question(1, "long", "also", "c"), question(2, "long", "no", "c"),
	}
	if got := byLength(list, func(lengths []int) int { return slices.Max(lengths) }); got != 1+0.5+0 {
		t.Errorf("the longest choice is right %g times, want 1 + 0.5 + 0", got)
	}
}

// TestQuizAsksForRecall: enough questions ask for a written answer, and every numbered lesson has
// one.
func TestQuizAsksForRecall(t *testing.T) {
	c, recall, by := course(t), 0, map[string]int{}
	for _, q := range c.Questions {
		if q.Kind == "recall" {
			slug, _, _ := strings.Cut(q.Section, "#")
			recall, by[slug] = recall+1, by[slug]+1
		}
	}
	t.Logf("%d of %d questions ask for a written answer", recall, len(c.Questions))
	if recall < leastRecall {
		t.Errorf("%d questions ask for a written answer, want at least %d", recall, leastRecall)
	}
	for _, l := range c.Lessons {
		if l.Number > 0 && by[l.Slug] == 0 {
			t.Errorf("no question about %s asks for a written answer", l.Slug)
		}
	}
}

// TestQuizAddressesMisconceptions: a question corrects each of these beliefs, in a choice or in its
// answer.
func TestQuizAddressesMisconceptions(t *testing.T) {
	c := course(t)
	for _, row := range []struct{ belief, question, correction string }{
		{"sure means true", "q-sure-true", "A model can be sure and wrong"},
		{"it learns from our chat", "q-same-seed", "Running a model doesn’t change its weights"},
		{"it remembers me", "q-remembers", "the app has put it there"},
		{"p = 0.9 keeps 90% of the tokens", "q-with-top-p", "p is a share of the probability, not of the tokens"},
		{"it copies from a database", "q-database", "There is no database of texts inside a model"},
		{"an attention weight is a reason", "q-look-reason", "A weight says where a head looks"},
		{"without the cache it forgets", "q-without-cache", "Nothing is lost without the cache"},
		{"a probability is of a fact", "q-words-not-facts", "A probability belongs to a token, not to a fact"},
		{"a text that fits is read well", "q-fits-window", "Fitting in isn’t the same as being used well"},
		{"the same seed gives the same text anywhere", "q-same-seed", "A seed only repeats a text in the same program"},
		{"it takes the word that most often followed", "q-most-often", "Counting pairs of words"},
	} {
		q := c.Question(row.question)
		if q == nil {
			t.Errorf("%s: the question %s does not exist", row.belief, row.question)
			continue
		}
		said := strings.Join(append(slices.Clone(q.Rubric), q.Answer), "\n")
		for _, choice := range q.Choices {
			said += "\n" + choice.Why
		}
		if !strings.Contains(html.UnescapeString(said), row.correction) {
			t.Errorf("%s: %s does not say %q", row.belief, row.question, row.correction)
		}
	}
}

// TestLessonsAskAgain: each lesson from the fourth on asks a question about an earlier lesson again,
// in front of one of its own.
func TestLessonsAskAgain(t *testing.T) {
	c := course(t)
	for _, l := range c.Lessons {
		again := 0
		for _, s := range l.Sections {
			for i, b := range s.Blocks {
				check, ok := b.(Check)
				if !ok {
					continue
				}
				slug, _, _ := strings.Cut(check.Question.Section, "#")
				switch of := c.Lesson(slug); {
				case of == l:
					continue
				case of.Number > l.Number:
					t.Errorf("%s asks %s, which is about a later lesson", l.Slug, check.Question.ID)
				}
				again++
				if _, own := s.Blocks[min(i+1, len(s.Blocks)-1)].(Check); !own {
					t.Errorf("%s: %s is not in front of the section's own question", s.Key(), check.Question.ID)
				}
			}
		}
		want := 0
		if l.Number >= 4 {
			want = 1
		}
		if again != want {
			t.Errorf("%s asks %d questions about earlier lessons, want %d", l.Slug, again, want)
		}
	}
}
