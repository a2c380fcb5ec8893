package labs

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// guess is the prediction that a lab asks for before it runs.
type guess struct {
	Ask     string
	Choices []choice
	// truth finds which choice a report bears out, and says what was found. It
	// is not ok where the report is too short to tell.
	truth func(*lab.Report) (key, say string, ok bool)
}

// choice is one answer.
type choice struct{ Key, Words string }

// none is the choice of someone who would rather just look.
const none = "none"

// guesses are the labs' predictions.
var guesses = map[string]guess{
	"strategies": {
		"At which token do the first two lanes part?",
		[]choice{
			{"1", "at the very first"},
			{"5", "at the 2nd to 5th"},
			{"20", "at the 6th to 20th"},
			{"more", "later"},
			{"never", "not at all"},
		},
		firstParting,
	},
	"draw": {
		"From 100 draws to 10,000 draws, how does the distance to the model’s bars change?",
		[]choice{
			{"1", "hardly"}, {"2", "to about a half"}, {"10", "to about a tenth"}, {"100", "to about a hundredth"},
		},
		fallOfDistance,
	},
	"cache": {
		"How much less work is the last token with the cache?",
		[]choice{
			{"1", "about as much"},
			{"3", "about 3 times less"},
			{"10", "about 10 times less"},
			{"30", "about 30 times less"},
			{"100", "100 times less or more"},
		},
		lessWork,
	},
	"memory": {
		"How many texts of this length fit into memory along with the weights?",
		[]choice{{"0", "none"}, {"9", "1 to 9"}, {"99", "10 to 99"}, {"999", "100 to 999"}, {"more", "more"}},
		usersThatFit,
	},
	"prefill": {
		"How long does a token take to write, compared with one read in the prompt?",
		[]choice{{"1", "less or about as long"}, {"3", "2 to 4 times as long"}, {"more", "more than 4 times as long"}},
		writeAgainstRead,
	},
	"bill": {
		"Which change would have saved most on this request?",
		[]choice{
			{"stop", "the other stop string"},
			{"max_tokens", "the smaller limit on tokens"},
			{"prompt", "the terser prompt"},
			{"nothing", "none of them"},
		},
		bestSaving,
	},
	"speculation": {
		"With the draft in front, how long does the same text take on this machine?",
		[]choice{
			{"slower", "longer"},
			{"same", "about as long"},
			{"faster", "a little less"},
			{"much", "less than two thirds"},
		},
		speedOfDraft,
	},
	"stops": {
		"What ends this text first?",
		stopChoices(),
		winnerOf,
	},
	"quantization": {
		"Rounded to four bits, at how many steps is another token the most probable one?",
		[]choice{
			{"0", "at no step"},
			{"tenth", "at up to a tenth of them"},
			{"third", "at up to a third"},
			{"more", "at more"},
		},
		favouritesLost,
	},
}

// has tells whether a key is one of the choices.
func (g guess) has(key string) bool {
	return key == none || slices.ContainsFunc(g.Choices, func(c choice) bool { return c.Key == key })
}

func (g guess) words(key string) string {
	for _, c := range g.Choices {
		if c.Key == key {
			return c.Words
		}
	}
	return "no guess"
}

// verdict lays a prediction beside what was measured.
type verdict struct {
	Guessed string // in words; empty where there was none
	Found   string
	Right   bool
}

func (g guess) judge(guessed string, r *lab.Report) *verdict {
	if r == nil || r.Result == nil || !g.has(guessed) {
		return nil
	}
	key, say, ok := g.truth(r)
	if !ok {
		return nil
	}
	v := &verdict{Found: say, Right: key == guessed}
	if guessed != none {
		v.Guessed = g.words(guessed)
	}
	return v
}

// among returns the last of some keys whose bound x reaches: bounds rise, and
// the last key has none.
func among(x float64, bounds []float64, keys ...string) string {
	for i, b := range bounds {
		if x <= b {
			return keys[i]
		}
	}
	return keys[len(bounds)]
}

func firstParting(r *lab.Report) (string, string, bool) {
	s := r.Result.(*lab.Strategies)
	if len(s.Lanes) < 2 || len(s.Lanes[0].Steps) == 0 {
		return "", "", false
	}
	a, b := s.Lanes[0].Name, s.Lanes[1].Name
	for _, p := range s.Partings {
		if p.Lanes == [2]int{0, 1} {
			return among(
				float64(p.Step), []float64{1, 5, 20}, "1", "5", "20", "more",
			), fmt.Sprintf("%s and %s part at token %d.", a, b, p.Step), true
		}
	}
	return "never", fmt.Sprintf("%s and %s never part in these %d tokens.", a, b, len(s.Lanes[0].Steps)), true
}

