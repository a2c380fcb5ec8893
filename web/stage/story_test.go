package stage

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// counted returns the number that a whole percent counts as: 1 for "<1%".
func counted(t testing.TB, percent string) int {
	t.Helper()
	switch percent {
	case "<1%":
		return 1
	case ">99%":
		return 99
	}
	n, err := strconv.Atoi(strings.TrimSuffix(percent, "%"))
	if err != nil {
		t.Fatalf("%q is not a whole percent", percent)
	}
	return n
}

// TestWholeSharesByHand: the shares 0.2249, 0.1574, 0.1292, 0.0334 and 0.0296, from the run in the
// design, leave 100 − 22 − 16 − 13 − 3 − 3 = 43.
func TestWholeSharesByHand(t *testing.T) {
	list, others := wholeShares([]float64{0.2249, 0.1574, 0.1292, 0.0334, 0.0296}, 0.4255)
	if want := []string{"22%", "16%", "13%", "3%", "3%"}; !slices.Equal(list, want) || others != "43%" {
		t.Errorf("%v and %s, want %v and 43%%", list, others, want)
	}
	// 99.7% is rounded to 100, which leaves nothing for the four tiny shares.
	list, others = wholeShares([]float64{0.997, 0.001, 0.0005, 0.0004, 0.0001}, 0.001)
	if !slices.Equal(list, []string{">99%"}) || others != "<1%" {
		t.Errorf("%v and %s, want >99%% and <1%%", list, others)
	}
	// Three thirds round to 99 in total, so the first is raised.
	list, others = wholeShares([]float64{1. / 3, 1. / 3, 1. / 3}, 0)
	if !slices.Equal(list, []string{"34%", "33%", "33%"}) || others != "" {
		t.Errorf("%v and %q, want 34%%, 33%%, 33%% and nothing else", list, others)
	}
}

// TestWholeSharesAddUp: whatever the shares are, the percents shown add up to 100, and each is off
// only because of rounding.
func TestWholeSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(1e-6, 1), 2, 6).Draw(t, "weights")
		sharp := rapid.Float64Range(0.2, 30).Draw(t, "sharp")
		sum := 0.0
		for i := range weights {
			weights[i] = math.Pow(weights[i], sharp)
			sum += weights[i]
		}
		for i := range weights {
			weights[i] /= sum
		}
		slices.SortFunc(weights, func(a, b float64) int { return -int(math.Copysign(1, a-b)) })
		rest := 0.0
		if rapid.Bool().Draw(t, "others") {
			rest, weights = weights[len(weights)-1], weights[:len(weights)-1]
		}
		list, others := wholeShares(weights, rest)
		all := 0
		for i, s := range list {
			n := counted(new(testing.T), s)
			if all += n; s != "<1%" && math.Abs(float64(n)-100*weights[i]) > 1.01 {
				t.Errorf("share %d of %v is %s, want within rounding", i, weights, s)
			}
		}
		if others != "" {
			all += counted(new(testing.T), others)
		}
		if all != 100 {
			t.Errorf("%v and %s, from %v and %g, add up to %d, want 100", list, others, weights, rest, all)
		}
	})
}

