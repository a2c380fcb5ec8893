package stage

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestSumsCoverTheWholeVocabulary: the tokens without a row are part of every sum. Only 20 of the
// 4,096 tokens have a row, and the sum is still 1. At T = 50, the distribution is nearly flat, so
// the sum of the other tokens would be far beyond the end of an axis made for single tokens.
// Promise: Sums on the page include the tokens that have no row.
func TestSumsCoverTheWholeVocabulary(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	sessiontest.Do(t, s, session.Set{Knobs: infer.Knobs{"temperature": 50, "top_p": 1}})
	sessiontest.Do(t, s, session.StepStage{})
	st := sessiontest.Do(t, s, session.StepStage{})
	shown := 0.0
	for _, id := range st.Dist.Order[:RowsShown] {
		shown += st.Dist.P[id]
	}
	table := English.New(st).Table
	if table.All.P != "1.0000" || table.All.Badge != "sum = 1.0000" || !table.All.SumIsOne {
		t.Errorf(
			"with %d of %d rows the sum is %+v; want P = %q, Badge = %q, SumIsOne = true", len(table.Rows),
			len(st.Dist.Order), table.All, "1.0000", "sum = 1.0000",
		)
	}
	rest := table.Rest
	if rest.P != terms.Prob(1-shown) || rest.Cum != "1.0000" || rest.BarP != Share(1-shown) {
		t.Errorf("the row of all other tokens is %+v, want p %s and a bar of that length", rest, terms.Prob(1-shown))
	}
}

// TestCutLineNamesTheFilterThatDecides: if several filters are on, the line names the filter that
// decides how many tokens are kept. Top-p 0.9 keeps three of the drill's five tokens (0.8640 < 0.9
// ≤ 0.9495). Top-k 4 would keep one more, and top-k 2 would keep one fewer.
func TestCutLineNamesTheFilterThatDecides(t *testing.T) {
	for k, want := range map[int]string{4: ", the first sum that reaches 0.90", 2: ", rank 2 is the last of top-k"} {
		rows := English.New(
			sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopK: k, TopP: 0.9}, infer.KindFilter, 0),
		).Table.Rows
		for _, r := range rows {
			if r.Line != nil && r.Line.KeptWhy != want {
				t.Errorf("top-k %d: the line is %q, want %q", k, r.Line.KeptWhy, want)
			}
		}
	}
}

// TestDisjointFiltersAreExplained: if no token is kept by all filters, the most probable token
// stays, and the page explains why. Σ e^{z−4} of these scores is 4.3227, so p of the first is
// 0.2313, and −ln p of the first four is 1.4639, 1.5639, 1.6639 and 2.9639; the entropy is 2.1689.
// The third is nearest to the entropy, 0.5050 away, followed by the second. Typical-p 0.01
// therefore keeps only the third token, which top-k 2 and top-p 0.2 cut.
func TestDisjointFiltersAreExplained(t *testing.T) {
	logits := []float32{4, 3.9, 3.8, 2.5, 2.4, 2.3, 2.2, 2.1, 2, 2, 2, 2, 2}
	for _, c := range []struct {
		set  sampling.Settings
		lead string
	}{
		{sampling.Settings{Temperature: 1, TopP: 1, TopK: 2, TypicalP: 0.01}, "top-k leaves 2 and typical-p 1"},
		{sampling.Settings{Temperature: 1, TopP: 0.2, TypicalP: 0.01}, "top-p leaves 1 and typical-p 1"},
	} {
		st := sessiontest.Scored(t, logits, c.set, infer.KindFilter, 0)
		p := English.New(st)
		want := "No token is kept by every filter: " + c.lead + ", none in common. So the most probable one stays, " +
			"and its p′ is 1."
		if got := p.Lead.String(); got != want {
			t.Errorf("the sentence is %q, want %q", got, want)
		}
		first := p.Table.Rows[0]
		if !first.Kept || first.Q != "1.0000" || first.Title != "kept because the filters have no token in common" {
			t.Errorf(
				"the first row is %+v, want Kept = true, Q = %q, Title = %q", first, "1.0000",
				"kept because the filters have no token in common",
			)
		}
		if l := p.Table.Rows[1].Line; l == nil || *l != (CutLine{
			Kept: "0.2313", KeptWhy: ", the most probable token", Cut: "0.7687", CutWhy: ", given to the one kept",
		}) {
			t.Errorf("the line is %+v, want 0.2313 kept as the most probable token, 0.7687 cut", l)
		}
		if s := p.Segments; s.Mark != "23.13%" || s.Say != "kept up to 0.2313" ||
			s.SayEnd != ": the filters have no token in common" {
			t.Errorf(
				"the strip is marked at %s: %q %q; want %s, %q, %q", s.Mark, s.Say, s.SayEnd, "23.13%",
				"kept up to 0.2313", ": the filters have no token in common",
			)
		}
		if got, want := English.NewRail(st).Stages[3].Say, "All but the most probable token are cut."; got != want {
			t.Errorf("the rail has %q, want %q", got, want)
		}
	}
	p := English.New(sessiontest.Drill(t, sampling.Settings{Temperature: 1, TopP: 0.9, TopK: 4}, infer.KindFilter, 0))
	if got := p.Table.Rows[0].Title; got != "kept by every filter" {
		t.Errorf("with filters that have tokens in common, the first row is %q, want %q", got, "kept by every filter")
	}
}

