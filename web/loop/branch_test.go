package loop

import (
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// words returns the token ids of strings, each of which is a single token of the bundled model.
func words(t *testing.T, texts ...string) []int {
	t.Helper()
	var ids []int
	for _, text := range texts {
		at := -1
		for id := range testmodel.Target(t).Config().Vocab {
			if testmodel.Target(t).Token(id).Text == text {
				at = id
				break
			}
		}
		if at < 0 {
			t.Fatalf("the model has no token %q", text)
		}
		ids = append(ids, at)
	}
	return ids
}

func TestBranchTree(t *testing.T) {
	s := sessiontest.Drill(t, sampling.Pure, infer.KindSample, 0)
	w := words(t, " a", " the", " was", " in")
	if v := newBranches(lang, s); v.Say != "" || len(v.List) != 0 {
		t.Errorf(`a run with one branch has a tree: got %+v, want Say = "", len(List) = 0`, v)
	}
	a, the, was, in := w[0], w[1], w[2], w[3]
	s.Branches = []session.Branch{
		{ID: 1, Chosen: []int{a, the, was, in}},
		{ID: 2, Chosen: []int{a, the, in}},
		{ID: 3, Chosen: []int{a, the}, Current: true},
	}
	v := newBranches(lang, s)
	if v.Say != "3 branches" || len(v.List) != 1 {
		t.Fatalf("got %+v, want Say = %q, len(List) = 1", v, "3 branches")
	}
	// They all share "·a·the", where branch 3 ends and branches 1 and 2 diverge.
	root := v.List[0]
	if root.Text.String() != "·a·the" || root.From != "token 4" || len(root.Lines) != 1 || !root.Lines[0].Current ||
		root.Lines[0].Cmd != "" {
		t.Errorf(
			"the shared stretch is %+v, want Text.String() = %q, From = %q, len(Lines) = 1, "+
				`Lines[0].Current = true, Lines[0].Cmd = ""`,
			root, "·a·the", "token 4",
		)
	}
	if len(root.Parts) != 2 || root.Parts[0].Text.String() != "·was·in" || root.Parts[1].Text.String() != "·in" ||
		root.Parts[1].From != "token 6" {
		t.Errorf(
			"the parts are %+v, want 2 elements, [0].Text.String() = %q, [1].Text.String() = %q, [1].From = %q",
			root.Parts, "·was·in", "·in", "token 6",
		)
	}
	if got := root.Parts[1].Lines[0]; got.Name != "branch 2" || got.Tokens != "3 tokens" ||
		got.Cmd != `{"cmd":"branch","id":2}` {
		t.Errorf(
			"branch 2 is %+v, want Name = %q, Tokens = %q, Cmd = %q", got, "branch 2", "3 tokens",
			`{"cmd":"branch","id":2}`,
		)
	}
	if got := stretch(lang, s, []int{a, a, a, the, was, in, in, in}).String(); got != "·a·a·a … ·in·in·in" {
		t.Errorf("eight tokens are shortened to %q, want %q", got, "·a·a·a … ·in·in·in")
	}
}

func TestScrubberAndProgressBar(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	if c := NewPage(lang, s.State()).Console; !c.Scrub.Off || c.Progress.On || c.CanFinish {
		t.Errorf("before a prompt: %+v", c)
	}
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	sessiontest.Do(t, s, session.StepToken{})
	sessiontest.Do(t, s, session.StepStage{})
	st := sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter})
	c := NewPage(lang, st).Console
	// Eight stages have run, and the fourth is shown. The prompt occupies 5 positions.
	if c.Scrub != (Scrub{Value: "4", Max: "8", Say: "token 6, stage 4"}) || !c.CanFinish {
		t.Errorf(
			"got %+v, want c.Scrub = %+v, c.CanFinish = true", c.Scrub,
			Scrub{Value: "4", Max: "8", Say: "token 6, stage 4"},
		)
	}
	st = sessiontest.Do(t, s, session.Finish{})
	c = NewPage(lang, st).Console
	if !c.Progress.On || c.Progress.Say != "1 token of at most 64" || c.Progress.Bar != "1.56%" || c.CanFinish {
		t.Errorf(
			"got %+v, want On = true, Say = %q, Bar = %q, c.CanFinish = false", c.Progress, "1 token of at most 64",
			"1.56%",
		)
	}
	for s.State().Playing {
		if _, err := s.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c = NewPage(lang, s.State()).Console
	if !c.Ended || !c.CanGoOn || c.Progress.On {
		t.Errorf("at the end: got %+v, want it ended, able to continue, without a progress bar", c)
	}
	st = s.State()
	full := *st
	full.Stopped = infer.StopContext
	if v := NewPage(lang, &full); v.Console.CanGoOn || !strings.Contains(v.Notice.Say, "window") {
		t.Errorf("a full window: got notice %+v, want it to mention the window, and CanGoOn = false", v.Notice)
	}
}

