package room

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// TestNextTokenFromVoteToReveal: in a vote on the next token, nobody sees probabilities or
// other people's votes before the instructor shows them.
// Promise: In a vote nobody sees a probability or another vote before the instructor shows the result.
func TestNextTokenFromVoteToReveal(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	l.Enroll(10)
	before := l.View().State
	v := l.Does(class.AskNext{Choices: 6, Where: class.Here})
	p := v.Poll
	if !v.Hidden || p.Phase != class.Open || len(p.Options) != 6 || p.Step != 1 || v.State.Cursor != before.Cursor {
		t.Fatalf(
			"asked at %v: %+v; want v.Hidden = true, Phase = %q, len(Options) = 6, Step = 1, v.State.Cursor = %v",
			v.State.Cursor, p, class.Open, before.Cursor,
		)
	}
	d := polls.Distribution(v.State, 1)
	drawn := d.Order[d.Draw(sampling.U(v.State.Settings.Seed, 1))]
	if !slices.Contains(classtest.Keys(p), strconv.Itoa(int(drawn))) {
		t.Error("the token that will be drawn is not an option")
	}
	nothing := func(what string, p *class.Poll, spread bool) {
		for _, o := range p.Options {
			if o.P != 0 || o.Q != 0 || o.Right || o.Count != 0 && !spread {
				t.Errorf("%s reveals %+v, want no probability, result or early count", what, o)
			}
		}
	}
	nothing("the open vote", p, false)
	// Six members vote for the first option, three for the second, one for the last.
	l.AllCast(10, func(id int) class.Ballot {
		return class.Ballot{Choice: classtest.Keys(p)[[]int{0, 0, 0, 0, 0, 0, 1, 1, 1, 5}[id-1]]}
	})
	nothing(
		"the vote with ten votes", l.Settled("ten have voted",
			func(v *class.View) bool { return v.Poll.Votes == 10 }).Poll,
		false,
	)
	nothing("the closed vote", l.Does(class.Close{}).Poll, false)
	spread := l.Does(class.ShowSpread{}).Poll
	nothing("the spread", spread, true)
	classtest.Same(t, "the spread", classtest.Counts(spread), 6, 3, 0, 0, 0, 1)

	// The members discuss and vote again; votes for the first round no longer count.
	again := l.Does(class.Revote{}).Poll
	if again.Round != 2 || again.Votes != 0 || again.ID == p.ID || again.Before != nil {
		t.Fatalf("the second round: got %+v, want Round = 2, Votes = 0, ID other than %q, Before = nil", again, p.ID)
	}
	if _, err := l.Cast(3, class.Ballot{Poll: p.ID, Choice: classtest.Keys(p)[0], N: 1 << 50}); err != class.ErrClosed {
		t.Errorf("a late vote of the first round: got %v, want %v", err, class.ErrClosed)
	}
	for id := range 4 {
		l.MustCast(id+1, class.Ballot{Choice: classtest.Keys(p)[1]})
	}
	end := l.Does(class.Reveal{})
	classtest.Same(t, "the second round", classtest.Counts(end.Poll), 0, 4, 0, 0, 0, 0)
	classtest.Same(t, "the first beside it", end.Poll.Before, 6, 3, 0, 0, 0, 1)
	if end.Hidden {
		t.Error("the stage is still hidden")
	}
	for _, o := range end.Poll.Options {
		id, _ := strconv.Atoi(o.Key)
		classtest.Near(t, "p of "+o.Text, o.P, d.P[id])
		classtest.Near(t, "q of "+o.Text, o.Q, d.Q(d.RankOf(int32(id))))
		if o.Right {
			t.Errorf("%q is marked as right, want no token marked before the draw", o.Text)
		}
	}
}

