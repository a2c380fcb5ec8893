package lessons

import (
	"slices"
	"strings"
	"testing"
)

// TestPlanSteps: every step of a plan has a minute of reading, and the minutes of its experiments and of
// its question. A plan has at most [PlanSteps] steps, in the lesson's order, and names the sections that
// it leaves out.
func TestPlanSteps(t *testing.T) {
	c := course(t)
	for _, l := range c.Lessons {
		p := c.Plan(l)
		steps, left := 0, 0
		for _, s := range p.Steps {
			least := 1 + 5*len(s.Experiments)
			if s.Ask != nil {
				least += 3
			}
			if s.Minutes < least {
				t.Errorf("%s: the step %q has %d minutes, want at least %d", l.Slug, s.ID, s.Minutes, least)
			}
		}
		if len(p.Steps) > PlanSteps {
			t.Errorf("%s: got %d steps, want at most %d", l.Slug, len(p.Steps), PlanSteps)
		}
		for _, s := range l.Sections {
			switch {
			case steps < len(p.Steps) && p.Steps[steps].Section == s:
				steps++
			case left < len(p.Left) && p.Left[left] == s:
				left++
			default:
				t.Errorf("%s: the section %q is neither a step in its order nor left out", l.Slug, s.ID)
			}
		}
	}
}

// TestPlanMinutes: the minutes of class of a plan. The first lesson takes 6 minutes to read and has one
// experiment and six sections, each with a question: 6 + 5 + 6·3 = 29. The lesson on the KV cache: 8 + 5 +
// 6·3 = 31.
func TestPlanMinutes(t *testing.T) {
	c := course(t)
	for slug, want := range map[string]int{"the-loop": 29, "kv-cache": 31} {
		if got := c.Plan(c.Lesson(slug)).Minutes(); got != want {
			t.Errorf("the plan of %s takes %d minutes, want %d", slug, got, want)
		}
	}
	// Six of seven sections are read, with 60 of 80 words: 10·60/80 = 7.5 of 10 minutes. Six sections
	// take at least 6 minutes.
	for minutes, want := range map[int]int{10: 8, 3: 6} {
		if got := readingMinutes(minutes, []int{10, 10, 10, 10, 10, 10}, 80); got != want {
			t.Errorf("reading 60 of 80 words takes %d of %d minutes, want %d", got, minutes, want)
		}
	}
	if got := readingMinutes(4, []int{0, 0}, 0); got != 2 {
		t.Errorf("reading two sections without words takes %d minutes, want 2", got)
	}
}

// TestPlanGoals: every built-in lesson has a goal of one sentence, which says what learners can do. The
// plan of a lesson without a goal has the outcomes of the lesson.
func TestPlanGoals(t *testing.T) {
	c := course(t)
	for _, l := range c.Lessons {
		goals := c.Plan(l).Goals
		if len(goals) != 1 || !strings.HasPrefix(goals[0], "After this lesson you can ") ||
			strings.Count(goals[0], ".") != 1 {
			t.Errorf("%s: got the goals %q, want one sentence: After this lesson you can …", l.Slug, goals)
		}
	}
	l := *c.Lesson("inside-one-pass")
	l.Goal = ""
	if got := c.Plan(&l).Goals; len(got) != 2 || got[0] != c.Outcomes[0].HTML || got[1] != c.Outcomes[3].HTML {
		t.Errorf("got %q, want the outcomes loop and cache", got)
	}
	if l.Outcomes = nil; len(c.Plan(&l).Goals) > 0 {
		t.Errorf("got the goals %q, want none without a goal and outcomes", c.Plan(&l).Goals)
	}
}

// TestPlanAsksTheSectionsQuestion: a step asks its section's question, and no step of any lesson asks
// about another lesson. The wrong choices of its questions have explanations.
func TestPlanAsksTheSectionsQuestion(t *testing.T) {
	c := course(t)
	p := c.Plan(c.Lesson("the-loop"))
	if q := p.Steps[0].Ask; q == nil || q.ID != "q-second-turn" {
		t.Errorf("the first step of the first lesson asks %+v, want q-second-turn", q)
	}
	for _, l := range c.Lessons {
		for _, s := range c.Plan(l).Steps {
			if s.Ask == nil {
				continue
			}
			if got := c.Section(s.Ask.Section); got.Lesson != l.Slug {
				t.Errorf("%s#%s asks %s, which is about %s", l.Slug, s.ID, s.Ask.ID, got.Key())
			}
			for _, choice := range s.Ask.Choices {
				if choice.Why == "" {
					t.Errorf("%s: the choice %q has no explanation", s.Ask.ID, choice.Text)
				}
			}
		}
	}
}

