package labs

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/view"
)

// optionNames are choices of the memory lab as people know them.
var optionNames = map[string]string{
	"loaded": "the loaded model", "example-32": "the 32-layer example", "gpt2": "GPT-2", "gpt-2": "GPT-2",
	"llama-2-7b": "Llama 2 7B", "llama-2-70b": "Llama 2 70B", "mistral-7b": "Mistral 7B",
	"fp32": "fp32, 4 bytes", "fp16": "fp16, 2 bytes", "bf16": "bf16, 2 bytes", "int8": "int8, 1 byte", "int4": "int4, ½ byte",
}

// factor is one number of a product.
type factor struct{ Name, Value string }

func memorySections(m *lab.Memory) []section {
	list := []section{
		{ID: "takes", Title: "What it takes up", Small: m.Model.Name, Body: product(factorsOf(m), bytesOf(m.Bytes), bytesSay(m)), Say: tokenAddsSay(m)},
		section{
			ID: "fits", Title: "How many fit", Small: "beside the weights, in " + bytesOf(m.MemoryBytes), Say: usersSay(m),
			Caption: "weights as " + m.WeightPrecision + ", keys and values as " + m.Precision,
		}.charted(plots.Fits(m.MemoryBytes, []plots.Share{{Name: "weights", Value: m.WeightBytes}, {Name: "caches", Value: m.Bytes}})),
		{
			ID: "heads", Title: "Sharing heads", Small: fmt.Sprintf("at %s positions", view.Count(m.Positions)), Half: true,
			Say:  say("Query heads ask (circles); fewer pairs of keys and values answer (squares)."),
			Body: sharesView(sharesOf(m)),
		},
		section{
			ID: "windows", Title: "Context windows", Small: "area is tokens, to scale", Half: true,
			Say: say("Memory is for ", b(m.Model.Name), ": ", b(bytesOf(m.BytesPerPosition)), " for every token."), Body: table(windowsGrid(m)),
		}.charted(plots.Windows(windowsOf(m))),
	}
	if len(m.Engine.Steps) > 0 {
		list = append(list, engineSection(m.Engine))
	}
	return list
}

func bytesOf(x float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 50, " PiB"}, {1 << 40, " TiB"}} {
		if x >= u.size {
			return view.Decimals(x/u.size, 1) + u.name
		}
	}
	return view.Bytes(int64(x))
}

func factorsOf(m *lab.Memory) []factor {
	list := []factor{
		{"keys, values", "2"},
		{"layers", view.Count(m.Model.Layers)},
		{"KV heads", view.Count(m.Model.KVHeads)},
		{"head size", view.Count(m.Model.HeadDim)},
		{"bytes each", figures(m.BytesPerValue)},
		{"positions", view.Count(m.Positions)},
	}
	if m.Batch > 1 {
		list = append(list, factor{"texts", view.Count(m.Batch)})
	}
	return list
}

func bytesSay(m *lab.Memory) string {
	return view.Count(int64(m.Bytes)) + " bytes"
}

func tokenAddsSay(m *lab.Memory) []span {
	return say("Each new token adds ", b(bytesOf(m.BytesPerPosition)), ". The weights take ", b(bytesOf(m.WeightBytes)),
		", so one cache is as large as they are at ", x(view.Count(int64(m.Overtakes))+" positions."), windowSay(m))
}

// windowSay tells that a text is longer than the model's own window.
func windowSay(m *lab.Memory) string {
	note := ""
	if m.Model.Note != "" {
		note = " " + m.Model.Note
	}
	if m.Positions <= m.Model.Context {
		return note
	}
	return note + " " + view.Count(m.Positions) + " positions are more than the window of this model, " + view.Count(m.Model.Context) + ": it was not made for texts so long."
}

func usersSay(m *lab.Memory) []span {
	if m.FreeBytes < 0 {
		return say("The weights alone need ", b(bytesOf(m.WeightBytes)), ": they do not fit.")
	}
	return say("Beside the weights ", b(bytesOf(m.FreeBytes)), " are free: room for ", x(view.Count(m.Users)+" texts"), " of "+view.Count(m.Positions)+" positions.")
}

// shareView is a way of sharing heads.
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
		s := shareView{MemoryVariant: v, Width: view.Share(v.Bytes / max(most, 1)), Size: bytesOf(v.Bytes), Each: bytesOf(v.BytesPerPosition) + " a token"}
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
		g.Rows = append(g.Rows, []string{w.Name, view.Count(w.Tokens), year, bytesOf(w.Bytes), w.Source})
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
		Say: say("At ", b(view.Count(last.Positions)), " positions the engine uses ", b(view.Count(last.Used)), " bytes and holds ", b(view.Count(last.Reserved)),
			": it reserves room ahead, so that not every token needs new memory. "),
	}
	if e.Agree {
		s.Say = append(s.Say, x("Both equal the formulas at every step."))
	} else {
		s.Say = append(s.Say, span{S: "They differ from the formulas; the raw rows say where."})
	}
	var held []plots.Held
	for _, step := range e.Steps {
		held = append(held, plots.Held{Step: step.Step, Positions: step.Positions, Used: step.Used, Reserved: step.Reserved})
	}
	return s.charted(plots.HeldBytes(held))
}
