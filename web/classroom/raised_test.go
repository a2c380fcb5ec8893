package classroom_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// asks sends a question as the form on a phone does.
func (p *person) asks(code, text string) page {
	p.t.Helper()
	p.get("/class/" + code)
	return p.post("/class/"+code+"/ask", url.Values{"text": {text}})
}

// TestQuestions lets phones ask an instructor.
func TestQuestions(t *testing.T) {
	t.Parallel()
	base := serve(t)
	t.Run("only the instructor sees them", func(t *testing.T) { reachOnlyTheInstructor(t, base) })
	t.Run("refusals have a reason", func(t *testing.T) { refusedWithReason(t, base) })
}

// reachOnlyTheInstructor checks that a question appears in the instructor's list and nowhere else. Once
// the instructor shows it, the wall has it; phones never do.
func reachOnlyTheInstructor(t *testing.T, base string) {
	p, code := instructor(t, base, url.Values{"nicknames": {"on"}})
	asker, other := newPerson(t, base), newPerson(t, base)
	path := "/class/" + code
	asker.get(path)
	asker.post(path+"/name", url.Values{"nick": {"Ada"}})
	sent := asker.asks(code, "Why <b>so</b>\nsmall?")
	if got, want := words(sent.Find("#ask-say")), "Sent. Your instructor sees it without your name."; got != want ||
		sent.path != path {
		t.Errorf("after the form: %s says %q; want %s with %q", sent.path, got, path, want)
	}
	other.asks(code, "What is a token?")
	list := p.get(path + "/present").Find("#pr-raised")
	if got := words(list.Find("ul label").Eq(0)) + " | " + words(list.Find("ul label").Eq(1)); got !=
		"Why <b>so</b> small? | What is a token?" || strings.Contains(words(list), "Ada") {
		t.Errorf("the instructor's list has %q, want both questions without the name", got)
	}
	if got := words(p.get(path + "/present").Find("#pr-asked [role=status]")); got != "2 questions are waiting" {
		t.Errorf("the button says %q, want 2 questions", got)
	}
	onWall := func() string { return words(p.get(path + "/projector").Find(".bigasked ol")) }
	if got := onWall(); got != "" {
		t.Errorf("before the instructor shows a question, the wall has %q", got)
	}
	p.post(path+"/do", url.Values{"cmd": {"question"}, "do": {"show"}, "question": {"1", "2"}})
	p.do(code, "question", "do", "up", "question", "2")
	if got, want := onWall(), "What is a token? Why <b>so</b> small?"; got != want {
		t.Errorf("the wall has %q, want %q", got, want)
	}
	if got := other.get(path).text; strings.Contains(got, "small?") || strings.Contains(got, "a token?") {
		t.Error("a phone has a question")
	}
	p.do(code, "question", "do", "same", "question", "2,1")
	if got, want := onWall(), "What is a token? asked 2 times"; got != want {
		t.Errorf("the wall has %q, want %q", got, want)
	}
	if got, want := words(p.get(path+"/summary").Find(".sum__raised")), "Why <b>so</b> small?What is a token?"; got !=
		want {
		t.Errorf("the summary lists %q, want %q", got, want)
	}
}

