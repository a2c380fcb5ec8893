package class

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
	"github.com/tokenbytoken/viz/web/session"
)

// TestNextTokenFromVoteToReveal: in a vote on the next token, nobody sees probabilities or
// other people's votes before the instructor shows them.
// Promise: In a vote nobody sees a probability or another vote before the instructor shows the result.
func TestNextTokenFromVoteToReveal(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.start("The capital of")
	l.class(10)
	before := l.View().State
	v := l.does(AskNext{Choices: 6, Where: Here})
	p := v.Poll
	if !v.Hidden || p.Phase != Open || len(p.Options) != 6 || p.Step != 1 || v.State.Cursor != before.Cursor {
		t.Fatalf(
			"asked at %v: %+v; want v.Hidden = true, Phase = %q, len(Options) = 6, Step = 1, v.State.Cursor = %v",
			v.State.Cursor, p, Open, before.Cursor,
		)
	}
	d := distribution(v.State, 1)
	drawn := d.Order[d.Draw(sampling.U(v.State.Settings.Seed, 1))]
	if !slices.Contains(keys(p), strconv.Itoa(int(drawn))) {
		t.Error("the token that will be drawn is not an option")
	}
	nothing := func(what string, p *Poll, spread bool) {
		for _, o := range p.Options {
			if o.P != 0 || o.Q != 0 || o.Right || o.Count != 0 && !spread {
				t.Errorf("%s reveals %+v, want no probability, result or early count", what, o)
			}
		}
	}
	nothing("the open vote", p, false)
	// Six members vote for the first option, three for the second, one for the last.
	l.allVote(10, func(id int) Ballot { return Ballot{Choice: keys(p)[[]int{0, 0, 0, 0, 0, 0, 1, 1, 1, 5}[id-1]]} })
	nothing(
		"the vote with ten votes", l.settled("ten have voted", func(v *View) bool { return v.Poll.Votes == 10 }).Poll,
		false,
	)
	nothing("the closed vote", l.does(Close{}).Poll, false)
	spread := l.does(ShowSpread{}).Poll
	nothing("the spread", spread, true)
	same(t, "the spread", counts(spread), 6, 3, 0, 0, 0, 1)

	// The members discuss and vote again; votes for the first round no longer count.
	again := l.does(Revote{}).Poll
	if again.Round != 2 || again.Votes != 0 || again.ID == p.ID || again.Before != nil {
		t.Fatalf("the second round: got %+v, want Round = 2, Votes = 0, ID other than %q, Before = nil", again, p.ID)
	}
	if _, err := l.vote(3, Ballot{Poll: p.ID, Choice: keys(p)[0], N: 1 << 50}); err != ErrClosed {
		t.Errorf("a late vote of the first round: got %v, want %v", err, ErrClosed)
	}
	for id := range 4 {
		l.votes(id+1, Ballot{Choice: keys(p)[1]})
	}
	end := l.does(Reveal{})
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
	l := s.room(Options{})
	l.start("The capital of")
	l.class(4)
	p := l.does(AskNext{Where: Here}).Poll
	model := l.View().State.Model
	for id, i := range []int{2, 2, 4, 4} {
		l.votes(id+1, Ballot{Choice: keys(p)[i]})
	}
	l.refused(AppendMajority{}, ErrOpen)
	l.does(Close{})
	likelier := p.Options[2]
	if d := distribution(l.View().State, 1); d.RankOf(
		int32(number(p.Options[4].Key)),
	) < d.RankOf(int32(number(likelier.Key))) {
		likelier = p.Options[4]
	}
	v := l.does(AppendMajority{})
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
	l.refused(AppendMajority{}, ErrNoPoll)

	p = l.does(AskNext{Where: Here}).Poll // asks about step 2, after finishing step 1
	if p.Step != 2 || l.View().State.Cursor != (session.Cursor{Step: 2, Stage: infer.KindForward}) {
		t.Fatalf(
			"the next question is at %v, want p.Step = 2, l.View().State.Cursor = %v", l.View().State.Cursor,
			session.Cursor{Step: 2, Stage: infer.KindForward},
		)
	}
	l.votes(3, Ballot{Choice: keys(p)[0]})
	l.does(Close{})
	l.refused(AppendOf{4}, ErrNoMember)
	l.refused(AppendOf{99}, ErrNoMember)
	if v = l.does(AppendOf{3}); v.State.Step().Chosen != number(keys(p)[0]) {
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
	l := s.room(Options{})
	l.start("The capital of")
	topK := 4
	l.does(Drive{session.SetKnob("top_k", float64(topK))})
	const n = 200
	l.class(n)
	v := l.does(AskDraw{Where: Here})
	if v.Hidden || len(v.Poll.Options) != topK {
		t.Fatalf("the draw offers %+v, want v.Hidden = false, %d elements", v.Poll.Options, topK)
	}
	d := distribution(v.State, 1)
	seen := map[float64]bool{}
	first := l.allVote(n, func(int) Ballot { return Ballot{} })
	for id, r := range l.allVote(n, func(int) Ballot { return Ballot{N: 1 << 50} }) {
		if r.U < 0 || r.U >= 1 || seen[r.U] || r.Choice != strconv.Itoa(int(d.Order[d.Draw(r.U)])) || r.Text == "" {
			t.Fatalf("member %d draws %+v, want a u of their own and the token on which it falls", id+1, r)
		}
		seen[r.U] = true
		if first[id] != r {
			t.Fatalf("a second draw gives %+v, want the first one, %+v", r, first[id])
		}
	}
	grown := l.settled("all have drawn", func(v *View) bool { return v.Poll.Votes == n }).Poll
	if far := distance(grown.Options, counts(grown)); far > 0.2 {
		t.Errorf("the histogram %v is %.2f from the model's, want at most 0.2", counts(grown), far)
	}
	sum := 0.0
	for i, o := range grown.Options {
		near(t, "q", o.Q, d.Q(i))
		sum += o.Q
	}
	near(t, "all q", sum, 1)

	l.does(Close{}, Drive{session.SetKnob("temperature", 0)})
	err := l.refused(AskDraw{Where: Here}, &terms.Refusal{Code: CodeAsk})
	if !strings.Contains(err, "Greedy decoding draws nothing") {
		t.Errorf("got %q, want it to contain %q", err, "Greedy decoding draws nothing")
	}
}

// TestDrawOffersOnlyKeptTokens: with typical-p, which removes the most probable tokens here,
// a draw offers only tokens that are kept, and its last bar represents all other kept tokens.
func TestDrawOffersOnlyKeptTokens(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.start("Once upon a time there was a")
	for typical, bars := range map[float64]int{0.2: 11, 0.3: mostKept + 1} {
		l.does(Drive{session.Set{Knobs: infer.Knobs{"temperature": 1, "top_p": 1, "typical_p": typical}}})
		d := distribution(l.does(AskDraw{Where: Here}).State, 1)
		options := l.does(Close{}, Reveal{}).Poll.Options // p is shown only at the end
		if d.Stays(0) || len(options) != bars || (d.Keep > mostKept) != (bars > mostKept) {
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
	l := s.room(Options{})
	l.start("The capital of")
	l.does(Drive{session.SetKnob("temperature", 2)})
	l.class(30)
	p := l.does(AskDraw{Where: Here}).Poll
	if rest := p.Options[len(p.Options)-1]; len(p.Options) != mostKept+1 || !rest.Rest || rest.Letter != "" ||
		rest.Q <= 0.3 {
		t.Fatalf(
			`the last bar is %+v of %d; want len(p.Options) = %d, Rest = true, Letter = "", Q more than 0.3`, rest,
			len(p.Options), mostKept+1,
		)
	}
	others := 0
	for _, r := range l.allVote(30, func(int) Ballot { return Ballot{} }) {
		if !slices.Contains(keys(p), r.Choice) {
			others++
			if r.Text != readable(l.View().State.Model, number(r.Choice)) {
				t.Errorf("the receipt reads %q, want the token's text", r.Text)
			}
		}
	}
	end := l.does(Close{})
	if got := counts(end.Poll)[mostKept]; got != others || others == 0 {
		t.Errorf("got %d votes in the last bar, want %d", got, others)
	}
	if chosen := l.does(AppendOf{1}).State.Step().Chosen; chosen < 0 {
		t.Errorf("got chosen token %d, want at least 0", chosen)
	}
}

// TestNumberAnswersByHand: 0.25, 0,25 and 25 % are the same answer; the median of 0.25,
// 0.25, 0.25, 0.3, 7 and 9 is (0.25 + 0.3) / 2 = 0.275; four of the six answers are within
// 0.05 of 0.25, since |0.3 − 0.25| = 0.05.
func TestNumberAnswersByHand(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.class(6)
	right := 0.25
	l.refused(AskNumber{Prompt: " "}, &terms.Refusal{Code: CodeAsk})
	l.refused(AskNumber{Prompt: "How much?", Within: math.NaN()}, &terms.Refusal{Code: CodeAsk})
	p := l.does(AskNumber{Prompt: "How <much>?", Unit: "of all", Answer: &right, Within: 0.05}).Poll
	if p.Prompt != "How &lt;much&gt;?" {
		t.Errorf("the prompt is %q, want %q", p.Prompt, "How &lt;much&gt;?")
	}
	for id, typed := range []string{"0.25", " 0,25 ", "25 %", "0.3", "7", "9"} {
		l.votes(id+1, Ballot{Choice: typed})
	}
	for _, typed := range []string{"", "a quarter", "1e999", "NaN", "1,2,3", "0x", strings.Repeat("1", 100)} {
		if _, err := l.vote(1, Ballot{Choice: typed}); err == nil || !strings.Contains(err.Error(), "is not a number") {
			t.Errorf("%q: got error %v, want an error containing %q", typed, err, "is not a number")
		}
	}
	if shown := l.does(Close{}).Poll; shown.Options != nil || shown.Median != nil || shown.Right != nil {
		t.Errorf("the closed poll shows %+v, want Options = nil, Median = nil, Right = nil", shown)
	}
	p = l.does(Reveal{}).Poll
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
	l := s.room(Options{})
	l.class(1)
	l.does(AskQuestion{ID: "q-order", For: time.Hour})
	if v := l.does(Extend{time.Hour}); !v.Poll.Ends.Equal(s.clock.Now().Add(2 * time.Hour)) {
		t.Errorf("the poll ends at %v, want two hours from now", v.Poll.Ends)
	}
	s.clock.pass(2 * time.Hour)
	if _, err := l.vote(1, Ballot{Choice: "a"}); err != ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, ErrClosed)
	}
	if err := l.ask(
		t.Context(), func(c *core) error { c.timeUp(); return nil },
	); err != nil || l.View().Poll.Phase != Closed {
		t.Errorf("the poll is %+v, %v; want no error, Phase = %q", l.View().Poll, err, Closed)
	}
	l.does(Extend{time.Minute})
	l.votes(1, Ballot{Choice: "a"})
	l.refused(Extend{0}, &terms.Refusal{Code: CodeAsk})
	l.does(Reveal{})
	l.refused(Extend{time.Minute}, ErrClosed)
	l.refused(Revote{}, ErrClosed)
	l.refused(Close{}, ErrClosed)
	l.refused(ShowSpread{}, ErrClosed)
}

// TestRepeatedVoteGetsItsReceipt: if a receipt was lost, a vote that is resent after its poll was
// closed gets the receipt. Any other vote is refused.
func TestRepeatedVoteGetsItsReceipt(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(Options{})
	l.start("The cat")
	l.class(1)
	p := l.does(AskQuestion{ID: "q-order"}).Poll
	b := Ballot{Poll: p.ID, Choice: p.Options[1].Key, N: 7}
	first := l.votes(1, b)
	l.does(Close{})
	if again := l.votes(1, b); again != first {
		t.Errorf("sent again: got receipt %+v, want %+v", again, first)
	}
	b.N++
	if r, err := l.vote(1, b); !errors.Is(err, ErrClosed) {
		t.Errorf("another vote: got %+v, %v; want %v", r, err, ErrClosed)
	}
}

// TestUnfitPollsAreRefused: invalid polls and votes are refused with a message and change
// nothing.
func TestUnfitPollsAreRefused(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.class(2)
	for c, code := range map[Command]terms.Code{
		AskNext{Where: Here}: CodeAsk, AskDraw{Where: Here}: CodeAsk, AskNext{Choices: 3, Where: Here}: CodeAsk,
		AskNext{Choices: 9, Where: Here}: CodeAsk,
		AskQuestion{ID: "q-none"}:        CodeAsk, AskQuestion{
			ID: "q-order", For: -1,
		}: CodeAsk, AskWalk{}: CodeWalk, GoTo{1}: CodeWalk,
		Close{}: CodeNoPoll, Reveal{}: CodeNoPoll, Dismiss{}: CodeNoPoll, AppendMajority{}: CodeNoPoll,
		DropName{3}: CodeNoMember, Remove{0}: CodeNoMember, SetTimer{-1}: CodeAsk,
	} {
		l.refused(c, &terms.Refusal{Code: code})
	}
	l.start("The capital of")
	p := l.does(AskNext{Where: Here}).Poll
	for _, c := range []Command{
		Drive{session.StepStage{}},
		AskNext{Where: Here},
		AskDraw{Where: Here},
		AskQuestion{ID: "q-order"},
		Dismiss{},
		Revote{},
	} {
		l.refused(c, ErrOpen)
	}
	outside := 0
	for slices.Contains(keys(p), strconv.Itoa(outside)) {
		outside++
	}
	for _, choice := range []string{strconv.Itoa(outside), "", "a", "-1", keys(p)[0] + " "} {
		if _, err := l.vote(1, Ballot{Choice: choice}); err == nil || err.(*terms.Refusal).Code != CodeNotOffer {
			t.Errorf("a vote for %q: got %v; want an error, err.(*terms.Refusal).Code = %q", choice, err, CodeNotOffer)
		}
	}
	for _, sure := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := l.vote(1, Ballot{Choice: keys(p)[0], Sure: sure}); err == nil {
			t.Errorf("a confidence of %v is accepted, want it refused", sure)
		}
	}
	if _, err := l.vote(9, Ballot{Choice: keys(p)[0]}); err != ErrStranger {
		t.Errorf("a stranger's vote: got %v, want %v", err, ErrStranger)
	}
	if n := l.does(Close{}).Poll.Votes; n != 0 {
		t.Errorf("%d votes were counted, want 0", n)
	}
	if _, err := l.vote(1, Ballot{Choice: keys(p)[0]}); err != ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, ErrClosed)
	}
	// When the text continues, the poll disappears from the stage.
	if v := l.does(Drive{session.StepToken{}}); v.Poll != nil {
		t.Error("the poll is still on the stage")
	}
}

