package terms_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestRefusalOf: a refusal has the right code, field and range; a failure of the program is
// distinguished from a user's mistake; and errors.Is compares codes.
func TestRefusalOf(t *testing.T) {
	short := errors.New("a row is short")
	for _, c := range []struct {
		err   error
		want  terms.Refusal
		cause error
	}{
		{
			fmt.Errorf("a command: %w", &terms.Refusal{Code: terms.CodeBusy, Message: "Wait."}),
			terms.Refusal{Code: terms.CodeBusy, Message: "Wait."},
			nil,
		},
		{
			terms.RefuseField("temperature", "-1", "0 to 100"),
			terms.Refusal{
				Code: terms.CodeRange, Field: "temperature", Want: "0 to 100",
				Message: "Temperature is -1; it must be 0 to 100.",
			},
			nil,
		},
		{
			fmt.Errorf("a lab: %w", terms.NewRangeError("gamma", 9, "1 to 8")),
			terms.Refusal{
				Code: terms.CodeRange, Field: "gamma", Want: "1 to 8", Message: "gamma is 9; it must be 1 to 8.",
			},
			nil,
		},
		{
			short,
			terms.Refusal{Code: terms.CodeModel, Message: "The model could not continue: a row is short."},
			short,
		},
		{
			fmt.Errorf("a pass: %w", context.DeadlineExceeded),
			terms.Refusal{Code: terms.CodeBusy, Message: "This took too long. Try again."},
			context.DeadlineExceeded,
		},
	} {
		got := terms.RefusalOf(c.err)
		shown := terms.Refusal{Code: got.Code, Field: got.Field, Want: got.Want, Message: got.Message}
		if shown != c.want || !errors.Is(errors.Unwrap(got), c.cause) {
			t.Errorf("%v: %+v because of %v, want %+v because of %v", c.err, shown, errors.Unwrap(got), c.want, c.cause)
		}
		if !errors.Is(got, &terms.Refusal{Code: c.want.Code}) || errors.Is(got, &terms.Refusal{Code: "another"}) {
			t.Errorf("%v: errors.Is does not match the code", c.err)
		}
	}
	if r, ok := terms.AsRefusal(short); ok {
		t.Errorf("got refusal %+v for a failure, want none", r)
	}
}

// TestRangeErrorInLanguage: the field, the rejected value and the accepted values are described in the
// language in which the error is shown.
func TestRangeErrorInLanguage(t *testing.T) {
	texts, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	german, err := terms.ReadLanguage("de", strings.NewReplacer(
		"{field} is {got}; it must be {want}.", "{field} ist {got}, erlaubt: {want}.",
		"got.missing = missing", "got.missing = leer", "= {min} to {max}", "= {min} bis {max}",
		"= a whole number from", "= eine ganze Zahl von", "= a number,", "= eine Zahl,",
		"= 0 (off) or more", "= 0 (aus) oder mehr", "= The step", "= Der Schritt", "= The seed", "= Die Saat",
		"knob.seed.want = a whole number from 0 to", "knob.seed.want = 0 bis",
	).Replace(texts))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value string
		in    terms.Input
		want  string
	}{
		{"", terms.IntInput("step", 1, 9), "Der Schritt ist leer, erlaubt: eine ganze Zahl von 1 bis 9."},
		{"-1", terms.MustKnob("top_k").Input, "Top-k ist -1, erlaubt: 0 (aus) oder mehr."},
		{"-1", terms.MustKnob("seed").Input, "Die Saat ist -1, erlaubt: 0 bis 9007199254740991."},
		{"x", terms.MustKnob("min_p").Input, `Min-p ist "x", erlaubt: eine Zahl, 0 (off) to 1.`},
	} {
		_, err := c.in.Parse(c.value)
		refused, ok := terms.AsRefusal(err)
		if !ok || refused.In(german) != c.want {
			t.Errorf("%s %q: got %s, want %s", c.in.Key, c.value, refused.In(german), c.want)
		}
	}
}
