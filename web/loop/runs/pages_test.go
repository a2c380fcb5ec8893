package runs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/session"
)

func TestPageAcksCountOnce(t *testing.T) {
	t.Parallel()
	var p pageAcks
	if n, again := p.connect("a"); n != 0 || again {
		t.Errorf("a new page: got %d, %v; want 0, false", n, again)
	}
	p.done("a", 3)
	p.done("a", 2) // arrives late from an older connection
	p.done("", 9)
	p.done("stranger", 9)
	if n, again := p.connect("a"); n != 3 || !again {
		t.Errorf("a page that reconnects: got %d, %v; want 3, true", n, again)
	}
	if n, again := p.connect(""); n != 0 || again || p.last("") != 0 {
		t.Errorf("a client without a name: got %d, %v; want 0, false", n, again)
	}
	for i := range maxPages {
		p.connect(fmt.Sprint("page-", i))
		p.connect("a") // reconnects each time, and is therefore remembered
	}
	if len(p) != maxPages || p.last("a") != 3 {
		t.Errorf(
			"got %d pages remembered, the one that keeps coming back at %d; want %d, 3", len(p), p.last("a"), maxPages,
		)
	}
	if _, again := p.connect("page-0"); again {
		t.Error("the page that came first is still remembered")
	}
}

func TestPageNameIsChecked(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"": "", "1x-Z_9": "1x-Z_9", "a b": "", "ä": "", "a/b": "", strings.Repeat(
			"x", 40,
		): strings.Repeat("x", 40), strings.Repeat("x", 41): "",
	} {
		if got := pageName(asked); got != want {
			t.Errorf("%q: got %q, want %q", asked, got, want)
		}
	}
}

// TestCommandsWithoutNumbers: a command without a number is always carried out, even twice.
func TestCommandsWithoutNumbers(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	defer rs.Leave(r, v)
	for _, tt := range []struct {
		command session.Command
		want    int // steps begun
	}{
		{session.Start{Prompt: "Once upon a"}, 1},
		{session.StepToken{}, 1},
		{session.StepToken{}, 2},
		{session.StepToken{}, 3},
	} {
		st, err := r.Do(t.Context(), tt.command, v, 0)
		if err != nil || !st.Started() || len(st.Steps) != tt.want {
			t.Fatalf("%T: got %d steps, %v; want %d, <nil>", tt.command, len(st.Steps), err, tt.want)
		}
	}
}
