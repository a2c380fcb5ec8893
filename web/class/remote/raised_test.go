package remote

import (
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
)

// TestQuestionsReachTheOwner: a member on one server asks, the instructor on another server shows the
// question, and a third server's wall has it. After the owner's death, the next owner has it, too,
// and a question that is sent again is not added.
func TestQuestionsReachTheOwner(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a, b, c := u.server("a"), u.server("b"), u.server("c")
	l := a.teach(class.Options{})
	onB, onC := b.enters(l, 1), c.enters(l, 2)
	ask := func() {
		t.Helper()
		if err := onB.Ask(t.Context(), classtest.Learner(1), "Why?"); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	onC.Settled("there is a question", func(v *class.View) bool { return v.Raised > 0 })
	form := class.Form{Name: "question", Fields: map[string]string{"do": "show", "question": "1"}}
	if _, err := c.teaches(l).Present(t.Context(), classtest.Instructor, l.Secret, form); err != nil {
		t.Fatal(err)
	}
	shown := func(v *class.View) bool { return len(v.Wall) == 1 && v.Wall[0].Text == "Why?" }
	onB.Settled("the wall shows it", shown)
	a.kill()
	ask()
	onC.Settled("the next owner's wall shows it", func(v *class.View) bool { return v.Epoch > 1 && shown(v) })
	list, err := c.teaches(l).Raised(t.Context(), l.Secret)
	if err != nil || len(list) != 1 {
		t.Errorf("the next owner lists %v, %v; want one question", list, err)
	}
}
