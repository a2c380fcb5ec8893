package labs

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// optionNames holds the displayed names of the memory lab's choices.
var optionNames = map[string]string{
	"loaded": "the loaded model", "example-32": "the 32-layer example", "gpt2": "GPT-2", "gpt-2": "GPT-2",
	"llama-2-7b": "Llama 2 7B", "llama-2-70b": "Llama 2 70B", "mistral-7b": "Mistral 7B",
	"fp32": "fp32, 4 bytes", "fp16": "fp16, 2 bytes", "bf16": "bf16, 2 bytes", "int8": "int8, 1 byte",
	"int4": "int4, ½ byte",
}

var _ = showTiles(show("memory", memorySections, nil, prediction{}),
	"memory", "Measure the engine’s own cache", append(
		[]tile{{name: "key and value", fixed: "2"}},
		times("layers", "kv_heads", "head_dim", "precision", "positions", "batch")...,
	)...)

func memorySections(m *lab.Memory) []section {
	wedge := plots.Wedge{
		Weights: m.WeightBytes, PerToken: m.BytesPerPosition * float64(m.Batch), Memory: m.MemoryBytes,
		Positions: m.Positions, Texts: m.Batch,
	}
	phone := wedge
	phone.Narrow = true
	list := []section{
		section{
			ID: "lead", Lead: true, Say: fitsText(m), Caption: m.Model.Name + ", weights as " + m.WeightPrecision +
				"; tokens in each chat, prompt and answer together", Sum: sumOf(m),
		}.charted(wedge.Draw()).onPhones(phone.Draw()),
		{
			ID: "heads", Title: "Sharing heads", Small: fmt.Sprintf("at %s positions", terms.Count(m.Positions)),
			Half: true,
			Say:  spans("Query heads ask (circles); fewer pairs of keys and values answer (squares)."),
			Body: sharesView(sharesOf(m)),
		},
		section{
			ID: "windows", Title: "Context windows", Small: "area is tokens, to scale", Half: true,
			Say: spans(
				"Memory is for ", b(m.Model.Name), ": ", b(terms.Bytes(m.BytesPerPosition)), " for every token.",
			),
			Numbers: table(windowsGrid(m)),
		}.charted(plots.Windows(windowsOf(m))),
	}
	if len(m.Engine.Steps) > 0 {
		list = append(list, engineSection(m.Engine))
	}
	return list
}

// sum is the result of a lab's equation. Follows is the value of the tile that is computed from the
// settings, or "" if no tile is.
type sum struct{ Name, Value, Small, Exact, Follows string }

func sumOf(m *lab.Memory) *sum {
	return &sum{
		Name: "all caches", Value: terms.Bytes(m.Bytes), Small: terms.Bytes(m.BytesPerPosition) + " a token",
		Exact: terms.Count(int64(m.Bytes)) + " bytes",
	}
}

// fitsText states whether everything fits into memory, and what takes the most space.
func fitsText(m *lab.Memory) []span {
	if m.FreeBytes < 0 {
		return spans(
			b("The weights alone need "+terms.Bytes(m.WeightBytes)), ", and the card has ", terms.Bytes(m.MemoryBytes),
			". Take a larger card, or keep the weights in fewer bytes.", windowText(m),
		)
	}
	var list []span
	if over := m.Bytes - m.FreeBytes; over > 0 {
		list = spans(span{"Too much for this card, by " + terms.Bytes(over) + ".", "bad"})
	} else {
		list = spans(x("It fits, with " + terms.Bytes(-over) + " to spare."))
	}
	heavier := " The model weighs more than its caches."
	if m.Bytes > m.WeightBytes {
		heavier = " The caches now weigh more than the model."
	}
	return append(list, spans(
		heavier+" The card has room for ", b(terms.Counted(int(min(m.Users, 1e9)), "chat")), " of this length.",
		windowText(m),
	)...)
}

// windowText returns the model's note, if it has one, and a sentence if the text is longer than the
// model's context window.
func windowText(m *lab.Memory) string {
	note := ""
	if m.Model.Note != "" {
		note = " " + m.Model.Note
	}
	if m.Positions <= m.Model.Context {
		return note
	}
	return note + " " + terms.Count(m.Positions) + " positions are more than the window of this " +
		"model, " + terms.Count(m.Model.Context) + ": it was not made for texts so long."
}

// A shareView shows one way of sharing keys and values among the heads.
type shareView struct {
	lab.MemoryVariant
	Picture, Width, Size, Each string
}

func sharesOf(m *lab.Memory) []shareView {
	most := 0.0
	for _, v := range m.Variants {
		most = max(most, v.Bytes)
	}
	var list []shareView
	for _, v := range m.Variants {
		s := shareView{
			MemoryVariant: v, Width: stage.Share(v.Bytes / max(most, 1)), Size: terms.Bytes(v.Bytes),
			Each: terms.Bytes(v.BytesPerPosition) + " a token",
		}
		if c, err := plots.Heads(m.Model.Heads, v.KVHeads, v.Now); err == nil {
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

func windowsGrid(m *lab.Memory) grid {
	g := grid{Caption: "Context windows", Head: []string{"window", "tokens", "year", "cache", "source"}}
	for i, w := range m.Windows {
		year := ""
		if w.Year > 0 {
			year = strconv.Itoa(w.Year)
		}
		g.Rows = append(g.Rows, []string{w.Name, terms.Count(w.Tokens), year, terms.Bytes(w.Bytes), w.Source})
		if w.Loaded {
			g.Now = i + 1
		}
	}
	return g
}

func engineSection(e lab.Engine) section {
	last := e.Steps[len(e.Steps)-1]
	s := section{
		ID: "engine", Title: "The running engine", Small: "measured while it wrote",
		Caption: "positions; bytes of the engine’s own cache in fp32",
		Say: spans("At ", b(
			terms.Count(last.Positions),
		), " positions the engine uses ", b(terms.Count(last.Used)), " bytes and holds ", b(terms.Count(last.Reserved)),
			": it reserves room ahead, so that not every token needs new memory. "),
	}
	if e.Agree {
		s.Say = append(s.Say, x("Both equal the formulas at every step."))
	} else {
		s.Say = append(s.Say, span{S: "They differ from the formulas; the raw rows say where."})
	}
	var held []plots.Held
	for _, step := range e.Steps {
		held = append(
			held, plots.Held{Step: step.Step, Positions: step.Positions, Used: step.Used, Reserved: step.Reserved},
		)
	}
	return s.charted(plots.HeldBytes(held))
}
