package why

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// subject is the question: a text or a point of a run, and the part of the answer to show. The
// page's address contains all of it.
type subject struct {
	prompt string
	log    string // the link of a run, in which case prompt is the run's text so far
	pick   string // the token whose score is shown, in the syntax of [why.FindToken]; "" for the most probable one
	over   string // the token that pick's lead is measured against; "" for none
	off    string // the parts that are off, in the syntax of [why.ParseOff]
	mean   bool   // parts that are off contribute their mean over this text instead of 0
	with   string // the text whose vectors are carried over; "" for none
	heads  bool   // look for heads
	cell   string // the open cell of the lens, "HEIGHT.POSITION"; "" for none

	tokens []int
	drawn  int // the token that the run drew after the text; < 0 for none
}

// begins is the text that the page opens with.
const begins = "The capital of France is"

// subjectOf returns the subject in an address.
func subjectOf(q url.Values) subject {
	a := subject{
		prompt: begins, log: q.Get("log"), pick: q.Get("token"), over: q.Get("over"), off: q.Get("off"),
		mean: q.Get("mean") != "", with: q.Get("with"), heads: q.Get("heads") != "", cell: q.Get("cell"), drawn: -1,
	}
	if q.Has("prompt") {
		a.prompt = q.Get("prompt")
	}
	return a
}

// field is a part of the address.
type field struct{ Name, Value string }

// fields returns the parts of this question's address.
func (a subject) fields() (list []field) {
	flag := map[bool]string{true: "1"}
	all := []field{
		{"log", a.log},
		{"prompt", a.prompt},
		{"token", a.pick},
		{"over", a.over},
		{"off", a.off},
		{"mean", flag[a.mean]},
		{"with", a.with},
		{"heads", flag[a.heads]},
		{"cell", a.cell},
	}
	for _, f := range all {
		if f.Value != "" && (f.Name != "prompt" || a.log == "") {
			list = append(list, f)
		}
	}
	return list
}

// plain returns the address of the same text or run without the rest of the question. It returns ""
// if there is no rest.
func (a subject) plain() string {
	if a.pick+a.over+a.off+a.cell == "" {
		return ""
	}
	if a.log != "" {
		return "/why?" + url.Values{"log": {a.log}}.Encode()
	}
	return "/why?" + url.Values{"prompt": {a.prompt}}.Encode()
}

// question parses the question about the token after the text. Its errors are for the user.
func (a subject) question(w stage.Words, m *infer.Model) (why.Question, error) {
	q := why.Question{Token: a.drawn, Over: -1, Says: why.Shown}
	for _, t := range []struct {
		key, text string
		to        *int
	}{{"explain.refused.token", a.pick, &q.Token}, {"explain.refused.over", a.over, &q.Over}} {
		if t.text == "" {
			continue
		}
		id, err := why.FindToken(m, t.text)
		if err != nil {
			return q, terms.Refuse(
				terms.CodeRange, t.key, "token", terms.Quoted(t.text), "why", shell.Sentence(w.Language, err),
			)
		}
		*t.to = id
	}
	var err error
	q.Off, q.Positions, err = why.ParseOff(m, a.off)
	q.Mean = a.mean
	return q, err
}

// cellOf returns the open cell of the lens. ok is false if there is none.
func (a subject) cellOf(m *infer.Model) (height, position int, ok bool, err error) {
	if a.cell == "" {
		return 0, 0, false, nil
	}
	first, second, _ := strings.Cut(a.cell, ".")
	height, err = strconv.Atoi(first)
	if err == nil {
		position, err = strconv.Atoi(second)
	}
	if layers := m.Config().Layers; err != nil || height < 0 || height > layers || position < 0 ||
		position >= len(a.tokens) {
		return 0, 0, false, terms.Refuse(
			terms.CodeRange, "explain.refused.cell", "cell", terms.Quoted(a.cell), "height", layers,
			"position", len(a.tokens)-1,
		)
	}
	return height, position, true, nil
}

// read sets the tokens of the text. Its errors are for the user.
func (a *subject) read(ctx context.Context, m *infer.Model, all *runs.Registry) error {
	if a.log != "" {
		if err := a.replay(ctx, m, all); err != nil {
			return err
		}
	} else {
		if err := m.CheckPrompt(a.prompt, infer.MaxSampleBytes); err != nil {
			return err
		}
		if err := m.CheckText(a.prompt); err != nil {
			return err
		}
		a.tokens = m.Encode(a.prompt)
	}
	if most := min(maxTokens, m.Config().Context); len(a.tokens) == 0 || len(a.tokens) > most {
		return terms.Refuse(terms.CodeRange, "explain.refused.length", "n", len(a.tokens), "most", most)
	}
	return nil
}

// replay replays a run, and uses the text that the model has read up to the run's current step. If
// that step has already drawn the next token, the question is about the drawn token.
func (a *subject) replay(ctx context.Context, m *infer.Model, all *runs.Registry) error {
	link, err := session.ParseLink(m, a.log)
	if err != nil {
		return err
	}
	run := all.NewSession()
	if _, err := run.Apply(ctx, session.Open{Link: link}); err != nil {
		return err
	}
	st := run.State()
	if st.Cursor.Step < 1 {
		return terms.Refuse(terms.CodeRange, "explain.refused.run")
	}
	var text strings.Builder
	for _, step := range st.Steps[:st.Cursor.Step] {
		a.tokens = append(a.tokens, step.Input...)
	}
	for _, id := range a.tokens {
		if t := m.Token(id); !t.Special {
			text.WriteString(t.Text)
		}
	}
	a.prompt = text.String()
	if st.Cursor.Stage >= infer.KindSample {
		a.drawn = st.Steps[st.Cursor.Step-1].Chosen
	}
	return nil
}
