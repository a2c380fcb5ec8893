package room

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
)

// TestEveryCommandIsExecuted: a room executes each command in [class.Commands] or refuses it for a
// reason. A command without a case would fail.
func TestEveryCommandIsExecuted(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	fields := map[string]map[string]string{
		"goto":         {"step": "1"},
		"ask-question": {"id": "q-order"},
		"ask-number":   {"prompt": "How many?", "answer": "3"},
		"append-of":    {"member": "1"},
		"question":     {"do": "clear"},
		"drop-name":    {"member": "1"},
		"remove":       {"member": "1"},
		"assign":       {"do": "five"},
		"start":        {"prompt": "The cat"},
		"speed":        {"speed": "2"},
		"look":         {"on": "true"},
		"redraw":       {"seed": "1"},
		"seek":         {"step": "1", "stage": "2"},
	}
	for _, c := range class.Commands {
		l := s.room(class.Options{Walk: "cache"})
		l.Does(class.AskQuestion{ID: "q-order"})
		form := class.Form{Name: c.Name, Fields: fields[c.Name]}
		if _, err := form.Command(l.View()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		_, err := l.Present(t.Context(), classtest.Instructor, l.Secret, form)
		if _, refused := terms.AsRefusal(err); err != nil && !refused {
			t.Errorf("%s: got error %v, want none or a refusal", c.Name, err)
		}
	}
	l := s.room(class.Options{})
	_, err := l.Present(t.Context(), classtest.Instructor, l.Secret, class.Form{Name: "dance"})
	if r, ok := terms.AsRefusal(err); !ok || r.Field != "cmd" {
		t.Errorf("an unknown command: got error %v, want a refusal of the field cmd", err)
	}
}
