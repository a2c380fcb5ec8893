package learn

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// Feeds returns the live parts of these pages by name. The part widget?id=ID is an experiment, in
// Numbers unless view=story. Its only command is set, whose values map input names to strings.
// Omitted inputs have the lesson's values. The response is the experiment's panel, with the
// validated inputs as its data.
func (p *Pages) Feeds() map[string]wire.Open {
	return map[string]wire.Open{"widget": p.openWidget}
}

func (p *Pages) openWidget(ctx context.Context, v wire.Visit) (wire.Part, error) {
	s := p.experiment(ctx, v.Query.Get("id"))
	if s == nil {
		none := terms.Refuse(terms.CodeUnknown, "learn.widget.none.feed")
		none.Field = "id"
		return nil, none
	}
	view := shell.ViewNamed(v.Query.Get("view"), shell.Numbers)
	keep := func(ctx context.Context, chose, found string) error {
		if v.Caller.Fresh {
			return nil // the client has no cookie, so it cannot come back for its guesses
		}
		if chose == lessons.NoGuess {
			return p.Progress.NoGuess(ctx, v.Caller.Learner, s.ID, found)
		}
		return p.Progress.Guess(ctx, v.Caller.Learner, progress.Guess{Experiment: s.ID, Chose: chose, Found: found})
	}
	return &widgetFeed{spec: s, exp: s.start(p.environment(view)), keep: keep, log: p.Log}, nil
}

// A widgetFeed is an experiment on a connected page.
type widgetFeed struct {
	spec *spec
	exp  experiment
	keep func(ctx context.Context, chose, found string) error // saves a guess
	log  *slog.Logger

	verdict *guess.Verdict // on the guess, once a result has answered the question
}

// widgetData is sent with an experiment's panel.
type widgetData struct {
	Inputs terms.Values `json:"inputs"`
}

// Serve implements [wire.Part]. Only the newest command counts: a client that has sent another
// command no longer needs the result of an earlier one.
func (f *widgetFeed) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	for {
		var c wire.Command
		var ok bool
		select {
		case c, ok = <-in:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !ok {
			return nil
		}
		for waiting := len(in); waiting > 0; waiting-- {
			c = <-in
		}
		m, err := f.answer(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fault.Log(f.log, "the experiment "+f.spec.ID, err)
			e := troubleOf(err)
			if e.Code == terms.CodeModel && errors.Unwrap(e) != nil {
				f.log.Error("experiment failed", "id", f.spec.ID, "err", err)
			}
			m = wire.Message{Error: e}
		}
		m.Ack, m.Done = c.N, true
		if err := out.Send(m); err != nil {
			return err
		}
	}
}

func (f *widgetFeed) answer(ctx context.Context, c wire.Command) (wire.Message, error) {
	if c.Name != "set" {
		one := terms.Refuse(terms.CodeUnknown, "learn.widget.command")
		one.Field, one.Want = "cmd", "set"
		return wire.Message{}, one
	}
	sent, err := c.Read(terms.Inputs{wire.FormInput})
	if err != nil {
		return wire.Message{}, err
	}
	v, err := f.spec.Inputs(terms.In(ctx)).Read(wire.FormOf(sent))
	if err != nil {
		return wire.Message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	html, err := workOut(ctx, f.exp, f.spec, v, f.verdict)
	if err != nil {
		return wire.Message{}, err
	}
	f.verdict = html.verdict
	if html.found != "" {
		if err := f.keep(ctx, v["guess"], html.found); err != nil {
			f.log.Warn("failed to save a guess", "id", f.spec.ID, "err", err) // the page shows the guess anyway
		}
	}
	m := wire.Message{
		Panels: []wire.Panel{{ID: f.spec.ID + "-body", Op: wire.Morph, HTML: html.Body}},
		Data:   widgetData{v},
	}
	if html.Ask != "" {
		m.Panels = append(m.Panels, wire.Panel{ID: f.spec.ID + "-ask", Op: wire.Morph, HTML: html.Ask})
	}
	return m, nil
}
