package lessons

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// readWalkText reads one walkthrough and returns it with its problems.
func readWalkText(t *testing.T, text string) (*Walk, []string) {
	t.Helper()
	l := newLoader(fstest.MapFS{"walks/x.md": &fstest.MapFile{Data: []byte(text)}}, MathTable{})
	l.partial = true
	for _, q := range []*Question{
		{ID: "q-one", Kind: "choice"},
		{ID: "q-cut", Kind: "choice"},
		{ID: "q-draw", Kind: "choice"},
		{ID: "q-say", Kind: "recall"},
	} {
		l.course.Questions, l.course.questions[q.ID] = append(l.course.Questions, q), q
	}
	l.readWalks()
	var says []string
	for _, p := range l.problems.list {
		says = append(says, p.Error())
	}
	return l.course.Walks[0], says
}

const walkHead = "---\ntitle: A walk\nslug: x\nminutes: 3\nlead: Short.\n---\n"

func TestParseWalk(t *testing.T) {
	w, wrong := readWalkText(t, walkHead+`## Begin {#begin}
::: do
start prompt="Hi \"you\"" temperature=0.5 top_k=3 seed=7 max_tokens=9 string="User:"
set min_p=0.1
stop max_tokens=12
go step=2 stage=filter
:::
Said *aloud*.
::: note
For me.
:::
::: ask next choices=6 seconds=30
:::
::: wait
Wait until all have voted.
:::

## Then {#then}
More.
::: ask number answer="{=calc(4+5+6) 0}" within=0.5 unit=positions
How many?
:::

## Last {#last}
And more.
::: ask question id=q-one
:::
`)
	if len(wrong) > 0 {
		t.Fatalf("reading the walkthrough: got these errors, want none:\n%s", strings.Join(wrong, "\n"))
	}
	s := w.Steps[0]
	want := infer.DefaultSettings()
	want.Temperature, want.TopK, want.TopP, want.MinP, want.Seed = 0.5, 3, 1, 0, 7
	want.Stop = infer.Stop{MaxTokens: 9, Strings: []string{"User:"}}
	if start := s.Do[0].(WalkStart); start.Prompt != `Hi "you"` || !start.Settings.Equal(want) {
		t.Errorf("the walk starts with %+v, want Prompt = %q, Settings = %+v", start, `Hi "you"`, want)
	}
	if set := s.Do[1].(WalkSet); set.Knobs["min_p"] != 0.1 || len(set.Knobs) != 1 {
		t.Errorf("the step sets %+v, want only min_p = 0.1", set)
	}
	if stop := s.Do[2].(WalkSet); stop.Knobs["max_tokens"] != 12 || len(stop.Knobs) != 1 || stop.Stop != nil {
		t.Errorf("the step sets the stop %+v, want only max_tokens = 12", stop)
	}
	if s.Do[3] != (WalkGo{Step: 2, Stage: infer.KindFilter}) || len(s.Do) != 4 {
		t.Errorf("the step does %+v, want [3] = %+v, 4 elements", s.Do, WalkGo{Step: 2, Stage: infer.KindFilter})
	}
	if !strings.Contains(s.Say, "<em>aloud</em>") || !strings.Contains(s.Note, "For me.") ||
		s.Wait != "Wait until all have voted." {
		t.Errorf(
			"it says %q, notes %q, waits %q; want it containing %q, it containing %q, %q", s.Say, s.Note, s.Wait,
			"<em>aloud</em>", "For me.", "Wait until all have voted.",
		)
	}
	if *s.Ask != (AskSpec{Kind: AskNext, Choices: 6, Seconds: 30}) {
		t.Errorf("the step asks %+v, want a question for the next token with 6 choices and 30 seconds", s.Ask)
	}
	if n := w.Steps[1].Ask; n.Answer != 15 || n.Within != 0.5 || n.Unit != "positions" ||
		n.PromptText != "How many?" || n.Seconds != 0 {
		t.Errorf(
			"the number is %+v, want Answer = 15, Within = 0.5, Unit = %q, PromptText = %q, Seconds = 0", n,
			"positions", "How many?",
		)
	}
	if w.Steps[2].Ask.Question.ID != "q-one" || !s.Starts() || w.Steps[1].Starts() {
		t.Error("the last steps are wrong")
	}
}

// The parts of a walkthrough with minutes and an exit ticket.
var (
	ticketHead = strings.Replace(walkHead, "minutes: 3", "minutes: 3\nticket: [q-one, q-cut, q-draw]", 1)
	timedBegin = "## Begin {#begin minutes=2}\n::: do\nstart prompt=\"Hi\"\n:::\nSaid.\n"
	timedThen  = "## Then {#then minutes=1}\nMore.\n"
)

