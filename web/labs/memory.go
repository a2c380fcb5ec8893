package labs

import (
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// optionNames are people's names for choices of the memory lab.
var optionNames = map[string]string{
	"loaded": "the loaded model", "example-32": "the 32-layer example", "gpt2": "GPT-2", "gpt-2": "GPT-2",
	"llama-2-7b": "Llama 2 7B", "llama-2-70b": "Llama 2 70B", "mistral-7b": "Mistral 7B",
	"fp32": "fp32, 4 bytes", "fp16": "fp16, 2 bytes", "bf16": "bf16, 2 bytes", "int8": "int8, 1 byte",
	"int4": "int4, ½ byte",
}

// factor is one number of a product.
type factor struct{ Name, Value string }

var _ = show("memory", memorySections, usersThatFit, prediction{
	Ask:     "How many texts of this length fit into memory along with the weights?",
	Choices: []choice{{"0", "none"}, {"9", "1 to 9"}, {"99", "10 to 99"}, {"999", "100 to 999"}, {"more", "more"}},
})

func memorySections(m *lab.Memory) []section {
	list := []section{
		{
			ID: "takes", Title: "What it takes up", Small: m.Model.Name,
			Body: product(factorsOf(m), terms.Bytes(m.Bytes), bytesSay(m)), Say: tokenAddsSay(m),
		},
		section{
			ID: "fits", Title: "How many fit", Small: "beside the weights, in " + terms.Bytes(m.MemoryBytes),
			Say:     usersSay(m),
			Caption: "weights as " + m.WeightPrecision + ", keys and values as " + m.Precision,
		}.charted(
			plots.Fits(
				m.MemoryBytes, []plots.Share{{Name: "weights", Value: m.WeightBytes}, {Name: "caches", Value: m.Bytes}},
			),
		),
		{
			ID: "heads", Title: "Sharing heads", Small: fmt.Sprintf("at %s positions", terms.Count(m.Positions)),
			Half: true,
			Say:  say("Query heads ask (circles); fewer pairs of keys and values answer (squares)."),
			Body: sharesView(sharesOf(m)),
		},
		section{
			ID: "windows", Title: "Context windows", Small: "area is tokens, to scale", Half: true,
			Say:  say("Memory is for ", b(m.Model.Name), ": ", b(terms.Bytes(m.BytesPerPosition)), " for every token."),
			Body: table(windowsGrid(m)),
		}.charted(plots.Windows(windowsOf(m))),
	}
	if len(m.Engine.Steps) > 0 {
		list = append(list, engineSection(m.Engine))
	}
	return list
}

func factorsOf(m *lab.Memory) []factor {
	list := []factor{
		{"keys, values", "2"},
		{"layers", terms.Count(m.Model.Layers)},
		{"KV heads", terms.Count(m.Model.KVHeads)},
		{"head size", terms.Count(m.Model.HeadDim)},
		{"bytes each", terms.Measured(m.BytesPerValue)},
		{"positions", terms.Count(m.Positions)},
	}
	if m.Batch > 1 {
		list = append(list, factor{"texts", terms.Count(m.Batch)})
	}
	return list
}

func bytesSay(m *lab.Memory) string {
	return terms.Count(int64(m.Bytes)) + " bytes"
}

func tokenAddsSay(m *lab.Memory) []span {
	return say("Each new token adds ", b(
		terms.Bytes(m.BytesPerPosition),
	), ". The weights take ", b(terms.Bytes(m.WeightBytes)),
		", so one cache is as large as they are at ", x(terms.Count(int64(m.Overtakes))+" positions."), windowSay(m))
}

// windowSay says that a text is longer than the model's own window.
func windowSay(m *lab.Memory) string {
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

func usersSay(m *lab.Memory) []span {
	if m.FreeBytes < 0 {
		return say("The weights alone need ", b(terms.Bytes(m.WeightBytes)), ": they do not fit.")
	}
	return say(
		"Beside the weights ", b(terms.Bytes(m.FreeBytes)), " are free: room for ", x(terms.Count(m.Users)+" texts"),
		" of "+terms.Count(m.Positions)+" positions.",
	)
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
		Say: say("At ", b(
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

func usersThatFit(m *lab.Memory) (string, string, bool) {
	key := among(float64(m.Users), []float64{0, 9, 99, 999}, "0", "9", "99", "999", "more")
	return key, fmt.Sprintf("%s fit.", terms.Count(m.Users)), true
}
