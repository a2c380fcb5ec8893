package practice

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// power finds an exponent as the drills write them: e^4, α^(γ+1), 10^-3.
var power = regexp.MustCompile(`\^(\([^()]*\)|[-−]?[\pL\d.,]+)`)

// eq writes a line of arithmetic with raised exponents.
func eq(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, power.ReplaceAllStringFunc(templ.EscapeString(text), func(s string) string {
			s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "^"), "("), ")")
			after := ""
			if strings.HasSuffix(s, ",") { // of a list, not of the exponent
				s, after = strings.TrimSuffix(s, ","), ","
			}
			return "<sup>" + s + "</sup>" + after
		}))
		return err
	})
}