// TestAppendTheClassesChoice: the instructor appends the token with the most votes, or one member's
// token. In a tie, the token that the model finds more probable is appended.
func TestAppendTheClassesChoice(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	l.Enroll(4)
	p := l.Does(class.AskNext{Where: class.Here}).Poll
	model := l.View().State.Model
	for id, i := range []int{2, 2, 4, 4} {
		l.MustCast(id+1, class.Ballot{Choice: classtest.Keys(p)[i]})
	}
	l.Refused(class.AppendMajority{}, class.ErrOpen)
	l.Does(class.Close{})
	likelier := p.Options[2]
	if d := polls.Distribution(l.View().State, 1); d.RankOf(
		int32(polls.TokenID(p.Options[4].Key)),
	) < d.RankOf(int32(polls.TokenID(likelier.Key))) {
		likelier = p.Options[4]
	}
	v := l.Does(class.AppendMajority{})
	if v.Poll != nil || v.State.Cursor != (session.Cursor{
		Step: 1, Stage: infer.KindSample,
	}) || model.Token(v.State.Step().Chosen).Text != likelier.Text {
		t.Errorf(
			"after appending the majority's token: got %+v, %q; want v.Poll = nil, v.State.Cursor = %+v, "+
				"model.Token(v.State.Step().Chosen).Text = %q",
			v.State.Cursor, model.Token(v.State.Step().Chosen).Text, session.Cursor{Step: 1, Stage: infer.KindSample},
			likelier.Text,
		)
	}
	l.Refused(class.AppendMajority{}, class.ErrNoPoll)

	p = l.Does(class.AskNext{Where: class.Here}).Poll // asks about step 2, after finishing step 1
	if p.Step != 2 || l.View().State.Cursor != (session.Cursor{Step: 2, Stage: infer.KindForward}) {
		t.Fatalf(
			"the next question is at %v, want p.Step = 2, l.View().State.Cursor = %v", l.View().State.Cursor,
			session.Cursor{Step: 2, Stage: infer.KindForward},
		)
	}
	l.MustCast(3, class.Ballot{Choice: classtest.Keys(p)[0]})
	l.Does(class.Close{})
	l.Refused(class.AppendOf{Member: 4}, class.ErrNoMember)
	l.Refused(class.AppendOf{Member: 99}, class.ErrNoMember)
	if v = l.Does(class.AppendOf{Member: 3}); v.State.Step().Chosen != polls.TokenID(classtest.Keys(p)[0]) {
		t.Errorf("the token of one member was not appended: %d", v.State.Step().Chosen)
	}
}

// TestClassAsSampler: each member draws one u from their own random stream, once per round.
// With two hundred members, the histogram is close to the model's distribution: by the
// Bretagnolle–Huber–Carol inequality, the distance of n draws over k bars exceeds ε with a
// probability of at most 2^k·exp(−2nε²), here 2^4·exp(−2·200·0.2²) < 2e-6.
// Promise: When a class acts as the sampler, its draws follow the model's distribution.
func TestClassAsSampler(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	topK := 4
	l.Does(class.Drive{Do: session.SetKnob("top_k", float64(topK))})
	const n = 200
	l.Enroll(n)
	v := l.Does(class.AskDraw{Where: class.Here})
	if v.Hidden || len(v.Poll.Options) != topK {
		t.Fatalf("the draw offers %+v, want v.Hidden = false, %d elements", v.Poll.Options, topK)
	}
	d := polls.Distribution(v.State, 1)
	seen := map[float64]bool{}
	first := l.AllCast(n, func(int) class.Ballot { return class.Ballot{} })
	for id, r := range l.AllCast(n, func(int) class.Ballot { return class.Ballot{N: 1 << 50} }) {
		if r.U < 0 || r.U >= 1 || seen[r.U] || r.Choice != strconv.Itoa(int(d.Order[d.Draw(r.U)])) || r.Text == "" {
			t.Fatalf("member %d draws %+v, want a u of their own and the token on which it falls", id+1, r)
		}
		seen[r.U] = true
		if first[id] != r {
			t.Fatalf("a second draw gives %+v, want the first one, %+v", r, first[id])
		}
	}
	grown := l.Settled("all have drawn", func(v *class.View) bool { return v.Poll.Votes == n }).Poll
	if far := polls.Distance(grown.Options, classtest.Counts(grown)); far > 0.2 {
		t.Errorf("the histogram %v is %.2f from the model's, want at most 0.2", classtest.Counts(grown), far)
	}
	sum := 0.0
	for i, o := range grown.Options {
		classtest.Near(t, "q", o.Q, d.Q(i))
		sum += o.Q
	}
	classtest.Near(t, "all q", sum, 1)

	l.Does(class.Close{}, class.Drive{Do: session.SetKnob("temperature", 0)})
	err := l.Refused(class.AskDraw{Where: class.Here}, &terms.Refusal{Code: class.CodeAsk})
	if !strings.Contains(err, "Greedy decoding draws nothing") {
		t.Errorf("got %q, want it to contain %q", err, "Greedy decoding draws nothing")
	}
}

