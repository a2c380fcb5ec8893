package room

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
)

// TestSummaryByHand compares a summary with values computed by hand. The model gives q of
// 0.5, 0.3, 0.1 and 0.1; ten votes are distributed 4, 4, 2, 0:
//
//	distance = (|0.4−0.5| + |0.4−0.3| + |0.2−0.1| + |0−0.1|) / 2 = 0.2
//	share right (the second is drawn) = 4/10
//	expected = (4·0.5 + 4·0.3 + 2·0.1 + 0·0.1) / 10 = 0.34
//
// Four votes state a confidence: 0.8 right, 0.8 wrong, 0.35 right, 0.35 wrong:
//
//	mean score = (ln 0.8 + ln 0.2 + ln 0.35 + ln 0.65) / 4 = −0.8283
//	           = (−0.2231 − 1.6094 − 1.0498 − 0.4308) / 4
//	bins: [0.3, 0.4) 1 of 2, [0.8, 0.9) 1 of 2
func TestSummaryByHand(t *testing.T) {
	t.Parallel()
	p := &polls.Poll{
		ID: 1, Kind: class.Next, Round: 2, Phase: class.Closed, PromptText: "Which?", Step: 1,
		Options: []class.Option{
			{Key: "1", Text: " a", Q: 0.5},
			{Key: "2", Text: " b", Q: 0.3, Right: true},
			{Key: "3", Text: " c", Q: 0.1},
			{Key: "4", Text: " d", Q: 0.1},
		},
	}
	c := &core{cfg: &Config{Now: time.Now}, questions: questions{polls: []*polls.Poll{p}}}
	course, err := classtest.Course()
	if err != nil {
		t.Fatal(err)
	}
	c.cfg.Course = course
	c.empty()
	for id, choice := range []string{"1", "1", "1", "1", "2", "2", "2", "2", "3", "3"} {
		sure := map[int]float64{0: 0.8, 1: 0.35, 4: 0.8, 5: 0.35}[id]
		c.votes.Count(polls.Round{Poll: 1, N: 2}, id+1, polls.Vote{Choice: choice, Sure: sure, N: 1})
	}
	c.votes.Count(polls.Round{Poll: 1, N: 1}, 3, polls.Vote{Choice: "4", N: 1})
	s := c.summary()
	ps := s.Polls[0]
	classtest.Same(t, "the last round", ps.Rounds[1].Counts, 4, 4, 2, 0)
	classtest.Same(t, "the first round", ps.Rounds[0].Counts, 0, 0, 0, 1)
	if ps.Rounds[1].Right != 4 || ps.Rounds[0].Right != 0 || s.Voters != 10 || s.NextAsked != 1 || s.Stated != 4 {
		t.Errorf(
			"the summary is %+v, want ps.Rounds[1].Right = 4, ps.Rounds[0].Right = 0, Voters = 10, "+
				"NextAsked = 1, Stated = 4",
			s,
		)
	}
	classtest.Near(t, "the distance", ps.Distance, 0.2)
	classtest.Near(t, "the share right", s.NextRight, 0.4)
	classtest.Near(t, "the share expected", s.NextExpected, 0.34)
	if !(math.Abs(s.MeanScore+0.8283) <= 5e-5) {
		t.Errorf("the mean score is %.4f, want -0.8283", s.MeanScore)
	}
	for i, b := range s.Calibration {
		want := map[int][2]int{3: {2, 1}, 8: {2, 1}}[i]
		if b.N != want[0] || b.Hits != want[1] {
			t.Errorf("bin %d has %d of %d; want %d, %d", i, b.Hits, b.N, want[1], want[0])
		}
	}
}

// TestClassTextsAreListedOnce: each text of a class is listed only once and can be replayed
// from its first stage.
func TestClassTextsAreListedOnce(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	for _, prompt := range []string{"The capital of", "Once upon", "The capital of"} {
		l.Start(prompt)
		l.Does(class.Drive{Do: session.StepToken{}}, class.Drive{Do: session.StepToken{}})
	}
	l.Start("Never gone on")
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil || len(sum.Texts) != 2 || sum.Texts[0].Prompt != "The capital of" ||
		sum.Texts[1].Prompt != "Once upon" {
		t.Fatalf(
			"the texts are %+v, %v; want no error, 2 elements, sum.Texts[0].Prompt = %q, sum.Texts[1].Prompt = %q",
			sum.Texts, err, "The capital of", "Once upon",
		)
	}
	start := session.Cursor{Step: 1, Stage: infer.KindForward}
	link, err := session.ParseLink(l.View().State.Model, sum.Texts[1].Link)
	if err != nil || link.Cursor != start || link.Log.Steps != 2 {
		t.Errorf("the link contains %+v, %v; want no error, Cursor = %+v, Log.Steps = 2", link, err, start)
	}
}

