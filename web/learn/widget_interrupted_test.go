package learn

import (
	"context"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
)

// lateContext is a context that ends after a given number of calls to Err, so a pass is interrupted
// between two of its blocks.
type lateContext struct {
	context.Context
	left int
}

func (c *lateContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedExperimentStartsAgain: if an experiment is interrupted in any of its passes, the next
// command shows the same result and the same verdict as a new experiment.
func TestInterruptedExperimentStartsAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.Model = modelNamed(t, "llama3")
	for _, kind := range []lessons.WidgetKind{lessons.WidgetHide, lessons.WidgetLook, lessons.WidgetCounters} {
		spec := s.specOf(kind)
		inputs := func() terms.Values {
			in := spec.Inputs(terms.English).Defaults()
			if kind == lessons.WidgetLook {
				in["row"] = "3"
			}
			return in
		}
		show := func(e experiment) result {
			html, err := workOut(t.Context(), e, spec, inputs(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return html
		}
		want := show(spec.start(s.pages.environment(shell.Numbers)))
		left := 0
		for ; ; left++ {
			e := spec.start(s.pages.environment(shell.Numbers))
			ctx := &lateContext{t.Context(), left}
			_, err := e.show(ctx, inputs())
			if p, ok := e.(preparer); ok && err == nil {
				err = p.prepare(ctx)
			}
			if err == nil {
				break
			}
			if got := show(e); got.Ask != want.Ask || got.Body != want.Body {
				t.Fatalf("%s, interrupted after %d checks: got another result than without it", spec.ID, left)
			}
		}
		if layers := s.pages.Model.Config().Layers; left < 2*layers {
			t.Errorf("%s: interrupted %d times, want at least twice in each of %d blocks", spec.ID, left, layers)
		}
	}
}