// TestWalkMinutesAndTicket: a step can have minutes, and the questions of the exit ticket become the last
// steps.
func TestWalkMinutesAndTicket(t *testing.T) {
	w, wrong := readWalkText(t, ticketHead+timedBegin+timedThen)
	if len(wrong) > 0 || len(w.Steps) != 5 || w.Steps[0].Minutes != 2 || w.Steps[1].Minutes != 1 {
		t.Fatalf("got %d steps, problems %q; want 5 steps, the first two of 2 and 1 minutes", len(w.Steps), wrong)
	}
	if got := w.ClassMinutes(); got != 3+4 {
		t.Errorf("the walkthrough takes %d minutes in a class, want its 3 and 4 for the ticket", got)
	}
	for i, want := range []struct{ title, asks string }{
		{"Exit ticket, 1 of 3", "q-one"}, {"Exit ticket, 2 of 3", "q-cut"}, {"Exit ticket, 3 of 3", "q-draw"},
	} {
		if s := w.Steps[2+i]; s.Title != want.title || s.Ask == nil || s.Ask.Question.ID != want.asks {
			t.Errorf("step %d is %+v, want %q, which asks %s", 3+i, s, want.title, want.asks)
		}
	}
}

// TestBrokenMinutesAndTicketsNameTheLine: each mistake in the minutes or the ticket gives exactly one
// error, which names the line of the mistake.
func TestBrokenMinutesAndTicketsNameTheLine(t *testing.T) {
	ticket := func(ids string) string {
		return strings.Replace(ticketHead, "[q-one, q-cut, q-draw]", ids, 1) + timedBegin + timedThen
	}
	minutes := func(of string) string {
		return walkHead + strings.Replace(timedBegin, "minutes=2", "minutes="+of, 1) + timedThen
	}
	for text, want := range map[string]string{
		walkHead + timedBegin:                              "4: 1 of 1 steps have minutes, 2 in total",
		walkHead + timedBegin + "## Then {#then}\nMore.\n": "4: 1 of 2 steps have minutes",
		minutes("3"):  "4: 2 of 2 steps have minutes, 4 in total",
		minutes("x"):  "7: minutes is \"x\"",
		minutes("-1"): "7: minutes is -1",
		minutes("0"):  "7: minutes is 0",
		strings.Replace(minutes("2"), "minutes: 3", "minutes: 300", 1): "4: minutes is \"300\"",
		strings.Replace(minutes("2"), "minutes: 3\n", "", 1):           "1: the front matter is missing \"minutes\"",
		ticket("[q-one, q-cut, q-two]"):                                "5: the quiz has no question \"q-two\"",
		ticket("[q-one, q-cut]"):                                       "5: the ticket has 2 questions, want 3",
		ticket("[]"):                                                   "5: the ticket has 0 questions, want 3",
		ticket("[q-one, q-say, q-cut]"): "5: the question \"q-say\" has kind=recall, " +
			"want kind=choice",
		ticket("[q-one, q-one, q-one]"): "5: the ticket asks \"q-one\" twice",
		ticket("[q-one, q-cut, q-draw]") + "::: ask question id=q-cut\n:::\n": "5: the ticket asks \"q-cut\", " +
			"which the step on line 13 asks",
		strings.Replace(ticket("[q-one, q-cut, q-draw]"), "#then", "#ticket-1", 1): "13: the step id \"ticket-1\" " +
			"is reserved for the ticket",
	} {
		_, wrong := readWalkText(t, text)
		if len(wrong) != 1 || !strings.HasPrefix(wrong[0], "walks/x.md:"+want) {
			t.Errorf("%q\ngot %q, want only %q", text, wrong, "walks/x.md:"+want)
		}
	}
	begin := "## Begin {#ticket-1}\n::: do\nstart prompt=\"Hi\"\n:::\nSaid.\n"
	w, wrong := readWalkText(t, walkHead+begin)
	if len(wrong) > 0 {
		t.Fatalf("a step with the id ticket-1, without a ticket: got %q, want no problems", wrong)
	}
	if got := w.ClassMinutes(); got != 3 {
		t.Errorf("the walkthrough without a ticket takes %d minutes in a class, want its 3", got)
	}
}

// TestWalkSetsEveryKnob: a walkthrough can set every knob that a run's "set" command can, both at
// the start and later.
func TestWalkSetsEveryKnob(t *testing.T) {
	for _, key := range terms.SetKeys() {
		k := terms.MustKnob(key)
		x := terms.Plain(k.Step + k.Min)
		do := fmt.Sprintf("start prompt=\"Hi\" %s=%s\nset %s=%s\n", key, x, key, x)
		w, wrong := readWalkText(t, walkHead+"## Begin {#begin}\n::: do\n"+do+":::\nSaid.\n")
		if len(wrong) > 0 {
			t.Errorf("%s: got %q, want 0 elements", key, wrong)
			continue
		}
		start, set := w.Steps[0].Do[0].(WalkStart), w.Steps[0].Do[1].(WalkSet)
		if got := terms.Plain(start.Settings.Value(key)); got != x || terms.Plain(set.Knobs[key]) != x {
			t.Errorf("%s=%s starts with %s and sets %v, want the same value in both", key, x, got, set.Knobs)
		}
	}
}

