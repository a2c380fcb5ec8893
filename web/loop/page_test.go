package loop

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/stage"
)

// TestPageMatchesTheEngineAtEveryStage steps a real run through every stage and compares the
// numbers on the page with the engine's own.
func TestPageMatchesTheEngineAtEveryStage(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	v := NewPage(lang, s.State())
	if v.Started || !v.Panel.Empty || !v.Console.Empty || v.Strip.Next.Small != "1st" || v.Spoken != "" {
		t.Errorf(
			"the empty page is %+v, want v.Started = false, Empty = true, v.Console.Empty = true, "+
				`v.Strip.Next.Small = %q, v.Spoken = ""`,
			v.Panel, "1st",
		)
	}
	st := sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	for k := infer.KindForward; k <= infer.KindCache; k++ {
		if k > infer.KindForward {
			st = sessiontest.Do(t, s, session.StepStage{})
		}
		v := NewPage(lang, st)
		if v.Panel.N != int(k) || v.Panel.Lead.String() == "" || !strings.HasPrefix(v.Spoken, "Token ") {
			t.Errorf(
				"stage %d shows %+v and says %q; want N = %d, Lead.String() not empty, v.Spoken beginning with %q", k,
				v.Panel, v.Spoken, int(k), "Token ",
			)
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
				t.Errorf("at stage %d, the rail shows stage %d as %q, seek %q; want %q", k, r.N, r.State, r.Seek, want)
			}
		}
		if table := v.Panel.Table; table != nil &&
			(len(table.Rows) != stage.RowsShown || table.Rest.Label != "the other 4,076 tokens") {
			t.Errorf(
				"stage %d: got %d rows and %q, want %d rows and the other 4,076 tokens", k, len(table.Rows),
				table.Rest.Label, stage.RowsShown,
			)
		}
		if made, want := len(v.Strip.Tokens), map[bool]int{true: 1}[k >= infer.KindAppend]; made != want {
			t.Errorf("stage %d: got %d tokens on the strip, want %d", k, made, want)
		}
	}
	step := st.Steps[0]
	tok := NewPage(lang, st).Strip.Tokens[0]
	if tok.ID != "t-1" || tok.Small != terms.ProbShort(step.P) ||
		tok.Text.String() != stage.TokenText(st.Model.Token(step.Chosen)).String() {
		t.Errorf("the first token is %+v, want t-1, the token %d that the step drew, with %v", tok, step.Chosen, step.P)
	}
}

func TestStoppedRunAndLookBack(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	sessiontest.Do(t, s, session.SetKnob("max_tokens", 2))
	sessiontest.Do(t, s, session.StepToken{})
	v := NewPage(lang, sessiontest.Do(t, s, session.StepToken{}))
	if !v.Console.Ended || v.Console.Next != "" || v.Strip.Next.Label != "Stopped" ||
		v.Notice.Head != "Stopped: max tokens reached." || !v.Console.MaxFired {
		t.Errorf(
			`after two of two tokens: got %+v %+v; want v.Console.Ended = true, v.Console.Next = "", `+
				"v.Strip.Next.Label = %q, v.Notice.Head = %q, v.Console.MaxFired = true",
			v.Console, v.Notice, "Stopped", "Stopped: max tokens reached.",
		)
	}
	if n := v.storyNotice(); n.Head != "" {
		t.Errorf(`the Story has the notice %q next to its sheet, which says the same, want ""`, n.Head)
	}
	v = NewPage(lang, sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter}))
	if n := v.storyNotice(); n.Head != "The text is as long as you allowed." || n.Say != v.Notice.Say {
		t.Errorf(
			"looking back the Story says %q and %q; want %q, %q", n.Head, n.Say, "The text is as long as you allowed.",
			v.Notice.Say,
		)
	}
	if v.Console.Ended || v.Console.Next != "Next: Sample" || v.Panel.Past == "" || !v.Strip.Tokens[0].Now ||
		!v.Strip.Tokens[1].Later {
		t.Errorf(
			"looking back: got %+v %+v; want v.Console.Ended = false, v.Console.Next = %q, v.Panel.Past "+
				"not empty, v.Strip.Tokens[0].Now = true, v.Strip.Tokens[1].Later = true",
			v.Console, v.Strip.Tokens, "Next: Sample",
		)
	}
}

