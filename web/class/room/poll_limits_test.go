package room

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// TestUnfitPollsAreRefused: invalid polls and votes are refused with a message and change
// nothing.
func TestUnfitPollsAreRefused(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(2)
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
		l.Refused(c, &terms.Refusal{Code: code})
	}
	l.Start("The capital of")
	p := l.Does(class.AskNext{Where: class.Here}).Poll
	for _, c := range []class.Command{
		class.Drive{Do: session.StepStage{}},
		class.AskNext{Where: class.Here},
		class.AskDraw{Where: class.Here},
		class.AskQuestion{ID: "q-order"},
		class.Dismiss{},
		class.Revote{},
	} {
		l.Refused(c, class.ErrOpen)
	}
	outside := 0
	for slices.Contains(classtest.Keys(p), strconv.Itoa(outside)) {
		outside++
	}
	for _, choice := range []string{strconv.Itoa(outside), "", "a", "-1", classtest.Keys(p)[0] + " "} {
		if _, err := l.Cast(1, class.Ballot{Choice: choice}); err == nil ||
			err.(*terms.Refusal).Code != class.CodeNotOffer {
			t.Errorf(
				"a vote for %q: got %v; want an error, err.(*terms.Refusal).Code = %q", choice, err, class.CodeNotOffer,
			)
		}
	}
	for _, sure := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := l.Cast(1, class.Ballot{Choice: classtest.Keys(p)[0], Sure: sure}); err == nil {
			t.Errorf("a confidence of %v is accepted, want it refused", sure)
		}
	}
	if _, err := l.Cast(9, class.Ballot{Choice: classtest.Keys(p)[0]}); err != class.ErrStranger {
		t.Errorf("a stranger's vote: got %v, want %v", err, class.ErrStranger)
	}
	if n := l.Does(class.Close{}).Poll.Votes; n != 0 {
		t.Errorf("%d votes were counted, want 0", n)
	}
	if _, err := l.Cast(1, class.Ballot{Choice: classtest.Keys(p)[0]}); err != class.ErrClosed {
		t.Errorf("a vote after the end: got %v, want %v", err, class.ErrClosed)
	}
	// When the text continues, the poll disappears from the stage.
	if v := l.Does(class.Drive{Do: session.StepToken{}}); v.Poll != nil {
		t.Error("the poll is still on the stage")
	}
}

// TestPollsAreLimited: the number of polls of a room is limited. At the limit, the poll on
// the stage continues.
func TestPollsAreLimited(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	if err := ask(t.Context(), l, func(c *core) error {
		for id := 1; id < polls.MaxPolls; id++ {
			c.polls = append(c.polls, &polls.Poll{ID: id, Kind: class.Question, Phase: class.Revealed, Round: 1})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	l.Does(class.AskQuestion{ID: "q-order"}, class.Close{})
	say := l.Refused(class.AskQuestion{ID: "q-order"}, &terms.Refusal{Code: class.CodeAsk})
	if !strings.Contains(say, "1000 questions") {
		t.Errorf("one more poll is refused with %q, want it to contain %q", say, "1000 questions")
	}
	l.Does(class.Reveal{})
}

// TestRecallQuestionIsSelfGraded: for a question that is answered in words, members report how much
// of the answer they knew.
func TestRecallQuestionIsSelfGraded(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(3)
	p := l.Does(class.AskQuestion{ID: "q-five-steps"}).Poll
	classtest.Same(t, "on offer", classtest.Keys(p), "yes", "part", "no")
	for id, choice := range []string{"yes", "part", "part"} {
		l.MustCast(id+1, class.Ballot{Choice: choice, Sure: 0.5})
	}
	if p.Answer != "" {
		t.Error("the answer is shown")
	}
	p = l.Does(class.Reveal{}).Poll
	classtest.Same(t, "the spread", classtest.Counts(p), 1, 2, 0)
	if !strings.Contains(p.Answer, "<ul><li>") {
		t.Errorf("the answer is %q, want it to contain %q", p.Answer, "<ul><li>")
	}
	if sum, err := l.Summary(t.Context(), l.Secret); err != nil || sum.Stated != 0 {
		t.Errorf("self-graded answers must not be scored: got %+v, %v; want no error, Stated = 0", sum, err)
	}
}