// TestBrokenWalkStepsNameTheLine: errors name the file and the line of the broken step.
func TestBrokenWalkStepsNameTheLine(t *testing.T) {
	begin := "## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\n:::\nSaid.\n" // the heading is line 7
	for text, want := range map[string]string{
		"## Begin {#begin}\nSaid.\n":             "x.md:7: the ::: do of the first step must begin with `start`",
		begin + "## Begin {#begin}\nSaid.\n":     "x.md:12: duplicate step id",
		begin + "## Then {#then}\n":              "x.md:12: the step has no text",
		begin + "::: do\ngo stage=sample\n:::\n": "x.md:12: the step has multiple ::: do directives",
		begin + "::: shout\n:::\n":               "x.md:12: unknown directive \"shout\" in a step",
		begin + "::: ask all\n:::\n":             "x.md:12: unknown kind \"all\"",
		begin + "::: ask next choices=9\n:::\n": "x.md:12: choices is " +
			"9; it must be a whole number from 4 to 8",
		begin + "::: ask next color=red\n:::\n": "x.md:12: unknown " +
			"setting \"color\"",
		begin + "::: ask next\nWell?\n:::\n": "x.md:12: " +
			"only ::: ask number can have a text",
		begin + "::: ask question id=q-two\n:::\n": "x.md:12: " +
			"the quiz has no question \"q-two\"",
		begin + "::: ask number answer=1 within=0\n:::\n": "x.md:12: " +
			"::: ask number requires a text",
		begin + "::: ask number answer=x within=0\nHow many?\n:::\n":                "x.md:12: answer is \"x\"",
		begin + "::: ask number answer=\"{=nothing()}\" within=0\nHow many?\n:::\n": "x.md:12: figure {=nothing()}",
		begin + "::: ask draw now\n:::\n": "x.md:12: " +
			"got ::: ask draw now, want one kind",
		begin + "::: note loud\nHm.\n:::\n": "x.md:12: " +
			"::: note takes no arguments",
		"## Begin {#begin}\n::: do\nstart prompt=\"\"\n:::\nSaid.\n":                "x.md:9: ",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\nset top_p=2\n:::\nSaid.\n": "x.md:10: ",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\nset\n:::\nSaid.\n":         "x.md:10: no settings to change",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\nset seed=-1\n:::\nSaid.\n": "x.md:10: seed is -1",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\nset top_k=1.5\n:::\nSaid.\n": "x.md:10: top_k is 1.5; " +
			"it must be a whole number, 0 (off) or more",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\n\ngo stage=nap\n:::\nSaid.\n": "x.md:11: " +
			"unknown stage ",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\ngo step=0 stage=append\n:::\nSaid": "x.md:10: step is 0",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\"\ndance\n:::\nSaid.\n": "x.md:10: " +
			"unknown action \"dance\"",
		"## Begin {#begin}\n::: do\nstart prompt=\"Hi\" loud\n:::\nSaid.\n": "x.md:9: ",
		"## Begin {#begin}\n::: do\n:::\nSaid.\n": "x.md:8: " +
			"::: do has no actions",
		"": "x.md:1: the walkthrough has no steps",
	} {
		if _, wrong := readWalkText(t, walkHead+text); !slices.ContainsFunc(
			wrong, func(s string) bool { return strings.HasPrefix(s, "walks/"+want) },
		) {
			t.Errorf("%q\ngot %q, want %q", text, wrong, want)
		}
	}
	_, wrong := readWalkText(t, strings.Replace(walkHead, "slug: x", "slug: y\ncolor: red", 1)+begin)
	if all := strings.Join(wrong, "\n"); !strings.Contains(all, "the slug \"y\" does not match the file name") ||
		!strings.Contains(all, "unknown front matter key \"color\"") {
		t.Errorf(
			"got front matter problems %q, want them to contain %q and %q", all,
			"the slug \"y\" does not match the file name",
			"unknown front matter key \"color\"",
		)
	}
}

// TestWalksAreComplete: every walkthrough has several kinds of questions, has notes for the
// presenter, and has enough steps for its duration.
func TestWalksAreComplete(t *testing.T) {
	c := course(t)
	same := []string{}
	for _, w := range c.Walks {
		same = append(same, w.Slug)
		kinds, notes := map[AskKind]int{}, 0
		for _, s := range w.Steps {
			if s.Ask != nil {
				kinds[s.Ask.Kind]++
			}
			if s.Note != "" {
				notes++
			}
		}
		if len(kinds) < 2 || notes < 3 || len(w.Steps) < 8 || w.Minutes > 2*len(w.Steps) {
			t.Errorf(
				"%s has %d steps for %d minutes, %d notes, questions %v; want at least 8, at most %d, at "+
					"least 3, at least 2 elements",
				w.Slug, len(w.Steps), w.Minutes, notes, kinds, 2*len(w.Steps),
			)
		}
		if c.Walk(w.Slug) != w || c.Walk("none") != nil {
			t.Errorf("%s is not found", w.Slug)
		}
	}
	slices.Sort(same)
	builtIn := []string{
		"be-the-head", "cache", "guess-and-check", "knobs", "loop", "museum-chat",
		"sure", "tokens", "what-it-costs",
	}
	if !slices.Equal(same, builtIn) {
		t.Errorf("the walkthroughs are %v, want %v", same, builtIn)
	}
}