// TestReplayNeedsItsKey: a replay needs its own key and reveals neither the members nor the
// open poll.
func TestReplayNeedsItsKey(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(2)
	l.Start("The capital of")
	l.Does(class.Drive{Do: session.StepToken{}})
	l.Start("Once upon a time")
	l.Does(class.Drive{Do: session.StepToken{}})
	right := 5.0
	l.Does(class.AskNumber{Prompt: "How many?", Answer: &right})
	l.MustCast(1, class.Ballot{Choice: "4"})
	l.MustCast(2, class.Ballot{Choice: "5"})
	l.Does(class.ShowSpread{}, class.Revote{})
	l.MustCast(1, class.Ballot{Choice: "5"})
	l.MustCast(2, class.Ballot{Choice: "6"})
	l.Does(class.Reveal{}, class.AskNext{Where: class.Here})
	see := func(wantPolls, wantTexts int) *class.Summary {
		t.Helper()
		sum, err := s.Replay(t.Context(), l.Code(), l.ReplayKey(), classtest.Caller("someone"))
		if err != nil || len(sum.Polls) != wantPolls || len(sum.Texts) != wantTexts ||
			sum.Members+sum.Voters+sum.Stated != 0 {
			t.Fatalf("the replay is %+v, %v; want %d polls, %d texts", sum, err, wantPolls, wantTexts)
		}
		return sum
	}
	sum := see(1, 1) // without the text on the stage, which would reveal the token that the poll asks for
	first, last := sum.Polls[0].Rounds[0], sum.Polls[0].Rounds[1]
	for key, want := range map[string][2]int{"4": {1, 0}, "5": {1, 1}, "6": {0, 1}} {
		if o := (class.Option{Key: key}); first.Of(o) != want[0] || last.Of(o) != want[1] {
			t.Errorf("%s has %d votes in the first round and %d in the last, want %v",
				key, first.Of(o), last.Of(o), want)
		}
	}
	l.Does(class.Reveal{}, class.Lock{On: true}, class.End{})
	see(2, 2)
	for _, key := range []string{"", l.Secret.String(), l.ReplayKey() + "A"} {
		if _, err := s.Replay(t.Context(), l.Code(), key, classtest.Caller("someone")); !errors.Is(err,
			class.ErrNoRoom) {
			t.Errorf("with key %q: got error %v, want %v", key, err, class.ErrNoRoom)
		}
	}
}

// TestSummaryCSV: a strict CSV reader can read the file, whose numbers match the summary and
// which contains no formulas.
func TestSummaryCSV(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Start("The capital of")
	l.Enroll(2)
	p := l.Does(class.AskNumber{Prompt: `=HYPERLINK("http://x","y")`}).Poll
	l.MustCast(1, class.Ballot{Choice: "-2"})
	l.MustCast(2, class.Ballot{Choice: "3"})
	l.Does(class.Close{}, class.AskNext{Where: class.Here})
	l.MustCast(1, class.Ballot{Choice: classtest.Keys(l.View().Poll)[1]})
	l.Does(class.Close{}, class.Revote{})
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil || p.Kind != class.Number {
		t.Fatalf("got %v, want no error, p.Kind = %q", err, class.Number)
	}
	var b bytes.Buffer
	if err := sum.WriteCSV(&b, terms.SheetPipe); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2+2*5 {
		t.Fatalf("got %d rows, %v; want 1+2+2*5, <nil>", len(rows), err)
	}
	classtest.Same(t, "a number", rows[1][2:8], "number", `'=HYPERLINK("http://x","y")`, "1", "-2", "1", "0.5")
	if row := rows[4]; row[2] != "next" || row[4] != "1" || row[6] != "1" || row[7] != "1" || row[8] == "" ||
		row[9] == "" {
		t.Errorf(
			"the vote for a token: got %v, want [2] = %q, [4] = %q, [6] = %q, [7] = %q, [8] not empty, [9] not empty",
			row, "next", "1", "1", "1",
		)
	}
	if row := rows[9]; row[4] != "2" || row[6] != "0" || row[7] != "" {
		t.Errorf(`the second round: got %v, want [4] = %q, [6] = %q, [7] = ""`, row, "2", "0")
	}
	if strings.Contains(b.String(), l.Secret.String()) {
		t.Error("the file contains the secret")
	}
}
