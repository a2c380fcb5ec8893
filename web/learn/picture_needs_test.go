package learn

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
)

// TestLessonsAreTrueOfTheirSentence: what the lessons claim of a state's sentence is true of the
// lesson's own.
func TestLessonsAreTrueOfTheirSentence(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, l := range s.pages.Course.Lessons {
		a := newArtist(s.pages.environment(""), l.Sentence)
		a.strict = true
		for _, pic := range l.Pictures() {
			if !l.TakesSentence(pic) {
				continue
			}
			if _, err := a.picture(t.Context(), pic); err != nil {
				t.Errorf("%s: state %q needs %q: %v", l.Slug, pic.Name, pic.Needs, err)
			}
		}
	}
}

// TestPicturesNeedTheirPoint: a state shows the learner's sentence only if what its text claims is true of
// the sentence. A state without a need can also have a claim: a draw or a new column needs a token that
// continues the text. TestPictureNeedsAgreeWithPlainArithmetic computes the numbers here without pictures.
func TestPicturesNeedTheirPoint(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, row := range []struct {
		sentence, state string
		shown           bool
	}{
		// Block 5, head 4 looks mostly at ·of (0.80), and at the last token (0.28).
		{"The capital of France is", "neighbor", false},
		{"Once upon a time there was a dog.", "neighbor", false},
		// Block 4, head 1 has 0.90, 0.97 and 0.03 on the start mark.
		{"There was once a girl with a", "start", false},
		{"She opened the door and saw", "start", true},
		{"Once upon a time there was a dog.", "start", false},
		// The fifth score is 10.2, 1.3 and 0.8 lower than the first.
		{"The capital of France is", "close", false},
		{"Once upon a time there was a dog.", "close", false},
		{"By the river lived a lonely dog and a", "close", true},
		// At T = 0.5, the favorite has 0.001 and 0.549 more, the second token 0.035 less than at T = 1.
		{"The capital of France is", "colder", false},
		{"There once was a giant with a", "colder", false},
		// At T = 2, the tokens after the fifth have 0.047 and 0.069 more than at T = 1.
		{"The capital of Japan is", "hotter", false},
		{"The capital of Peru is", "hotter", true},
		// ·Paris alone has 0.9 or more at T = 1, too.
		{"The capital of France is", "fewer", false},
		// Both seeds draw ·Paris.
		{"The capital of France is", "another", false},
		// The first draw ends the text, and only the second one continues it.
		{"And they lived happily ever after.", "draw", false},
		{"And they lived happily ever after.", "another", false},
		// The first token ends the text, so no column follows.
		{"The capital of France is Paris.", "cache", false},
		// The third guess ends the text, and all three are kept.
		{"The capital of Japan is", "kept", true},
		// The draft's only guess ends the text, and is kept.
		{"The answer is Rome.", "kept", false},
		{"The answer is Rome.", "refused", false},
		// The first of three guesses is refused, and kept.
		{"I want to eat a", "kept", false},
		{"She opened the door and saw", "refused", false},
	} {
		a := newArtist(s.pages.environment(""), row.sentence)
		a.strict = true
		var err error
		for _, pic := range leadingTo(t, s, row.state) {
			_, err = a.picture(t.Context(), pic)
		}
		if err != nil && !errors.Is(err, errPoint) || (err == nil) != row.shown {
			t.Errorf("%q, state %q: got error %v, want it shown: %t", row.sentence, row.state, err, row.shown)
		}
	}
}

// leadingTo returns the first state of the course with a need or, without a need, of a kind. Before it
// come the draws before it in its lesson.
func leadingTo(t *testing.T, s *site, state string) (list []lessons.Picture) {
	t.Helper()
	for _, l := range s.pages.Course.Lessons {
		list = nil
		for _, pic := range l.Pictures() {
			if string(pic.Needs) == state || pic.Needs == "" && string(pic.Kind) == state {
				return append(list, pic)
			}
			if pic.Kind == lessons.PictureDraw {
				list = append(list, pic)
			}
		}
	}
	t.Fatalf("no state is %q", state)
	return nil
}

// TestPictureNeedsAgreeWithPlainArithmetic: for many sentences, each state shows exactly those of which its
// claim is true. For each claim, there are sentences of both kinds.
func TestPictureNeedsAgreeWithPlainArithmetic(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	s := newSite(t).withDraft()
	sentences := []string{
		lessons.Sentence, "In the old house lived a", "Once upon a time there was a dog.", "The answer is Rome.",
		"And they lived happily ever after.", "The capital of France is Paris.", "She opened the door and saw",
		"I want to eat a",
	}
	for _, o := range session.Openings {
		sentences = append(sentences, o.Text)
	}
	answers := map[string]map[bool]bool{}
	for _, sentence := range sentences {
		for state, want := range newPlain(t, sentence).claims() {
			a := newArtist(s.pages.environment(""), sentence)
			a.strict = true
			var err error
			for _, pic := range leadingTo(t, s, state) {
				_, err = a.picture(t.Context(), pic)
			}
			if got := err == nil; got != want || err != nil && !errors.Is(err, errPoint) {
				t.Errorf("%q, state %q: got error %v, want it shown: %t", sentence, state, err, want)
			}
			if answers[state] == nil {
				answers[state] = map[bool]bool{}
			}
			answers[state][want] = true
		}
	}
	for state, got := range answers {
		if len(got) != 2 {
			t.Errorf("state %q: all sentences have the answer %v, want both answers", state, got)
		}
	}
}

