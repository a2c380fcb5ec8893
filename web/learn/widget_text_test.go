package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// written returns the steps of the engine's loop with an experiment's settings.
func (s *site) written(prompt string, settings infer.Settings) []*infer.Step {
	s.T.Helper()
	loop, err := infer.NewLoop(s.pages.Model, prompt, settings)
	if err != nil {
		s.T.Fatal(err)
	}
	for {
		if _, err := loop.Advance(context.Background()); errors.Is(err, io.EOF) {
			return loop.Steps()
		} else if err != nil {
			s.T.Fatal(err)
		}
	}
}

// TestGreedyLoopMatchesTheEngine: the page shows all tokens of the text, in order, or states how
// many are omitted.
func TestGreedyLoopMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetGreedyLoop)
	for _, temp := range []string{"0", "1"} {
		in := spec.Inputs(terms.English).Defaults()
		in["t"] = temp
		steps := s.written(in["prompt"], settingsOf(in))
		d := s.alone(spec, in)
		var want, got []string
		for _, step := range steps {
			want = append(want, stage.TokenText(s.pages.Model.Token(step.Chosen)).String()+" "+terms.ProbShort(step.P))
		}
		d.Find(".w-circle .tok--gen .sr").Remove() // text for screen readers only
		for _, row := range rows(d.Find(".w-circle .tok--gen")) {
			got = append(got, row[0]+" "+row[1])
		}
		if more := text(d.Find(".w-circle .w-more")); more != "" {
			// Rounds in the middle are not listed, so compare the beginning and the end.
			if len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("T = %s: %q\nwant the beginning of %q", temp, got, want)
			}
		} else if !slices.EqualFunc(got, want, func(a, b string) bool {
			return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
		}) {
			t.Errorf("T = %s: %q\nwant %q", temp, got, want)
		}
		if st := s.opened(href(d.Find("figure"))); len(st.Steps) != len(steps) {
			t.Errorf("the Loop has %d steps, want %d", len(st.Steps), len(steps))
		}
	}
}

// TestStopStringMatchesTheEngine: at every token, the released text and the held text match the
// loop's.
func TestStopStringMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetStopString)
	in := spec.Inputs(terms.English).Defaults()
	settings := settingsOf(in)
	// Use a stop string that this text completes in the middle of a token.
	all := s.written(in["prompt"], settings)
	var out strings.Builder
	for _, step := range all {
		out.WriteString(step.Text)
	}
	whole := out.String()
	if len(whole) < 12 {
		t.Fatalf("the text is too short: %q", whole)
	}
	in["stop"] = whole[5:10]
	settings.Stop.Strings = []string{in["stop"]}
	steps := s.written(in["prompt"], settings)
	if last := steps[len(steps)-1]; last.Stop != infer.StopString {
		t.Fatalf("stopped by %q, want %q", last.Stop, infer.StopString)
	}
	var commands []map[string]string
	for at := range steps {
		commands = append(commands, map[string]string{"stop": in["stop"], "at": fmt.Sprint(at + 1)})
	}
	released := ""
	for i, m := range s.asks(spec, commands...) {
		released += steps[i].Text
		body := s.body(m)
		if got := body.Find(".w-answer__out").Text(); got != released {
			t.Errorf("token %d: released %q, want %q", i+1, got, released)
		}
		held := strings.TrimPrefix(body.Find(".w-answer__held").Text(), " held back: ")
		if want := stage.Marked(string(steps[i].Held)).String(); held != want && steps[i].Stop == infer.StopNone {
			t.Errorf("token %d: held %q, want %q", i+1, held, want)
		}
		if st := s.opened(href(body.Selection)); st.Cursor.Step != i+1 || st.Cursor.Stage != infer.KindAppend {
			t.Errorf("token %d opens at %+v; want Step = %d, Stage = %v", i+1, st.Cursor, i+1, infer.KindAppend)
		}
	}
	if want := whole[:5]; released != want {
		t.Errorf("at the end %q is released, want %q", released, want)
	}
}