// TestStoryAndNumbersAgree compares every number in the Story with Numbers, at every stage of real
// runs. Scores, bytes, counts and work must be the same to the last digit, and shares must be p or
// p′ rounded to whole percents.
func TestStoryAndNumbersAgree(t *testing.T) {
	compared := map[infer.Kind]int{}
	for i, s := range manyStates(t) {
		if !s.Started() || ended(s) {
			continue
		}
		story, numbers := English.NewStory(s), English.New(s)
		compared[s.Cursor.Stage]++
		at := fmt.Sprintf("state %d, stage %s", i, s.Cursor.Stage)
		if story.N != numbers.N || !strings.Contains(story.Of, numbers.Name) {
			t.Errorf("%s: got %q, want it to name stage %d of Numbers, %s", at, story.Of, numbers.N, numbers.Name)
		}
		switch s.Cursor.Stage {
		case infer.KindForward:
			if numbers.Forward.Look == nil {
				break
			}
			var b strings.Builder
			if err := English.StoryHTML(story).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			for _, block := range numbers.Forward.Look.Blocks[1:] {
				if says := block.Top.Text.String(); !slices.ContainsFunc(story.Reads, func(r Text) bool {
					return r.String() == says
				}) && strings.Contains(b.String(), ">"+says+"<") {
					t.Errorf("%s: the Story has %q, the prediction of block %s, want no predictions", at, says, block.N)
				}
			}
		case infer.KindLogits:
			for n, r := range story.Scores.Rows {
				if row := numbers.Table.Rows[n]; r.Text.String() != row.Text.String() || r.Z != row.Z {
					t.Errorf(
						"%s: %v has %s, and %v %s; want %q, %s", at, r.Text, r.Z, row.Text, row.Z, row.Text.String(),
						row.Z,
					)
				}
			}
		case infer.KindSoftmax, infer.KindFilter:
			sharesAgree(t, at, story.Shares, numbers.Table, s.Cursor.Stage)
		case infer.KindSample:
			drawAgrees(t, at, s, story.Line, numbers)
		case infer.KindAppend:
			for _, e := range story.Ends {
				fired := slices.ContainsFunc(numbers.Appended.Rows, func(r ConditionRow) bool { return r.Fired })
				if e.Fired && !fired {
					t.Errorf("%s: %s has fired, but no condition has in Numbers", at, e.Name)
				}
			}
		case infer.KindCache:
			facts := fmt.Sprint(numbers.Facts)
			if m := story.Memory; !strings.Contains(facts, m.Bytes) || !strings.Contains(facts, "+"+m.New) {
				t.Errorf(
					"%s: %s and %s new, and %s, want it to contain %q and %q", at, m.Bytes, m.New, facts, m.Bytes,
					"+"+m.New,
				)
			}
		}
	}
	for _, k := range infer.Kinds {
		if compared[k] < 8 {
			t.Errorf("got only %d states at stage %s", compared[k], k)
		}
	}
}

// near reports whether a whole percent is within about one point of p.
func near(t *testing.T, percent, p string) bool {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimLeft(p, "<>"), 64)
	if err != nil {
		t.Fatalf("%q is not a probability", p)
	}
	return percent == "<1%" && x < 0.0101 || math.Abs(float64(counted(t, percent))-100*x) <= 1.01
}

func sharesAgree(t *testing.T, at string, v *StoryShares, table *Table, k infer.Kind) {
	t.Helper()
	all := 0
	for _, r := range v.Rows {
		i := slices.IndexFunc(table.Rows, func(row TableRow) bool { return row.Text.String() == r.Text.String() })
		if !r.Rest && i < 0 {
			t.Errorf("%s: %v is not in Numbers", at, r.Text)
			continue
		}
		if r.Percent == "cut" {
			if !r.Rest && table.Rows[i].CutBy == "" {
				t.Errorf("%s: %v is cut in the Story, but not in Numbers", at, r.Text)
			}
			continue
		}
		all += counted(t, r.Percent)
		if r.Rest {
			continue
		}
		row := table.Rows[i]
		p := row.P
		if k == infer.KindFilter {
			p = row.Q
		}
		if !near(t, r.Percent, p) {
			t.Errorf("%s: %v has %s, want the same as %v: %s", at, r.Text, r.Percent, row.Text, p)
		}
	}
	if all != 100 {
		t.Errorf("%s: the shares add up to %d, want 100", at, all)
	}
}

func drawAgrees(t *testing.T, at string, s *session.State, v *StoryLine, numbers Stage) {
	t.Helper()
	step := s.Step()
	if v.Open || v.Pick.String() != TokenText(s.Model.Token(step.Chosen)).String() {
		t.Errorf("%s: the pick is %v, want %v", at, v.Pick, TokenText(s.Model.Token(step.Chosen)))
	}
	if v.Pin != "" && v.Pin != Share(step.U) {
		t.Errorf("%s: the marker is at %s, want %s", at, v.Pin, Share(step.U))
	}
	if v.Pin != "" && numbers.Segments.Mark != v.Pin {
		t.Errorf("%s: the marker is at %s, want %s, as in Numbers", at, v.Pin, numbers.Segments.Mark)
	}
	all := 0
	for _, n := range v.Names {
		percent, _, _ := strings.Cut(n.Percent, ",")
		all += counted(t, percent)
	}
	if all != 100 {
		t.Errorf("%s: the pieces add up to %d, want 100", at, all)
	}
}

