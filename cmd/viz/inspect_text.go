package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// describeModel describes a model, including the reasons, if any, why it cannot run.
func describeModel(w *terms.Language, d *checkpoint.Description, reasons []string) *sheet {
	s := &sheet{words: w}
	s.line(w.T("cmd.inspect.model"), strconv.QuoteToGraphic(d.Name)+", "+d.Format)
	if d.Title != "" && d.Title != d.Name {
		s.line("", w.T("cmd.inspect.title", "title", strconv.QuoteToGraphic(d.Title)))
	}
	if d.Checkpoint != nil {
		s.line("", "SHA-256 "+d.Checkpoint.Hash)
	}
	if n := len(d.Files); n > 1 {
		s.line("", w.T("cmd.inspect.files", "n", n))
	}
	for _, f := range d.Facts {
		if f.Key == "general.file_type" || strings.HasPrefix(f.Key, "quantize.") {
			s.line("", terms.Printable(f.Key)+" "+strconv.QuoteToGraphic(f.Value))
		}
	}
	s.shape(d)
	s.weights(d)
	s.vocabulary(d)
	if d.Config != nil {
		s.memory(d)
	}
	for _, warning := range d.Warnings {
		s.list(w.T("cmd.inspect.warning"), strings.Fields(warning))
	}
	yes := ""
	if len(reasons) == 0 {
		yes = runsNote(w, d.Checkpoint)
	}
	s.verdict(w.T("cmd.inspect.runs"), yes, reasons)
	return s
}

// shape writes the model's shape, or as much of it as could be read.
func (s *sheet) shape(d *checkpoint.Description) {
	w := s.words
	if d.Config == nil {
		if d.Architecture != "" {
			s.line(w.T("cmd.inspect.shape"), strconv.QuoteToGraphic(d.Architecture))
		}
		return
	}
	g := *d.Config
	s.line(w.T("cmd.inspect.shape"), w.T(
		"cmd.inspect.layers", "architecture", g.Architecture, "layers", w.Counted(g.Layers, "layer"), "width", g.Width,
		"ffn", g.FFN,
	))
	s.line("", w.T("cmd.inspect.heads", "heads", g.Heads, "kv", g.KVHeads, "width", g.HeadDim))
	s.line("", contextNote(w, g))
	s.line(w.T("cmd.inspect.positions"), positionsNote(w, g))
}

// weights writes the number of weights and how the files store them.
func (s *sheet) weights(d *checkpoint.Description) {
	w, name := s.words, s.words.T("cmd.inspect.weights")
	if c := d.Checkpoint; c != nil {
		s.line(name, w.T(
			"cmd.inspect.parameters", "parameters", terms.Count(c.Parameters()), "size", w.Bytes(c.Bytes()),
			"types", strings.Join(c.Types(), ", "),
		))
		output := w.T("cmd.inspect.output.own")
		if c.Config.TieEmbeddings {
			output = w.T("cmd.inspect.output.tied")
		}
		s.line("", output)
	} else if len(d.Tensors) > 0 {
		var bytes int64
		for _, t := range d.Tensors {
			bytes += t.Bytes
		}
		s.line(name, w.T("cmd.inspect.tensors", "n", len(d.Tensors), "size", w.Bytes(bytes)))
	}
}

// specialShown is the maximum number of special tokens that are listed by name. A model may reserve
// hundreds.
const specialShown = 12

// vocabulary describes the tokenizer, the special tokens and the chat template.
func (s *sheet) vocabulary(d *checkpoint.Description) {
	w, v := s.words, d.Vocabulary
	tokens := w.T("cmd.inspect.tokens", "n", v.Tokens)
	if v.Kind != "" {
		tokens = w.T("cmd.inspect.tokenizer.kind", "kind", v.Kind, "tokens", tokens)
	}
	if v.Kind != "" && d.Config != nil {
		tokens = w.T("cmd.inspect.tokenizer.rows", "tokens", tokens, "rows", terms.Count(d.Config.Vocab))
	}
	if v.Kind != "" || v.Tokens > 0 {
		s.line(w.T("cmd.inspect.tokenizer"), tokens)
	}
	if d.Checkpoint != nil {
		s.line("", marksNote(w, d.Checkpoint))
	}
	if n := len(v.Special); n > 0 {
		var names []string
		for _, t := range v.Special[:min(n, specialShown)] {
			names = append(names, fmt.Sprintf("%d %s", t.ID, strconv.QuoteToGraphic(t.Name)))
		}
		with := []any{"tokens", w.Counted(n, "token"), "names", strings.Join(names, ", ")}
		special := w.T("cmd.inspect.special.all", with...)
		if n > specialShown {
			special = w.T("cmd.inspect.special.more", append(with, "n", n-specialShown)...)
		}
		s.list(w.T("cmd.inspect.special"), strings.Fields(special))
	}
	if d.Template != "" {
		s.line(w.T("cmd.inspect.template"), w.T("cmd.inspect.template.say", "size", w.Bytes(int64(len(d.Template)))))
	}
}