// TestCacheTalliesMatchFormulas: the amounts of work with and without the cache match the formulas,
// and the page reports that the scores were compared.
func TestCacheTalliesMatchFormulas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetCache)
	in := spec.Inputs(terms.English).Defaults()
	shape, prompt := s.pages.Model.Shape(), len(s.pages.Model.Encode(in["prompt"]))
	var commands []map[string]string
	for at := range 5 {
		commands = append(commands, map[string]string{"at": fmt.Sprint(at + 1), "tokens": "5"})
	}
	var sum, sumRe int64
	for i, m := range s.asks(spec, commands...) {
		body := s.body(m)
		cached, again := shape.Pass(prompt), shape.Pass(prompt+i)
		read := prompt
		if i > 0 {
			cached, read = shape.Step(prompt+i), 1
		}
		sum, sumRe = sum+cached.Total(), sumRe+again.Total()
		blocks := func(p cost.Parts) string { return terms.English.MultAdds(p.Projections + p.FeedForward) }
		want := [][]string{
			{terms.Count(read), terms.Count(prompt + i)},
			{blocks(cached), blocks(again)},
			{terms.English.MultAdds(cached.Attention), terms.English.MultAdds(again.Attention)},
			{terms.English.MultAdds(cached.Output), terms.English.MultAdds(again.Output)},
			{terms.English.MultAdds(cached.Total()), terms.English.MultAdds(again.Total())},
			{terms.English.MultAdds(sum), terms.English.MultAdds(sumRe)},
		}
		for j, row := range rows(body.Find("tbody tr, tfoot tr")) {
			if !slices.Equal(row[1:], want[j]) {
				t.Errorf("step %d: %q, want %q", i+1, row, want[j])
			}
		}
		if said := text(body.Find(".w-more")); !strings.Contains(said, "Compared at all 5 steps") ||
			!strings.Contains(said, "bit for bit") {
			t.Errorf(
				"step %d: got %s, want it to contain %q and %q", i+1, said, "Compared at all 5 steps", "bit for bit",
			)
		}
	}
	for same, want := range map[int]string{5: "bit for bit", 3: "at 2 of 5 steps, the scores differ"} {
		if got := identityText(stage.English, same, 5, 100).String(); !strings.Contains(got, want) {
			t.Errorf("%d of 5 the same: got %s, want it to contain %q", same, got, want)
		}
	}
}

// TestSpeculationMatchesTheEngine: guesses, p, q, u and verdicts match a Speculator with the
// same settings, and the Loop shows the same text.
func TestSpeculationMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	spec := s.specOf(lessons.WidgetSpeculate)
	in := spec.Inputs(terms.English).Defaults()
	in["seed"] = "7"
	sp, err := speculation.New(s.pages.Model, testmodel.Draft(t), in["prompt"], settingsOf(in), in.Int("gamma"))
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 4
	var commands []map[string]string
	for at := range rounds {
		commands = append(commands, map[string]string{"seed": "7", "at": fmt.Sprint(at + 1)})
	}
	for i, m := range s.asks(spec, commands...) {
		stages, err := sp.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		body := s.body(m)
		table := rows(body.Find("tbody tr"))
		verdict := 0
		for _, stage := range stages {
			a, ok := stage.(speculation.Accept)
			if !ok {
				continue
			}
			word := map[bool]string{true: "accepted", false: "refused"}[a.Accepted]
			want := []string{terms.Prob(a.Q), terms.Prob(a.P), "", terms.Prob(a.Probability), terms.Prob(a.U), word}
			if got := table[verdict][1:]; !slices.Equal(got, want) {
				t.Errorf("round %d, guess %d: %q, want %q", i+1, verdict+1, got, want)
			}
			verdict++
		}
		if made := body.Find(".w-by").Length(); made != len(sp.Tokens()) {
			t.Errorf("round %d: %d tokens on the page, want %d", i+1, made, len(sp.Tokens()))
		}
		var chosen []int
		for _, step := range s.opened(href(body.Selection)).Steps {
			chosen = append(chosen, step.Chosen)
		}
		if !slices.Equal(chosen, sp.Tokens()) {
			t.Errorf("round %d: the Loop has %v, want %v", i+1, chosen, sp.Tokens())
		}
	}
}

// TestSpeculationWithoutADraft: the lesson stays intact and explains why nothing is drafted.
func TestSpeculationWithoutADraft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetSpeculate)
	d := s.alone(spec, nil)
	if said := text(d.Find("#" + spec.ID + " [data-feed-error]")); !strings.Contains(said, "second, smaller model") {
		t.Errorf("got the message %q, want it to contain %q", said, "second, smaller model")
	}
	if m := s.asks(spec, map[string]string{})[0]; m.Error == nil || m.Error.Code != "model" || !m.Done {
		t.Errorf("got the message %+v, want an error, Error.Code = %q, Done = true", m, "model")
	}
	s.pages.Draft = testmodel.Slots(t, tinyModel(t))
	if m := s.asks(spec, map[string]string{})[0]; m.Error == nil ||
		!strings.Contains(m.Error.Message, "cannot draft for") {
		t.Errorf(
			"with a draft of another vocabulary: got %+v, want an error, Message with %q", m.Error, "cannot draft for",
		)
	}
	s.pages.Draft = func() (*pool.Slot, error) { return nil, errors.New("0.3 of the 1.1 MB have arrived") }
	if m := s.asks(spec, map[string]string{})[0]; m.Error == nil || m.Error.Code != terms.CodeBusy ||
		m.Error.Message != "0.3 of the 1.1 MB have arrived." {
		t.Errorf(
			"with a draft that does not load: got %+v, want an error, Code = %q, Message = %q", m.Error, terms.CodeBusy,
			"0.3 of the 1.1 MB have arrived.",
		)
	}
}