// TestSpaceAtEndIsNoticed: a run whose prompt ends with a space shows a notice and a button
// that starts the run without the space. Other prompts and chats show none.
// Promise: If a prompt ends with a space, the page says so and offers to start without it.
func TestSpaceAtEndIsNoticed(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	for prompt, want := range map[string]string{
		"The <b> of France is ": "The prompt ends with a space.", "is   ": "The prompt ends with 3 spaces.", "is": "",
	} {
		v := NewPage(lang, sessiontest.Do(t, s, session.Start{Prompt: prompt}))
		var html strings.Builder
		if err := noticeHTML(v.storyNotice()).Render(t.Context(), &html); err != nil {
			t.Fatal(err)
		}
		d, err := goquery.NewDocumentFromReader(strings.NewReader(html.String()))
		if err != nil {
			t.Fatal(err)
		}
		button := d.Find("button").AttrOr("data-prompt", "none")
		without := map[bool]string{true: "none", false: strings.TrimRight(prompt, " ")}[want == ""]
		if v.Notice.Head != want || d.Find("b").Text() != want || button != without {
			t.Errorf("%q: got %q and a button for %q; want %q, %q", prompt, d.Find("b").Text(), button, want, without)
		}
	}
	said := session.Chat{Messages: []chat.Message{{Role: chat.User, Content: "Hi "}}}
	if v := NewPage(lang, sessiontest.Do(t, s, session.StartChat{Chat: said})); v.Notice.Head != "" {
		t.Errorf("a chat: got notice %q, want none", v.Notice.Head)
	}
}

func TestPromptPieces(t *testing.T) {
	m := testmodel.Target(t)
	v := NewPieces(lang, m, chat.Text{Text: "Once upon"})
	if v.Tokens[0].String() != "start" || v.Tokens[1].String() != "Once" ||
		v.Say != "3 tokens, including the start mark" || v.Over {
		t.Errorf(
			"got %+v, want Tokens[0].String() = %q, Tokens[1].String() = %q, Say = %q, Over = false", v, "start",
			"Once", "3 tokens, including the start mark",
		)
	}
	v = NewPieces(lang, m, chat.Text{Text: strings.Repeat("Once upon ", 300)})
	if !v.Over || !strings.Contains(v.Say, "more than the 512") {
		t.Errorf("a long prompt: got %q, want v.Over = true, v.Say with %q", v.Say, "more than the 512")
	}
	if v := NewPieces(lang, m, chat.Text{Text: "<|endoftext|>"}); len(v.Tokens) < 3 {
		t.Errorf("special-looking text became %v, want at least 3 elements", v.Tokens)
	}
}

// TestPiecesReportUnspellableText: if the vocabulary cannot spell a text, the page says so while
// the text is typed.
func TestPiecesReportUnspellableText(t *testing.T) {
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
	const want = "This text is not supported by this model, whose vocabulary has no token for byte 0xFF, which is " +
		"not part of a character, at line 1, character 3"
	if v := NewPieces(lang, m, chat.Text{Text: "ba\xff"}); v.Say != want || !v.Over {
		t.Errorf("got %+v, want Say = %q, Over = true", v, want)
	}
	if v := NewPieces(lang, m, chat.Text{Text: "ba"}); v.Over {
		t.Errorf("got %+v, want Over = false", v)
	}
}

func TestIdleFiltersAreMarked(t *testing.T) {
	for _, c := range []struct {
		set        sampling.Settings
		k, p, m    string
		ki, pi, mi bool
	}{
		// Tokens kept at T = 1: top-p 0.9 → 3, top-p 0.8 → 2, min-p 0.1 → 3.
		{sampling.Settings{Temperature: 1, TopK: 4, TopP: 0.9}, "4, idle", "0.90", "off", true, false, false},
		{
			sampling.Settings{Temperature: 1, TopK: 2, TopP: 0.9, MinP: 0.1},
			"2", "0.90, idle", "0.10, idle", false,
			true, true,
		},
		// A tie: the first rule counts as the one that cuts.
		{sampling.Settings{Temperature: 1, TopK: 3, TopP: 0.9}, "3", "0.90, idle", "off", false, true, false},
		// These settings cut nothing.
		{sampling.Settings{Temperature: 1, TopK: 5, TopP: 1}, "5, idle", "off", "off", true, false, false},
		{sampling.Settings{Temperature: 1, TopK: 40, TopP: 1}, "40, idle", "off", "off", true, false, false},
		{
			sampling.Settings{Temperature: 0, TopK: 3, TopP: 0.9, MinP: 0.1},
			"3, idle", "0.90, idle", "0.10, idle",
			true, true, true,
		},
		{sampling.Pure, "off", "off", "off", false, false, false},
	} {
		out := NewPage(lang, sessiontest.Drill(t, c.set, infer.KindFilter, 0)).Console.Out
		for _, x := range []struct {
			field, text string
			idle        bool
		}{{FieldTopK, c.k, c.ki}, {FieldTopP, c.p, c.pi}, {FieldMinP, c.m, c.mi}} {
			note := "" // the text next to the number
			for _, n := range []string{"idle", "off"} {
				if strings.HasSuffix(x.text, n) {
					note = n
				}
			}
			if got := out[x.field]; got != (Output{x.text, note, x.idle}) {
				t.Errorf("%+v: %s is called %+v, want %q", c.set, x.field, got, x.text)
			}
		}
	}
}

