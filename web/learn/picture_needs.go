package learn

import (
	"slices"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// How clearly a state must show its point.
const (
	mostOfAll = 0.95 // at least this weight is on the start mark: the head looks at almost nothing else
	closeBy   = 1.0  // the fifth score is at most this much lower, so its share is at least 1/e of the first
	visibly   = 0.05 // a share has changed by at least this much
)

// shows reports whether a run shows what a state's text claims of its sentence. A picture of a draw
// also needs a token that continues the text.
func (a *artist) shows(pic lessons.Picture, in terms.Values, s *session.State) bool {
	if pic.Kind == lessons.PictureDraw {
		token, before := s.Step().Chosen, a.drawn
		a.drawn = -1
		if s.Model.EOS(token) {
			return false
		}
		a.drawn = token
		return pic.Needs != lessons.NeedsAnother || before >= 0 && token != before
	}
	switch pic.Needs {
	case lessons.NeedsNeighbor, lessons.NeedsStart:
		weights := weightsOf(s, in.Int("block"), in.Int("head"))
		if len(weights) < 2 {
			return false
		}
		if pic.Needs == lessons.NeedsStart {
			return weights[0] >= mostOfAll
		}
		return largest(weights) == len(weights)-2
	case lessons.NeedsClose:
		top := sampling.Top(s.Step().Logits, 5)
		return s.Step().Logits[top[0]]-s.Step().Logits[top[4]] <= closeBy
	case lessons.NeedsColder, lessons.NeedsHotter, lessons.NeedsFewer:
		return reshaped(pic.Needs, s)
	}
	return pic.Needs == ""
}

// weightsOf returns a head's weights at the last token. Blocks and heads are numbered from 1; if the
// model has fewer, the last one is used.
func weightsOf(s *session.State, block, head int) []float32 {
	if s.Look == nil {
		return nil
	}
	blocks := s.Look.Blocks
	heads := blocks[min(block, len(blocks))-1].Attention
	return heads[min(head, len(heads))-1]
}

// largest returns the index of the largest value.
func largest(list []float32) (at int) {
	for i, x := range list {
		if x > list[at] {
			at = i
		}
	}
	return at
}

// reshaped reports whether the temperature of a run has changed the shares as a state claims.
func reshaped(need lessons.PictureNeed, s *session.State) bool {
	plain, _, _ := sampling.Softmax(s.Step().Logits, 1)
	d := s.Dist
	if need == lessons.NeedsFewer {
		cum, kept := 0.0, 0
		for _, id := range d.Order {
			if kept++; cum+plain[id] >= d.Settings.TopP {
				break
			}
			cum += plain[id]
		}
		return d.Keep < kept
	}
	gains := func(rank int) float64 { return d.P[d.Order[rank]] - plain[d.Order[rank]] }
	if need == lessons.NeedsColder {
		return gains(0) >= visibly && gains(1) > 0
	}
	lost := 0.0
	for rank := range stage.PictureNamed {
		lost -= gains(rank)
	}
	return lost >= visibly
}

// guessed reports whether a round of guesses is as a state claims. Such a state shows all the guesses that a
// round can have, so a draft that ends the text earlier does not show the point.
func guessed(need lessons.PictureNeed, list []stage.PictureGuess, gamma int) bool {
	if need == "" {
		return len(list) > 0
	}
	own := func(g stage.PictureGuess) bool { return g.Own }
	guesses := slices.DeleteFunc(slices.Clone(list), own)
	return len(guesses) == gamma && guesses[0].Accepted == (need == lessons.NeedsKept)
}
