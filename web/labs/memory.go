package labs

import (
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = showTiles(show("memory", memorySections, nil, guess.Question{}),
	"memory", "labs.memory.run", append(
		[]tile{{name: "labs.memory.tile.pair", fixed: "2"}},
		times("layers", "kv_heads", "head_dim", "precision", "positions", "batch")...,
	)...)

func memorySections(w stage.Words, m *lab.Memory) []section {
	wedge := plots.Wedge{
		Weights: m.WeightBytes, PerToken: m.BytesPerPosition * float64(m.Batch), Memory: m.MemoryBytes,
		Positions: m.Positions, Texts: m.Batch,
	}
	phone := wedge
	phone.Narrow = true
	list := []section{
		section{
			ID: "lead", Lead: true, Say: fitsText(w, m), Sum: sumOf(w, m),
			Caption: w.T("labs.memory.caption", "model", m.Model.Name.In(w.Language), "precision", m.WeightPrecision),
		}.charted(wedge.Draw(w.Language)).onPhones(phone.Draw(w.Language)),
		{
			ID: "heads", Title: w.T("labs.memory.heads"),
			Small: w.T("labs.memory.heads.small", "n", terms.Count(m.Positions)), Half: true,
			Say: w.Rich("labs.memory.heads.say"), Body: sharesView(sharesOf(w, m)),
		},
		section{
			ID: "windows", Title: w.T("labs.memory.windows"), Small: w.T("labs.memory.windows.small"), Half: true,
			Say: w.Rich("labs.memory.windows.say", "model", m.Model.Name.In(w.Language),
				"bytes", w.Bytes(int64(m.BytesPerPosition))),
			Numbers: table(windowsGrid(w, m)),
		}.charted(plots.Windows(w.Language, windowsOf(m))),
	}
	if len(m.Engine.Steps) > 0 {
		list = append(list, engineSection(w, m.Engine))
	}
	return list
}

// sum is the result of a lab's equation. Follows is the value of the tile that is computed from the
// settings, or "" if there is no such tile.
type sum struct{ Name, Value, Small, Exact, Follows string }

func sumOf(w stage.Words, m *lab.Memory) *sum {
	return &sum{
		Name: w.T("labs.memory.sum"), Value: w.Bytes(int64(m.Bytes)),
		Small: w.T("labs.memory.token", "bytes", w.Bytes(int64(m.BytesPerPosition))),
		Exact: w.T("labs.memory.sum.exact", "n", terms.Count(int64(m.Bytes))),
	}
}

// fitsText states whether everything fits into memory, and what takes the most space.
func fitsText(w stage.Words, m *lab.Memory) stage.Rich {
	with := []any{
		"weights", w.Bytes(int64(m.WeightBytes)), "memory", w.Bytes(int64(m.MemoryBytes)),
		"n", int(min(m.Users, 1e9)), "x", accent, "bad", bad, "b", bold,
	}
	var key string
	over, caches := m.Bytes-m.FreeBytes, m.Bytes > m.WeightBytes
	switch {
	case m.FreeBytes < 0:
		key = "labs.memory.full"
	case over > 0 && caches:
		key = "labs.memory.over.caches"
	case over > 0:
		key = "labs.memory.over"
	case caches:
		key = "labs.memory.fits.caches"
	default:
		key = "labs.memory.fits"
	}
	with = append(with, "bytes", w.Bytes(int64(math.Abs(over))))
	say := w.Rich(key, with...)
	if window := windowText(w, m); window != "" {
		say = w.Rich("labs.memory.with", "say", say, "note", window)
	}
	return say
}

// windowText returns the model's note, if it has one, and a sentence if the text is longer than the
// model's context window.
func windowText(w stage.Words, m *lab.Memory) string {
	note := m.Model.Note.In(w.Language)
	if m.Positions <= m.Model.Context {
		return note
	}
	long := w.T("labs.memory.window", "n", terms.Count(m.Positions), "window", terms.Count(m.Model.Context))
	if note == "" {
		return long
	}
	return w.T("labs.memory.with", "say", note, "note", long)
}

// A shareView shows one way of sharing keys and values among the heads.
type shareView struct {
	lab.MemoryVariant
	Picture, Width, Size, Each string
}

func sharesOf(w stage.Words, m *lab.Memory) []shareView {
	most := 0.0
	for _, v := range m.Variants {
		most = max(most, v.Bytes)
	}
	var list []shareView
	for _, v := range m.Variants {
		s := shareView{
			MemoryVariant: v, Width: stage.Share(v.Bytes / max(most, 1)), Size: w.Bytes(int64(v.Bytes)),
			Each: w.T("labs.memory.token", "bytes", w.Bytes(int64(v.BytesPerPosition))),
		}
		if c, err := plots.Heads(w.Language, m.Model.Heads, v.KVHeads, v.Now); err == nil {
			s.Picture = c.SVG
		}
		list = append(list, s)
	}
	return list
}

func windowsOf(m *lab.Memory) []plots.Window {
	var list []plots.Window
	for _, w := range m.Windows {
		list = append(list, plots.Window{Name: w.Name, Tokens: w.Tokens, Bytes: w.Bytes, Now: w.Loaded})
	}
	return list
}

func windowsGrid(w stage.Words, m *lab.Memory) grid {
	g := newGrid(w, "labs.memory.windows.grid.", "window", "tokens", "year", "cache", "source")
	for i, x := range m.Windows {
		year := ""
		if x.Year > 0 {
			year = strconv.Itoa(x.Year)
		}
		g.Rows = append(g.Rows, []string{
			x.Name, terms.Count(x.Tokens), year, w.Bytes(int64(x.Bytes)), x.Source.In(w.Language),
		})
		if x.Loaded {
			g.Now = i + 1
		}
	}
	return g
}

func engineSection(w stage.Words, e lab.Engine) section {
	last := e.Steps[len(e.Steps)-1]
	key := "labs.memory.engine.agree"
	if !e.Agree {
		key = "labs.memory.engine.differ"
	}
	s := section{
		ID: "engine", Title: w.T("labs.memory.engine"), Small: w.T("labs.memory.engine.small"),
		Caption: w.T("labs.memory.engine.caption"),
		Say: w.Rich(key, "positions", terms.Count(last.Positions), "used", terms.Count(last.Used),
			"reserved", terms.Count(last.Reserved), "x", accent),
	}
	var held []plots.Held
	for _, step := range e.Steps {
		held = append(
			held, plots.Held{Step: step.Step, Positions: step.Positions, Used: step.Used, Reserved: step.Reserved},
		)
	}
	return s.charted(plots.HeldBytes(w.Language, held))
}
