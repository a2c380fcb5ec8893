package shell

import (
	"math"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Control is an input in a form, with its value as the user typed it.
type Control struct {
	terms.Input
	ID, Value string
	Error     string // why the value was rejected
}

// Long reports whether the field has several lines.
func (c Control) Long() bool {
	return c.Kind == terms.KindLines || c.Kind == terms.KindText && c.Max > 1000
}

// Lines returns the number of lines of the value.
func (c Control) Lines() int { return 1 + strings.Count(c.Value, "\n") }

// Chips reports whether a script shows the value as chips: a list to which entries can be added and
// from which they can be removed.
func (c Control) Chips() bool {
	return c.Kind == terms.KindList || c.Kind == terms.KindLines || c.Words
}

// Keyboard returns the type of on-screen keyboard for the field.
func (c Control) Keyboard() string {
	switch c.Kind {
	case terms.KindInt:
		return "numeric"
	case terms.KindFloat:
		return "decimal"
	}
	return "text"
}

// Slides reports whether the input is a number with a slider.
func (c Control) Slides() bool { return c.Number() && !c.Typed && c.Max < 1e16 }

// Ends returns the range of the slider, for attributes.
func (c Control) Ends() (from, to string) {
	x, y := c.Range()
	return Attribute(x), Attribute(y)
}

// Attribute formats a number for an attribute.
func Attribute(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Shown formats a value with as many decimals as its slider shows.
func (c Control) Shown(value string) string {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(x, 'f', c.Decimals(), 64)
}

// Logarithmic reports whether the slider is logarithmic. It is if there are more than 400 steps,
// because a linear slider would then skip values.
func (c Control) Logarithmic() bool {
	_, to := c.Range()
	return to/max(c.Step, 1e-9) > 400
}

// Position returns the slider's position, 0 to 1000, for the value.
func (c Control) Position() string {
	v, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		return "0"
	}
	from, to := c.Range()
	v = min(max(v, from), to)
	at := (v - from) / (to - from)
	if c.Logarithmic() {
		least := min(max(c.Step, 1e-9), max(c.Min, 1)) // the smallest step
		at = math.Log1p((v-from)/least) / math.Log1p((to-from)/least)
	}
	return strconv.Itoa(int(math.Round(1000 * at)))
}
