package lab

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func TestNumberFormats(t *testing.T) {
	for got, want := range map[string]string{
		chance(0.0089): "0.0089", chance(3e-16): "3.0e-16", chance(0): "0.0000", signed(-0.5): "−0.50",
		signed(0.114):            "+0.11",
		terms.Counted(1, "text"): "1 text", terms.Counted(1200, "text"): "1,200 texts", shown("a\nb"): "“a↵b”",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if text := (Why{Ratio: 4, WorkRatio: 1.2}).sentence().String(); strings.Contains(text, "Little") ||
		!strings.Contains(text, "4 times") {
		t.Errorf("got %q, want it not to contain %q, and to contain %q", text, "Little", "4 times")
	}
	if text := (Why{Ratio: 0.9, WorkRatio: 1.2}).sentence().String(); !strings.Contains(text, "Little") {
		t.Errorf("got %q, want it to contain %q", text, "Little")
	}
}

// TestFindingsAreWholeSentences: every lab summarizes its run in complete sentences.
func TestFindingsAreWholeSentences(t *testing.T) {
	for _, l := range All() {
		name := l.Info(terms.English).Name
		_, r := result[any](t, name, small[name])
		if len(r.Findings) < 2 {
			t.Errorf("%s: got %q, want at least 2 elements", name, r.Findings)
		}
		for _, text := range english(r.Findings) {
			if !strings.HasSuffix(text, ".") || strings.ContainsAny(text, "\n") || strings.Contains(text, "%!") ||
				strings.Contains(text, "NaN") {
				t.Errorf(
					"%s: got finding %q, want a sentence on one line, without a formatting error or NaN", name, text,
				)
			}
		}
	}
	// Check the findings of made-up searches.
	s := &SequenceSearch{
		Prompt: "x", Horizon: 2, Greedy: Sequence{Text: "ab", P: 0.24}, Best: Sequence{Text: "ba", P: 0.36},
		Differs: true, Exact: true, Expanded: 5,
	}
	cut := &SequenceSearch{
		Prompt: "x", Horizon: 2, Greedy: Sequence{Text: "ab", P: 0.24}, Best: Sequence{Text: "ab", P: 0.24},
		Expanded: 5,
	}
	if got := english(cut.findings()); !strings.Contains(got[0], "that was found") ||
		!strings.Contains(got[0], "given up after 5 passes") {
		t.Errorf(
			"findings of an unfinished search: got %q, want [0] to contain %q and %q", got, "that was found",
			"given up after 5 passes",
		)
	}
	want := "After “x” greedy writes “ab”, p = 0.2400. “ba” is 1.50 times as probable, p = 0.3600 (after 5 passes, " +
		"with no sequence skipped)."
	if got := english(s.findings()); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// english returns phrases in English.
func english(list []Phrase) []string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return texts
}
