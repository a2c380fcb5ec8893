package classroom_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInstructorMakesARoom: an instructor creates a room and sees its code, link and QR code. The
// instructor's link is shown only once.
func TestInstructorMakesARoom(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{"title": {"Physics <b>7</b>"}, "walk": {"loop"}, "nicknames": {"on"}})
	again := p.get("/class/" + code + "/made")
	if again.Find("[data-secret]").Length() != 0 {
		t.Error("the instructor's link is shown a second time")
	}
	if got := words(again.Find("h1")); got != "Physics <b>7</b>" {
		t.Errorf("got title %q, want it as text", got)
	}
	if again.Find("svg.qr path").AttrOr("d", "") == "" || !strings.Contains(words(again.Find("main")), code[:3]) {
		t.Error("the QR code or the room's code is missing")
	}
	if got := newPerson(t, base).send("GET", "/class/"+code+"/present", nil, nil); got.status != 403 {
		t.Errorf("a stranger's presenter page: status %d, want 403", got.status)
	}
}

// TestReachabilityAdvice: if nobody else can reach this server, the instructor's pages say
// so, explain how to open it, and warn that secrets would be sent unencrypted. One press
// shows the commands, with buttons for copying them.
func TestReachabilityAdvice(t *testing.T) {
	t.Parallel()
	local := classroom.Access{Local: true, Command: "viz -addr :8080 -x", Secure: "viz -addr :8080 -tls-cert cert.pem"}
	teach := newPerson(t, serveWith(t, local)).get("/teach")
	fold := teach.Find("details.let-in")
	if _, open := fold.Attr("open"); fold.Length() != 1 || open || words(fold.Find("summary")) != "Let phones in" {
		t.Errorf("got %d folds, open %t, %q; want 1, false, %q", fold.Length(), open, words(fold.Find("summary")),
			"Let phones in")
	}
	copies := fold.Find("[data-copy]")
	if copied := fold.Find(copies.First().AttrOr("data-copy", "")); copies.Length() != 2 ||
		words(copied) != local.Command {
		t.Errorf("got %d copy buttons, the first of %q; want 2, %q", copies.Length(), words(copied), local.Command)
	}
	got := words(teach.Find(".callout"))
	for _, want := range []string{
		"this computer only", local.Command, local.Secure, "anyone on that network can read",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("a local server's page does not contain %q: %s", want, got)
		}
	}
	clear := classroom.Access{URL: "http://10.0.0.7:8080", Secure: "viz -tls-cert cert.pem"}
	if got := words(
		newPerson(t, serveWith(t, clear)).get("/teach").Find(".callout"),
	); !strings.Contains(got, "not encrypted") {
		t.Errorf("a server without encryption shows %q, want it to contain %q", got, "not encrypted")
	}
	safe := classroom.Access{URL: "https://class.example"}
	p, code := instructor(t, serveWith(t, safe), url.Values{})
	made := p.get("/class/" + code + "/made")
	if made.Find(".callout--pitfall").Length() != 0 ||
		!strings.Contains(words(made.Find(".made__how")), "https://class.example/class/"+code) {
		t.Errorf("an encrypted server shows %q, want the class's address without a warning", words(made.Find("main")))
	}
}

// TestSummaryAfterClass: after class, the summary has the questions, the votes, a working
// replay and a table.
func TestSummaryAfterClass(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{"title": {"Room 7"}})
	p.do(code, "start", "prompt", "The capital of France is")
	p.do(code, "token")
	p.do(code, "ask-next", "where", "here")
	f := newPerson(t, base)
	ask := f.get("/class/" + code)
	f.post("/class/"+code+"/vote", url.Values{
		"poll":   {ask.Find("input[name=poll]").AttrOr("value", "")},
		"choice": {ask.Find("button.vote").First().AttrOr("value", "")},
	})
	p.do(code, "reveal")
	sum := p.get("/class/" + code + "/summary")
	if got := words(sum.Find(".asked")); !strings.Contains(got, "Which token comes next") ||
		!strings.Contains(got, "1, 100%") {
		t.Errorf("the questions: got %s, want them to contain %q and %q", got, "Which token comes next", "1, 100%")
	}
	replay := sum.Find(".replay a").First().AttrOr("href", "")
	if got := newPerson(t, base).get(replay); got.path != "/loop" ||
		words(got.Find("#prompt")) != "The capital of France is" {
		t.Errorf(
			`the replay at %.40s… shows the prompt %q, want "The capital of France is" in the Loop`, replay,
			words(got.Find("#prompt")),
		)
	}
	link := sum.Find("[data-replay]").AttrOr("value", "")
	stranger := newPerson(t, base)
	p.do(code, "end") // the code no longer admits anyone, but the link still works
	again := stranger.get(strings.TrimPrefix(link, base))
	if got := words(again.Find("main")); again.status != 200 || !strings.Contains(got, "The capital of France is") ||
		!strings.Contains(got, "Which token comes next") {
		t.Errorf(
			"the replay: status %d, %s; want 200, it containing %q and %q", again.status, got,
			"The capital of France is", "Which token comes next",
		)
	}
	if got := stranger.send("GET", "/class/"+code+"/replay?key=AAAAAAAAAAAAAAAAAAAAAA", nil, nil); got.status != 404 {
		t.Errorf("a replay without its key: status %d, want 404", got.status)
	}
	csv := p.get("/class/" + code + "/summary.csv").text
	if lines := strings.Count(csv, "\n"); lines < 2 {
		t.Errorf("the table has %d lines, want at least 2: %s", lines, csv)
	}
	if got := f.send("GET", "/class/"+code+"/summary", nil, nil); got.status != 403 {
		t.Errorf("a follower's summary: status %d, want 403", got.status)
	}
}