func TestTypicalPControl(t *testing.T) {
	set := sampling.Settings{Temperature: 1, TopP: 1, TypicalP: 0.2}
	c := NewPage(lang, sessiontest.Drill(t, set, infer.KindSample, 0.5)).Console
	if o := c.Out[FieldTypicalP]; o.Text != "0.20" || !strings.HasSuffix(c.Order, "typical-p") {
		t.Errorf(
			"the control says %+v, in order %q; want Text = %q, c.Order ending with %q", o, c.Order, "0.20",
			"typical-p",
		)
	}
}

// TestPenaltyControl: the penalty comes first in the order and is never idle, since it also affects
// greedy decoding.
func TestPenaltyControl(t *testing.T) {
	for _, temperature := range []float64{0, 1} {
		console := func(penalty float64) Console {
			s := session.New(testmodel.Target(t), session.DefaultLimits())
			sessiontest.Do(t, s, session.Set{Knobs: infer.Knobs{
				"temperature": temperature, "top_p": 1, "repetition_penalty": penalty,
			}})
			sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
			return NewPage(lang, sessiontest.Do(t, s, session.StepToken{})).Console
		}
		c := console(1.2)
		o := c.Out[FieldRepetition]
		if o.Text != "1.20" || o.Idle || c.Order != "in order: repetition penalty, temperature, top-k, top-p, min-p" {
			t.Errorf(
				"the control says %+v, %s; want Text = %q, Idle = false, c.Order = %s", o, c.Order, "1.20",
				"in order: repetition penalty, temperature, top-k, top-p, min-p",
			)
		}
		c = console(1)
		if o := c.Out[FieldRepetition]; o.Text != "off" || strings.Contains(c.Order, "penalty") {
			t.Errorf("off, the control shows %+v, %s; want Text = %q, c.Order without %q", o, c.Order, "off", "penalty")
		}
	}
}

// TestTotalsIncludeTheStepShown: the work so far includes the step shown.
func TestTotalsIncludeTheStepShown(t *testing.T) {
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	sessiontest.Do(t, s, session.StepToken{})
	st := sessiontest.Do(t, s, session.StepToken{})
	last, total := st.Steps[1], NewPage(lang, st).Cost().Total
	if got, want := total.Cached.String(), terms.English.MultAdds(last.TotalCached); got != want {
		t.Errorf("after two steps the work so far is %s, want %s", got, want)
	}
	if got, want := total.Recomputed.String(), terms.English.MultAdds(last.TotalRecomputed)+", not run"; got != want {
		t.Errorf("without a cache it is %s, want %s", got, want)
	}
}

// TestModelLineMentionsInt8: if the weights are rounded to int8 and therefore differ from the
// model's own, the page says so.
// Promise: The page says so when the weights are rounded to int8.
func TestModelLineMentionsInt8(t *testing.T) {
	for quant, want := range map[infer.Quant]bool{infer.QuantNone: false, infer.QuantInt8: true} {
		c, err := bundled.Target()
		if err != nil {
			t.Fatal(err)
		}
		m, err := infer.LoadQuantized(c, quant)
		if err != nil {
			t.Fatal(err)
		}
		if got := modelLine(lang, m); strings.Contains(got, "int8") != want {
			t.Errorf("%s: the page has %q, want it to mention int8: %t", quant, got, want)
		}
	}
}

// TestLoopOffersOnlySentencesThatFit: the prompt begins with the learner's sentence, unless the model cannot
// read all of it. An owl has 4 tokens, one for each byte, so 250 owls and the start mark have 1,001. The model
// reads 512.
func TestLoopOffersOnlySentencesThatFit(t *testing.T) {
	for sentence, want := range map[string]string{
		"":                         "",
		"In the old house lived a": "In the old house lived a",
		strings.Repeat("🦉", 250):   "",
	} {
		saved := func(context.Context, string) (string, error) { return sentence, nil }
		s := &Server{Deps: Deps{Model: testmodel.Target(t), Sentence: saved}}
		empty := NewPage(lang, session.New(s.Model, session.DefaultLimits()).State())
		page := empty
		s.offerSentence(t.Context(), &page, "ada")
		if page.Prompt != want || page.Pieces.Over || (want == "") != (page.Pieces.Say == empty.Pieces.Say) {
			t.Errorf("%.40q: got the prompt %.40q, %q; want %q", sentence, page.Prompt, page.Pieces.Say, want)
		}
	}
}
