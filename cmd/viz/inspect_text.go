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

// describeModel returns the description of a model, with the reasons why it does not run, if any.
func describeModel(d *checkpoint.Description, reasons []string) *sheet {
	s := &sheet{}
	s.line("model", "%s, %s", strconv.QuoteToGraphic(d.Name), d.Format)
	if d.Title != "" && d.Title != d.Name {
		s.line("", "calls itself %s", strconv.QuoteToGraphic(d.Title))
	}
	if d.Checkpoint != nil {
		s.line("", "SHA-256 %s", d.Checkpoint.Hash)
	}
	if len(d.Files) > 1 {
		s.line("", "%d files with weights", len(d.Files))
	}
	for _, f := range d.Facts {
		if f.Key == "general.file_type" || strings.HasPrefix(f.Key, "quantize.") {
			s.line("", "%s %s", terms.Printable(f.Key), strconv.QuoteToGraphic(f.Value))
		}
	}
	s.shape(d)
	s.weights(d)
	s.vocabulary(d)
	if d.Config != nil {
		s.memory(d)
	}
	for _, warning := range d.Warnings {
		for i, line := range wrap(strings.Fields(warning), 80-nameColumn) {
			s.line(map[bool]string{true: "warning"}[i == 0], "%s", line)
		}
	}
	if len(reasons) == 0 {
		s.line("runs", "%s", runsNote(d.Checkpoint))
		return s
	}
	s.line("runs", "no, for %s:", terms.Counted(len(reasons), "reason"))
	for _, reason := range reasons {
		s.line("", "%s", strings.ReplaceAll(reason, "\n", " "))
	}
	return s
}

// shape writes the model's shape, or as much of it as could be read.
func (s *sheet) shape(d *checkpoint.Description) {
	if d.Config == nil {
		if d.Architecture != "" {
			s.line("shape", "%s", strconv.QuoteToGraphic(d.Architecture))
		}
		return
	}
	g := *d.Config
	s.line(
		"shape", "%s: %s, width %s, feed-forward %s", g.Architecture, terms.Counted(g.Layers, "layer"),
		terms.Count(g.Width),
		terms.Count(g.FFN),
	)
	s.line(
		"", "%s query and %s key/value heads of %s", terms.Count(g.Heads), terms.Count(g.KVHeads),
		terms.Count(g.HeadDim),
	)
	s.line("", "%s positions%s", terms.Count(g.Context), windowNote(g))
	s.line("positions", "%s", positionsNote(g))
}

// weights writes the number of weights and how the files store them.
func (s *sheet) weights(d *checkpoint.Description) {
	if c := d.Checkpoint; c != nil {
		s.line(
			"weights", "%s parameters in %s, stored as %s", terms.Count(c.Parameters()), terms.Bytes(c.Bytes()),
			strings.Join(c.Types(), ", "),
		)
		s.line(
			"", "%s",
			map[bool]string{
				true: "output matrix tied to the embedding", false: "output matrix of its own",
			}[c.Config.TieEmbeddings],
		)
	} else if len(d.Tensors) > 0 {
		var bytes int64
		for _, t := range d.Tensors {
			bytes += t.Bytes
		}
		s.line("weights", "%s in %s", terms.Counted(len(d.Tensors), "tensor"), terms.Bytes(bytes))
	}
}

// specialShown is the number of special tokens that are listed by name. A model
// may reserve hundreds.
const specialShown = 12

