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
	l.start("The capital of")
	l.class(10)
	before := l.View().State
	v := l.does(class.AskNext{Choices: 6, Where: class.Here})
	p := v.Poll
	if !v.Hidden || p.Phase != class.Open || len(p.Options) != 6 || p.Step != 1 || v.State.Cursor != before.Cursor {
		t.Fatalf(
			"asked at %v: %+v; want v.Hidden = true, Phase = %q, len(Options) = 6, Step = 1, v.State.Cursor = %v",
			v.State.Cursor, p, class.Open, before.Cursor,
		)
	}
	d := polls.Distribution(v.State, 1)
	drawn := d.Order[d.Draw(sampling.U(v.State.Settings.Seed, 1))]
	if !slices.Contains(keys(p), strconv.Itoa(int(drawn))) {
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
	l.allVote(10, func(id int) class.Ballot {
		return class.Ballot{Choice: keys(p)[[]int{0, 0, 0, 0, 0, 0, 1, 1, 1, 5}[id-1]]}
	})
	nothing(
		"the vote with ten votes", l.settled("ten have voted",
			func(v *class.View) bool { return v.Poll.Votes == 10 }).Poll,
		false,
	)
	nothing("the closed vote", l.does(class.Close{}).Poll, false)
	spread := l.does(class.ShowSpread{}).Poll
	nothing("the spread", spread, true)
	same(t, "the spread", counts(spread), 6, 3, 0, 0, 0, 1)

	// The members discuss and vote again; votes for the first round no longer count.
	again := l.does(class.Revote{}).Poll
	if again.Round != 2 || again.Votes != 0 || again.ID == p.ID || again.Before != nil {
		t.Fatalf("the second round: got %+v, want Round = 2, Votes = 0, ID other than %q, Before = nil", again, p.ID)
	}
	if _, err := l.vote(3, class.Ballot{Poll: p.ID, Choice: keys(p)[0], N: 1 << 50}); err != class.ErrClosed {
		t.Errorf("a late vote of the first round: got %v, want %v", err, class.ErrClosed)
	}
	for id := range 4 {
		l.votes(id+1, class.Ballot{Choice: keys(p)[1]})
	}
	end := l.does(class.Reveal{})
	same(t, "the second round", counts(end.Poll), 0, 4, 0, 0, 0, 0)
	same(t, "the first beside it", end.Poll.Before, 6, 3, 0, 0, 0, 1)
	if end.Hidden {
		t.Error("the stage is still hidden")
	}
	for _, o := range end.Poll.Options {
		id, _ := strconv.Atoi(o.Key)
		near(t, "p of "+o.Text, o.P, d.P[id])
		near(t, "q of "+o.Text, o.Q, d.Q(d.RankOf(int32(id))))
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
	l.start("The capital of")
	l.class(4)
	p := l.does(class.AskNext{Where: class.Here}).Poll
	model := l.View().State.Model
	for id, i := range []int{2, 2, 4, 4} {
		l.votes(id+1, class.Ballot{Choice: keys(p)[i]})
	}
	l.refused(class.AppendMajority{}, class.ErrOpen)
	l.does(class.Close{})
	likelier := p.Options[2]
	if d := polls.Distribution(l.View().State, 1); d.RankOf(
		int32(polls.TokenID(p.Options[4].Key)),
	) < d.RankOf(int32(polls.TokenID(likelier.Key))) {
		likelier = p.Options[4]
	}
	v := l.does(class.AppendMajority{})
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
	l.refused(class.AppendMajority{}, class.ErrNoPoll)

	p = l.does(class.AskNext{Where: class.Here}).Poll // asks about step 2, after finishing step 1
	if p.Step != 2 || l.View().State.Cursor != (session.Cursor{Step: 2, Stage: infer.KindForward}) {
		t.Fatalf(
			"the next question is at %v, want p.Step = 2, l.View().State.Cursor = %v", l.View().State.Cursor,
			session.Cursor{Step: 2, Stage: infer.KindForward},
		)
	}
	l.votes(3, class.Ballot{Choice: keys(p)[0]})
	l.does(class.Close{})
	l.refused(class.AppendOf{Member: 4}, class.ErrNoMember)
	l.refused(class.AppendOf{Member: 99}, class.ErrNoMember)
	if v = l.does(class.AppendOf{Member: 3}); v.State.Step().Chosen != polls.TokenID(keys(p)[0]) {
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
	l.start("The capital of")
	topK := 4
	l.does(class.Drive{Do: session.SetKnob("top_k", float64(topK))})
	const n = 200
	l.class(n)
	v := l.does(class.AskDraw{Where: class.Here})
	if v.Hidden || len(v.Poll.Options) != topK {
		t.Fatalf("the draw offers %+v, want v.Hidden = false, %d elements", v.Poll.Options, topK)
	}
	d := polls.Distribution(v.State, 1)
	seen := map[float64]bool{}
	first := l.allVote(n, func(int) class.Ballot { return class.Ballot{} })
	for id, r := range l.allVote(n, func(int) class.Ballot { return class.Ballot{N: 1 << 50} }) {
		if r.U < 0 || r.U >= 1 || seen[r.U] || r.Choice != strconv.Itoa(int(d.Order[d.Draw(r.U)])) || r.Text == "" {
			t.Fatalf("member %d draws %+v, want a u of their own and the token on which it falls", id+1, r)
		}
		seen[r.U] = true
		if first[id] != r {
			t.Fatalf("a second draw gives %+v, want the first one, %+v", r, first[id])
		}
	}
	grown := l.settled("all have drawn", func(v *class.View) bool { return v.Poll.Votes == n }).Poll
	if far := polls.Distance(grown.Options, counts(grown)); far > 0.2 {
		t.Errorf("the histogram %v is %.2f from the model's, want at most 0.2", counts(grown), far)
	}
	sum := 0.0
	for i, o := range grown.Options {
		near(t, "q", o.Q, d.Q(i))
		sum += o.Q
	}
	near(t, "all q", sum, 1)

	l.does(class.Close{}, class.Drive{Do: session.SetKnob("temperature", 0)})
	err := l.refused(class.AskDraw{Where: class.Here}, &terms.Refusal{Code: class.CodeAsk})
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
	l.start("Once upon a time there was a")
	for typical, bars := range map[float64]int{0.2: 11, 0.3: polls.MaxKept + 1} {
		l.does(class.Drive{Do: session.Set{Knobs: infer.Knobs{"temperature": 1, "top_p": 1, "typical_p": typical}}})
		d := polls.Distribution(l.does(class.AskDraw{Where: class.Here}).State, 1)
		options := l.does(class.Close{}, class.Reveal{}).Poll.Options // p is shown only at the end
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
		near(t, "all q", q, 1)
		near(t, "all p", p, d.Mass)
	}
}

// TestTokensSharingABarAreDrawnApart: tokens that share a bar are still drawn individually.
func TestTokensSharingABarAreDrawnApart(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.start("The capital of")
	l.does(class.Drive{Do: session.SetKnob("temperature", 2)})
	l.class(30)
	p := l.does(class.AskDraw{Where: class.Here}).Poll
	if rest := p.Options[len(p.Options)-1]; len(p.Options) != polls.MaxKept+1 || !rest.Rest || rest.Letter != "" ||
		rest.Q <= 0.3 {
		t.Fatalf(
			`the last bar is %+v of %d; want len(p.Options) = %d, Rest = true, Letter = "", Q more than 0.3`, rest,
			len(p.Options), polls.MaxKept+1,
		)
	}
	others := 0
	for _, r := range l.allVote(30, func(int) class.Ballot { return class.Ballot{} }) {
		if !slices.Contains(keys(p), r.Choice) {
			others++
			if r.Text != polls.TokenText(l.View().State.Model, polls.TokenID(r.Choice)) {
				t.Errorf("the receipt reads %q, want the token's text", r.Text)
			}
		}
	}
	end := l.does(class.Close{})
	if got := counts(end.Poll)[polls.MaxKept]; got != others || others == 0 {
		t.Errorf("got %d votes in the last bar, want %d", got, others)
	}
	if chosen := l.does(class.AppendOf{Member: 1}).State.Step().Chosen; chosen < 0 {
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
	l.class(6)
	right := 0.25
	l.refused(class.AskNumber{Prompt: " "}, &terms.Refusal{Code: class.CodeAsk})
	l.refused(class.AskNumber{Prompt: "How much?", Within: math.NaN()}, &terms.Refusal{Code: class.CodeAsk})
	p := l.does(class.AskNumber{Prompt: "How <much>?", Unit: "of all", Answer: &right, Within: 0.05}).Poll
	if p.Prompt != "How &lt;much&gt;?" {
		t.Errorf("the prompt is %q, want %q", p.Prompt, "How &lt;much&gt;?")
	}
	for id, typed := range []string{"0.25", " 0,25 ", "25 %", "0.3", "7", "9"} {
		l.votes(id+1, class.Ballot{Choice: typed})
	}
	for _, typed := range []string{"", "a quarter", "1e999", "NaN", "1,2,3", "0x", strings.Repeat("1", 100)} {
		if _, err := l.vote(1, class.Ballot{Choice: typed}); err == nil ||
			!strings.Contains(err.Error(), "is not a number") {
			t.Errorf("%q: got error %v, want an error containing %q", typed, err, "is not a number")
		}
	}
	if shown := l.does(class.Close{}).Poll; shown.Options != nil || shown.Median != nil || shown.Right != nil {
		t.Errorf("the closed poll shows %+v, want Options = nil, Median = nil, Right = nil", shown)
	}
	p = l.does(class.Reveal{}).Poll
	if p.Median == nil || *p.Right != right {
		t.Fatalf("the revealed poll: got %+v, want Median not nil, *p.Right = %v", p, right)
	}
	near(t, "the median", *p.Median, 0.275)
	same(t, "the answers", keys(p), "0.25", "0.3", "7", "9")
	same(t, "how often", counts(p), 3, 1, 1, 1)
	sum, err := l.Summary(t.Context(), l.secret)
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
	l.class(1)
	l.does(class.AskQuestion{ID: "q-order", For: time.Hour})
	if v := l.does(class.Extend{By: time.Hour}); !v.Poll.Ends.Equal(s.clock.Now().Add(2 * time.Hour)) {
		t.Errorf("the poll ends at %v, want two hours from now", v.Poll.Ends)
	}
	s.clock.pass(2 * time.Hour)
	if _, err := l.vote(1, class.Ballot{Choice: "a"}); err != class.ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, class.ErrClosed)
	}
	if err := l.ask(
		t.Context(), func(c *core) error { c.timeUp(); return nil },
	); err != nil || l.View().Poll.Phase != class.Closed {
		t.Errorf("the poll is %+v, %v; want no error, Phase = %q", l.View().Poll, err, class.Closed)
	}
	l.does(class.Extend{By: time.Minute})
	l.votes(1, class.Ballot{Choice: "a"})
	l.refused(class.Extend{By: 0}, &terms.Refusal{Code: class.CodeAsk})
	l.does(class.Reveal{})
	l.refused(class.Extend{By: time.Minute}, class.ErrClosed)
	l.refused(class.Revote{}, class.ErrClosed)
	l.refused(class.Close{}, class.ErrClosed)
	l.refused(class.ShowSpread{}, class.ErrClosed)
}

// TestRepeatedVoteGetsItsReceipt: if a receipt was lost, a vote that is resent after its poll was
// closed gets the receipt. Any other vote is refused.
func TestRepeatedVoteGetsItsReceipt(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.start("The cat")
	l.class(1)
	p := l.does(class.AskQuestion{ID: "q-order"}).Poll
	b := class.Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 7}
	first := l.votes(1, b)
	l.does(class.Close{})
	if again := l.votes(1, b); again != first {
		t.Errorf("sent again: got receipt %+v, want %+v", again, first)
	}
	b.N++
	if r, err := l.vote(1, b); !errors.Is(err, class.ErrClosed) {
		t.Errorf("another vote: got %+v, %v; want %v", r, err, class.ErrClosed)
	}
}

