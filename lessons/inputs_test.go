package lessons

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestLessonsSetInputs: a lesson may set a knob beyond the range of an experiment's slider, but not
// beyond the knob's own range. Values are kept in canonical form, and inputs without a default must be
// set.
func TestLessonsSetInputs(t *testing.T) {
	for _, c := range []struct {
		inputs           terms.Inputs
		key, value, want string // want is "" if the value is refused
	}{
		{widgetInputs[WidgetNucleus], "k", "0", "0"},
		{widgetInputs[WidgetNucleus], "k", "200", "200"},
		{widgetInputs[WidgetNucleus], "k", "-1", ""},
		{widgetInputs[WidgetNucleus], "p", "1 %", "0.01"},
		{widgetInputs[WidgetNucleus], "p", "0", ""},
		{widgetInputs[WidgetGreedyLoop], "t", "1.8", "1.8"},
		{widgetInputs[WidgetGreedyLoop], "t", "101", ""},
		{widgetInputs[WidgetBestSequence], "length", "5", "5"},
		{widgetInputs[WidgetBestSequence], "length", "6", ""},
		{widgetInputs[WidgetCache], "tokens", "512", "512"},
		{widgetInputs[WidgetCache], "tokens", "513", ""},
		{widgetInputs[WidgetTurn], "xtc", "0.5", "0.5"},
		{widgetInputs[WidgetChat], "t", "1", ""},
		{pictureInputs[PictureDraw], "tokens", "5", "5"},
		{pictureInputs[PictureGuesses], "gamma", "8", "8"},
		{pictureInputs[PictureGuesses], "gamma", "9", ""},
	} {
		given := map[string]string{c.key: c.value}
		for _, in := range c.inputs {
			if in.Kind == terms.KindText {
				given[in.Key] = "Hello"
			}
		}
		wrong := checkInputs(c.inputs, given)
		if (len(wrong) > 0) != (c.want == "") || c.want != "" && given[c.key] != c.want {
			t.Errorf("%s=%q: got %q, %v; want %q", c.key, c.value, given[c.key], wrong, c.want)
		}
	}
	wrong := checkInputs(pictureInputs[PictureAttention], map[string]string{"head": "1"})
	if !slices.ContainsFunc(wrong, func(err error) bool { return err.Error() == "missing setting block" }) {
		t.Errorf("without a block: got %v, want %q", wrong, "missing setting block")
	}
}
