package learn

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// stopRows is the number of newest tokens that the table lists.
const stopRows = 8

// stopString shows token by token which text is held back because of a stop string.
type stopString struct {
	model *infer.Model
	key   string
	run   *session.Session
}

func newStop(d environment) experiment { return &stopString{model: d.target} }

func (e *stopString) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	s := settingsOf(in)
	if in["stop"] != "" {
		s.Stop.Strings = []string{in["stop"]}
	}
	if key := fmt.Sprint(s, in["prompt"]); e.run == nil || e.key != key {
		run, err := newRun(ctx, e.model, in["prompt"], s)
		if err != nil {
			return nil, err
		}
		if _, err := writeTo(ctx, run, s.Stop.MaxTokens); err != nil {
			return nil, err
		}
		e.run, e.key = run, key
	}
	at := min(in.Int("at"), len(e.run.State().Steps))
	in.SetInt("at", at)
	st, err := seekTo(ctx, e.run, at, infer.KindAppend)
	if err != nil {
		return nil, err
	}
	return stopHTML(newStopView(stage.In(ctx), st, at)), nil
}

// A stopView shows the text up to a token.
type stopView struct {
	At, Of   int
	Prompt   string
	Out      string     // released to the reader
	Held     stage.Text // not released: it may become the stop string
	Dropped  stage.Text // the stop string, once it is complete
	Rows     []stopRow
	Earlier  int // tokens without a row
	Say      stage.Rich
	Back     target
	Forward  target
	End      target
	Start    target
	Loop     string
	HasStop  bool
	StopText stage.Text
}

// answer returns the text that is released to the reader, and the text that is held back or
// dropped.
func (v stopView) answer(w stage.Words) []stage.FlowPart {
	return []stage.FlowPart{
		{Class: "w-answer__given", Text: stage.Text{{S: v.Prompt}}},
		{Class: "w-answer__out", Text: stage.Text{{S: v.Out}}},
		{Class: "w-answer__held", Label: w.T("learn.stop.held"), Text: v.Held},
		{Class: "w-answer__cut", Label: w.T("learn.stop.dropped"), Text: v.Dropped},
	}
}

// A stopRow is one token with the text that it released and the text that is held back.
type stopRow struct {
	N              int
	Text           stage.Text
	Out, Held      stage.Text
	Matched, Total int
	Bar            string // SVG length
	Now, Fired     bool
}

func newStopView(w stage.Words, st *session.State, at int) stopView {
	v := stopView{At: at, Of: len(st.Steps), Prompt: st.Prompt, Loop: loopAt(st)}
	for i, s := range st.Steps[:at] {
		v.Out += s.Text
		r := stopRow{
			N: s.N, Text: stage.TokenText(st.Model.Token(s.Chosen)), Out: stage.Marked(s.Text),
			Held: stage.Marked(string(s.Held)),
			Now:  i+1 == at, Fired: s.Stop == infer.StopString,
		}
		for _, c := range s.Conditions {
			if c.Kind != infer.StopString {
				continue
			}
			v.HasStop, v.StopText = true, stage.Marked(c.String)
			r.Matched, r.Total = c.Matched, len(c.String)
			r.Bar = stage.Share(float64(c.Matched) / float64(len(c.String)))
		}
		v.Rows = append(v.Rows, r)
	}
	last := st.Steps[at-1]
	if last.Stop == infer.StopString {
		v.Dropped = stage.Marked(last.StopString)
	} else {
		v.Held = stage.Marked(string(last.Held))
	}
	v.Say = heldText(w, st, v, last)
	if n := len(v.Rows) - stopRows; n > 0 {
		v.Earlier, v.Rows = n, v.Rows[n:]
	}
	v.Start = target{Words: w.T("learn.stop.start"), At: 1}
	v.Back = target{Words: w.T("learn.widget.previous"), At: at - 1}
	v.Forward = target{Words: w.T("learn.widget.token"), At: at + 1, Main: true}
	v.End = target{Words: w.T("learn.stop.end"), At: v.Of}
	if at == 1 {
		v.Start.At = 0
	}
	if at == v.Of {
		v.Forward.At, v.End.At = 0, 0
	}
	return v
}

// heldText describes the effect of the newest token.
func heldText(w stage.Words, st *session.State, v stopView, s *infer.Step) stage.Rich {
	said := w.SentenceOf(stage.Brief, st, infer.KindAppend)
	if s.Stop == infer.StopNone && len(s.Held) == 0 {
		key := "learn.stop.released"
		if v.HasStop {
			key = "learn.stop.released.begins"
		}
		said = w.Rich(key, "token", stage.Span{Token: v.Rows[len(v.Rows)-1].Text, Style: stage.Gen})
	}
	key := "learn.stop.say"
	if s.Stop == infer.StopMaxTokens && v.HasStop {
		key = "learn.stop.say.missing"
	}
	return w.Rich(key, "n", v.At, "all", v.Of, "say", said)
}

// answer implements [judge]. It counts the bytes of the stop string that were released.
func (e *stopString) answer(w stage.Words, _ string) (key, say string, ok bool) {
	st := e.run.State()
	if len(st.Settings.Stop.Strings) == 0 || st.Steps[len(st.Steps)-1].Stop != infer.StopString {
		return "", "", false
	}
	// The released text ends before the stop string, unless a part of that was released.
	stop, out, all := st.Settings.Stop.Strings[0], 0, ""
	for _, s := range st.Steps {
		out += len(s.Text)
		if t := st.Model.Token(s.Chosen); !t.Special {
			all += cmp.Or(string(t.Bytes), t.Text)
		}
	}
	n := max(0, out-strings.Index(all, stop))
	key = "some"
	if n == 0 {
		key = "nothing"
	} else if n == len(stop) {
		key = "all"
	}
	return key, w.T("learn.ask.seen.say", "n", n, "all", len(stop)), true
}
