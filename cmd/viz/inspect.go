package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/web/view"
)

const inspectUsage = `Usage: viz inspect [PATH]

Tells what a model is without running it: format, architecture, shapes,
tokenizer, and the memory it would need. PATH is what -model takes; without it
the model in this binary is told of. Every weight is read once. A file that is
damaged, or that this program cannot run, ends with exit code 2 and the reason.
`

// inspect carries out viz inspect.
func inspect(args []string, stdout io.Writer) error {
	switch {
	case len(args) > 0 && isHelp(args[0]):
		_, err := io.WriteString(stdout, inspectUsage)
		return err
	case len(args) > 0 && strings.HasPrefix(args[0], "-"):
		return usageError{fmt.Errorf("flag provided but not defined: %s", args[0])}
	case len(args) > 1:
		return usageError{fmt.Errorf("unexpected argument %q: one path is taken", args[1])}
	}
	c, err := openInspected(args)
	if err != nil {
		return usageError{err}
	}
	defer c.Close()
	_, err = describeModel(c).WriteTo(stdout)
	return err
}

// openInspected opens the model and reads all of it.
func openInspected(args []string) (*checkpoint.Checkpoint, error) {
	if len(args) == 0 {
		return bundled.Target()
	}
	c, err := openPath(args[0])
	if err == nil {
		if err = c.Verify(); err == nil {
			return c, nil
		}
		c.Close()
	}
	return nil, fmt.Errorf("%s: %w", args[0], err)
}

// sheet is the printed description: lines with a name in front.
type sheet struct{ bytes.Buffer }

func (s *sheet) line(name, format string, args ...any) {
	fmt.Fprintf(&s.Buffer, "%-*s%s\n", nameColumn, name, fmt.Sprintf(format, args...))
}

// describeModel writes the sheet of a model.
func describeModel(c *checkpoint.Checkpoint) *sheet {
	g, s := c.Config, &sheet{}
	s.line("model", "%s, %s", strconv.QuoteToGraphic(g.Name), c.Format)
	s.line("", "SHA-256 %s", c.Hash)
	s.line("shape", "%s: %s, width %s, feed-forward %s", g.Architecture, plural(g.Layers, "layer"), view.Count(g.Width), view.Count(g.FFN))
	s.line("", "%s query and %s key/value heads of %s", view.Count(g.Heads), view.Count(g.KVHeads), view.Count(g.HeadDim))
	s.line("", "%s positions%s", view.Count(g.Context), windowNote(g))
	s.line("positions", "%s", positionsNote(g))
	s.line("weights", "%s parameters in %s, stored as %s", view.Count(c.Parameters()), view.Bytes(c.Bytes()), strings.Join(c.Types(), ", "))
	s.line("", "%s", map[bool]string{true: "output matrix tied to the embedding", false: "output matrix of its own"}[g.TieEmbeddings])
	s.line("tokenizer", "%s: %s tokens for %s rows", c.Tokenizer.Kind(), view.Count(c.Tokenizer.Size()), view.Count(g.Vocab))
	s.line("", "%s", marksNote(c))
	describeMemory(s, c)
	return s
}

// windowNote tells of the layers that look through a sliding window.
func windowNote(g checkpoint.Config) string {
	window, layers := g.Window()
	switch {
	case layers == 0:
		return ""
	case window >= g.Context:
		return fmt.Sprintf("; its sliding window of %s never cuts", view.Count(window))
	case layers == g.Layers:
		return fmt.Sprintf("; a token sees the last %s", view.Count(window))
	}
	return fmt.Sprintf("; in %s a token sees the last %s, in the others all", plural(layers, "layer"), view.Count(window))
}

// positionsNote tells how the model knows where a token stands.
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
			note += " in " + plural(layers, "layer")
		}
		notes = append(notes, note)
	}
	for _, a := range g.Attention {
		if a.Rope == nil {
			still++
		}
	}
	if still > 0 {
		notes = append(notes, "none in "+plural(still, "layer"))
	}
	return "rotary, " + strings.Join(notes, "; ")
}

// ropeNote tells of rotary frequencies.
func ropeNote(rope *checkpoint.Rope) string {
	note := "base " + strconv.FormatFloat(rope.Theta, 'f', -1, 64)
	switch r := rope.Scaling; r.Kind {
	case "linear":
		note += fmt.Sprintf(", stretched %v times", r.Factor)
	case "llama3":
		note += fmt.Sprintf(", the slow ones stretched %v times beyond %s positions", r.Factor, view.Count(r.OriginalContext))
	case "factors":
		note += ", each stretched by a factor of its own"
	}
	return note
}

// marksNote tells which tokens begin and end a text.
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

// describeMemory tells what running the model takes: weights widened to
// float32, tables, and a cache that is full.
func describeMemory(s *sheet, c *checkpoint.Checkpoint) {
	g := c.Config
	shape := cost.Shape{Layers: g.Layers, KVHeads: g.KVHeads, HeadDim: g.HeadDim}
	const float32Bytes = 4
	weights := float32Bytes * c.Parameters()
	weights += float32Bytes * int64(len(g.Ropes())) * int64(g.Context) * int64(g.HeadDim) // cos and sin
	full := shape.KVBytes(g.Context, float32Bytes)
	s.line("cache", "%s a position, %s when full", view.Bytes(shape.KVBytes(1, float32Bytes)), view.Bytes(full))
	s.line("memory", "%s for the weights in float32 and their tables, %s with one full cache", view.Bytes(weights), view.Bytes(weights+full))
	if free, ok := freeMemory(); !ok {
		s.line("runs", "yes, where there is that much memory")
	} else if free < weights {
		s.line("runs", "no: this machine has %s of memory free", view.Bytes(free))
	} else {
		s.line("runs", "yes")
	}
}

// freeMemory is what Linux says a program may still take; other systems have
// no file that tells it.
func freeMemory() (int64, bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10, true
		}
	}
	return 0, false
}
