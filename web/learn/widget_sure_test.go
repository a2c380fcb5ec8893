package learn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
)

// TestSureCardsOpenAfterAGuess: a card shows the model's answer and its probability only once the
// learner has said what kind of answer it will be. The learner's mark and guess stay as they were, and
// the other cards stay closed.
// Promise: The cards on certainty show the model's answer only after your guess, and your mark stays beside it.
func TestSureCardsOpenAfterAGuess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetSure)
	first := s.Get(spec.Lesson.Href()).Find("figure#" + spec.ID)
	if n := first.Find(".w-sure .w-slot").Length(); n != len(lessons.SureCards) || first.Find(".w-bar").Length() > 0 {
		t.Errorf("the lesson shows %d closed cards, want %d and no probability", n, len(lessons.SureCards))
	}
	if html, _ := first.Find(".w-sures").Html(); strings.Contains(html, "Tallinn") || strings.Contains(html, "Ottawa") {
		t.Error("the closed cards contain an answer")
	}
	p := func(prompt string) float64 {
		all, _, _ := sampling.Softmax(s.scores(prompt), 1)
		return slices.Max(all)
	}
	canada, narnia := p(spec.Params["a"]), p(spec.Params["b"])
	guessed := map[string]string{"a_guess": "wrong", "a_sure": "20", "b_guess": "invented", "b_sure": "70"}
	d := s.alone(spec, guessed)
	for card, want := range map[string]struct {
		p                         float64
		answer, mark, say, judged string
	}{
		"a": {canada, "Ottawa, and many people live there.", "20%", "You said WrongIn fact Right", "✕"},
		"b": {narnia, "Tallinn, and many people live there.", "70%", "You said Made upIn fact Made up", "✓"},
	} {
		c := d.Find("#sure-four-" + card)
		if got := text(c.Find(".w-sure__h b")); got != want.answer {
			t.Errorf("card %s: the answer is %q, want %q", card, got, want.answer)
		}
		got := text(c.Find(".w-sure__p"))
		if !strings.Contains(got, terms.Percent(want.p)) || !strings.HasSuffix(got, "Your mark: "+want.mark) {
			t.Errorf("card %s: it says %q, want %s and the mark %s", card, got, terms.Percent(want.p), want.mark)
		}
		if at := c.Find(".w-sure__mark").AttrOr("cx", ""); at != want.mark {
			t.Errorf("card %s: the mark is at %q, want %s", card, at, want.mark)
		}
		say := text(c.Find(".commit__say"))
		if !strings.HasPrefix(say, want.say) || !strings.Contains(say, want.judged) {
			t.Errorf("card %s: the verdict is %q, want %q and %s", card, say, want.say, want.judged)
		}
		for _, field := range []string{"_guess", "_sure"} {
			in := c.Find(`[name="` + card + field + `"]`)
			if in.Length() != 1 || in.AttrOr("type", "") != "hidden" || in.AttrOr("value", "") != guessed[card+field] {
				t.Errorf("card %s: %s is no longer %q, or can be changed", card, field, guessed[card+field])
			}
		}
	}
	if got := d.Find(".w-sure .w-slot").Length(); got != 2 {
		t.Errorf("%d cards are closed, want the other 2", got)
	}
	off := terms.Decimals((math.Abs(20-100*canada)+math.Abs(70-100*narnia))/2, 0)
	got := text(d.Find(".w__sum"))
	if !strings.HasPrefix(got, "Open: 2 of 4.") || !strings.Contains(got, off+" percentage") {
		t.Errorf("the sum is %q, want 2 of 4 and %s", got, off)
	}
}

// TestSureSaysWhatToDoFirst: while a card is closed, the instruction comes before the cards. Once the
// learner has set a mark, the sum of the marks comes after the cards.
func TestSureSaysWhatToDoFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetSure)
	const first, cards, sum = ".w-sures__first + .w-sures", ".w-sures .w-sure", ".w-sures + .w__foot > .w__sum"
	d := s.Get(spec.Lesson.Href())
	if !strings.HasPrefix(text(d.Find(".w-sures__first")), "Set a slider") || d.Find(first).Length() != 1 ||
		d.Find(cards).Length() != 4 || text(d.Find(sum)) != "" {
		t.Errorf("the experiment begins with %q and ends with %q, want the instruction and nothing",
			text(d.Find(".w-sures__first")), text(d.Find(sum)))
	}
	d = s.alone(spec, map[string]string{"a_guess": "right", "a_sure": "20"})
	if d.Find(first).Length() != 1 || !strings.HasPrefix(text(d.Find(sum)), "Open: 1 of 4.") {
		t.Errorf("after a mark, %d instructions, and the sum is %q; want 1, the sum of the marks",
			d.Find(first).Length(), text(d.Find(sum)))
	}
}

// TestSureWithoutAGuessOrAKnownAnswer: no idea opens a card without a mark and a judgment. There is no
// judgment either if the answer is not the one that the lesson knows, or if the address of the page has
// changed what the lesson asks. Enter at a slider does not choose
// an answer, since the form's default button is disabled.
func TestSureWithoutAGuessOrAKnownAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetSure)
	for _, c := range []struct {
		name   string
		inputs map[string]string
		say    string
		marks  int
	}{
		{"no idea", map[string]string{"a_guess": lessons.NoGuess, "a_sure": "20"}, "In fact Right", 0},
		{"another text", map[string]string{"a_guess": "right", "a": "The old man had a"}, "Decide for yourself", 1},
		{
			"another text with the lesson's answer",
			map[string]string{"a_guess": "right", "a": "The capital city of Canada is"},
			"Decide for yourself", 1,
		},
		{"another judgment", map[string]string{"a_guess": "right", "a_is": "wrong"}, "Decide for yourself", 1},
		{"another answer", map[string]string{"a_guess": "right", "a_says": "Ott"}, "Decide for yourself", 1},
	} {
		d := s.alone(spec, c.inputs)
		card := d.Find("#sure-four-a")
		say, marks := text(card.Find(".commit__say")), card.Find(".w-sure__mark").Length()
		if !strings.Contains(say, c.say) || strings.ContainsAny(say, "✓✕") || marks != c.marks {
			t.Errorf(
				"%s: the card says %q with %d marks; want %q without a judgment, %d marks", c.name, say, marks, c.say,
				c.marks,
			)
		}
		got := text(card.Find(".w-sure__h b"))
		if strings.Contains(c.name, "lesson's") && !strings.HasPrefix(got, "Ottawa") {
			t.Errorf("%s: the answer is %q, want Ottawa", c.name, got)
		}
		buttons := d.Find("form.w button").FilterFunction(func(_ int, b *goquery.Selection) bool {
			return b.AttrOr("type", "submit") == "submit"
		})
		if _, off := buttons.First().Attr("disabled"); !off {
			t.Errorf("%s: the form's default button works, want it disabled", c.name)
		}
	}
}
