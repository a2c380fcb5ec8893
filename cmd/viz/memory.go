package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/memory"
)

// announced is the minimum memory use, in bytes, for which loading a model is announced. Smaller
// models load almost immediately.
const announced = 64 << 20

// announce prints how much memory a model needs if it needs at least the given number of bytes. It
// must be called before the model is loaded.
func announce(w *terms.Language, to io.Writer, c *checkpoint.Checkpoint, quant infer.Quant, from int64) {
	need := infer.WeightMemory(c, quant)
	if need < from {
		return
	}
	with := []any{
		"model", terms.Printable(c.Config.Name), "weights", terms.Count(c.Parameters()), "file", w.Bytes(c.Bytes()),
		"memory", w.Bytes(need), "int8", w.Bytes(infer.WeightMemory(c, infer.QuantInt8)),
	}
	name := "float"
	if quant == infer.QuantInt8 {
		name = "int8"
	}
	if free, ok := memory.Available(); ok && free < need {
		name, with = name+".short", append(with, "free", w.Bytes(free))
	}
	fmt.Fprintln(to, w.T("cmd.loading."+name, with...))
}

// runsNote describes whether a model fits into this machine's memory.
func runsNote(w *terms.Language, c *checkpoint.Checkpoint) string {
	switch free, known := memory.Available(); {
	case !known:
		return w.T("cmd.inspect.runs.unknown")
	case free < infer.WeightMemory(c, infer.QuantInt8):
		return w.T("cmd.inspect.runs.no", "size", w.Bytes(free))
	case free < infer.WeightMemory(c, infer.QuantNone):
		return w.T("cmd.inspect.runs.int8", "size", w.Bytes(free))
	}
	return w.T("cmd.verdict.yes")
}

// ceiling is the -memory flag.
type ceiling struct{ limit memory.Limit } // 0 if not given

func (c *ceiling) flags(f *flags) {
	f.value("memory", "SIZE", "how much memory the program may use, such as 512MiB; near the limit, idle runs are "+
		"dropped and rebuilt when needed, and new ones are refused (default: GOMEMLIMIT, else four fifths of "+
		"the container's memory limit, else half of the machine's memory)", func(s string) error {
		n, ok := terms.ReadBytes(s)
		if c.limit = memory.Limit(n); !ok || n < 1 {
			return errors.New("must be a number and a unit, such as 512MiB or 2GiB")
		}
		return nil
	})
}

// apply limits the memory of the process, once the models are loaded.
func (c *ceiling) apply(f *flags) (memory.Budget, error) {
	if c.limit == 0 {
		return memory.Default().ApplyOrMore()
	}
	b, err := c.limit.Apply()
	if err != nil {
		err = usageError{fmt.Errorf("%s %s: %w", f.called("memory"), terms.BytesFull(int64(c.limit)), err)}
	}
	return b, err
}
