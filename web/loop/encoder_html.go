package loop

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"reflect"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// pageData is the data that the page's script needs in addition to the panels.
type pageData struct {
	// Inputs are the values of the page's input fields, which are outside of the
	// panels because the learner may be typing in them.
	Inputs  infer.Knobs `json:"inputs"`
	Cursor  cursor      `json:"cursor"`
	Undrawn bool        `json:"undrawn,omitempty"` // the sample stage is shown with its draw withheld
	Playing bool        `json:"playing"`
	// Link is a link to the state shown that works anywhere and after a restart; "" before the
	// first start.
	Link  string `json:"link"`
	Scrub scrub  `json:"scrub"`
	Show  show   `json:"show"`
	// U is the u of the what-if question at the sample stage or, if there is no question, the u
	// that was drawn.
	U *float64 `json:"u,omitempty"`
	// Heat is the data for the canvases of the forward stage, if the page looks inside the pass.
	Heat *stage.Heat `json:"heat,omitempty"`
}

// scrub is the page's position in the run: Max stages have run, and the page shows stage number
// Value, counted from 1. Both are 0 before the first start.
type scrub struct {
	Value int `json:"value"`
	Max   int `json:"max"`
}

func scrubOf(st *session.State) scrub {
	number := func(c session.Cursor) int { return max(0, (c.Step-1)*len(infer.Kinds)+int(c.Stage)) }
	return scrub{number(st.Cursor), number(st.Frontier())}
}

// show lists which parts outside of the panels are visible.
type show struct {
	WhatIf bool `json:"whatif"` // a what-if question about another u is possible
}

func showOf(st *session.State) show {
	step := st.Step()
	return show{
		WhatIf: step != nil && st.Cursor.Stage == infer.KindSample && !step.Settings.Greedy() && !step.Forced,
	}
}

// genID is the id of the element that contains the generated tokens.
const genID = "strip-gen"

// htmlEncoder sends the panels whose HTML has changed, and the generated
// tokens one by one.
type htmlEncoder struct {
	words  stage.Words
	view   view
	begun  bool
	panels map[string]uint64 // hash of the HTML last sent
	tokens []stage.Token     // last sent
	buf    bytes.Buffer
}

var seed = maphash.MakeSeed()

func (e *htmlEncoder) encode(m *wire.Message, next *session.State) (func(*wire.Message) error, error) {
	page := NewPage(e.words, next)
	if err := e.encodeTokens(m, page.Strip.Tokens); err != nil {
		return nil, err
	}
	m.Data = pageDataOf(e.words, next)
	now, later := e.view.panels()
	if err := e.encodePanels(m, page, now, false); err != nil || len(later) == 0 {
		return nil, err
	}
	return func(m *wire.Message) error { return e.encodePanels(m, page, later, true) }, nil
}

// encodePanels adds the panels of list that have changed to m.
func (e *htmlEncoder) encodePanels(m *wire.Message, page Page, list []Panel, later bool) error {
	if e.panels == nil {
		e.panels = make(map[string]uint64, len(Panels))
	}
	for _, p := range list {
		html, err := e.render(p.Render(e.words, page))
		if err != nil {
			return fmt.Errorf("panel %s: %w", p.ID, err)
		}
		sum := maphash.Bytes(seed, html)
		if last, ok := e.panels[p.ID]; ok && last == sum {
			continue
		}
		e.panels[p.ID] = sum
		m.Panels = append(m.Panels, wire.Panel{ID: p.ID, Op: wire.Morph, HTML: string(html), Later: later})
	}
	return nil
}

// pageDataOf returns the data that the script needs from a state.
func pageDataOf(w stage.Words, st *session.State) *pageData {
	d := &pageData{
		Inputs:  st.Settings.Knobs(),
		Cursor:  cursorJSON(st.Cursor),
		Undrawn: st.Undrawn,
		Playing: st.Playing,
		Link:    session.LinkOf(st),
		Scrub:   scrubOf(st),
		Show:    showOf(st),
	}
	if d.Show.WhatIf {
		d.U = cmp.Or(st.WhatIf, &st.Step().U)
	}
	if st.Cursor.Stage == infer.KindForward {
		d.Heat = w.NewHeat(st)
	}
	return d
}

// encodeTokens compares the tokens with those last sent. It morphs changed tokens, appends new
// ones, and removes surplus ones from the end. The first time, it sends the whole strip.
func (e *htmlEncoder) encodeTokens(m *wire.Message, tokens []stage.Token) error {
	sent := e.tokens
	e.tokens = tokens
	if !e.begun {
		e.begun = true
		return e.add(m, genID, wire.Morph, e.view.generatedHTML(e.words, tokens))
	}
	for i, t := range tokens {
		switch {
		case i >= len(sent):
			if err := e.add(m, genID, wire.Append, e.view.tokenHTML(e.words, t)); err != nil {
				return err
			}
		case !reflect.DeepEqual(t, sent[i]):
			if err := e.add(m, t.ID, wire.Morph, e.view.tokenHTML(e.words, t)); err != nil {
				return err
			}
		}
	}
	for i := len(sent) - 1; i >= len(tokens); i-- {
		m.Panels = append(m.Panels, wire.Panel{ID: sent[i].ID, Op: wire.Remove})
	}
	return nil
}

func (e *htmlEncoder) pieces(m *wire.Message, model *infer.Model, text chat.Text) error {
	return e.reply(m, "pieces", PiecesHTML(NewPieces(e.words, model, text)))
}

func (e *htmlEncoder) answer(m *wire.Message, name string, q *query, st *session.State) error {
	switch w := e.words; name {
	case "peek":
		return e.reply(m, "peek", w.PeekHTML(e.view.peek(w, st, q.step)))
	case "find":
		return e.reply(m, "found", w.FoundHTML(w.NewFound(st, q.step, q.text)))
	case "head", "inside", "zoom":
		zoom := w.NewZoom(st, stage.ZoomTo{Block: q.block, Head: q.head, Sum: q.sum})
		return e.reply(m, "map-zoom", w.ZoomHTML(zoom))
	}
	return fmt.Errorf("unknown query %s", name)
}

// reply adds one panel to a message without a new state. It does not use the encoder's buffer,
// because encode may be running.
func (e *htmlEncoder) reply(m *wire.Message, id string, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(e.context(), &b); err != nil {
		return fmt.Errorf("panel %s: %w", id, err)
	}
	m.Panels = append(m.Panels, wire.Panel{ID: id, Op: wire.Morph, HTML: b.String()})
	return nil
}

func (e *htmlEncoder) add(m *wire.Message, id, op string, c templ.Component) error {
	html, err := e.render(c)
	if err != nil {
		return fmt.Errorf("panel %s: %w", id, err)
	}
	m.Panels = append(m.Panels, wire.Panel{ID: id, Op: op, HTML: string(html)})
	return nil
}

// render returns a component's HTML, valid until the next call.
func (e *htmlEncoder) render(c templ.Component) ([]byte, error) {
	e.buf.Reset()
	err := c.Render(e.context(), &e.buf)
	return e.buf.Bytes(), err
}

// context returns a context for rendering. It outlives the connection's own context, since commands
// that arrived before the connection ended are still answered.
func (e *htmlEncoder) context() context.Context {
	return terms.With(context.Background(), e.words.Language)
}
