package web

import (
	"fmt"
	"strings"
	"testing"
)

func TestPageMarks(t *testing.T) {
	t.Parallel()
	var p pageMarks
	if n, again := p.meet("a"); n != 0 || again {
		t.Errorf("a new page: %d, %v", n, again)
	}
	p.note("a", 3)
	p.note("a", 2) // said late by an older connection
	p.note("", 9)
	p.note("stranger", 9)
	if n, again := p.meet("a"); n != 3 || !again {
		t.Errorf("the page that is back: %d, %v; want 3, true", n, again)
	}
	if n, again := p.meet(""); n != 0 || again || p.done("") != 0 {
		t.Errorf("a client without a name: %d, %v", n, again)
	}
	for i := range pagesMost {
		p.meet(fmt.Sprint("page-", i))
		p.meet("a") // comes back each time, and so stays
	}
	if len(p) != pagesMost || p.done("a") != 3 {
		t.Errorf("%d pages remembered, the one that keeps coming back at %d", len(p), p.done("a"))
	}
	if _, again := p.meet("page-0"); again {
		t.Error("the page that came first is still remembered")
	}
}

func TestPageName(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"": "", "1x-Z_9": "1x-Z_9", "a b": "", "ä": "", "a/b": "", strings.Repeat(
			"x", 40,
		): strings.Repeat("x", 40), strings.Repeat("x", 41): "",
	} {
		if got := pageName(asked); got != want {
			t.Errorf("%q: %q", asked, got)
		}
	}
}