func TestStripShowsWhoChose(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	st := sessiontest.Do(t, s, session.StepToken{})
	sessiontest.Do(t, s, session.Choose{Step: 1, Token: int(st.Steps[0].Distribution().Order[5])})
	st = sessiontest.Do(t, s, session.StepToken{})
	for i, want := range []bool{true, false} {
		if i == 1 {
			st = sessiontest.Do(t, s, session.StepToken{})
		}
		token := English.NewStrip(st).Tokens[i]
		if strings.Contains(token.label(English), "chosen by a person") != want || token.Forced != want {
			t.Errorf("the accessible name of token %d is %q; want it to mention a person's choice: %t", i+1,
				token.label(English), want)
		}
		if got := token.peek(English); strings.Contains(got, "a person chose it") != want {
			t.Errorf("token %d is described as %q; want it to mention a person's choice: %t", i+1, got, want)
		}
	}
}

func TestHeldBytesAreExplained(t *testing.T) {
	for want, st := range map[string]infer.Append{
		"it may become the stop string User:": {Held: []byte("Us"), Conditions: []infer.Condition{
			{Kind: infer.StopMaxTokens, Have: 1, Limit: 9}, {Kind: infer.StopString, String: "User:", Matched: 2},
		}},
		"2 bytes of an unfinished character": {Held: []byte("\xe2\x82"), Conditions: []infer.Condition{
			{Kind: infer.StopString, String: "User:"},
		}},
	} {
		if got := English.heldBy(st); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFoldedColumnSumsItsPositions: the weight of a folded column is the sum of its positions'
// weights: 0.2 · 255 = 51, (0.25 + 0.25 + 0.3) · 255 = 204.
func TestFoldedColumnSumsItsPositions(t *testing.T) {
	got := quantised([]float32{0.2, 0.25, 0.25, 0.3, 0}, []span{{0, 1}, {1, 4}, {4, 5}})
	if want := "\x33\xcc\x00"; string(got) != want {
		t.Errorf("% x, want % x", got, want)
	}
}

// TestTypicalPLeadingLine: if typical-p keeps the most probable tokens, a line with the right words
// is drawn below them. A token with p = 0 has no surprise.
func TestTypicalPLeadingLine(t *testing.T) {
	for x, want := range map[float64]string{0.5: ", the 2 most typical", 0.9: ", the 3 most typical"} {
		set := sampling.Settings{Temperature: 1, TopP: 1, TypicalP: x}
		for _, r := range English.New(sessiontest.Drill(t, set, infer.KindFilter, 0)).Table.Rows {
			if r.Line != nil && r.Line.KeptWhy != want {
				t.Errorf("typical-p %v: the line is %q, want %q", x, r.Line.KeptWhy, want)
			}
		}
	}
	// The probabilities are almost 1 and 0.
	typical := sampling.Settings{Temperature: 1, TopP: 1, TypicalP: 0.5}
	sure := sessiontest.Scored(t, []float32{900, 0}, typical, infer.KindFilter, 0)
	p := English.New(sure)
	if l := p.Table.Rows[1].Line; l == nil || l.KeptWhy != ", the most typical token" {
		t.Errorf("the line is %+v, want l not nil, KeptWhy = %q", l, ", the most typical token")
	}
	cells := p.Table.Rows[1].Work.Cells
	if got := cells[len(cells)-1].Sum.String(); got != "p is too small to tell from 0" {
		t.Errorf("the calculation for p = 0 is %q, want %q", got, "p is too small to tell from 0")
	}
}

// TestWorkedLineStartsAtThirdKeptRow: the worked line shown first belongs to the third kept row or,
// if there are fewer, to the last kept row. If none is kept, it belongs to the first row.
func TestWorkedLineStartsAtThirdKeptRow(t *testing.T) {
	for kept, want := range map[string]int{
		"xxxxx": 2, "xx...": 1, "x....": 0, "..xxx": 4, "...x.": 3, ".x..x": 4, ".....": 0, ".x.xxx": 4,
	} {
		var rows infer.Rows
		for _, c := range kept {
			rows.Rows = append(rows.Rows, infer.Row{Kept: c == 'x'})
		}
		if got := midKept(rows); got != want {
			t.Errorf("%s: row %d, want %d", kept, got, want)
		}
	}
}
