package labs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/stage"
)

// A brokenLab is a lab whose measurement panics.
type brokenLab struct{ lab.Lab }

func (brokenLab) Run(context.Context, lab.Env, terms.Values, func(lab.Progress)) (*lab.Report, error) {
	panic("as if the lab had a mistake")
}

// TestPanicEndsOneMeasurement: a measurement that panics ends with an error message and leaves the
// queue, so that the next one can start. Other measurements are not affected.
func TestPanicEndsOneMeasurement(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.Context = t.Context()
	l, ok := lab.Find("cache")
	if !ok {
		t.Fatal("the lab does not exist")
	}
	v, err := l.Info(terms.English).Inputs.Read(terms.Values{"tokens": "8", "repeats": "1"})
	if err != nil {
		t.Fatal(err)
	}
	who := admission.Caller{Learner: "someone"}
	r := s.pages.begin(stage.English, who, "1", "", brokenLab{l}, v)
	<-r.done
	var f *fault.Fault
	say := sentence(stage.English, r.err)
	if !errors.As(r.err, &f) || strings.Contains(say, "mistake") || strings.Contains(say, ".go") {
		t.Errorf(
			"got %v: %q; want an error of type *fault.Fault, it without %q, it without %q", r.err, say, "mistake",
			".go",
		)
	}
	if _, err := s.pages.measure(t.Context(), who, l, v, nil); err != nil {
		t.Errorf("the next measurement: %v", err)
	}
}