func TestCostChartIsThinned(t *testing.T) {
	points := make([]plots.CostPoint, 1000)
	for i := range points {
		points[i].Step = i + 1
	}
	thin := thinned(points)
	if len(thin) != chartPoints || thin[0].Step != 1 || thin[chartPoints-1].Step != 1000 {
		t.Errorf(
			"got %d points from %d to %d; want len(thin) = %d, thin[0].Step = 1, thin[chartPoints-1].Step = 1000",
			len(thin), thin[0].Step, thin[len(thin)-1].Step, chartPoints,
		)
	}
	if !slices.IsSortedFunc(thin, func(a, b plots.CostPoint) int { return a.Step - b.Step }) ||
		len(thinned(points[:64])) != 64 {
		t.Error("the points are out of order, or a short list was thinned")
	}
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	if v := NewPage(lang, s.State()); !v.Chart.Empty {
		t.Errorf("a chart without a run: got %+v, want Empty = true", v.Chart)
	}
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	if v := NewPage(lang, s.State()); !v.Chart.Empty {
		t.Error("there is a chart before the first whole turn")
	}
	sessiontest.Do(t, s, session.StepToken{})
	st := sessiontest.Do(t, s, session.StepToken{})
	v := NewPage(lang, st).Chart
	last := st.Steps[1]
	if len(v.Rows) != 2 || v.Rows[1][0] != "2" || v.Rows[1][1] != terms.Count(last.TotalCached) ||
		v.Rows[1][2] != terms.Count(last.TotalRecomputed) {
		t.Errorf(
			"rows %v, want 2 elements, [1][0] = %q, [1][1] = %q, [1][2] = %q", v.Rows, "2",
			terms.Count(last.TotalCached), terms.Count(last.TotalRecomputed),
		)
	}
	if !strings.HasPrefix(v.SVG, "<svg") || v.Less != terms.Times(last.TotalRecomputed, last.TotalCached)+" less" {
		t.Errorf(
			"got %s: %.40s; want %s, it beginning with %q", v.Less, v.SVG,
			terms.Times(last.TotalRecomputed, last.TotalCached)+" less", "<svg",
		)
	}
	first := sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindCache})
	if v := NewPage(lang, first).Chart; len(v.Rows) != 1 || v.Less != "the same so far" {
		t.Errorf("looking back: got %d rows, %s; want 1, %s", len(v.Rows), v.Less, "the same so far")
	}
}

// TestNoticesLeadWithBoldSentence: the page shows a notice about what has happened to the run. The
// notice's first sentence is bold.
func TestNoticesLeadWithBoldSentence(t *testing.T) {
	m := testmodel.Target(t)
	for _, c := range []struct {
		st        *session.State
		head, say string
	}{
		{
			&session.State{Model: m, Notice: session.WhyMemory}, "Paused: the memory for runs is used up.",
			"Idle runs will make room; press Play to continue.",
		},
		{
			&session.State{Model: m, Stuck: &terms.Refusal{Message: "This takes too long. Try another one."}},
			"This takes too long.", "Try another one.",
		},
		{
			&session.State{Model: m, Stuck: terms.RefuseField("top_k", "-1", "0 or more")},
			"Top-k is -1; it must be 0 or more.", "",
		},
	} {
		v := NewPage(lang, c.st)
		if want := (Notice{Kind: NoticeWarn, Head: c.head, Say: c.say}); v.Notice != want {
			t.Errorf("%+v, want %+v", v.Notice, want)
		}
		want := strings.TrimSpace(c.head + " " + c.say)
		if got := strings.TrimSpace(parse(t, html(t, PageHTML(v))).Find("#notice").Text()); got != want {
			t.Errorf("the page shows %q, want %q", got, want)
		}
	}
	if v := NewPage(lang, &session.State{Model: testmodel.Target(t)}); v.Notice != (Notice{}) {
		t.Errorf("a run without a notice has %+v", v.Notice)
	}
}
