package main

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
)

// TestStripMarksTokenStarts: the 60-column strip has a mark where each token except the first
// begins. The mark's column depends on the token's position among the kept tokens, not on its rank.
// If the drawn token ranks below the listed tokens, no mark separates it from its neighbor, which
// is not listed.
func TestStripMarksTokenStarts(t *testing.T) {
	lane := func(rank int, q float64) infer.Row {
		return infer.Row{Token: infer.Token{ID: rank}, Rank: rank, Q: q, Kept: true}
	}
	drawn := func(chosen int, from, to float64, lanes ...infer.Row) string {
		s := infer.Sample{From: from, To: to, Lanes: lanes}
		s.Chosen.ID = chosen
		return strip(s)
	}
	dashes := func(n int) string { return strings.Repeat("─", n) }
	thick := func(n int) string { return strings.Repeat("━", n) }
	for name, c := range map[string]struct{ got, want string }{
		// 0.5 × 60 = 30 and 0.8 × 60 = 48
		"the most probable": {
			drawn(1, 0, 0.5, lane(1, 0.5), lane(2, 0.3), lane(3, 0.2)),
			thick(30) + "┬" + dashes(17) + "┬" + dashes(11),
		},
		"beyond a hole": {
			drawn(8, 0, 0.5, lane(8, 0.5), lane(9, 0.3), lane(40, 0.2)),
			thick(30) + "┬" + dashes(17) + "┬" + dashes(11),
		},
		"the second kept, behind a hole": {
			drawn(9, 0.5, 0.8, lane(8, 0.5), lane(9, 0.3)), dashes(30) + "┬" + thick(17) + dashes(12),
		},
		// The token begins at 0.9 × 60 = 54, but the previous lanes end at 48.
		"one that stands apart": {
			drawn(40, 0.9, 1, lane(1, 0.5), lane(2, 0.3), lane(40, 0.1)),
			dashes(30) + "┬" + dashes(23) + thick(6),
		},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, c.got, c.want)
		}
	}
}

// TestTraceExplainsDisjointFilters: viz trace reports when the filters keep no token in common: on
// this prompt, top-k 2 keeps the first two tokens, and typical-p 0.01 keeps one further down.
func TestTraceExplainsDisjointFilters(t *testing.T) {
	args := []string{
		"trace", "-prompt", "Once upon a time there was a", "-temp", "1", "-top-p", "1", "-top-k", "2", "-n", "1",
	}
	const say = "no token is kept by all of them, so the most probable one stays"
	if out := ok(t, append(args, "-typical-p", "0.01")...); !strings.Contains(out, "1 token of 4,096 kept") ||
		!strings.Contains(out, "top-k alone keeps 2, typical-p alone keeps 1\n           "+say) {
		t.Errorf(
			"got %q, want it to contain %q and %q", out, "1 token of 4,096 kept",
			"top-k alone keeps 2, typical-p alone keeps 1\n           "+say,
		)
	}
	if out := ok(t, args...); strings.Contains(out, say) {
		t.Errorf("ok(t, args...) = %q, want it without %q", out, say)
	}
}

// TestTraceListsPenalizedScores: viz trace lists the scores that a repetition
// penalty changed, with the original scores.
func TestTraceListsPenalizedScores(t *testing.T) {
	args := []string{"trace", "-prompt", "Once upon a time", "-temp", "0", "-n", "1", "-repetition-penalty", "2"}
	out := ok(t, args...)
	const say = "repetition penalty 2 lowered the scores of 5 tokens of the text:"
	_, list, found := strings.Cut(out, say)
	list, _, _ = strings.Cut(list, "3 softmax")
	if !found || strings.Count(list, " → ") != 5 {
		t.Errorf("got %s\nwant a list of penalized scores with 5 changes", out)
	}
	if out := ok(t, append(args, "-repetition-penalty", "1")...); strings.Contains(out, "repetition") {
		t.Errorf("got %q, want it without %q", out, "repetition")
	}
}