// TestPollsAreLimited: the number of polls of a room is limited. At the limit, the poll on
// the stage continues.
func TestPollsAreLimited(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	if err := l.ask(t.Context(), func(c *core) error {
		for id := 1; id < maxPolls; id++ {
			c.polls = append(c.polls, &poll{ID: id, Kind: Question, Phase: Revealed, Round: 1})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	l.does(AskQuestion{ID: "q-order"}, Close{})
	say := l.refused(AskQuestion{ID: "q-order"}, &terms.Refusal{Code: CodeAsk})
	if !strings.Contains(say, "1000 questions") {
		t.Errorf("one more poll is refused with %q, want it to contain %q", say, "1000 questions")
	}
	l.does(Reveal{})
}

// TestRecallQuestionIsSelfGraded: for a question that is answered in words, members report how much
// of the answer they knew.
func TestRecallQuestionIsSelfGraded(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.class(3)
	p := l.does(AskQuestion{ID: "q-five-steps"}).Poll
	same(t, "on offer", keys(p), "yes", "part", "no")
	for id, choice := range []string{"yes", "part", "part"} {
		l.votes(id+1, Ballot{Choice: choice, Sure: 0.5})
	}
	if p.Answer != "" {
		t.Error("the answer is shown")
	}
	p = l.does(Reveal{}).Poll
	same(t, "the spread", counts(p), 1, 2, 0)
	if !strings.Contains(p.Answer, "<ul><li>") {
		t.Errorf("the answer is %q, want it to contain %q", p.Answer, "<ul><li>")
	}
	if sum, err := l.Summary(t.Context(), l.secret); err != nil || sum.Stated != 0 {
		t.Errorf("self-graded answers must not be scored: got %+v, %v; want no error, Stated = 0", sum, err)
	}
}