// vocabulary describes the tokenizer, the special tokens and the chat template.
func (s *sheet) vocabulary(d *checkpoint.Description) {
	v := d.Vocabulary
	switch {
	case v.Kind != "" && d.Config != nil:
		s.line("tokenizer", "%s: %s tokens for %s rows", v.Kind, terms.Count(v.Tokens), terms.Count(d.Config.Vocab))
	case v.Kind != "":
		s.line("tokenizer", "%s: %s tokens", v.Kind, terms.Count(v.Tokens))
	case v.Tokens > 0:
		s.line("tokenizer", "%s tokens", terms.Count(v.Tokens))
	}
	if d.Checkpoint != nil {
		s.line("", "%s", marksNote(d.Checkpoint))
	}
	if n := len(v.Special); n > 0 {
		var names []string
		for _, t := range v.Special[:min(n, specialShown)] {
			names = append(names, fmt.Sprintf("%d %s", t.ID, strconv.QuoteToGraphic(t.Name)))
		}
		if n > specialShown {
			names = append(names, fmt.Sprintf("and %s more", terms.Count(n-specialShown)))
		}
		for i, line := range wrap(
			strings.Fields(terms.Counted(n, "token")+": "+strings.Join(names, ", ")), 80-nameColumn,
		) {
			s.line(map[bool]string{true: "special"}[i == 0], "%s", line)
		}
	}
	if d.Template != "" {
		s.line("template", "of a chat, %s; -template prints it", terms.Bytes(int64(len(d.Template))))
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

// windowNote describes the sliding window and which layers have one.
func windowNote(g checkpoint.Config) string {
	window, layers := g.Window()
	switch {
	case layers == 0:
		return ""
	case window >= g.Context:
		return fmt.Sprintf("; its sliding window of %s never cuts", terms.Count(window))
	case layers == g.Layers:
		return fmt.Sprintf("; a token sees the last %s", terms.Count(window))
	}
	return fmt.Sprintf(
		"; in %s a token sees the last %s, in the others all", terms.Counted(layers, "layer"), terms.Count(window),
	)
}

// positionsNote describes how the model encodes positions.
func positionsNote(g checkpoint.Config) string {
	ropes := g.Ropes()
	if len(ropes) == 0 {
		return "learned vectors"
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
		note := ropeNote(rope)
		if len(ropes) > 1 {
			note += " in " + terms.Counted(layers, "layer")
		}
		notes = append(notes, note)
	}
	for _, a := range g.Attention {
		if a.Rope == nil {
			still++
		}
	}
	if still > 0 {
		notes = append(notes, "none in "+terms.Counted(still, "layer"))
	}
	return "rotary, " + strings.Join(notes, "; ")
}

// ropeNote describes rotary frequencies.
func ropeNote(rope *checkpoint.Rope) string {
	note := "base " + strconv.FormatFloat(rope.Theta, 'f', -1, 64)
	switch r := rope.Scaling; r.Kind {
	case "linear":
		note += fmt.Sprintf(", stretched %v times", r.Factor)
	case "llama3":
		note += fmt.Sprintf(
			", the slow ones stretched %v times beyond %s positions", r.Factor, terms.Count(r.OriginalContext),
		)
	case "factors":
		note += ", each stretched by a factor of its own"
	}
	return note
}

// marksNote describes the tokens that begin and end a text.
func marksNote(c *checkpoint.Checkpoint) string {
	name := func(id int) string {
		if n, ok := c.Tokenizer.Special(id); ok {
			return strconv.QuoteToGraphic(n)
		}
		return strconv.Itoa(id)
	}
	note := "no token in front"
	if c.Config.BOS >= 0 {
		note = name(c.Config.BOS) + " in front"
	}
	var ends []string
	for _, id := range c.Config.EOS {
		ends = append(ends, name(id))
	}
	if len(ends) == 0 {
		return note + "; nothing ends a text"
	}
	return note + "; " + strings.Join(ends, " or ") + " ends a text"
}

// memory writes the memory that the model needs to run: the weights in each supported form, tables,
// and a full cache.
func (s *sheet) memory(d *checkpoint.Description) {
	g := *d.Config
	shape := cost.Shape{Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim}
	full := shape.KVBytes(g.Context, 4)
	s.line("cache", "%s a position, %s when full", terms.Bytes(shape.KVBytes(1, 4)), terms.Bytes(full))
	if c := d.Checkpoint; c != nil {
		weights := infer.WeightMemory(c, infer.QuantNone)
		_, called := infer.KeptAs(c)
		s.line(
			"memory", "%s for the weights in %s and their tables, %s with one full cache", terms.Bytes(weights), called,
			terms.Bytes(weights+full),
		)
		s.line("", "%s for them with -quant int8", terms.Bytes(infer.WeightMemory(c, infer.QuantInt8)))
	}
}
