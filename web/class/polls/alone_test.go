package polls

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/session"
)

// beforeTheDraw returns the state of a run whose first token is about to be drawn.
func beforeTheDraw(t *testing.T) *session.State {
	t.Helper()
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	if _, err := s.Apply(t.Context(), session.Start{Prompt: "Once upon a time there was a"}); err != nil {
		t.Fatal(err)
	}
	st, err := moves.Undrawn(t.Context(), s.Apply)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func askAlone(t *testing.T, st *session.State, a *lessons.AskSpec) *Alone {
	t.Helper()
	x, err := AskAlone(st, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestAloneGuessHidesTheAnswer: probabilities and the drawn token are shown only once the
// question has been answered, and a guess about a draw is neither right nor wrong.
func TestAloneGuessHidesTheAnswer(t *testing.T) {
	t.Parallel()
	x := askAlone(t, beforeTheDraw(t), &lessons.AskSpec{Kind: lessons.AskNext, Choices: 5})
	open := x.Open()
	for _, o := range open.Options {
		if o.P != 0 || o.Q != 0 || o.Right || o.Count != 0 {
			t.Errorf("before the answer, it shows %+v, want P = 0, Q = 0, Right = false, Count = 0", o)
		}
	}
	got, err := x.Answer(open.Options[2].Key)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, o := range got.Options {
		if o.Right {
			right++
		}
		if o.P == 0 || o.Key != open.Options[i].Key || (o.Count == 1) != (i == 2) {
			t.Errorf(
				"after the answer, it shows %+v, want P not 0, Key = %q, o.Count == 1 = %t", o, open.Options[i].Key,
				i == 2,
			)
		}
	}
	if right != 0 || got.Right != nil || got.Said != open.Options[2].Text || got.Mine != open.Options[2].Key {
		t.Errorf(
			"%d tokens are drawn, and the answer is %+v; want right = 0, Right = nil, Said = %q, Mine = %q", right, got,
			open.Options[2].Text, open.Options[2].Key,
		)
	}
	for _, choice := range []string{"", "x", "-1", "99999"} {
		if _, err := x.Answer(choice); !errors.Is(err, &terms.Refusal{Code: class.CodeNotOffer}) {
			t.Errorf("%q: got error %v, want %v", choice, err, &terms.Refusal{Code: class.CodeNotOffer})
		}
	}
	done := session.New(testmodel.Target(t), session.DefaultLimits()).State()
	if _, err := AskAlone(done, &lessons.AskSpec{Kind: lessons.AskNext, Choices: 5}, 1); err == nil {
		t.Error("asking for a token succeeded at a stage where none is about to be drawn")
	}
}

// TestAloneDrawsFollowQ: all one thousand draws are counted and follow the distribution q, and the
// rows are the same as in a class.
func TestAloneDrawsFollowQ(t *testing.T) {
	t.Parallel()
	st := beforeTheDraw(t)
	const n = 1000
	got := askAlone(t, st, &lessons.AskSpec{Kind: lessons.AskDraw}).Draw(n, 7)
	of := Drawing(st)
	sum := 0
	for i, o := range got.Options {
		sum += o.Count
		if o.Key != of.Options[i].Key || o.Q != of.Options[i].Q {
			t.Errorf(
				"row %d is %+v, and in a class %+v; want Key = %q, Q = %v", i, o, of.Options[i], of.Options[i].Key,
				of.Options[i].Q,
			)
		}
		if deviation := math.Sqrt(n * o.Q * (1 - o.Q)); math.Abs(float64(o.Count)-n*o.Q) > 5*deviation {
			t.Errorf("%q was drawn %d times of %d at q = %v; want about %v", o.Text, o.Count, n, o.Q, n*o.Q)
		}
	}
	if sum != n || got.Votes != n || len(got.Options) != len(of.Options) {
		t.Errorf("got %d draws in %d rows, want %d in %d", sum, len(got.Options), n, len(of.Options))
	}
}

// TestAloneAnswersAreGraded: a choice can be given by its letter or, as in old links, by its
// number; a number counts as right within the margin; answers in words are not graded.
func TestAloneAnswersAreGraded(t *testing.T) {
	t.Parallel()
	choice := &lessons.Question{Kind: "choice", Choices: []lessons.Choice{{Text: "no"}, {Text: "yes", Right: true}}}
	recall := &lessons.Question{Kind: "recall", Answer: "It is so.", Rubric: []string{"one", "two"}}
	number := &lessons.AskSpec{Kind: lessons.AskNumber, Answer: 0.25, Within: 0.01, Unit: "bits"}
	for _, c := range []struct {
		ask          *lessons.AskSpec
		choice, said string
		right        string
	}{
		{&lessons.AskSpec{Kind: lessons.AskQuestion, Question: choice}, "b", "yes", "true"},
		{&lessons.AskSpec{Kind: lessons.AskQuestion, Question: choice}, "2", "yes", "true"},
		{&lessons.AskSpec{Kind: lessons.AskQuestion, Question: choice}, "1", "no", "false"},
		{&lessons.AskSpec{Kind: lessons.AskQuestion, Question: recall}, "part", "Part of it", ""},
		{number, "26%", "0.26 bits", "true"},
		{number, "0.3", "0.3 bits", "false"},
	} {
		state := session.New(testmodel.Target(t), session.DefaultLimits()).State()
		got, err := askAlone(t, state, c.ask).Answer(c.choice)
		right := ""
		if got.Right != nil {
			right = strconv.FormatBool(*got.Right)
		}
		if err != nil || got.Said != c.said || right != c.right {
			t.Errorf("%s: said %q, right %q, %v; want %q, %q", c.choice, got.Said, right, err, c.said, c.right)
		}
	}
}