// TestInstructorRefusalsChangeNothing: a refused command gets an explanation and changes
// nothing.
func TestInstructorRefusalsChangeNothing(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p, code := instructor(t, base, url.Values{"walk": {"loop"}})
	for _, c := range []struct {
		form url.Values
		says string
	}{
		{url.Values{"cmd": {"fly"}}, `Unknown command "fly"`},
		{url.Values{"cmd": {"goto"}, "step": {"99"}}, "has no step 99"},
		{url.Values{"cmd": {"goto"}, "step": {"x"}}, `The step is "x"; it must be a whole number from 1 to 1000.`},
		{url.Values{"cmd": {"set"}, "temperature": {"-1"}}, "Temperature is -1; it must be 0"},
		{url.Values{"cmd": {"set"}, "temperature": {"warm"}}, `Temperature is "warm"; it must be a number, 0`},
		{url.Values{"cmd": {"set"}, "seed": {"-1"}}, `The seed is -1; it must be a whole number from 0`},
		{url.Values{"cmd": {"timer"}, "seconds": {"7201"}}, "from 0 to 7200"},
		{url.Values{"cmd": {"seek"}, "step": {"9"}, "stage": {"1"}}, ""},
		{url.Values{"cmd": {"reveal"}}, "There is no vote"},
		{url.Values{"cmd": {"remove"}, "member": {"7"}}, "No member"},
		{url.Values{"cmd": {"ask-question"}, "id": {"none"}}, `no question "none"`},
	} {
		got := p.post("/class/"+code+"/do", c.form)
		if lead := words(got.Find("main .lead")); got.status < 400 || got.status >= 500 || lead == "" ||
			!strings.Contains(lead, c.says) {
			t.Errorf("%v: status %d, %q; want %q", c.form, got.status, words(got.Find("main")), c.says)
		}
	}
	if got := p.get("/class/" + code); got.Find(".ph__wait").Length() != 1 {
		t.Error("a refused command moved the room")
	}
}

// TestToursPlayAlone: every walkthrough can be played alone, step by step, and each answer
// shows its result.
func TestToursPlayAlone(t *testing.T) {
	t.Parallel()
	base := serve(t)
	course := webtest.Course(t)
	p := newPerson(t, base)
	for _, walk := range course.Walks {
		path := "/tour/" + walk.Slug
		for n, step := range walk.Steps {
			got := p.get(path)
			if words(got.Find("h1")) != step.Title {
				t.Errorf("%s: title %q, want %q", path, words(got.Find("h1")), step.Title)
			}
			if step.Ask != nil && step.Ask.Kind == lessons.AskNext {
				if found := figures.FindString(words(got.Find(".tour__stage, #cl-poll"))); found != "" &&
					got.Find("#cl-stage .tc").Length() > 0 {
					t.Errorf("%s: it shows %s before the answer", path, found)
				}
				answer := got.Find("#cl-poll button.vote").First().AttrOr("value", "")
				if told := p.get(
					"/tour/" + walk.Slug + "?step=" + strconv.Itoa(n+1) + "&choice=" + url.QueryEscape(answer),
				); told.Find(".ph__res .by-model").Length() == 0 {
					t.Errorf("%s: the answer shows no probabilities", path)
				}
			}
			next, ok := got.Find(`.tour__nav a[data-key="ArrowRight"]`).Attr("href")
			if ok != (n+1 < len(walk.Steps)) {
				t.Errorf("%s: has a next step: got %t, want %t", path, ok, n+1 < len(walk.Steps))
			}
			path = next
		}
	}
}

// TestInstructorLinkDrivesTheRoom: the link that is shown only once gives another browser control
// of the room, and afterwards that browser's address bar no longer contains the key.
// Promise: The instructor's link controls the room from any other browser.
func TestInstructorLinkDrivesTheRoom(t *testing.T) {
	t.Parallel()
	base := serve(t)
	made := newPerson(t, base).post("/teach", url.Values{"title": {"Room 7"}})
	link, err := url.Parse(made.Find("[data-secret]").AttrOr("value", ""))
	if err != nil || link.Query().Get("key") == "" {
		t.Fatalf("the instructor's link is %v, %v; want one with a key, <nil>", link, err)
	}
	code := strings.Split(made.path, "/")[2]
	second := newPerson(t, base)
	opened := second.get(link.Path + "?" + link.RawQuery)
	if opened.path != "/class/"+code+"/present" || opened.query != "" ||
		strings.Contains(opened.text, link.Query().Get("key")) {
		t.Errorf("the link leads to %s?%s, want the presenter's page without the key", opened.path, opened.query)
	}
	second.do(code, "start", "prompt", "Once upon")
	if got := newPerson(t, base).send("GET", link.Path+"?key=AAAAAAAAAAAAAAAAAAAAAA", nil, nil); got.status != 403 {
		t.Errorf("a wrong key: status %d, want 403", got.status)
	}
}
