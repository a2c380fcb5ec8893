package classroom_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// handmade is the form for a room without a walkthrough.
var handmade = url.Values{"title": {"Room 7"}, "nicknames": {"on"}, "alone": {"on"}}

// figures matches shares and probabilities as pages format them.
var figures = regexp.MustCompile(`\d%|[<>]?0\.\d{4}|>1\.0000`)

// TestVoteWithoutScript: without scripts, a follower can see the stage on each load, vote
// with a form, change the vote, and see the result.
func TestVoteWithoutScript(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	p.do(code, "start", "prompt", "The capital of France is")
	p.do(code, "forward")
	f := newPerson(t, base)
	if got := words(f.get("/class/" + code).Find(".panel__head h2")); !strings.HasPrefix(got, "Logits") {
		t.Errorf("the stage is %q, want Logits", got)
	}
	p.do(code, "ask-next", "choices", "5", "where", "here")
	ask := f.get("/class/" + code)
	votes := ask.Find("form[data-vote] button.vote")
	if votes.Length() != 5 {
		t.Fatalf("got %d candidates, want 5", votes.Length())
	}
	poll := ask.Find("input[name=poll]").AttrOr("value", "")
	vote := func(n int) page {
		return f.post(
			"/class/"+code+"/vote",
			url.Values{"poll": {poll}, "choice": {votes.Eq(n).AttrOr("value", "")}, "sure": {"0.8"}},
		)
	}
	vote(0)
	if got := vote(3); words(got.Find(".vote.is-mine .let")) != "D" ||
		!strings.Contains(words(got.Find("[data-mine]")), "has been counted") {
		t.Errorf("the changed vote is not shown: %s", words(got.Find("#cl-poll")))
	}
	if got := f.post(
		"/class/"+code+"/vote", url.Values{"poll": {poll}, "choice": {"no such token"}},
	); got.status != http.StatusBadRequest {
		t.Errorf("a vote for something that is not an option: status %d, want 400", got.status)
	}
	p.do(code, "reveal")
	end := f.get("/class/" + code)
	// The only vote gives its candidate 100%.
	if got := end.Find(".ph__res li").Eq(3).AttrOr("data-share", ""); got != "100%" {
		t.Errorf("the share of the only vote is %q, want 100%%", got)
	}
	if end.Find(".ph__res .by-model").Length() != 5 || end.Find(".is-pick").Length() != 0 {
		t.Errorf("the reveal lacks the model's bars or marks a token: %s", words(end.Find("#cl-poll")))
	}
	if got := words(p.get("/class/" + code + "/summary").Find(".table").Last()); !strings.Contains(got, "80%") {
		t.Errorf("the confidence of the only vote is not in the summary: got %s, want it to contain %q", got, "80%")
	}
	if got := vote(1); got.status != http.StatusConflict {
		t.Errorf("a vote after the reveal: status %d, want 409: %s", got.status, words(got.Selection))
	}
}

// TestFormsNeedCookies: a browser without cookies would become a new member with each form,
// so its votes and names are refused.
func TestFormsNeedCookies(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	p.do(code, "start", "prompt", "The capital of France is")
	p.do(code, "forward")
	p.do(code, "ask-next", "choices", "5", "where", "here")
	ask := p.get("/class/" + code)
	vote := url.Values{
		"poll":   {ask.Find("input[name=poll]").AttrOr("value", "")},
		"choice": {ask.Find("form[data-vote] button.vote").AttrOr("value", "")},
	}
	for range 3 {
		for path, form := range map[string]url.Values{"/vote": vote, "/name": {"nick": {"Ada"}}} {
			if got := newPerson(t, base).post("/class/"+code+path, form); got.status != http.StatusForbidden {
				t.Errorf("%s: status %d, want 403: %s", path, got.status, words(got.Selection))
			}
		}
	}
	f := newPerson(t, base)
	f.get("/class/" + code)
	if got := f.post("/class/"+code+"/vote", vote); got.status != http.StatusOK {
		t.Errorf("with a cookie: status %d, want %d: %s", got.status, http.StatusOK, words(got.Selection))
	}
}

// TestNoProbabilitiesBeforeTheReveal: while the class is asked, no page that anyone can
// open contains a probability, a bar or the drawn token.
// Promise: While the class is asked, no page contains a probability or the drawn token.
func TestNoProbabilitiesBeforeTheReveal(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	p.do(code, "start", "prompt", "The capital of France is")
	for range 3 { // logits, softmax, filter: the distribution is computed
		p.do(code, "forward")
	}
	p.do(code, "ask-next", "where", "here")
	f := newPerson(t, base)
	room := "/class/" + code
	for _, path := range []string{room, room + "?at=1.1", room + "/projector"} {
		got := f.get(path)
		got.Find("script, style, #cl-who, .parts").Remove() // the cost breakdown is independent of the draw
		if found := figures.FindString(words(got.Find("body"))); found != "" {
			t.Errorf("%s shows %s, want no figure before the reveal", path, found)
		}
		for _, part := range []string{".two", ".tc", ".cum", ".is-pick", ".is-known", ".tok__bar", "[data-share]"} {
			if got.Find(part).Length() > 0 {
				t.Errorf("%s contains %s, want it absent before the reveal", path, part)
			}
		}
	}
	for _, stage := range []string{"2", "3", "4", "5"} {
		if got := f.send(http.MethodGet, room+"?at=1."+stage, nil, nil); got.status != http.StatusConflict {
			t.Errorf("looking at stage %s: status %d, want 409", stage, got.status)
		}
	}
	if got := f.send(http.MethodGet, room+"/alone", nil, nil); got.status != http.StatusConflict {
		t.Errorf("continuing alone: status %d, want 409", got.status)
	}
	p.do(code, "spread")
	if got := f.get(room); got.Find(".two .by-model").Length() > 0 || got.Find(".tc").Length() > 0 {
		t.Error("the model's bars are shown together with the votes")
	}
	p.do(code, "reveal")
	if got := f.get(room + "?at=1.3"); got.Find("#own .tc").Length() != 1 {
		t.Error("after the reveal, the softmax cannot be viewed")
	}
}