// A plain answers which states' claims are true of a sentence. It uses the model's scores, the weights of a
// separate pass, and the tokens of the engine's loops, but neither a session nor the code of pictures.
type plain struct {
	t             *testing.T
	target, draft *infer.Model
	sentence      string
	logits        []float64 // in descending order
	weights       func(block, head int) []float32
}

func newPlain(t *testing.T, sentence string) *plain {
	p := &plain{t: t, target: testmodel.Target(t), draft: testmodel.Draft(t), sentence: sentence}
	ids := p.target.Encode(sentence)
	last, _, err := p.target.Forward(t.Context(), p.target.NewCache(), ids)
	p.must(err)
	z, _, err := p.target.Logits(last)
	p.must(err)
	for _, x := range z {
		p.logits = append(p.logits, float64(x))
	}
	slices.SortFunc(p.logits, func(a, b float64) int { return cmp.Compare(b, a) })
	w, err := p.target.Watch(t.Context(), ids, true)
	p.must(err)
	p.weights = func(block, head int) []float32 { return w.Attention(block, head, len(ids)-1) }
	return p
}

func (p *plain) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%q: %v", p.sentence, err)
	}
}

// shares returns the shares at a temperature, in descending order.
func (p *plain) shares(temperature float64) (list []float64) {
	total := 0.0
	for _, z := range p.logits {
		list = append(list, math.Exp((z-p.logits[0])/temperature))
		total += list[len(list)-1]
	}
	for i := range list {
		list[i] /= total
	}
	return list
}

// nucleus returns the number of tokens that top-p keeps at a temperature with p = 0.9.
func (p *plain) nucleus(temperature float64) (n int) {
	for sum, list := 0.0, p.shares(temperature); sum < 0.9; n++ {
		sum += list[n]
	}
	return n
}

// drawn returns the token that a seed draws at T = 1 without filters.
func (p *plain) drawn(seed uint64) int {
	settings := infer.DefaultSettings()
	settings.Settings, settings.Seed = sampling.Pure, seed
	loop, err := infer.NewLoop(p.target, p.sentence, settings)
	p.must(err)
	for {
		stage, err := loop.Next(p.t.Context())
		p.must(err)
		if s, ok := stage.(infer.Sample); ok {
			return s.Chosen.Token.ID
		}
	}
}

// accepted reports whether the first of three guesses is accepted, and whether there are three.
func (p *plain) accepted(seed uint64) (first, all bool) {
	settings := infer.DefaultSettings()
	settings.Settings, settings.Seed = sampling.Pure, seed
	spec, err := speculation.New(p.target, p.draft, p.sentence, settings, 3)
	p.must(err)
	for {
		stage, err := spec.Next(p.t.Context())
		p.must(err)
		switch s := stage.(type) {
		case speculation.Propose:
			all = len(s.Drafted) == 3
		case speculation.Accept:
			return s.Accepted, all
		}
	}
}

// claims returns the states whose claims are true.
func (p *plain) claims() map[string]bool {
	one, cold, hot := p.shares(1), p.shares(0.5), p.shares(2)
	neighbor, start := p.weights(5, 4), p.weights(4, 1)
	rest := func(list []float64) (sum float64) {
		for _, x := range list[5:] {
			sum += x
		}
		return sum
	}
	first, second := p.drawn(4), p.drawn(3)
	ends := func(token int) bool { return p.target.Token(token).Text == "<|endoftext|>" }
	kept, keptAll := p.accepted(5)
	refused, refusedAll := p.accepted(8)
	return map[string]bool{
		"draw": !ends(first), "cache": !ends(first),
		"another":  !ends(first) && !ends(second) && first != second,
		"neighbor": slices.Max(neighbor) == neighbor[len(neighbor)-2],
		"start":    start[0] >= 0.95,
		"close":    p.logits[0]-p.logits[4] <= 1,
		"colder":   cold[0]-one[0] >= 0.05 && cold[1] > one[1],
		"hotter":   rest(hot)-rest(one) >= 0.05,
		"fewer":    p.nucleus(0.5) < p.nucleus(1),
		"kept":     kept && keptAll, "refused": !refused && refusedAll,
	}
}
