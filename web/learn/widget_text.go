package learn

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/stage"
)

// answerSoFar is a run's text as its reader gets it, with what is held back and
// what is kept out. It is written without any space between its parts, since
// every space of the text counts.
func answerSoFar(v stopView) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		part := func(class, text string) {
			if text != "" {
				b.WriteString(`<span class="` + class + `">` + templ.EscapeString(text) + `</span>`)
			}
		}
		marked := func(class, name string, t stage.Text) {
			if len(t) > 0 {
				b.WriteString(
					`<span class="` + class + `"><span class="sr"> ` + name + `: </span>` + templ.EscapeString(
						t.String(),
					) + `</span>`,
				)
			}
		}
		part("w-answer__given", v.Prompt)
		part("w-answer__out", v.Out)
		marked("w-answer__held", "held back", v.Held)
		marked("w-answer__cut", "kept out", v.Dropped)
		_, err := io.WriteString(w, b.String())
		return err
	})
}