// TestUnfitPollsAreRefused: invalid polls and votes are refused with a message and change
// nothing.
func TestUnfitPollsAreRefused(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.class(2)
	for c, code := range map[class.Command]terms.Code{
		class.AskNext{Where: class.Here}: class.CodeAsk, class.AskDraw{Where: class.Here}: class.CodeAsk,
		class.AskNext{Choices: 3, Where: class.Here}: class.CodeAsk,
		class.AskNext{Choices: 9, Where: class.Here}: class.CodeAsk,
		class.AskQuestion{ID: "q-none"}:              class.CodeAsk, class.AskQuestion{
			ID: "q-order", For: -1,
		}: class.CodeAsk, class.AskWalk{}: class.CodeWalk, class.GoTo{Step: 1}: class.CodeWalk,
		class.Close{}: class.CodeNoPoll, class.Reveal{}: class.CodeNoPoll, class.Dismiss{}: class.CodeNoPoll,
		class.AppendMajority{}:    class.CodeNoPoll,
		class.DropName{Member: 3}: class.CodeNoMember, class.Remove{Member: 0}: class.CodeNoMember,
		class.SetTimer{For: -1}: class.CodeAsk,
	} {
		l.refused(c, &terms.Refusal{Code: code})
	}
	l.start("The capital of")
	p := l.does(class.AskNext{Where: class.Here}).Poll
	for _, c := range []class.Command{
		class.Drive{Do: session.StepStage{}},
		class.AskNext{Where: class.Here},
		class.AskDraw{Where: class.Here},
		class.AskQuestion{ID: "q-order"},
		class.Dismiss{},
		class.Revote{},
	} {
		l.refused(c, class.ErrOpen)
	}
	outside := 0
	for slices.Contains(keys(p), strconv.Itoa(outside)) {
		outside++
	}
	for _, choice := range []string{strconv.Itoa(outside), "", "a", "-1", keys(p)[0] + " "} {
		if _, err := l.vote(1, class.Ballot{Choice: choice}); err == nil ||
			err.(*terms.Refusal).Code != class.CodeNotOffer {
			t.Errorf(
				"a vote for %q: got %v; want an error, err.(*terms.Refusal).Code = %q", choice, err, class.CodeNotOffer,
			)
		}
	}
	for _, sure := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := l.vote(1, class.Ballot{Choice: keys(p)[0], Sure: sure}); err == nil {
			t.Errorf("a confidence of %v is accepted, want it refused", sure)
		}
	}
	if _, err := l.vote(9, class.Ballot{Choice: keys(p)[0]}); err != class.ErrStranger {
		t.Errorf("a stranger's vote: got %v, want %v", err, class.ErrStranger)
	}
	if n := l.does(class.Close{}).Poll.Votes; n != 0 {
		t.Errorf("%d votes were counted, want 0", n)
	}
	if _, err := l.vote(1, class.Ballot{Choice: keys(p)[0]}); err != class.ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, class.ErrClosed)
	}
	// When the text continues, the poll disappears from the stage.
	if v := l.does(class.Drive{Do: session.StepToken{}}); v.Poll != nil {
		t.Error("the poll is still on the stage")
	}
}

