package practice

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// power matches an exponent in the notation of the drills, such as e^4, α^(γ+1) or 10^-3.
var power = regexp.MustCompile(`\^(\([^()]*\)|[-−]?[\pL\d.,]+)`)

// eq renders a line of arithmetic with superscript exponents.
func eq(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, power.ReplaceAllStringFunc(templ.EscapeString(text), func(s string) string {
			s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "^"), "("), ")")
			after := ""
			if strings.HasSuffix(s, ",") { // the comma belongs to a list, not to the exponent
				s, after = strings.TrimSuffix(s, ","), ","
			}
			return "<sup>" + s + "</sup>" + after
		}))
		return err
	})
}
