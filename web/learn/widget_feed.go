package learn

import (
	"context"
	"errors"
	"log/slog"
	"net/url"

	"github.com/tokenbytoken/viz/web/live"
)

// Feeds are the live parts of these pages, by name: widget?id=ID is an
// experiment. It takes one command, set, with values: the inputs by name, all
// as text, those left out as the lesson sets them. The answer is the
// experiment's panel, and as data the inputs as they stand.
func (p *Pages) Feeds() map[string]live.Open {
	return map[string]live.Open{"widget": p.openWidget}
}

func (p *Pages) openWidget(_ context.Context, _ string, q url.Values) (live.Feed, error) {
	s := p.widgets.specs[q.Get("id")]
	if s == nil {
		return nil, &live.Error{
			Code: live.Unknown, Field: "id",
			Message: "There is no such experiment. The lesson may have changed; reload it.",
		}
	}
	return &widgetFeed{s, s.open(p.desk()), p.Log}, nil
}

// widgetFeed is an experiment that someone has before them.
type widgetFeed struct {
	spec *spec
	exp  experiment
	log  *slog.Logger
}

// widgetData goes with an experiment's panel.
type widgetData struct {
	Inputs values `json:"inputs"`
}

// Serve implements [live.Feed]. Only the newest command counts: an input that
// has moved on makes where it was of no interest.
func (f *widgetFeed) Serve(ctx context.Context, in <-chan live.Command, send func(live.Message) error) error {
	for {
		var c live.Command
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
			e := troubleOf(err)
			if e.Code == live.Model && !errors.As(err, new(*live.Error)) {
				f.log.Error("an experiment failed", "id", f.spec.ID, "err", err)
			}
			m = live.Message{Error: e}
		}
		m.Ack, m.Done = c.N, true
		if err := send(m); err != nil {
			return err
		}
	}
}

func (f *widgetFeed) answer(ctx context.Context, c live.Command) (live.Message, error) {
	if c.Name != "set" {
		return live.Message{}, &live.Error{
			Code: live.Unknown, Field: "cmd", Want: "set", Message: "An experiment takes one command, set.",
		}
	}
	var sent struct {
		Values map[string]string `json:"values"`
	}
	if err := c.Decode(&sent); err != nil {
		return live.Message{}, err
	}
	v, err := f.spec.read(sent.Values)
	if err != nil {
		return live.Message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	html, err := workOut(ctx, f.exp, f.spec, v)
	if err != nil {
		return live.Message{}, err
	}
	return live.Message{
		Panels: []live.Panel{{ID: f.spec.ID + "-body", Op: live.Morph, HTML: html}},
		Data:   widgetData{v},
	}, nil
}