// TestPollsAreLimited: the number of polls of a room is limited. At the limit, the poll on
// the stage continues.
func TestPollsAreLimited(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	if err := l.ask(t.Context(), func(c *core) error {
		for id := 1; id < polls.MaxPolls; id++ {
			c.polls = append(c.polls, &polls.Poll{ID: id, Kind: class.Question, Phase: class.Revealed, Round: 1})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	l.does(class.AskQuestion{ID: "q-order"}, class.Close{})
	say := l.refused(class.AskQuestion{ID: "q-order"}, &terms.Refusal{Code: class.CodeAsk})
	if !strings.Contains(say, "1000 questions") {
		t.Errorf("one more poll is refused with %q, want it to contain %q", say, "1000 questions")
	}
	l.does(class.Reveal{})
}

// TestRecallQuestionIsSelfGraded: for a question that is answered in words, members report how much
// of the answer they knew.
func TestRecallQuestionIsSelfGraded(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.class(3)
	p := l.does(class.AskQuestion{ID: "q-five-steps"}).Poll
	same(t, "on offer", keys(p), "yes", "part", "no")
	for id, choice := range []string{"yes", "part", "part"} {
		l.votes(id+1, class.Ballot{Choice: choice, Sure: 0.5})
	}
	if p.Answer != "" {
		t.Error("the answer is shown")
	}
	p = l.does(class.Reveal{}).Poll
	same(t, "the spread", counts(p), 1, 2, 0)
	if !strings.Contains(p.Answer, "<ul><li>") {
		t.Errorf("the answer is %q, want it to contain %q", p.Answer, "<ul><li>")
	}
	if sum, err := l.Summary(t.Context(), l.secret); err != nil || sum.Stated != 0 {
		t.Errorf("self-graded answers must not be scored: got %+v, %v; want no error, Stated = 0", sum, err)
	}
}
