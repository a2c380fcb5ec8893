package classroom

import (
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// TestCommandsFromForms: a form's fields become a command; empty fields count as missing, and
// fields out of range are refused.
func TestCommandsFromForms(t *testing.T) {
	t.Parallel()
	answer := 0.0
	for _, c := range []struct {
		name string
		form url.Values
		want class.Command // nil if it is refused
	}{
		{"extend", url.Values{}, class.Extend{By: 30 * time.Second}},
		{"extend", url.Values{"seconds": {" "}}, class.Extend{By: 30 * time.Second}},
		{"extend", url.Values{"seconds": {"0"}}, nil},
		{"ask-next", url.Values{"choices": {""}, "where": {""}}, class.AskNext{}},
		{"ask-next", url.Values{"choices": {"8"}, "where": {"open"}, "seconds": {"7200"}}, class.AskNext{
			Choices: 8, Where: class.NextOpen, For: 2 * time.Hour,
		}},
		{"ask-next", url.Values{"choices": {"3"}}, nil},
		{"ask-next", url.Values{"choices": {"9"}}, nil},
		{"ask-next", url.Values{"where": {"there"}}, nil},
		{"ask-number", url.Values{"prompt": {"a"}, "answer": {" "}}, class.AskNumber{Prompt: "a"}},
		{"ask-number", url.Values{"prompt": {"a"}, "answer": {"0"}}, class.AskNumber{Prompt: "a", Answer: &answer}},
		{"assign", url.Values{"do": {"b", "a", "b"}}, class.Assign{Tasks: []string{"a", "b"}}},
		{"goto", url.Values{"step": {"2", "5"}, "withhold": {"true"}}, class.GoTo{Step: 2}},
		{"forward", url.Values{"withhold": {"true"}}, class.Drive{Do: session.StepStage{Withhold: true}}},
		{"seek", url.Values{"step": {"1"}, "stage": {"7"}}, class.Drive{Do: session.Seek{Step: 1, Stage: 7}}},
		{"seek", url.Values{"step": {"1"}}, nil},
		{"dance", nil, nil},
	} {
		got, err := formOf(c.name, c.form).Command(&class.View{})
		if (err != nil) != (c.want == nil) || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v: got %+v, %v; want %+v", c.name, c.form, got, err, c.want)
		}
	}
}