// TestStoryLineHasRealPieces: in the segment for all unnamed tokens, the line shows each share that
// is wide enough as a separate piece, which ends where the share does. Thinner pieces are only
// counted. If the drawn token's piece is too thin to be seen, it has a mark.
func TestStoryLineHasRealPieces(t *testing.T) {
	t.Parallel()
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	at := func(knobs ...session.Command) *session.State {
		for _, knob := range knobs {
			sessiontest.Do(t, s, knob)
		}
		st := sessiontest.Do(t, s, session.Start{Prompt: "In the old house lived a"})
		for st.Shown() < infer.KindSample {
			st = sessiontest.Do(t, s, session.StepStage{})
		}
		return st
	}
	bold := []session.Command{session.SetKnob("temperature", 1.5), session.SetKnob("top_p", 1)}
	for _, knobs := range [][]session.Command{nil, bold} {
		st := at(knobs...)
		line := English.NewStory(st).Line
		named, from, want := len(line.Names)-1, 0.0, []float64{}
		for i := range named {
			from += st.Dist.KeptQ(i)
		}
		end := from
		for i := named; i < st.Dist.Keep && st.Dist.KeptQ(i) >= 0.002; i++ {
			end += st.Dist.KeptQ(i)
			want = append(want, 1000*(end-from)/(1-from))
		}
		thin := st.Dist.Keep - named - len(want)
		if thin == 0 {
			want = want[:len(want)-1] // the end of the line itself
		}
		gaps := strings.Split(strings.TrimSuffix(line.Rest.Gaps, "z"), "z")
		if len(gaps) != len(want) {
			t.Fatalf("got %d gaps between the pieces, want %d", len(gaps), len(want))
		}
		for i, gap := range gaps {
			var x, wide, back float64
			_, err := fmt.Sscanf(gap, "M%f 0h%fv1H%f", &x, &wide, &back)
			if err != nil || math.Abs(x+wide-want[i]) > 0.02 {
				t.Errorf("piece %d: the gap %q ends at %g, want %.2f (%v)", i, gap, x+wide, want[i], err)
			}
		}
		if thin > 0 != (line.Thin != "") || !strings.Contains(line.Thin+" ", terms.Counted(thin, "piece")) && thin > 0 {
			t.Errorf("got %q, want %d pieces that are too thin to see", line.Thin, thin)
		}
	}
	d := at(bold...).Dist
	seed := uint64(1)
	for d.Q(d.Draw(sampling.U(seed, 1))) >= 0.002 {
		seed++
	}
	drawn := English.NewStory(at(session.SetKnob("seed", float64(seed))))
	if last := drawn.Line.List[len(drawn.Line.List)-1]; last.Class != "is-pick" || !last.Thin {
		t.Errorf("with seed %d the drawn piece is %+v, want a thin pick", seed, last)
	}
}

// TestStoryHidesTheDraw: until the marker falls, the page with a draw is the same for every seed.
func TestStoryHidesTheDraw(t *testing.T) {
	page := func(seed float64) string {
		s := session.New(testmodel.Target(t), session.DefaultLimits())
		sessiontest.Do(t, s, session.SetKnob("seed", seed))
		st := sessiontest.Do(t, s, session.Start{Prompt: "In the old house lived a"})
		for st.Shown() < infer.KindSample {
			st = sessiontest.Do(t, s, session.StepStage{Withhold: true})
		}
		if !st.Undrawn {
			t.Fatal("the draw is not withheld")
		}
		var b bytes.Buffer
		strip := English.NewStrip(st)
		if err := English.StoryHTML(English.NewStory(st)).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if err := English.ProseTextHTML(GivenText(st), strip).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := page(1)
	if !strings.Contains(first, "somewhere on this line") {
		t.Errorf("the waiting marker is missing: got %s, want it to contain %q", first, "somewhere on this line")
	}
	for seed := range 5 {
		if page(float64(seed+2)) != first {
			t.Errorf("seed %d shows a different page", seed+2)
		}
	}
}

// TestStoryEndsWithProse: a finished text is shown as prose, with each token's share, and ends with
// a neutral mark.
func TestStoryEndsWithProse(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.SetKnob("max_tokens", 3))
	st := sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	for st.Stopped == infer.StopNone || st.Cursor.Stage != infer.KindCache {
		st = sessiontest.Do(t, s, session.StepToken{})
	}
	v := English.NewStory(st)
	if !v.End || v.Verb != "The end" || !strings.Contains(v.Of, "3 tokens") {
		t.Errorf("the end is %+v, want End = true, Verb = %q, Of with %q", v, "The end", "3 tokens")
	}
	var b bytes.Buffer
	if err := English.ProseTextHTML(GivenText(st), English.NewStrip(st)).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, `class="the-end"`) {
		t.Error("the text has no mark at its end")
	}
	for _, step := range st.Steps {
		want := fmt.Sprintf(`title="%s"`, terms.Percent(step.P))
		if !strings.Contains(html.UnescapeString(text), want) {
			t.Errorf("the text does not contain %s", want)
		}
	}
}