// TestDrawOffersOnlyKeptTokens: with typical-p, which removes the most probable tokens here,
// a draw offers only tokens that are kept, and its last bar represents all other kept tokens.
func TestDrawOffersOnlyKeptTokens(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("Once upon a time there was a")
	for typical, bars := range map[float64]int{0.2: 11, 0.3: polls.MaxKept + 1} {
		l.Does(class.Drive{Do: session.Set{Knobs: infer.Knobs{"temperature": 1, "top_p": 1, "typical_p": typical}}})
		d := polls.Distribution(l.Does(class.AskDraw{Where: class.Here}).State, 1)
		options := l.Does(class.Close{}, class.Reveal{}).Poll.Options // p is shown only at the end
		if d.Stays(0) || len(options) != bars || (d.Keep > polls.MaxKept) != (bars > polls.MaxKept) {
			t.Fatalf(
				"typical-p %v: got %d kept, %d offered; want %d offered, without the top token", typical, d.Keep,
				len(options), bars,
			)
		}
		q, p := 0.0, 0.0
		for i, o := range options {
			q, p = q+o.Q, p+o.P
			if id := d.Order[d.KeptRank(i)]; !o.Rest && (o.Key != strconv.Itoa(int(id)) || o.Q != d.KeptQ(i)) {
				t.Errorf("typical-p %v: bar %d is token %s with q %v, want %d", typical, i+1, o.Key, o.Q, id)
			}
		}
		classtest.Near(t, "all q", q, 1)
		classtest.Near(t, "all p", p, d.Mass)
	}
}

// TestTokensSharingABarAreDrawnApart: tokens that share a bar are still drawn individually.
func TestTokensSharingABarAreDrawnApart(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	l.Does(class.Drive{Do: session.SetKnob("temperature", 2)})
	l.Enroll(30)
	p := l.Does(class.AskDraw{Where: class.Here}).Poll
	if rest := p.Options[len(p.Options)-1]; len(p.Options) != polls.MaxKept+1 || !rest.Rest || rest.Letter != "" ||
		rest.Q <= 0.3 {
		t.Fatalf(
			`the last bar is %+v of %d; want len(p.Options) = %d, Rest = true, Letter = "", Q more than 0.3`, rest,
			len(p.Options), polls.MaxKept+1,
		)
	}
	others := 0
	for _, r := range l.AllCast(30, func(int) class.Ballot { return class.Ballot{} }) {
		if !slices.Contains(classtest.Keys(p), r.Choice) {
			others++
			if r.Text != polls.TokenText(l.View().State.Model, polls.TokenID(r.Choice)) {
				t.Errorf("the receipt reads %q, want the token's text", r.Text)
			}
		}
	}
	end := l.Does(class.Close{})
	if got := classtest.Counts(end.Poll)[polls.MaxKept]; got != others || others == 0 {
		t.Errorf("got %d votes in the last bar, want %d", got, others)
	}
	if chosen := l.Does(class.AppendOf{Member: 1}).State.Step().Chosen; chosen < 0 {
		t.Errorf("got chosen token %d, want at least 0", chosen)
	}
}

