package session

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

func TestLinkRestoresTheRun(t *testing.T) {
	s := newRun(t, "Once upon a time there was a — grüß dich")
	st := must(
		t, s, StepToken{}, Set{Knobs: infer.Knobs{"temperature": 1.5, "typical_p": 0.9}}, StepToken{},
		Set{Knobs: infer.Knobs{"repetition_penalty": 1.3}}, StepToken{}, StepToken{},
	)
	st = must(t, s, Choose{3, int(st.Steps[2].Distribution().Order[7])}, StepToken{}, SetKnob("seed", 99),
		SetStops("\n\n", "the"), StepStage{}, StepStage{}, Back{})

	link, err := ParseLink(st.Model, LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	other := New(st.Model, DefaultLimits())
	got := must(t, other, Open{link})
	if got.Cursor != st.Cursor || !got.Settings.Equal(st.Settings) || got.Playing || len(got.Steps) != len(st.Steps) {
		t.Fatalf("opened at %v with %d steps, want %v with %d", got.Cursor, len(got.Steps), st.Cursor, len(st.Steps))
	}
	for i := range st.Steps {
		if !slices.Equal(got.Steps[i].Logits, st.Steps[i].Logits) || got.Steps[i].Ran != st.Steps[i].Ran ||
			got.Steps[i].Chosen != st.Steps[i].Chosen {
			t.Errorf("step %d differs", i+1)
		}
	}
	if again := LinkOf(got); again != LinkOf(st) {
		t.Error("the opened run has a different link")
	}
}

// TestEmptyPromptAfterAStartToken: a model that was trained with a start token can continue from
// that token alone. With such a model, a run with an empty prompt works like any other, and so does
// its link.
func TestEmptyPromptAfterAStartToken(t *testing.T) {
	run := newRun(t, "")
	st := must(t, run, StepToken{}, StepToken{})
	if len(st.PromptTokens) != 1 || !st.PromptTokens[0].Special || len(st.Steps) < 2 {
		t.Fatalf(
			"the prompt is %+v, %d steps; want 1 element, st.PromptTokens[0].Special = true, len(st.Steps) at least 2",
			st.PromptTokens, len(st.Steps),
		)
	}
	link, err := ParseLink(st.Model, LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	again := must(t, newRun(t, "x"), Open{Link: link})
	if again.Prompt != "" || again.Steps[1].Chosen != st.Steps[1].Chosen {
		t.Errorf("the link shows %q, token %d, want token %d", again.Prompt, again.Steps[1].Chosen, st.Steps[1].Chosen)
	}
}

func TestLinksThatCannotBeOpened(t *testing.T) {
	st := must(t, newRun(t, "The capital of France is"), StepToken{})
	good := LinkOf(st)
	link, err := ParseLink(st.Model, good)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, say string }{
		"empty":     {"", "damaged"},
		"cut short": {good[:len(good)/2], "damaged"},
		"not text":  {"%%%", "damaged"},
		"too long":  {strings.Repeat("A", MaxLink+1), "characters long"},
	} {
		_, err := ParseLink(st.Model, c.text)
		var e *terms.Refusal
		if !errors.As(err, &e) || e.Code != CodeLink || !strings.Contains(e.Message, c.say) {
			t.Errorf("%s: got %v, want a link error with %q", name, err, c.say)
		}
	}
	// These links were edited by hand. They have more steps than the run can have, or a stage that
	// cannot have run because a stop condition fired before it.
	for name, edit := range map[string]func(*Link){
		"no steps":          func(l *Link) { l.Log.Steps = 0 },
		"beyond the window": func(l *Link) { l.Log.Steps = 513 },
		"looks ahead":       func(l *Link) { l.Cursor.Step = 2 },
		"no settings":       func(l *Link) { l.Log.Changes = nil },
		"T below 0":         func(l *Link) { l.Log.Settings.Temperature = -1 },
		"no stage": func(l *Link) {
			l.Log.Ran, l.Cursor.Stage = infer.KindForward-1, infer.KindForward-1
		},
		"an eighth stage":          func(l *Link) { l.Log.Ran = infer.KindCache + 1 },
		"looks at an eighth stage": func(l *Link) { l.Log.Steps, l.Cursor.Stage = 2, infer.KindCache+1 },
		"settings too late": func(l *Link) {
			l.Log.Changes = append(l.Log.Changes[:1:1], infer.Change{From: 2, Settings: l.Log.Settings})
		},
		"settings twice":    func(l *Link) { l.Log.Changes = append(l.Log.Changes[:1:1], l.Log.Changes[0]) },
		"a choice too late": func(l *Link) { l.Log.Choices = []infer.Choice{{Step: 2, Token: 5}} },
		"a choice twice": func(l *Link) {
			l.Log.Choices = []infer.Choice{
				{Step: 1, Token: 5}, {Step: 1, Token: 6},
			}
		},
		"a token below 0": func(l *Link) { l.Log.Choices = []infer.Choice{{Step: 1, Token: -1}} },
		"a token past the end": func(l *Link) {
			l.Log.Choices = []infer.Choice{
				{Step: 1, Token: st.Model.Config().Vocab},
			}
		},
		"withholds a draw that was made": func(l *Link) { l.Undrawn = true },
		"withholds a draw while looking back": func(l *Link) {
			l.Undrawn, l.Log.Ran, l.Cursor.Stage = true, infer.KindFilter, infer.KindSoftmax
		},
		"went on past the end": func(l *Link) { l.Log.WentOn = []int{2} },
		"went on twice":        func(l *Link) { l.Log.WentOn = []int{1, 1} },
	} {
		edited := link
		edit(&edited)
		if err := edited.check(st.Model); err == nil {
			t.Errorf("%s: accepted, want an error", name)
		}
	}
	for name, edit := range map[string]func(*Link){
		"as it is":        func(*Link) {},
		"the first token": func(l *Link) { l.Log.Choices = []infer.Choice{{Step: 1, Token: 0}} },
		"the last token": func(l *Link) {
			l.Log.Choices = []infer.Choice{
				{Step: 1, Token: st.Model.Config().Vocab - 1},
			}
		},
		"went on, at its end": func(l *Link) { l.Log.WentOn = []int{1} },
		"the window's last":   func(l *Link) { l.Log.Steps = 512 },
		"two steps' settings": func(l *Link) {
			l.Log.Steps = 2
			l.Log.Changes = append(l.Log.Changes[:1:1], infer.Change{From: 2, Settings: l.Log.Settings})
		},
	} {
		edited := link
		edit(&edited)
		if err := edited.check(st.Model); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// This link claims that the run continued after its end.
	run := newRun(t, "The capital of France is")
	must(t, run, SetKnob("temperature", 0))
	for run.State().Stopped == "" {
		must(t, run, StepToken{})
	}
	beyond, err := ParseLink(st.Model, LinkOf(run.State()))
	if err != nil {
		t.Fatal(err)
	}
	beyond.Log.Steps++
	s := New(st.Model, DefaultLimits())
	before := s.State()
	if _, err := s.Apply(context.Background(), Open{beyond}); err == nil || !strings.Contains(
		err.Error(), "does not work",
	) {
		t.Errorf("a link past its own end: got error %v, want an error containing %q", err, "does not work")
	}
	if !reflect.DeepEqual(before, s.State()) {
		t.Error("a link that could not be opened changed the run")
	}
}

// TestLinkWithTypicalPOff: a link can turn typical-p off with its largest value, which is the
// same as omitting it. A negative value is refused.
func TestLinkWithTypicalPOff(t *testing.T) {
	st := must(t, newRun(t, "The capital of France is"), StepToken{})
	good := LinkOf(st)
	packed, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	with := func(y string) string {
		edited := strings.ReplaceAll(string(plain), `"p":0.9,`, `"p":0.9,"y":`+y+`,`)
		if strings.Count(edited, `"y"`) != 2 { // for the first step, and for the next stages
			t.Fatalf(`the link is %s, want "y" in it twice`, edited)
		}
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is valid
		_, _ = z.Write([]byte(edited))
		_ = z.Close()
		return base64.RawURLEncoding.EncodeToString(b.Bytes())
	}
	off, err := ParseLink(st.Model, with("1"))
	if err != nil {
		t.Fatal(err)
	}
	if s := off.Log.Settings; s.TypicalP != 0 || !s.Equal(st.Settings) || off.Log.Changes[0].Settings.TypicalP != 0 {
		t.Errorf(
			"typical-p 1 is %v, want s.TypicalP = 0, s = %+v, off.Log.Changes[0].Settings.TypicalP = 0", s.TypicalP,
			st.Settings,
		)
	}
	if got := LinkOf(must(t, newRun(t, "x"), Open{off})); got != good {
		t.Error("the run that it opens has a different link")
	}
	if on, err := ParseLink(st.Model, with("0.5")); err != nil || on.Log.Settings.TypicalP != 0.5 {
		t.Errorf("typical-p 0.5 is %v (%v); want 0.5, <nil>", on.Log.Settings.TypicalP, err)
	}
	if _, err := ParseLink(st.Model, with("-0.5")); err == nil || !strings.Contains(err.Error(), "typical_p is -0.5") {
		t.Errorf("typical-p -0.5: got error %v, want an error containing %q", err, "typical_p is -0.5")
	}
}

// TestRebuildKeepsAnExistingRun: if two pages reconnect to a server that has lost their run, the
// first rebuilds the run. The second finds it and does not change it.
func TestRebuildKeepsAnExistingRun(t *testing.T) {
	first := must(t, newRun(t, "The capital of France is"), StepToken{})
	link, err := ParseLink(first.Model, LinkOf(first))
	if err != nil {
		t.Fatal(err)
	}
	s := New(first.Model, DefaultLimits())
	must(t, s, Rebuild{link})
	further := must(t, s, StepToken{})
	if again := must(t, s, Rebuild{link}); len(again.Steps) != 2 || again.Cursor != further.Cursor {
		t.Errorf("the run is at %+v with %d steps, want %+v with 2", again.Cursor, len(again.Steps), further.Cursor)
	}
}

// TestLinkWithBrokenUnicode: if the prompt in a link is not valid Unicode, opening the link would
// show a different text from the one shared. It is therefore refused, just as such a prompt is
// refused in a socket message.
func TestLinkWithBrokenUnicode(t *testing.T) {
	st := must(t, newRun(t, "Once upon QQ"), StepToken{})
	packed, err := base64.RawURLEncoding.DecodeString(LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || bytes.Count(plain, []byte("QQ")) != 1 {
		t.Fatalf(`got log %s, %v; want "QQ" in it once, <nil>`, plain, err)
	}
	for in, ok := range map[string]bool{
		"QQ": true, `\ud83d\ude00`: true, "😀": true, "\ufffd": true, `\ufffd`: true,
		`\ud83d`: false, `\ude00\ud83d`: false, "\xff": false, "\xf0\x9f": false, "\xed\xa0\xbd": false,
	} {
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is valid
		z.Write(bytes.Replace(plain, []byte("QQ"), []byte(in), 1))
		z.Close()
		_, err := ParseLink(st.Model, base64.RawURLEncoding.EncodeToString(b.Bytes()))
		var refused *terms.Refusal
		if (err == nil) != ok || err != nil && (!errors.As(err, &refused) || refused.Code != CodeLink) {
			t.Errorf("a prompt with %q: got error %v; want it accepted: %t, or else refused as a bad link", in, err, ok)
		}
	}
}

// FuzzParseLink: since the text of a link can come from anywhere, parsing it returns either an
// error or a complete link.
func FuzzParseLink(f *testing.F) {
	s := newRunF(f)
	f.Add(LinkOf(s.State()))
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		link, err := ParseLink(s.State().Model, text)
		if err == nil {
			if err := link.check(s.State().Model); err != nil {
				t.Errorf("an inconsistent link was accepted: %v", err)
			}
			if !utf8.ValidString(link.Log.Prompt) {
				t.Errorf("a link has the prompt %q, want valid UTF-8", link.Log.Prompt)
			}
		}
	})
}