// refusedWithReason checks that a question that is too long, or one too many, is refused with its
// reason, over a form and over a phone's connection.
func refusedWithReason(t *testing.T, base string) {
	p, code := instructor(t, base, url.Values{})
	phone := newPerson(t, base)
	got := phone.asks(code, strings.Repeat("x", 141))
	if want := "Your question has 141 characters; it must have at most 140."; got.status != http.StatusBadRequest ||
		!strings.Contains(words(got.Find("main")), want) {
		t.Errorf("141 characters: got %d %s, want %d with %q", got.status, words(got.Find("main")),
			http.StatusBadRequest, want)
	}
	d := websocket.Dialer{Jar: phone.client.Jar, Subprotocols: []string{wire.ProtocolHTML}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(base, "http")+"/ws?feed=class&room="+code, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	feed := &presenter{t: t, conn: conn}
	for _, text := range []string{"a", "b", "c", "c"} {
		if _, says := feed.say("ask", map[string]any{"text": text}); says != "" {
			t.Errorf("asking %q: got %s, want no refusal", text, says)
		}
	}
	for want, fields := range map[string]map[string]any{
		"You have 3 questions waiting": {"text": "d"},
		"Type your question first":     {},
	} {
		if refused, says := feed.say("ask", fields); refused != "ask" || !strings.Contains(says, want) {
			t.Errorf("asking %v: got %s %q, want ask with %q", fields, refused, says, want)
		}
	}
	p.do(code, "questions-off")
	p.do(code, "question", "do", "clear")
	if _, says := feed.say("ask", map[string]any{"text": "d"}); !strings.Contains(says, "isn’t taking questions") {
		t.Errorf("while questions are off: got %q", says)
	}
	if _, says := feed.say("question", map[string]any{"do": "show", "question": "1"}); says == "" {
		t.Error("a phone put a question on the wall")
	}
}

// questions lets a class of twelve ask: a phone with its page, and eleven forms. The presenter selects
// four of the questions and orders them with the keyboard, and the wall shows them whole: four long
// questions in small letters, and a short one in large letters.
func questions(presenter, wall, phone *browser.Tab, crowd []*person, code string) {
	browser.Touch(phone).Press("#ask summary")
	phone.Type("#ask-text", "Which question is the first?")
	browser.Touch(phone).Press("#ask .btn")
	says(phone, "#ask-say", "Sent. Your instructor sees it without your name.")
	if left := browser.Value[string](phone, `document.getElementById("ask-text").value`); left != "" {
		phone.Fail("the field still has %q after it was sent", left)
	}
	for i, p := range crowd {
		p.asks(code, strings.Repeat(string(rune('a'+i)), 3)+" "+strings.Repeat("word ", 27)+"?")
	}
	says(presenter, "#pr-asked", "12 questions are waiting")
	if over := browser.Value[float64](presenter, `(() => {
		const words = document.createRange();
		words.selectNodeContents(document.querySelector("#pr-asked button").firstChild);
		return document.querySelector("#pr-asked b").getBoundingClientRect().bottom - words.getBoundingClientRect().top;
	})()`); over > 2 { // the line is higher than its letters
		presenter.Fail("the number of questions covers %g px of the button's text, want none", over)
	}
	presenter.Click(`[data-dialog="d-asked"]`)
	press := func(id string) {
		presenter.Eval(`document.getElementById("` + id + `").focus()`)
		presenter.Keys("\r")
	}
	press("rq-show")
	says(presenter, "#d-asked [data-told]", "Select a question first.")
	for _, id := range []string{"2", "3", "4", "1"} {
		presenter.Eval(`document.getElementById("rq-tick-` + id + `").focus()`)
		presenter.Keys(" ")
	}
	press("rq-show")
	order := func(want string) {
		script := `[...document.querySelectorAll(".bigasked li bdi")].map(e => e.textContent.slice(0, 3)).join() === ` +
			`"` + want + `"`
		presenter.Wait("the order "+want, script)
		wall.Wait("the order "+want, script)
	}
	order("Whi,aaa,bbb,ccc")
	press("rq-down-1")
	order("aaa,Whi,bbb,ccc")
	presenter.Wait("the focus on the button", `document.activeElement.id === "rq-down-1"`)
	presenter.Keys("\r")
	order("aaa,bbb,Whi,ccc")
	const whole = `(e => e.scrollHeight <= e.clientHeight + 1)(document.querySelector(".bigstage"))`
	wall.Wait("the questions, whole", whole)
	presenter.Eval(`document.getElementById("rq-tick-5").click()`)
	crowd[0].asks(code, "One more")
	says(presenter, "#pr-asked", "13 questions are waiting")
	if !browser.Value[bool](presenter, `document.getElementById("rq-tick-5").checked`) {
		presenter.Fail("a new question has removed a tick")
	}
	wall.Shot("questions-wall.png")
	presenter.Shot("questions-presenter.png")
	const size = `parseFloat(getComputedStyle(document.querySelector(".bigasked li")).fontSize)`
	small := browser.Value[float64](wall, size)
	for _, id := range []string{"2", "3", "4"} {
		press("rq-hide-" + id)
	}
	order("Whi")
	wall.Wait("a larger question", fmt.Sprintf("%s > 2 * %g", size, small))
	wall.Wait("the question, whole", whole)
	wall.Shot("question-wall.png")
	press("rq-clear")
	presenter.Wait("an empty wall", `!document.querySelector(".bigasked")`)
	wall.Wait("an empty wall", `!document.querySelector(".bigasked")`)
}