// tensors lists tensors in columns.
func (s *sheet) tensors(list []checkpoint.Tensor) {
	names, types := 0, 0
	for _, t := range list {
		names, types = max(names, utf8.RuneCountInString(terms.Printable(t.Name))), max(types, len(t.Type))
	}
	for _, t := range list {
		fmt.Fprintf(&s.Buffer, "  %-*s  %-*s  %v\n", names, terms.Printable(t.Name), types, t.Type, t.Shape)
	}
}

// template prints a chat template unchanged.
func (s *sheet) template(text string) {
	if text != "" {
		fmt.Fprintf(&s.Buffer, "\n%s\n", strings.TrimSuffix(text, "\n"))
	}
}

// contextNote describes the number of positions, the sliding window and which layers have one.
func contextNote(w *terms.Language, g checkpoint.Config) string {
	window, layers := g.Window()
	with := []any{
		"positions", w.T("cmd.inspect.context", "n", g.Context), "window", window, "layers", w.Counted(layers, "layer"),
	}
	switch {
	case layers == 0:
		return w.T("cmd.inspect.context", "n", g.Context)
	case window >= g.Context:
		return w.T("cmd.inspect.window.never", with...)
	case layers == g.Layers:
		return w.T("cmd.inspect.window.all", with...)
	}
	return w.T("cmd.inspect.window.some", with...)
}

// positionsNote describes how the model encodes positions.
func positionsNote(w *terms.Language, g checkpoint.Config) string {
	ropes := g.Ropes()
	if len(ropes) == 0 {
		return w.T("cmd.inspect.learned")
	}
	var notes []string
	still := 0
	for _, rope := range ropes {
		layers := 0
		for _, a := range g.Attention {
			if a.Rope == rope {
				layers++
			}
		}
		note := ropeNote(w, rope)
		if len(ropes) > 1 {
			note = w.T("cmd.inspect.rope.in", "rope", note, "layers", w.Counted(layers, "layer"))
		}
		notes = append(notes, note)
	}
	for _, a := range g.Attention {
		if a.Rope == nil {
			still++
		}
	}
	if still > 0 {
		notes = append(notes, w.T("cmd.inspect.rope.none", "layers", w.Counted(still, "layer")))
	}
	return w.T("cmd.inspect.rotary", "ropes", strings.Join(notes, "; "))
}

// ropeNote describes rotary frequencies.
func ropeNote(w *terms.Language, rope *checkpoint.Rope) string {
	r := rope.Scaling
	with := []any{
		"base", strconv.FormatFloat(rope.Theta, 'f', -1, 64), "factor", fmt.Sprint(r.Factor),
		"positions", terms.Count(r.OriginalContext),
	}
	if key := "cmd.inspect.rope." + r.Kind; w.Has(key) {
		return w.T(key, with...)
	}
	return w.T("cmd.inspect.rope", with...)
}

// marksNote describes the tokens that begin and end a text.
func marksNote(w *terms.Language, c *checkpoint.Checkpoint) string {
	name := func(id int) string {
		if n, ok := c.Tokenizer.Special(id); ok {
			return strconv.QuoteToGraphic(n)
		}
		return strconv.Itoa(id)
	}
	front, end := w.T("cmd.inspect.front.none"), w.T("cmd.inspect.end.none")
	if c.Config.BOS >= 0 {
		front = w.T("cmd.inspect.front", "token", name(c.Config.BOS))
	}
	if ids := c.Config.EOS; len(ids) > 0 {
		ends := name(ids[0])
		for _, id := range ids[1:] {
			ends = w.T("cmd.inspect.or", "list", ends, "next", name(id))
		}
		end = w.T("cmd.inspect.end", "tokens", ends)
	}
	return front + "; " + end
}

// memory writes the memory that the model needs to run: the weights in each supported form, tables,
// and a full cache.
func (s *sheet) memory(d *checkpoint.Description) {
	w, g := s.words, *d.Config
	shape := cost.Shape{Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim}
	full := shape.KVBytes(g.Context, 4)
	s.line(w.T("cmd.inspect.cache"), w.T(
		"cmd.inspect.cache.say", "one", w.Bytes(shape.KVBytes(1, 4)), "full", w.Bytes(full),
	))
	if c := d.Checkpoint; c != nil {
		weights := infer.WeightMemory(c, infer.QuantNone)
		s.line(w.T("cmd.inspect.memory"), w.T(
			"cmd.inspect.memory.say", "weights", w.Bytes(weights), "types", w.List(infer.KeptAs(c)),
			"all", w.Bytes(weights+full),
		))
		s.line("", w.T("cmd.inspect.memory.int8", "size", w.Bytes(infer.WeightMemory(c, infer.QuantInt8))))
	}
}
