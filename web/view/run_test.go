package view

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRun walks a real run through every stage and holds what it shows
// against the engine's own numbers.
func TestRun(t *testing.T) {
	s := session.New(model(t), session.DefaultLimits())
	v := NewLoop(s.State())
	if v.Started || !v.Panel.Empty || !v.Console.Empty || v.Strip.Next.Small != "1st" || v.Spoken != "" {
		t.Errorf("the empty page is %+v", v.Panel)
	}
	st := do(t, s, session.Start{Prompt: "Once upon a time"})
	for k := infer.KindForward; k <= infer.KindCache; k++ {
		if k > infer.KindForward {
			st = do(t, s, session.StepStage{})
		}
		v := NewLoop(st)
		if v.Panel.N != int(k) || v.Panel.Lead.String() == "" || !strings.HasPrefix(v.Spoken, "Token ") {
			t.Errorf("stage %d shows %+v and says %q", k, v.Panel, v.Spoken)
		}
		for _, r := range v.Rail.Stages {
			want := "is-done"
			switch {
			case r.N == int(k):
				want = "is-now"
			case r.N > int(k):
				want = ""
			}
			if r.State != want || (r.Seek == "") != (want == "") {
				t.Errorf("at stage %d the rail shows stage %d as %q, seek %q", k, r.N, r.State, r.Seek)
			}
		}
		if table := v.Panel.Table; table != nil &&
			(len(table.Rows) != RowsShown || table.Rest.Label != "the other 4,076 tokens") {
			t.Errorf("stage %d: %d rows and %q", k, len(table.Rows), table.Rest.Label)
		}
		if made := len(v.Strip.Tokens); made != map[bool]int{true: 1}[k >= infer.KindAppend] {
			t.Errorf("stage %d: %d tokens on the strip", k, made)
		}
	}
	step := st.Steps[0]
	tok := NewLoop(st).Strip.Tokens[0]
	if tok.ID != "t-1" || tok.Small != terms.ProbShort(step.P) ||
		tok.Text.String() != TokenText(st.Model.Token(step.Chosen)).String() {
		t.Errorf("the first token is %+v, the step drew %d with %v", tok, step.Chosen, step.P)
	}
}

func TestStoppedAndBack(t *testing.T) {
	s := session.New(model(t), session.DefaultLimits())
	do(t, s, session.Start{Prompt: "Once upon a time"})
	do(t, s, session.SetKnob("max_tokens", 2))
	do(t, s, session.StepToken{})
	v := NewLoop(do(t, s, session.StepToken{}))
	if !v.Console.Ended || v.Console.Next != "" || v.Strip.Next.Label != "Stopped" ||
		v.Notice.Head != "Stopped: max tokens reached." || !v.Console.MaxFired {
		t.Errorf("after two of two tokens: %+v %+v", v.Console, v.Notice)
	}
	v = NewLoop(do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter}))
	if v.Console.Ended || v.Console.Next != "Next: Sample" || v.Panel.Past == "" || !v.Strip.Tokens[0].Now ||
		!v.Strip.Tokens[1].Later {
		t.Errorf("looking back: %+v %+v", v.Console, v.Strip.Tokens)
	}
}

func do(t *testing.T, s *session.Session, c session.Command) *session.State {
	t.Helper()
	st, err := s.Apply(context.Background(), c)
	if err != nil {
		t.Fatalf("%#v: %v", c, err)
	}
	return st
}

func TestPieces(t *testing.T) {
	m := model(t)
	v := NewPieces(m, "Once upon")
	if v.Tokens[0].String() != "start" || v.Tokens[1].String() != "Once" ||
		v.Say != "3 tokens, the start mark included" || v.Over {
		t.Errorf("%+v", v)
	}
	if v := NewPieces(m, strings.Repeat("Once upon ", 300)); !v.Over || !strings.Contains(v.Say, "more than the 512") {
		t.Errorf("a long prompt: %q", v.Say)
	}
	if v := NewPieces(m, "<|endoftext|>"); len(v.Tokens) < 3 {
		t.Errorf("special-looking text became %v", v.Tokens)
	}
}

// A text that the vocabulary cannot spell is said to be one, as it is typed.
func TestPiecesOfATextThatCannotBeSpelled(t *testing.T) {
	dir := t.TempDir()
	if err := fixture.Write(
		dir, fixture.Shape{Layers: 1, Width: 8, Heads: 2, KVHeads: 1, FFN: 8, Context: 20, Vocab: 2100},
	); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tokenizer.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lacking := regexp.MustCompile(`"ÿ": 255,`).ReplaceAll(data, nil) // the byte 0xFF
	if err := os.WriteFile(path, lacking, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	const want = "This text is not for this model, whose vocabulary has no token for byte 0xFF, which is part of no " +
		"character, at line 1, character 3"
	if v := NewPieces(m, "ba\xff"); v.Say != want || !v.Over {
		t.Errorf("%+v", v)
	}
	if v := NewPieces(m, "ba"); v.Over {
		t.Errorf("%+v", v)
	}
}

// A figure never stands on a segment without its token. At 0.07 of 640 px there
// are 44.8 px: enough for "0.07" (4 × 7.4 + 12 = 41.6), not for "·girl" (49).
func TestSegmentFigureNeedsItsToken(t *testing.T) {
	if s := segment(0, 0.07, Text{{S: "·girl"}}, "p2"); s.Fit != "fit-x" || s.FitP != "fit-x" {
		t.Errorf("·girl fits %s, its figure %s", s.Fit, s.FitP)
	}
	// "·a" needs 26.8 px, its figure the same 41.6
	if s := segment(0, 0.07, Text{{S: "·a"}}, "p2"); s.Fit != "fit-m" || s.FitP != "fit-m" {
		t.Errorf("·a fits %s, its figure %s", s.Fit, s.FitP)
	}
}
