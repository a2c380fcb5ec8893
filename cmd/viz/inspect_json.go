package main

import (
	"encoding/json"
	"io"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
)

// inspected is the output of viz inspect -json; infer/STAGES.md describes it.
type inspected struct {
	Model        string                    `json:"model"`
	Title        string                    `json:"title,omitempty"`
	Format       string                    `json:"format"`
	Hash         string                    `json:"hash,omitempty"`
	Architecture string                    `json:"architecture,omitempty"`
	Files        []checkpoint.File         `json:"files,omitempty"`
	Facts        map[string]string         `json:"facts,omitempty"`
	Shape        *inspectedShape           `json:"shape,omitempty"`
	Parameters   int64                     `json:"parameters,omitempty"`
	Memory       *inspectedMemory          `json:"memory,omitempty"`
	Tokenizer    string                    `json:"tokenizer,omitempty"`
	Tokens       int                       `json:"tokens,omitempty"`
	BOS          *int                      `json:"bos,omitempty"`
	EOS          []int                     `json:"eos,omitempty"`
	Special      []checkpoint.SpecialToken `json:"special,omitempty"`
	Template     string                    `json:"template,omitempty"`
	Tensors      []checkpoint.Tensor       `json:"tensors,omitempty"`
	Warnings     []string                  `json:"warnings,omitempty"`
	Runs         bool                      `json:"runs"`
	Reasons      []string                  `json:"reasons,omitempty"`
}

type inspectedShape struct {
	Layers       int  `json:"layers"`
	Width        int  `json:"width"`
	Heads        int  `json:"heads"`
	KVHeads      int  `json:"kv_heads"`
	HeadDim      int  `json:"head_dim"`
	FFN          int  `json:"ffn"`
	Vocab        int  `json:"vocab"`
	Context      int  `json:"context"`
	Window       int  `json:"window,omitempty"`
	WindowLayers int  `json:"window_layers,omitempty"`
	Tied         bool `json:"tied"`
}

// inspectedMemory lists sizes in bytes.
type inspectedMemory struct {
	Stored        int64 `json:"stored"`
	None          int64 `json:"none"`
	Int8          int64 `json:"int8"`
	CachePosition int64 `json:"cache_position"`
}

// describeJSON returns a model's description as JSON.
func describeJSON(d *checkpoint.Description, reasons []string) io.WriterTo {
	o := inspected{
		Model: d.Name, Title: d.Title, Format: d.Format, Architecture: d.Architecture, Files: d.Files,
		Tokenizer: d.Vocabulary.Kind, Tokens: d.Vocabulary.Tokens, Special: d.Vocabulary.Special,
		Template: d.Template, Tensors: d.Tensors, Warnings: d.Warnings, Runs: len(reasons) == 0, Reasons: reasons,
		Facts: map[string]string{},
	}
	for _, f := range d.Facts {
		o.Facts[f.Key] = f.Value
	}
	if g := d.Config; g != nil {
		window, layers := g.Window()
		o.Shape = &inspectedShape{
			g.Layers, g.Width, g.Heads, g.KVHeads, g.HeadDim, g.FFN, g.Vocab, g.Context, window, layers,
			g.TieEmbeddings,
		}
	}
	if c := d.Checkpoint; c != nil {
		g := c.Config
		o.Hash, o.Parameters, o.EOS = c.Hash, c.Parameters(), g.EOS
		if g.BOS >= 0 {
			o.BOS = &g.BOS
		}
		shape := cost.Shape{Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim}
		o.Memory = &inspectedMemory{
			c.Bytes(), infer.WeightMemory(c, infer.QuantNone), infer.WeightMemory(c, infer.QuantInt8),
			shape.KVBytes(1, 4),
		}
	}
	return indented{o}
}

// indented writes a value as indented JSON.
type indented struct{ value any }

// WriteTo implements [io.WriterTo].
func (i indented) WriteTo(to io.Writer) (int64, error) {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return 0, e.Encode(i.value)
}
