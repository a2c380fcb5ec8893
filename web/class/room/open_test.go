package room

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// TestNoPollWhereOneTokenIsCertain: if one token has nearly all of the probability, no poll
// opens; the instructor can choose to ask here anyway or at the next open position.
func TestNoPollWhereOneTokenIsCertain(t *testing.T) {
	t.Parallel()
	for _, draw := range []bool{false, true} {
		s := begun(t, "")
		l := s.room(class.Options{})
		ask := func(where class.Where) class.Command {
			if draw {
				return class.AskDraw{Where: where}
			}
			return class.AskNext{Where: where}
		}
		l.Start("In the old house lived a")
		l.Does(class.Drive{Do: session.StepToken{}}) // the next token is almost certainly a period
		v := l.Does(ask(class.IfOpen))
		if v.Poll != nil || v.Offer == nil || v.Offer.Share < polls.SureShare || v.Offer.Draw != draw {
			t.Fatalf(
				"at a certain position: got %+v, offer %+v; want v.Poll = nil, v.Offer not nil, Share at "+
					"least %v, Draw = %t",
				v.Poll, v.Offer, polls.SureShare, draw,
			)
		}
		sure := v.State.Frontier().Step
		if v = l.Does(ask(class.Here)); v.Poll == nil || v.Offer != nil || v.Poll.Step != sure {
			t.Errorf(
				"asked here anyway: got %+v, %+v; want v.Poll not nil, v.Offer = nil, Step = %d", v.Poll, v.Offer, sure,
			)
		}
		l.Does(class.Reveal{}, class.Dismiss{})
		if v = l.Does(ask(class.IfOpen)); v.Offer == nil {
			t.Fatal("there is no offer the second time")
		}
		v = l.Does(ask(class.NextOpen))
		if v.Poll == nil || v.Poll.Step <= sure || v.Offer != nil {
			t.Fatalf(
				"at the next open position: got %+v, offer %+v; want v.Poll not nil, Step more than %d, v.Offer = nil",
				v.Poll, v.Offer, sure,
			)
		}
		d := polls.Distribution(v.State, v.Poll.Step)
		if top := d.KeptQ(0); top >= polls.SureShare {
			t.Errorf("a token at the next open position has the share %v, want less than %v", top, polls.SureShare)
		}
		if draw {
			continue
		}
		own := strconv.Itoa(int(d.Order[d.Draw(sampling.U(v.State.Settings.Seed, v.Poll.Step))]))
		for _, o := range v.Poll.Options {
			if !polls.WholeWord(v.State.Model, polls.TokenID(o.Key)) && o.Key != own {
				t.Errorf("option %q is not a whole word", o.Text)
			}
		}
	}
}

// TestOfferEndsWhenTheRunMoves: an offer disappears once the run moves.
func TestOfferEndsWhenTheRunMoves(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("In the old house lived a")
	l.Does(class.Drive{Do: session.StepToken{}})
	if v := l.Does(class.AskNext{}); v.Offer == nil {
		t.Fatal("the room makes no offer")
	}
	if v := l.Does(class.Drive{Do: session.StepStage{}}); v.Offer != nil {
		t.Errorf("after the run moved, the room still offers %+v, want nil", v.Offer)
	}
}

// TestGreedyRunHasNoOpenPosition: in a greedy run, every token is certain, and the refusal
// explains that.
func TestGreedyRunHasNoOpenPosition(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("In the old house lived a")
	l.Does(class.Drive{Do: session.SetKnob("temperature", 0)}, class.Drive{Do: session.SetKnob("max_tokens", 4)})
	says := l.Refused(class.AskNext{Where: class.NextOpen}, &terms.Refusal{Code: class.CodeAsk})
	if !strings.Contains(says, "worth voting on") {
		t.Errorf("the message is %q, want it to contain %q", says, "worth voting on")
	}
}

// TestWalksShowWords: if a script shows the candidates right after its prompt, the tokens listed on
// the classroom screen are whole words. If a script makes the class act as the sampler, the
// position is open.
func TestWalksShowWords(t *testing.T) {
	t.Parallel()
	const listed, least = 5, 0.01 // the rows on the classroom screen, and the smallest share whose bar is visible
	s := begun(t, "")
	drawn, looked := 0, 0
	for _, walk := range s.cfg.Course.Walks {
		s.t = t
		l := s.room(class.Options{Walk: walk.Slug})
		for n := range walk.Steps {
			v := l.Does(class.GoTo{Step: n + 1})
			if d := v.State.Dist; d != nil && v.State.Cursor.Step == 1 && v.State.Cursor.Stage <= infer.KindSample {
				looked++
				for _, id := range d.Order[:listed] {
					text := v.State.Model.Token(int(id)).Text
					if d.P[id] >= least && !polls.WholeWord(v.State.Model, int(id)) {
						t.Errorf("%s, step %d: after %q comes %q, want a word", walk.Slug, n+1, v.State.Prompt, text)
					}
				}
			}
			if v.Poll == nil {
				continue
			}
			if v.Poll.Kind == class.Draw {
				drawn++
				if why := polls.WhyClosed(v.State); why != nil {
					t.Errorf("%s, step %d draws at a position that is not open: got %+v, want nil", walk.Slug, n+1, why)
				}
			}
			l.Does(class.Reveal{})
		}
	}
	if drawn < 2 || looked < 8 {
		t.Errorf("classes draw in %d steps and see candidates in %d; want 2 or more, 8 or more", drawn, looked)
	}
}
