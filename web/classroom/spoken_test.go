package classroom_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestWalkSentenceOnEveryScreen: the walkthrough's sentence for a step is shown on the wall
// and on the phones, and disappears when the presenter leaves the script.
func TestWalkSentenceOnEveryScreen(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{"walk": {"loop"}})
	phone := newPerson(t, base)
	const said = "The model doesn't see letters."
	straight := strings.NewReplacer("’", "'")
	shows := func(path, where string) bool {
		return strings.Contains(straight.Replace(words(phone.get("/class/"+code+path).Find(where))), said)
	}
	for _, c := range []struct {
		cmd   string
		shown bool
	}{{"", false}, {"next-step", true}, {"forward", false}} {
		if c.cmd != "" {
			p.do(code, c.cmd)
		}
		if wall, own := shows("/projector", ".bigstage__say"), shows("", "#cl-say"); wall != c.shown || own != c.shown {
			t.Errorf("after %q, the sentence is on the wall: %t, on a phone: %t; want %t", c.cmd, wall, own, c.shown)
		}
	}
	note := webtest.Course(t).Walk("loop").Steps[0].Note
	if note == "" || strings.Contains(phone.get("/class/"+code).text, "Point at the strip") {
		t.Error("a phone shows the presenter's own note")
	}
}

// TestTieIsNamed: if two options have the same number of votes, the page calls that a tie,
// next to the votes and in the sentence of the reveal.
func TestTieIsNamed(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "Once upon a time there was a")
	p.do(code, "ask-next", "where", "here")
	first := newPerson(t, base)
	ask := first.get("/class/" + code)
	id := ask.Find("input[name=poll]").AttrOr("value", "")
	var keys []string
	for _, b := range ask.Find("button.vote").EachIter() {
		keys = append(keys, b.AttrOr("value", ""))
	}
	first.post("/class/"+code+"/vote", url.Values{"poll": {id}, "choice": {keys[0]}})
	p.do(code, "spread")
	if first.get("/class/"+code).Find("[data-tie]").Length() != 0 {
		t.Error("a single vote is called a tie")
	}
	p.do(code, "extend")
	second := newPerson(t, base)
	second.get("/class/" + code)
	second.post("/class/"+code+"/vote", url.Values{"poll": {id}, "choice": {keys[1]}})
	p.do(code, "spread")
	for _, path := range []string{"", "/projector"} {
		got := words(first.get("/class/" + code + path).Find("[data-tie]"))
		if !strings.HasPrefix(got, "A tie: 1 vote each for ") {
			t.Errorf("%q in a tie: got %q, want it to begin with %q", path, got, "A tie: 1 vote each for ")
		}
	}
	p.do(code, "reveal")
	if got := words(first.get("/class/" + code).Find("#cl-ask")); !strings.HasPrefix(got, "A tie between ") {
		t.Errorf("the reveal of a tie is %q, want it to begin with %q", got, "A tie between ")
	}
}

// TestSummaryShowsNoMarkup: no page or table after class displays markup, neither the HTML
// of a question nor the name of a special token.
func TestSummaryShowsNoMarkup(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "ask-question", "id", "q-one-sentence")
	p.do(code, "reveal")
	p.do(code, "dismiss")
	p.do(code, "start", "prompt", "The capital of France is")
	p.do(code, "set", "temperature", "2", "top_p", "1", "seed", "1")
	for range 3 { // polls whose least likely options include special tokens, and a draw
		p.do(code, "ask-next", "choices", "8", "where", "here")
		p.do(code, "reveal")
		p.do(code, "token")
	}
	sum := p.get("/class/" + code + "/summary")
	replay := newPerson(t, base).get(strings.TrimPrefix(sum.Find("[data-replay]").AttrOr("value", ""), base))
	for name, text := range map[string]string{
		"summary": words(sum.Find("main")), "replay": words(replay.Find("main")),
		"table": p.get("/class/" + code + "/summary.csv").text,
	} {
		for _, tag := range []string{"<p>", "</p>", "<|", "|>", "<code", "<em", "&lt;"} {
			if strings.Contains(text, tag) {
				t.Errorf(
					"the %s prints %s, want no markup: %.300s", name, tag, text[max(0, strings.Index(text, tag)-80):],
				)
			}
		}
	}
	if !strings.Contains(words(sum.Find(".asked h3").First()), "1. ") {
		t.Error("the question is missing")
	}
}

// TestRevealNamesNoDrawnToken: a reveal before the draw does not mark a token as drawn, on
// the wall or on phones.
func TestRevealNamesNoDrawnToken(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "Once upon a time there was a")
	p.do(code, "ask-next", "where", "here")
	p.do(code, "reveal")
	phone := newPerson(t, base)
	for _, path := range []string{"", "/projector"} {
		page := phone.get("/class/" + code + path)
		if page.Find(".two-key, .key2, .opts li, .ph__res li").Length() == 0 {
			t.Errorf("%q shows no poll", path)
		}
		said := words(page.Find("main"))
		if n := page.Find(".drawn, .is-pick").Length(); n > 0 || strings.Contains(said, "the draw g") {
			t.Errorf("%q marks %d tokens as drawn, want none: %s", path, n, said)
		}
	}
}

// TestPresenterIsOfferedNextOpenPosition: if the presenter opens a vote at a position where
// one token is nearly certain, their page explains that without naming the token, and has a
// button that moves to the next open position.
func TestPresenterIsOfferedNextOpenPosition(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "In the old house lived a")
	p.do(code, "token")
	got := p.do(code, "ask-next").Find("#pr-ctl")
	said := words(got)
	for _, want := range []string{
		"Here one token has", "Go on to the next token worth voting on", "Ask here anyway",
	} {
		if !strings.Contains(said, want) {
			t.Fatalf("the presenter's page shows %q, want it to contain %q", said, want)
		}
	}
	if phone := newPerson(t, base).get("/class/" + code); phone.Find("button.vote").Length() != 0 {
		t.Error("the vote was opened")
	}
	p.do(code, "ask-next", "where", "open", "choices", "5")
	phone := newPerson(t, base).get("/class/" + code)
	if n := phone.Find("button.vote").Length(); n != 5 {
		t.Errorf("the next open position offers %d tokens, want 5", n)
	}
	for _, option := range phone.Find("button.vote .opt").EachIter() {
		if text := words(option); !strings.HasPrefix(text, "·") {
			t.Errorf("%q does not begin a word", text)
		}
	}
	if bad := p.post("/class/"+code+"/do", url.Values{"cmd": {"ask-next"}, "where": {"there"}}); bad.status != 400 {
		t.Errorf("asked at an unknown position: status %d", bad.status)
	}
}
