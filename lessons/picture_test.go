package lessons

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

// TestPictureStatesPerLesson: the twelve lessons on how a text is generated use the same sentence.
// The overview has no picture, and later lessons need none. The states of a lesson have unique ids
// and captions.
func TestPictureStatesPerLesson(t *testing.T) {
	t.Parallel()
	kinds := map[PictureKind]bool{}
	for _, l := range course(t).Lessons {
		all := l.Pictures()
		if (len(all) == 0) != (l.Number == 0) && l.Number <= 12 {
			t.Errorf(
				"%s has %d states of the picture, want none in the overview and some in lessons 1 to 12", l.Slug,
				len(all),
			)
		}
		// Lessons 13 and 14 are each about the fact in their own sentence.
		if l.Sentence != Sentence && l.Number < 13 {
			t.Errorf("%s: the sentence is %q, want %q", l.Slug, l.Sentence, Sentence)
		}
		ids := map[string]bool{}
		for _, p := range all {
			if ids[p.ID] || p.ID == "" || p.Caption == "" {
				t.Errorf("%s: state %+v; want ids[p.ID] = false, ID not empty, Caption not empty", l.Slug, p)
			}
			ids[p.ID], kinds[p.Kind] = true, true
		}
	}
	for kind := range pictureInputs {
		if !kinds[kind] && kind != PictureStrip {
			t.Errorf("no lesson shows the state %s", kind)
		}
	}
}

// TestExperimentsShareThePicturesSentence: an experiment is about the sentence of the picture
// beside it, and begins with the temperature and top-p of one of its states. Some experiments need
// their own text, and the lesson says why.
func TestExperimentsShareThePicturesSentence(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"greedy-circle": "so this is another",
		"nucleus-two":   "Two prompts, one surer than the wizard’s and one less sure",
		"stop-user":     "Unlike our wizard’s tale, a dialogue has a clear end",
		"chat-museum":   "You ask a museum when it opens",
		"sure-four":     "One of the four sentences",
	}
	for _, l := range course(t).Lessons {
		for _, s := range l.Sections {
			for _, b := range s.Blocks {
				w, ok := b.(Widget)
				if !ok {
					continue
				}
				if why := own[w.ID]; why != "" {
					says(t, why)
					delete(own, w.ID)
				} else if got := w.Params["prompt"]; got != l.Sentence {
					t.Errorf("%s: the experiment %s is about %q, want %q", l.Slug, w.ID, got, l.Sentence)
				}
				if w.Kind != WidgetTurn && w.Kind != WidgetTemperature {
					continue
				}
				drawn := func(p Picture) bool {
					return cmp.Or(p.Params["t"], "1") == w.Params["t"] &&
						cmp.Or(p.Params["p"], "1") == cmp.Or(w.Params["p"], "1")
				}
				if !slices.ContainsFunc(l.Pictures(), drawn) {
					t.Errorf(
						"%s: no state of the picture has the temperature and top-p of the experiment %s: %v", l.Slug,
						w.ID, w.Params,
					)
				}
			}
		}
	}
	if len(own) > 0 {
		t.Errorf("the course lacks the experiments %v", own)
	}
}

// TestPictureErrorsNameTheLine: errors in a picture's state are reported with their position.
func TestPictureErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	const at = "00-start.md:14: "
	for _, c := range []struct{ words, want string }{
		{"tokens", ""},
		{`attention block=4 head=5 name="At rest"`, ""},
		{"stars", at + `unknown picture kind "stars"; want one of attention, cache`},
		{"", at + "invalid picture; want ::: picture KIND"},
		{"tokens t=1", at + `picture tokens: unknown setting "t"`},
		{"attention block=4", at + "picture attention: missing setting head"},
		{"attention block=4 head=7", at + "picture attention: "},
		{"shares t=-1", at + "picture shares: "},
		{"edit to=\"" + strings.Repeat("so ", 14) + "\"", at + "picture edit: to has 42 characters; the limit is 40"},
		{
			"tokens name=\"Seventeen letters\"",
			at + "the picture's name has 17 characters; the limit is 16",
		},
	} {
		files := map[string]string{}
		for name, text := range small {
			files[name] = text
		}
		files["00-start.md"] = strings.Replace(
			small["00-start.md"], "Text [@doe2020]", "::: picture "+c.words+"\nLook.\n:::\n\nText [@doe2020]", 1,
		)
		_, err := load(newLoader(folderOf(files), MathTable{}))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("picture %s: got error %v, want none", c.words, err)
		case c.want == "":
		case err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v, want one error: %s…", c.words, err, c.want)
		}
	}
}

// TestPictureSizeLimits: a lesson may have its own sentence of at most 40 letters, and at most
// eight states.
func TestPictureSizeLimits(t *testing.T) {
	t.Parallel()
	with := func(front string, states int) error {
		files := map[string]string{}
		for name, text := range small {
			files[name] = text
		}
		text := strings.Replace(files["00-start.md"], "slug: start", "slug: start\n"+front, 1)
		files["00-start.md"] = strings.Replace(
			text, "Text [@doe2020]", strings.Repeat("::: picture tokens\nLook.\n:::\n\n", states)+"Text [@doe2020]", 1,
		)
		c, err := load(newLoader(folderOf(files), MathTable{}))
		if err == nil && c.Lessons[0].Sentence != "A cat sat" {
			t.Errorf(`the sentence is %q, want "A cat sat"`, c.Lessons[0].Sentence)
		}
		return err
	}
	if err := with("picture: A cat sat", 8); err != nil {
		t.Error(err)
	}
	if err := with("picture: A cat sat", 9); err == nil || !strings.Contains(err.Error(), "at most 8 pictures") {
		t.Errorf("nine states: got error %v, want an error containing %q", err, "at most 8 pictures")
	}
	err := with("picture: "+strings.Repeat("x", 41), 1)
	if err == nil || !strings.HasPrefix(err.Error(), "00-start.md:4: the picture's sentence has 41 characters") {
		t.Errorf(
			"a long sentence: got %v, want it to begin with %q", err,
			"00-start.md:4: the picture's sentence has 41 characters",
		)
	}
}

// TestPicturesOfTheLearnersSentence: a state that compares the lesson's sentence with another one, and
// the lessons with sentences of their own, cannot show a learner's sentence. A need that does not
// belong to the kind of its state is an error.
func TestPicturesOfTheLearnersSentence(t *testing.T) {
	t.Parallel()
	takes := 0
	for _, l := range course(t).Lessons {
		for _, p := range l.Pictures() {
			if l.TakesSentence(p) {
				takes++
			}
			if (l.Number > 12 || p.Kind == PictureEdit) && l.TakesSentence(p) {
				t.Errorf("%s: the state %s takes any sentence, want the lesson's", l.Slug, p.Kind)
			}
			own := Lesson{Own: true, Sentence: Sentence}
			if own.TakesSentence(p) {
				t.Errorf("the state %s of an instructor's lesson takes any sentence", p.Kind)
			}
		}
	}
	// 44 states in lessons 1 to 12, without the edit and the look at what happened to the wizard.
	if takes != 42 {
		t.Errorf("%d states take a learner's sentence, want 42", takes)
	}
}