// TestNumberAnswersByHand: 0.25, 0,25 and 25 % are the same answer; the median of 0.25,
// 0.25, 0.25, 0.3, 7 and 9 is (0.25 + 0.3) / 2 = 0.275; four of the six answers are within
// 0.05 of 0.25, since |0.3 − 0.25| = 0.05.
func TestNumberAnswersByHand(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(6)
	right := 0.25
	l.Refused(class.AskNumber{Prompt: " "}, &terms.Refusal{Code: class.CodeAsk})
	l.Refused(class.AskNumber{Prompt: "How much?", Within: math.NaN()}, &terms.Refusal{Code: class.CodeAsk})
	p := l.Does(class.AskNumber{Prompt: "How <much>?", Unit: "of all", Answer: &right, Within: 0.05}).Poll
	if p.Prompt != "How &lt;much&gt;?" {
		t.Errorf("the prompt is %q, want %q", p.Prompt, "How &lt;much&gt;?")
	}
	for id, typed := range []string{"0.25", " 0,25 ", "25 %", "0.3", "7", "9"} {
		l.MustCast(id+1, class.Ballot{Choice: typed})
	}
	for _, typed := range []string{"", "a quarter", "1e999", "NaN", "1,2,3", "0x", strings.Repeat("1", 100)} {
		if _, err := l.Cast(1, class.Ballot{Choice: typed}); err == nil ||
			!strings.Contains(err.Error(), "is not a number") {
			t.Errorf("%q: got error %v, want an error containing %q", typed, err, "is not a number")
		}
	}
	if shown := l.Does(class.Close{}).Poll; shown.Options != nil || shown.Median != nil || shown.Right != nil {
		t.Errorf("the closed poll shows %+v, want Options = nil, Median = nil, Right = nil", shown)
	}
	p = l.Does(class.Reveal{}).Poll
	if p.Median == nil || *p.Right != right {
		t.Fatalf("the revealed poll: got %+v, want Median not nil, *p.Right = %v", p, right)
	}
	classtest.Near(t, "the median", *p.Median, 0.275)
	classtest.Same(t, "the answers", classtest.Keys(p), "0.25", "0.3", "7", "9")
	classtest.Same(t, "how often", classtest.Counts(p), 3, 1, 1, 1)
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil || sum.Polls[0].Rounds[0].Right != 4 {
		t.Errorf("the summary: got %+v, %v; want no error, sum.Polls[0].Rounds[0].Right = 4", sum.Polls, err)
	}
}

// TestPollClosesOnTime: a poll closes when its time is up, and can be extended and
// reopened.
func TestPollClosesOnTime(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(1)
	l.Does(class.AskQuestion{ID: "q-order", For: time.Hour})
	if v := l.Does(class.Extend{By: time.Hour}); !v.Poll.Ends.Equal(s.clock.Now().Add(2 * time.Hour)) {
		t.Errorf("the poll ends at %v, want two hours from now", v.Poll.Ends)
	}
	s.clock.Pass(2 * time.Hour)
	if _, err := l.Cast(1, class.Ballot{Choice: "a"}); err != class.ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, class.ErrClosed)
	}
	if err := ask(
		t.Context(), l, func(c *core) error { c.timeUp(); return nil },
	); err != nil || l.View().Poll.Phase != class.Closed {
		t.Errorf("the poll is %+v, %v; want no error, Phase = %q", l.View().Poll, err, class.Closed)
	}
	l.Does(class.Extend{By: time.Minute})
	l.MustCast(1, class.Ballot{Choice: "a"})
	l.Refused(class.Extend{By: 0}, &terms.Refusal{Code: class.CodeAsk})
	l.Does(class.Reveal{})
	l.Refused(class.Extend{By: time.Minute}, class.ErrClosed)
	l.Refused(class.Revote{}, class.ErrClosed)
	l.Refused(class.Close{}, class.ErrClosed)
	l.Refused(class.ShowSpread{}, class.ErrClosed)
}

// TestRepeatedVoteGetsItsReceipt: if a receipt was lost, a vote that is resent after its poll was
// closed gets the receipt. Any other vote is refused.
func TestRepeatedVoteGetsItsReceipt(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Start("The cat")
	l.Enroll(1)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	b := class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 7}
	first := l.MustCast(1, b)
	l.Does(class.Close{})
	if again := l.MustCast(1, b); again != first {
		t.Errorf("sent again: got receipt %+v, want %+v", again, first)
	}
	b.N++
	if r, err := l.Cast(1, b); !errors.Is(err, class.ErrClosed) {
		t.Errorf("another vote: got %+v, %v; want %v", r, err, class.ErrClosed)
	}
}