func fallOfDistance(r *lab.Report) (string, string, bool) {
	d := r.Result.(*lab.Draw)
	at := func(n int) float64 {
		for _, x := range d.Distances {
			if x.N == n {
				return x.Mean
			}
		}
		return 0
	}
	few, many := at(100), at(10_000)
	if few <= 0 || many <= 0 {
		return "", "", false
	}
	fall := few / many
	key := among(fall, []float64{math.Sqrt2, math.Sqrt(20), math.Sqrt(1000)}, "1", "2", "10", "100")
	return key, fmt.Sprintf(
		"The distance falls from %s to %s, by a factor of %s.", terms.Decimals(few, 4), terms.Decimals(many, 4),
		terms.Decimals(fall, 1),
	), true
}

func lessWork(r *lab.Report) (string, string, bool) {
	c := r.Result.(*lab.Cache)
	if len(c.Steps) < 2 {
		return "", "", false
	}
	last := c.Steps[len(c.Steps)-1]
	less := float64(last.Recomputed.MultAdds) / float64(last.Cached.MultAdds)
	key := among(
		less, []float64{math.Sqrt(3), math.Sqrt(30), math.Sqrt(300), math.Sqrt(3000)}, "1", "3", "10", "30", "100",
	)
	return key, fmt.Sprintf(
		"Token %d takes %s times less work with the cache.", last.Step, terms.Decimals(less, 1),
	), true
}

func usersThatFit(r *lab.Report) (string, string, bool) {
	m := r.Result.(*lab.Memory)
	key := among(float64(m.Users), []float64{0, 9, 99, 999}, "0", "9", "99", "999", "more")
	return key, fmt.Sprintf("%s fit.", terms.Count(m.Users)), true
}

func writeAgainstRead(r *lab.Report) (string, string, bool) {
	p := r.Result.(*lab.Prefill)
	if p.Ratio <= 0 {
		return "", "", false
	}
	return among(p.Ratio, []float64{1.5, 4}, "1", "3", "more"), fmt.Sprintf(
		"Writing a token took %s times as long as reading one.", terms.Decimals(p.Ratio, 1),
	), true
}

func bestSaving(r *lab.Report) (string, string, bool) {
	b := r.Result.(*lab.Bill)
	if len(b.Savings) == 0 {
		return "", "", false
	}
	best := slices.MaxFunc(b.Savings, func(x, y lab.Saving) int { return int(math.Copysign(1, x.Saved-y.Saved)) })
	if best.Saved <= 0 {
		return "nothing", "None of the changes would have saved anything.", true
	}
	return best.Name, fmt.Sprintf(
		"The request %s saves most: %s of the cost.", best.Title, terms.Percent(best.Share),
	), true
}

func speedOfDraft(r *lab.Report) (string, string, bool) {
	s := r.Result.(*lab.Speculation)
	best := 0.0
	for _, g := range s.Gammas {
		if g.Gamma > 0 {
			best = max(best, g.SpeedUp)
		}
	}
	if best == 0 {
		return "", "", false
	}
	key := among(best, []float64{0.95, 1.05, 1.5}, "slower", "same", "faster", "much")
	return key, fmt.Sprintf("At the best γ the draft makes it %s times as fast.", terms.Decimals(best, 2)), true
}

func winnerOf(r *lab.Report) (string, string, bool) {
	s := r.Result.(*lab.Stops)
	if s.Winner == "" {
		return "", "", false
	}
	for _, x := range s.Racers {
		if string(x.Kind) == s.Winner {
			return s.Winner, fmt.Sprintf("First comes %s, at token %s.", racerName(x), terms.Count(x.Step)), true
		}
	}
	return s.Winner, "It ends by " + s.Winner + ".", true
}

func favouritesLost(r *lab.Report) (string, string, bool) {
	q := r.Result.(*lab.Quantization)
	for _, w := range q.Ways {
		if w.Kind != infer.QuantQ4 || len(q.Steps) == 0 {
			continue
		}
		lost := len(q.Steps) - w.Kept
		key := among(float64(lost)/float64(len(q.Steps)), []float64{0, 0.1, 1.0 / 3}, "0", "tenth", "third", "more")
		return key, fmt.Sprintf(
			"With %s another token is the most probable at %d of %s.", w.Name, lost,
			terms.Counted(len(q.Steps), "step"),
		), true
	}
	return "", "", false
}

// stopChoices are the reasons for which a text ends.
func stopChoices() (list []choice) {
	for _, s := range terms.Stops() {
		list = append(list, choice{s.Key, s.A})
	}
	return list
}