// TestFollowerLooksAtOtherStages: a follower can view a stage other than the class's current one,
// change the temperature of their copy, and continue alone if that is allowed.
func TestFollowerLooksAtOtherStages(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	p.do(code, "start", "prompt", "The capital of France is")
	for range 4 {
		p.do(code, "forward")
	}
	f := newPerson(t, base)
	room := "/class/" + code
	look := f.get(room + "?at=1.3")
	if look.Find("#screen").AttrOr("hidden", "no") == "no" ||
		words(look.Find("#own .is-class .stage__short")) != "Sample" {
		t.Error("the page of a follower who looks elsewhere does not show the class's stage")
	}
	if got := words(look.Find("#own .ph__foot")); !strings.Contains(got, "Wandering") ||
		!strings.Contains(got, "stage 5, Sample") || !strings.Contains(got, "Rejoin") {
		t.Errorf("the footer shows %q, want it to contain %q, %q and %q", got, "Wandering", "stage 5, Sample", "Rejoin")
	}
	bars := func(at string) string {
		return words(f.get(room + "?at=1.3&t=" + at).Find("#own tbody tr").First().Find("td.p"))
	}
	if cool, warm := bars("0.5"), bars("1.5"); cool <= warm {
		t.Errorf("the likeliest token has %s at T = 0.5 and %s at T = 1.5, want a lower value at 1.5", cool, warm)
	}
	if got := f.send(http.MethodGet, room+"?at=1.3&t=-1", nil, nil); got.status != http.StatusBadRequest {
		t.Errorf("a temperature of −1: status %d, want 400", got.status)
	}
	alone := f.get(room + "/alone?at=1.3")
	if alone.path != "/loop" || words(alone.Find("#panel .panel__n")) != "3" ||
		alone.Find(`a.btn[href="`+room+`"]`).Length() != 1 {
		t.Errorf("continuing alone led to %s, whose link back is %q", alone.path, words(alone.Find(".note-line")))
	}
	for _, foreign := range []string{"evil", "//a.example", "AAAAAA", `"><img>`} {
		if got := f.get("/loop?class=" + url.QueryEscape(foreign)); strings.Contains(got.text, "Rejoin") {
			t.Errorf("the loop leads back to the class %q, want no link to a foreign address", foreign)
		}
	}
	p.do(code, "follow")
	if got := f.send(http.MethodGet, room+"/alone", nil, nil); got.status != http.StatusForbidden {
		t.Errorf("continuing alone while all follow: status %d, want 403", got.status)
	}
}

// TestJoinAcceptsTypedCodes: codes are accepted as people type them, and wrong codes get a
// clear error message.
func TestJoinAcceptsTypedCodes(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	f := newPerson(t, base)
	if got := f.get(
		"/join?code=" + url.QueryEscape(strings.ToLower(code[:3]+"-"+code[3:])),
	); got.path != "/class/"+code {
		t.Errorf("a code in lowercase led to %s, want %s", got.path, "/class/"+code)
	}
	wrong := f.send(http.MethodGet, "/join?code=AAAAAA", nil, nil)
	if wrong.status != http.StatusNotFound ||
		!strings.Contains(words(wrong.Find("#code-err")), "No room has this code") {
		t.Errorf("a wrong code: %d %s", wrong.status, words(wrong.Find("main")))
	}
	p.do(code, "lock")
	if got := newPerson(t, base).send(http.MethodGet, "/class/"+code, nil, nil); got.status != http.StatusForbidden {
		t.Errorf("a locked room: status %d, want 403", got.status)
	}
	p.do(code, "delete")
	if got := f.send(http.MethodGet, "/class/"+code, nil, nil); got.status != http.StatusNotFound {
		t.Errorf("a deleted room: status %d, want 404", got.status)
	}
}

// TestNamesAreShortText: user input never becomes markup. A name that is too long is refused
// with a message, both by the browser, next to the field, and by the server. It is never
// truncated silently.
func TestNamesAreShortText(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, handmade)
	f := newPerson(t, base)
	f.get("/class/" + code)
	f.post("/class/"+code+"/name", url.Values{"nick": {"<img src=x>"}})
	got := f.get("/class/" + code)
	if got.Find("img").Length() != 0 || got.Find("#nick").AttrOr("value", "") != "<img src=x>" {
		t.Error("a name became markup, or was not saved")
	}
	field := got.Find("#nick")
	if pattern := field.AttrOr("pattern", ""); pattern != ".{0,24}" || field.AttrOr("maxlength", "") != "" ||
		field.AttrOr("title", "") != "At most 24 characters." {
		t.Errorf("the field has pattern %q, title %q; want 24 characters, a title", pattern, field.AttrOr("title", ""))
	}
	long := f.post("/class/"+code+"/name", url.Values{"nick": {strings.Repeat("é", 25)}})
	if say := words(long.Find("main")); !strings.Contains(say, "25 characters; it must have at most 24") {
		t.Errorf("a name of 25 letters: got %q, want the reason why it is refused", say)
	}
	p.do(code, "ask-number", "prompt", "How many <b>layers</b>?", "answer", "6")
	ask := f.get("/class/" + code)
	if ask.Find("#cl-ask b").Length() != 0 || !strings.Contains(words(ask.Find("#cl-ask")), "<b>layers</b>") {
		t.Errorf("the question is %q, want its markup as text", words(ask.Find("#cl-ask")))
	}
}
