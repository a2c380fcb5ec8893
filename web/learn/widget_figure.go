package learn

import (
	"io"
	"strings"

	"github.com/tokenbytoken/viz/web/shell"
)

// templWriter is the writer to which components are rendered.
type templWriter = io.Writer

// A figure is an experiment as a page shows it.
type figure struct {
	*spec
	View    shell.View
	Texts   []control // text inputs
	Numbers []control // numeric inputs
	Body    string    // HTML
	Error   string    // why the inputs were refused, or why the body is empty
}

// A control is an input with its value.
type control struct {
	field
	ID, Value string
}

// lines returns the number of lines of the value.
func (c control) lines() int { return 1 + strings.Count(c.Value, "\n") }

// newFigure lays out an experiment's inputs around its body.
func newFigure(s *spec, view shell.View, in values, body string, err error) figure {
	f := figure{spec: s, View: view, Body: body}
	for _, c := range s.Fields {
		one := control{c, s.ID + "-" + c.Name, in[c.Name]}
		switch c.Kind {
		case inText:
			f.Texts = append(f.Texts, one)
		case inSlide, inNumber:
			f.Numbers = append(f.Numbers, one)
		}
	}
	if err != nil {
		f.Error = troubleOf(err).Message
	}
	if strings.TrimSpace(f.Body) == "" {
		f.Body = nothing(s.ID)
	}
	return f
}

// nothing returns the empty body of an experiment that has nothing to show.
func nothing(id string) string { return `<div id="` + id + `-body" class="w__body"></div>` }

// A target is a button and the position to which it leads.
type target struct {
	Words string
	At    int  // 0 if the button leads nowhere
	Main  bool // the button that continues
}
