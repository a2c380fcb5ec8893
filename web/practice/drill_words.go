package practice

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/stage"
)

// numbersText explains where the drill's numbers come from.
func numbersText(w stage.Words, v *drillWork) string {
	if v.Seed == 0 && v.Level == 1 {
		if v.Info.Taught {
			return w.T("practice.drill.numbers.lesson")
		}
		return w.T("practice.drill.numbers.easy")
	}
	return w.T("practice.drill.numbers.seed", "seed", strconv.FormatUint(v.Seed, 10))
}

// spoken returns a cell's name for a screen reader.
func spoken(w stage.Words, c *drill.Cell) string {
	if c.Unit != "" && !strings.Contains(c.Label, c.Unit) {
		return w.T("practice.drill.cell", "cell", c.Label, "unit", c.Unit)
	}
	return c.Label
}

// hintKeys holds the keys of the texts that describe the kinds of hints.
var hintKeys = [drill.Rungs]string{"practice.drill.hint.1", "practice.drill.hint.2", "practice.drill.hint.3"}

func optionType(c *drill.Cell) string {
	if c.Type == drill.Set {
		return "checkbox"
	}
	return "radio"
}

func chosen(c *drill.Cell, answer, option string) bool {
	if c.Type == drill.Set {
		return slices.Contains(strings.Split(answer, ","), option)
	}
	return answer == option
}

// slugOf converts a string to a form that can be part of an HTML id.
func slugOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "-%x", r)
		}
	}
	return b.String()
}

func extra(on bool) int {
	if on {
		return 1
	}
	return 0
}

func percentOf(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// barTop and barHigh return the position and the height of p's bar, which is drawn inside the bar
// for q if there is one.
func barTop(q float64) string {
	if q > 0 {
		return "5"
	}
	return "0"
}

func barHigh(q float64) string {
	if q > 0 {
		return "10"
	}
	return "20"
}

// miniQ returns the value of q for a row's bar. If no token was cut, it returns a negative value,
// so that only the bar for p is shown.
func miniQ(cut bool, r drill.SummaryRow) float64 {
	if !cut {
		return -1
	}
	return r.Q
}

// svgToken renders the text of a token inside an SVG picture.
func svgToken(t stage.Text) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(t.String()))
		return err
	})
}

// keptBar returns the value of q for a token's bar: 0 for a token that was cut, whose bar is
// hatched, and -1 for other tokens.
func keptBar(kept bool) float64 {
	if kept {
		return -1
	}
	return 0
}

// became states whether a candidate was drawn, guessed or cut.
func became(w stage.Words, r predictRow) string {
	var words []string
	if r.Drawn {
		words = append(words, w.T("practice.predict.became.drawn"))
	}
	if r.You {
		words = append(words, w.T("practice.predict.became.guess"))
	}
	if !r.Kept {
		words = append(words, w.T("practice.cut"))
	}
	return strings.Join(words, ", ")
}

// plainNumber formats a number with as many digits as it needs.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
