package terms

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestReadNumberVariants: numbers are accepted in the forms that people write, and other strings
// are rejected.
func TestReadNumberVariants(t *testing.T) {
	for text, want := range map[string]float64{
		"0.63": 0.63, "0,63": 0.63, ".5": 0.5, "5.": 5, "63%": 0.63, " 63 % ": 0.63, "1 000": 1000, "1,000": 1000,
		"1,234,567.5": 1234567.5, "0,632": 0.632, "1e-3": 1e-3, "−2": -2, "-2": -2, "+2": 2,
		"1\u202f000": 1000, "-0": 0,
	} {
		if got, ok := ReadNumber(text); !ok || got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("%q is read as %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", " ", "%", "-", ".", "many", "NaN", "inf", "-Infinity", "1e999", "0x10", "1_000", "1.2.3",
		"1,2,3", "1,00,000",
		"5 tokens", "1/3", "1e", strings.Repeat("1", 65),
	} {
		if got, ok := ReadNumber(text); ok {
			t.Errorf("ReadNumber(%q) = %v, want it rejected", text, got)
		}
	}
}

// TestKnobBounds: each knob accepts its bounds, unless they are open, and all values of its slider,
// but no value beyond the bounds.
func TestKnobBounds(t *testing.T) {
	for _, k := range Knobs() {
		takes := func(x float64) bool { return k.Check(x) == nil }
		step := 1e-9
		if k.Whole() {
			step = 1
		}
		if takes(k.Min) == k.Open || !takes(k.Max) || !takes(k.From) || !takes(min(k.To, k.Max)) {
			t.Errorf("%s rejects its own bounds", k.Key)
		}
		for _, x := range []float64{k.Min - step, k.Max * 1.01, math.NaN(), math.Inf(1), math.Inf(-1)} {
			if takes(x) {
				t.Errorf("%s accepts %v, want it rejected", k.Key, x)
			}
		}
		if takes(k.Max-0.25) == k.Whole() && k.Max < 1<<52 {
			t.Errorf("%s: Whole is %v, which does not match the result for %v", k.Key, k.Whole(), k.Max-0.25)
		}
		if k.Label == "" || k.The == "" || k.Help == "" || k.Want.IsZero() || k.Arg == "" || k.Step <= 0 {
			t.Errorf("%+v lacks a text", k)
		}
	}
}

// TestKnobNamesAreUnique: no two knobs share a name.
func TestKnobNamesAreUnique(t *testing.T) {
	of := map[string]string{}
	for _, k := range Knobs() {
		for _, name := range slices.Compact([]string{k.Key, k.Short, k.Flag}) {
			if other, ok := of[name]; ok && other != k.Key {
				t.Errorf("%q means %s and %s, want one knob", name, other, k.Key)
			}
			of[name] = k.Key
			if got, ok := KnobNamed(name); !ok || got.Key != k.Key {
				t.Errorf("%q is %v, %v, want %s", name, got.Key, ok, k.Key)
			}
		}
	}
	if _, ok := KnobNamed("heat"); ok {
		t.Error("got a knob named heat, want none")
	}
}

// TestKnobParseErrorsNameTheRange: errors describe the accepted range in words.
func TestKnobParseErrorsNameTheRange(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"temperature", "0,7", ""},
		{"temperature", "hot", `Temperature is "hot"; it must be a number, 0 (greedy) to 100.`},
		{"temperature", "101", "Temperature is 101; it must be 0 (greedy) to 100."},
		{"top_k", "1.5", "Top-k is 1.5; it must be a whole number, 0 (off) or more."},
		{"top_k", "-1", "Top-k is -1; it must be 0 (off) or more."},
		{"top_p", "0", "Top-p is 0; it must be above 0, up to 1 (off)."},
		{"top_p", "90%", ""},
		{"seed", "", `The seed is ""; it must be a whole number from 0 to 9007199254740991.`},
		{
			"seed", "9007199254740992",
			"The seed is 9007199254740992; it must be a whole number from 0 to 9007199254740991.",
		},
		{"max_tokens", "1,000,000", ""},
		{"max_tokens", "0", "Max tokens is 0; it must be 1 to 1,000,000."},
	} {
		_, err := MustKnob(c.key).ParseNumber(c.text)
		var r *RangeError
		if got := ""; errors.As(err, &r) {
			if got = r.In(English); got != c.want {
				t.Errorf("%s %q: %s, want %s", c.key, c.text, got, c.want)
			}
		} else if err != nil || c.want != "" {
			t.Errorf("%s %q: %v, want %q", c.key, c.text, err, c.want)
		}
	}
}

// TestLinesRoundTrip: a list of texts formatted with one per line is parsed back unchanged.
func TestLinesRoundTrip(t *testing.T) {
	for _, list := range [][]string{{"a", "b c"}, {"\n\n", `\n`, "\t\r", `\`, `\\n`}, {" "}, nil} {
		if back := ReadLines(Lines(list)); !slices.Equal(back, list) {
			t.Errorf("%q is parsed back as %q from %q, want it unchanged", list, back, Lines(list))
		}
	}
	if got := ReadLines("a\r\n\r\nb\r\n"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, want %q", got, []string{"a", "b"})
	}
}

// TestKnobsCanBeAppendedToSafely: two callers that append to the list do not share memory.
func TestKnobsCanBeAppendedToSafely(t *testing.T) {
	one := append(Knobs(), Knob{Input: Input{Key: "one"}})
	other := append(Knobs(), Knob{Input: Input{Key: "other"}})
	if got := one[len(one)-1].Key; got != "one" {
		t.Errorf("one caller's list ends with %q, want %q", got, "one")
	}
	if got := other[len(other)-1].Key; got != "other" {
		t.Errorf("the other caller's list ends with %q, want %q", got, "other")
	}
}
