package terms

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
)

var testInputs = Inputs{
	{Key: "prompt", Label: "Prompt", Kind: KindText, Min: 1, Max: 10},
	{Key: "stop", Label: "Stop string", Kind: KindText, Min: 1, Max: 4, Optional: true},
	{Key: "block", Label: "Block", Unit: "blocks", Kind: KindInt, Min: 1, Max: 6, Default: "1"},
	{
		Key: "t", Label: "Temperature", Kind: KindFloat, Max: 2, Open: true, Default: "1",
		Want: Verbatim("above 0, up to 2"),
	},
	{Key: "layers", Label: "Layers", Kind: KindInt, Min: 1, Max: 9, Own: true},
	{Key: "sizes", Label: "Sizes", Kind: KindList, Min: 1, Max: 8, Default: "1"},
	{Key: "lines", Label: "Lines", Kind: KindLines, Verify: func(lines string) error {
		if strings.Contains(lines, "x") {
			return NewRangeError("stop_strings", "a line with x", "lines without x")
		}
		return nil
	}},
	{Key: "model", Label: "Model", Kind: KindChoice, Options: []string{"small", "large"}, Default: "small"},
	{Key: "stream", Label: "Streaming", Kind: KindBool, Default: "true"},
}

// TestInputsRead: values are returned in canonical form, and missing ones have their defaults.
func TestInputsRead(t *testing.T) {
	want := Values{
		"prompt": "a\nb", "stop": "", "block": "3", "t": "0.5", "layers": "", "sizes": "4,2", "lines": "a\nb",
		"model": "small", "stream": "false",
	}
	got, err := testInputs.Read(map[string]string{
		"prompt": "a\r\nb", "block": " 3 ", "t": "50%", "layers": "0", "sizes": "4, 2,4", "lines": "a\r\n\r\nb\r\n",
		"stream": "0",
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("as texts: got %q, %v; want %q", got, err, want)
	}
	want["lines"], want["sizes"], want["prompt"] = "a", "1", "a\r\nb" // line breaks are normalized only in forms
	got, err = testInputs.ReadJSON(map[string]json.RawMessage{
		"prompt": json.RawMessage(`"a\r\nb"`), "block": json.RawMessage("3.0"),
		"t":     json.RawMessage("0.5" + strings.Repeat("0", 80)),
		"lines": json.RawMessage(`"a"`), "stream": json.RawMessage("false"),
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("as JSON: got %q, %v; want %q", got, err, want)
	}
	if got.Int("block") != 3 || got.Float("t") != 0.5 || got.Bool("stream") || len(got.List("sizes")) != 1 ||
		len(got.Lines("lines")) != 1 || got.Int("layers") != 0 {
		t.Errorf("the typed values of %q are wrong", got)
	}
}

// TestInputsRefuse: a rejected value is reported with the input's label and the accepted values.
func TestInputsRefuse(t *testing.T) {
	for _, c := range []struct{ key, text, json, want string }{
		{"prompt", "", `""`, "Prompt is empty; it must be 1 to 10 bytes of text."},
		{"prompt", "12345678901", "", "Prompt is 11 bytes long; it must be 1 to 10 bytes of text."},
		{"prompt", "a\xff", "", "Prompt is not valid UTF-8; it must be 1 to 10 bytes of text."},
		{"prompt", "a\x00", "", "Prompt is text with a NUL character; it must be 1 to 10 bytes of text."},
		{"prompt", "", "5", "Prompt is 5; it must be 1 to 10 bytes of text."},
		{"block", "", "", "Block is missing; it must be a whole number from 1 to 6 blocks."},
		{"block", "7", "7", "Block is 7; it must be a whole number from 1 to 6 blocks."},
		{"block", "2.5", "2.5", "Block is 2.5; it must be a whole number from 1 to 6 blocks."},
		{"block", "", `"3"`, `Block is "3"; it must be a whole number from 1 to 6 blocks.`},
		{"t", "0", "0", "Temperature is 0; it must be above 0, up to 2."},
		{"t", "NaN", "null", ""},
		{"sizes", "1,9", "", `Sizes is "1,9"; it must be whole numbers from 1 to 8, separated by commas.`},
		{"lines", "x", `["a", "x"]`, "Lines is a line with x; it must be lines without x."},
		{"lines", "", `["a", ""]`, ""},
		{"model", "medium", `"medium"`, `Model is "medium"; it must be one of small, large.`},
		{"stream", "maybe", `"true"`, ""},
		{
			"color", "red", `"red"`,
			`Unknown input "color"; the inputs are ` + strings.Join(testInputs.Keys(), ", ") + ".",
		},
	} {
		check := func(kind string, v Values, err error) {
			r, ok := AsRefusal(err)
			if !ok || v != nil || r.Field != c.key || c.want != "" && r.Message != c.want {
				t.Errorf("%s as %s: got %q, %v; want no values and %q", c.key, kind, v, err, c.want)
			}
		}
		if c.text != "" || c.json == `""` || c.json == "" {
			v, err := testInputs.Read(map[string]string{c.key: c.text})
			check("text", v, err)
		}
		if c.json != "" {
			v, err := testInputs.ReadJSON(map[string]json.RawMessage{c.key: json.RawMessage(c.json)})
			check("JSON", v, err)
		}
	}
	failed := errors.New("failed")
	one := Inputs{{Key: "a", Kind: KindText, Verify: func(string) error { return failed }}}
	if _, err := one.Read(map[string]string{"a": "b"}); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of Verify", err)
	}
}

// TestSliderSetsTheBounds: an input with a slider accepts values in the slider's range, and its
// error names that range.
func TestSliderSetsTheBounds(t *testing.T) {
	in := MustKnob("top_p").With("0.9").Slider(0.05, 1)
	for value, want := range map[string]string{
		"0.05": "", "1": "", "0.04": "Top-p is 0.04; it must be a number from 0.05 to 1.",
	} {
		_, err := in.Parse(value)
		if r, _ := AsRefusal(err); (r == nil) != (want == "") || r != nil && r.Message != want {
			t.Errorf("%s: got %v, want %q", value, r, want)
		}
	}
	if in.Default != "0.9" || in.Whole() || in.Decimals() != 2 || MustKnob("top_k").Decimals() != 0 {
		t.Errorf("got %+v, want the default 0.9 with two decimals", in)
	}
	if k := MustKnob("top_p"); k.Min != 0 || k.Default != "" {
		t.Errorf("the knob changed to %+v", k)
	}
}