// TestPlanLeavesOutShortSections: of seven sections, six stay. The section without a question goes
// before one with less text.
func TestPlanLeavesOutShortSections(t *testing.T) {
	ask := []Block{Check{&Question{ID: "q", Kind: "choice", Section: "x#a"}}}
	l := &Lesson{Slug: "x", Minutes: 9}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		l.Sections = append(l.Sections, &Section{ID: id, Lesson: "x", Blocks: ask, text: "one two"})
	}
	l.Sections = append(l.Sections, &Section{ID: "g", Lesson: "x", text: "one two three four"})
	p := new(Course).Plan(l)
	if len(p.Left) != 1 || p.Left[0].ID != "g" || len(p.Steps) != 6 {
		t.Errorf("the plan has %d steps and leaves out %v, want 6 steps without g", len(p.Steps), p.Left)
	}
	l.Minutes = 2 // fewer minutes than sections: 6·1 for reading and 6·3 for questions
	if p = new(Course).Plan(l); len(p.Steps) != 6 || p.Minutes() != 24 {
		t.Errorf("a lesson of 2 minutes has %d steps and %d minutes of class, want 6 and 24", len(p.Steps), p.Minutes())
	}
}

// TestPlanWithoutQuestions: a step without a question has the first paragraph of its section and its
// experiments, which a teacher needs instead.
func TestPlanWithoutQuestions(t *testing.T) {
	text := "::: picture text\nA text.\n:::\n\nFirst *one*.\nStill.\n\nSecond.\n\n"
	text += "::: widget tokens id=cut prompt=\"a\"\nCut it.\n:::"
	c, err := LoadTexts(map[string]string{"01-mine.md": ownLesson(text)})
	if err != nil {
		t.Fatal(err)
	}
	steps := c.Plan(c.Lesson("mine")).Steps
	if len(steps) != 1 || steps[0].Ask != nil || steps[0].Opening != "First one. Still." {
		t.Fatalf("got the steps %+v, want one that begins: First one. Still.", steps)
	}
	if list := steps[0].Experiments; len(list) != 1 || !strings.Contains(list[0].Caption, "Cut it.") {
		t.Errorf("got the experiments %+v, want one with the caption: Cut it.", list)
	}
	for _, l := range course(t).Lessons {
		for _, s := range course(t).Plan(l).Steps {
			if s.Ask == nil && s.Opening == "" && len(s.Experiments) == 0 {
				t.Errorf("%s: the step %q has nothing but its title", l.Slug, s.ID)
			}
		}
	}
}

// TestApportion: 9 minutes for texts of 100, 50 and 30 words. Each gets 1. The quotients of the next
// unit are size/(n+1): 50, 25, 15 → first; 33, 25, 15 → first; 25, 25, 15 → first (a tie goes to the
// first); 20, 25, 15 → second; 20, 16.7, 15 → first; 16.7, 16.7, 15 → first. So 6, 2 and 1.
func TestApportion(t *testing.T) {
	for _, x := range []struct {
		total       int
		sizes, want []int
	}{
		{9, []int{100, 50, 30}, []int{6, 2, 1}},
		{3, []int{1, 90, 9}, []int{1, 1, 1}},
		{2, []int{0, 0}, []int{1, 1}},
		{4, []int{7}, []int{4}},
		{0, nil, []int{}},
	} {
		if got := apportion(x.total, x.sizes); !slices.Equal(got, x.want) {
			t.Errorf("apportion(%d, %v) = %v, want %v", x.total, x.sizes, got, x.want)
		}
	}
}

// TestLessonsKnowTheirDrills: a lesson knows the drills that it links to.
func TestLessonsKnowTheirDrills(t *testing.T) {
	for slug, want := range map[string][]string{
		"the-loop": nil, "inside-one-pass": {"attention"}, "kv-cache": {"kv-bytes", "multiply-adds"},
	} {
		got := slices.Sorted(slices.Values(course(t).Lesson(slug).Drills))
		if !slices.Equal(got, want) {
			t.Errorf("%s links to the drills %q, want %q", slug, got, want)
		}
	}
}
