package stage

import (
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// zoom is the range of scores that stage 2 shows in its rows. It extends from a round number at or
// below the last row's score to the highest score. If the axis began at the lowest score of the
// whole vocabulary, every bar would look full.
type zoom struct{ from, to, step float64 }

// zoomParts is the maximum number of parts into which ticks divide a zoomed axis.
const zoomParts = 6

func zoomOn(st infer.Logits) zoom {
	last := float64(st.Rows.Rows[len(st.Rows.Rows)-1].Z)
	z := zoom{to: float64(st.Max)}
	z.step = roundStep((z.to-last)/zoomParts, 0.01)
	z.from = math.Floor(last/z.step) * z.step
	if z.from >= z.to { // all scores are the same round number
		z.from = z.to - z.step
	}
	return z
}

// roundStep returns a round number: the smallest of 1, 2 and 5 times a power of ten that is at
// least x and at least least. least is itself a power of ten.
func roundStep(x, least float64) float64 {
	for ten := least; ; ten *= 10 {
		for _, times := range [...]float64{1, 2, 5} {
			if step := times * ten; step >= x {
				return step
			}
		}
	}
}

// at returns the position of a score on the axis, from 0 to 1.
func (z zoom) at(score float64) float64 { return (score - z.from) / (z.to - z.from) }

// ticks labels the multiples of the step.
func (z zoom) ticks() []Tick {
	var list []Tick
	for i := 0; ; i++ {
		score := z.from + float64(i)*z.step
		if score > z.to+z.step/1000 {
			return list
		}
		t := tick(z.at(score), plainScore(score))
		if z.at(score) > 0.97 {
			t.Anchor = "end"
		}
		list = append(list, t)
	}
}

// plainScore formats a score without unnecessary decimals.
func plainScore(x float64) string {
	text := strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
	if text[0] == '-' && text != "-0" {
		return terms.Minus + text[1:]
	}
	return text
}

// Histogram is the distribution of all scores of a step. It marks the range that the rows show.
type Histogram struct {
	Bins       []Bin
	BoxX, BoxW string // the zoomed part, as SVG lengths
	From, To   string // the ends of the axis
	Say        string // "all 4,096 scores"
	Aria       string
}

// Bin is one bar of a histogram, as SVG lengths.
type Bin struct{ X, W, Y, H string }

// bins is the approximate number of bars in a histogram.
const bins = 30

func (w Words) newHistogram(s *session.State, st infer.Logits) *Histogram {
	step := roundStep((float64(st.Max)-float64(st.Min))/bins, 0.01)
	from := math.Floor(float64(st.Min)/step) * step
	count := make([]int, int(math.Floor((float64(st.Max)-from)/step))+1)
	scores := s.Step().Logits
	score := func(id int) float64 { return float64(scores[id]) }
	if st.Penalty != nil { // the rows show the scores after the penalty
		d := s.DistAt(s.Cursor.Step)
		score = func(id int) float64 { return float64(d.Score(id)) }
	}
	most := 1
	for id := range scores {
		i := min(max(int((score(id)-from)/step), 0), len(count)-1)
		count[i]++
		most = max(most, count[i])
	}
	n, to := float64(len(count)), from+float64(len(count))*step
	z := zoomOn(st)
	share := func(score float64) float64 { return (score - from) / (to - from) }
	h := &Histogram{
		BoxX: Share(share(z.from)), BoxW: Share(share(z.to) - max(share(z.from), 0)),
		From: plainScore(from), To: plainScore(to), Say: w.T("hist.say", "n", terms.Count(st.Vocab)),
		Aria: w.T(
			"hist.aria", "n", terms.Count(st.Vocab), "min", terms.Logit(float64(st.Min)), "max",
			terms.Logit(float64(st.Max)), "from", plainScore(z.from), "to", terms.Logit(z.to),
		),
	}
	for i, c := range count {
		if c > 0 {
			tall := float64(c) / float64(most)
			h.Bins = append(h.Bins, Bin{
				X: Share(float64(i) / n), W: Share(0.92 / n), Y: Share(1 - tall), H: Share(tall),
			})
		}
	}
	return h
}
