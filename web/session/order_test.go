package session

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestSetTakesAnOrder: an order can be given by name, as a string, as a list and in a form. Links
// keep the order, and a link without an order means this program's own order.
// Promise: The order of the sampling rules can be set by name or as a list, and links keep it.
func TestSetTakesAnOrder(t *testing.T) {
	for _, body := range []string{
		`{"samplers": "llama.cpp"}`,
		`{"samplers": "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature"}`,
		`{"samplers": ["top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"]}`,
	} {
		f, refused := terms.JSONFields([]byte(body))
		if refused != nil {
			t.Fatalf("JSONFields: got refusal %v, want none", refused)
		}
		c, _, refused := Commands.Read("set", f)
		if refused != nil || *c.(Set).Order != sampling.OrderLlama {
			t.Errorf("%s: got %+v, %v; want no error, *c.(Set).Order = %q", body, c, refused, sampling.OrderLlama)
		}
	}
	c, _, refused := Commands.Read("set", terms.TextFields(map[string]string{"samplers": "top_k; top_p, temperature"}))
	if refused != nil {
		t.Fatalf("ParseCommand: got refusal %v, want none", refused)
	}
	s, err := c.(Set).on(infer.DefaultSettings())
	if err != nil || !strings.HasPrefix(string(s.Order), "top_k;top_p;temperature;") {
		t.Fatalf("got %q, %v; want an order that begins with %q, <nil>", s.Order, err, "top_k;top_p;temperature;")
	}
	text, err := wireSettings(s).MarshalJSON()
	var back wireSettings
	if err != nil || back.UnmarshalJSON(text) != nil || !infer.Settings(back).Equal(s) {
		t.Errorf("%s is parsed as %+v (%v); want no error, infer.Settings(back) = %+v", text, back, err, s)
	}
	if text, _ := wireSettings(infer.DefaultSettings()).MarshalJSON(); strings.Contains(string(text), `"w"`) {
		t.Errorf("a link with this program's own order is %s, want it without %q", text, `"w"`)
	}
}

// TestOrdersThatAreRefused: invalid orders are refused. A command gets a refusal that names the
// field, and a link gets an error.
func TestOrdersThatAreRefused(t *testing.T) {
	long := `"` + strings.Repeat("top_k;", 5000) + `"`
	for _, bad := range []string{`""`, `[]`, `7`, `["top_k", 3]`, `"top_k;top_k"`, `"edkypmxt"`, long} {
		f, refused := terms.JSONFields([]byte(`{"samplers": ` + bad + `}`))
		if refused != nil {
			t.Fatalf("JSONFields: got refusal %v, want none", refused)
		}
		if _, _, refused = Commands.Read("set", f); refused == nil || refused.Field != "samplers" ||
			len(refused.Message) > 400 {
			t.Errorf("%.40s: got %v; want an error, Field = %q, len(Message) at most 400", bad, refused, "samplers")
		}
		if bad == `""` { // in a link, "" means this program's own order
			continue
		}
		var w wireSettings
		if err := w.UnmarshalJSON([]byte(`{"t":1,"p":1,"w":` + bad + `}`)); err == nil || len(err.Error()) > 400 {
			t.Errorf("a link with %.40s: got %v; want an error, len(Error()) at most 400", bad, err)
		}
	}
}

// TestMoveTemperatureInOrder: if the temperature is moved to the end, the filter of the step shown
// is recomputed, and stage 3 is at T = 1. Moving a rule that is not in the order is refused, and
// changes nothing.
func TestMoveTemperatureInOrder(t *testing.T) {
	s := newRun(t, "The capital of France is")
	must(t, s, Set{Knobs: infer.Knobs{"temperature": 1.5, "top_k": 9}}, StepStage{}, StepStage{}, StepStage{})
	st := must(t, s, Move{Rule: "temperature", To: 99})
	soft := st.StageOf(infer.KindSoftmax, 1).(infer.Softmax)
	if soft.Temperature != 1 || !st.Dist.Settings.HeatsLate() || st.Dist.Settings.Temperature != 1.5 {
		t.Errorf(
			"stage 3 is at T = %v, settings %+v; want T = 1 there, and 1.5 late", soft.Temperature, st.Dist.Settings,
		)
	}
	before := s.State()
	if _, err := s.Apply(t.Context(), Move{Rule: "dry", To: 1}); err == nil {
		t.Error("DRY was moved to a place among the rules that cut")
	}
	if after := s.State(); after.Settings.Order != before.Settings.Order {
		t.Errorf("a refused move made the order %q, want %q", after.Settings.Order, before.Settings.Order)
	}
	if back := must(t, s, SetPreset{Key: "common"}); back.Settings.Order != sampling.OrderOwn {
		t.Errorf("after a preset, the order is %q, want %q", back.Settings.Order, sampling.OrderOwn)
	}
}
