package classroom_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestDraftPagePreviewsWalkthrough: the page parses a walkthrough in the same way as the
// checker, runs the requested step, and returns the text unchanged as a file.
// The same server has a plan for every lesson, and the study kit.
// Promise: You can write a script on a page, try its steps there and save it as a file.
// Promise: Every lesson has a printed plan for a class.
// Promise: A study kit measures what the course changes, with answers that carry no names.
func TestDraftPagePreviewsWalkthrough(t *testing.T) {
	t.Parallel()
	base := serve(t)
	p := newPerson(t, base)
	plansAreComplete(t, p)
	studyKitIsComplete(t, p)
	studyTableHasNoNames(t, base)
	p.get("/teach/walk")
	text := webtest.Course(t).WalkText("cache")
	if got := p.get("/teach/walk?from=cache").Find("textarea").Text(); strings.TrimPrefix(got, "\n") != text {
		t.Errorf("the page starts with %.80q, want the walkthrough's text", got)
	}
	shown := p.post("/teach/walk", url.Values{"text": {text}, "step": {"2"}})
	if got := words(shown.Find(".draft__steps [aria-current=step]")); got != "2 What it leaves behind" {
		t.Errorf(
			"the step shown is %q, want %q: %s", got, "2 What it leaves behind", words(shown.Find("#draft-problems")),
		)
	}
	// The prompt has eight tokens including the start mark; the cache stage shows the
	// entries that they wrote.
	if got := words(shown.Find("#draft-out")); !strings.Contains(got, "Once") ||
		!strings.Contains(got, "nothing to fix") {
		t.Errorf("the run next to the text: got %s, want it to contain %q and %q", got, "Once", "nothing to fix")
	}
	before, _, _ := strings.Cut(text, "{#decode ")
	line, step := strings.Count(before, "\n")+1, strings.Count(before, "\n## ")
	for at, want := range map[string]string{"1": "1 ", strconv.Itoa(line): strconv.Itoa(step) + " ", "": "1 "} {
		got := words(p.post("/teach/walk", url.Values{"text": {text}, "line": {at}}).Find("[aria-current=step]"))
		if !strings.HasPrefix(got, want) || got == "" {
			t.Errorf("line %s shows %q; want it beginning with %q, non-empty", at, got, want)
		}
	}
	broken := strings.Replace(text, "{#decode ", "{#same ", 1)
	got := words(p.post("/teach/walk", url.Values{"text": {broken}}).Find(".draft__problems"))
	if !strings.Contains(got, "duplicate step id") || !strings.Contains(got, "Line "+strconv.Itoa(line)+" ") {
		t.Errorf(
			"for line %d, the page shows %q, want it to contain %q and %q", line, got, "duplicate step id",
			"Line "+strconv.Itoa(line)+" ",
		)
	}
	file := p.post("/teach/walk", url.Values{"text": {strings.ReplaceAll(text, "\n", "\r\n")}, "do": {"save"}})
	if file.text != text {
		t.Errorf("the file has %d bytes, want %d", len(file.text), len(text))
	}
}

// TestDraftTextIsEscapedAndLimited: the content of a draft is always escaped, a draft that
// is too long is refused, and a draft whose run needs too many resources only causes an
// error on its page.
func TestDraftTextIsEscapedAndLimited(t *testing.T) {
	t.Parallel()
	p := newPerson(t, serve(t))
	p.get("/teach/walk")
	head := "---\ntitle: <script>x</script>\nslug: mine\nminutes: 3\nlead: Short.\n---\n"
	step := "## One <b>x</b> {#one}\n::: do\nstart prompt=\"<img src=x>\"\n:::\nLook </textarea><script>y</script>\n"
	for _, text := range []string{
		"", "\x00", head, head + step, strings.Repeat("## ", 6000), strings.Repeat("[", 20000),
	} {
		got := p.post("/teach/walk", url.Values{"text": {text}, "step": {"-7"}, "line": {"x"}})
		if got.status != http.StatusOK || got.Find("main script, main img, #draft-out b b").Length() > 0 {
			t.Errorf(
				"draft %.30q: got status %d, problems %s; want 200 and no markup of the draft on the page", text,
				got.status, words(got.Find("#draft-problems")),
			)
		}
	}
	if got := p.post("/teach/walk", url.Values{"text": {strings.Repeat("x", 30<<10)}}); got.status != 413 {
		t.Errorf("a text that is too long: got %d, want 413", got.status)
	}
	if got := p.send(http.MethodGet, "/teach/walk?from=none", nil, nil); got.status != http.StatusNotFound {
		t.Errorf("an unknown walkthrough: got %d, want %d", got.status, http.StatusNotFound)
	}
}

// TestDraftMistakesByKeyboard: a mistake is shown with its line, which can be reached with
// the keyboard. Once the mistake is fixed, the step at the cursor is shown. The text stays
// on the page throughout.
func TestDraftMistakesByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t)+"/teach/walk")
	tab.Audit("draft")
	tab.Eval(`const a = document.querySelector("#draft-text");
		a.value = a.value.replace("stage=sample", "stage=sampel"); a.focus();
		a.setSelectionRange(a.value.length, a.value.length); window.same = a`)
	tab.Eval(`window.same.dispatchEvent(new KeyboardEvent("keydown",
		{ key: "Enter", ctrlKey: true, bubbles: true, cancelable: true }))`)
	tab.WaitText(".draft__say", "1 thing to fix")
	browser.Keyboard(tab).Press(".draft__problems button")
	tab.Wait("the line", `document.activeElement.id === "draft-text" && document.activeElement.value.slice(
		document.activeElement.selectionStart, document.activeElement.selectionEnd) === "go step=1 stage=sampel"`)
	tab.Eval(`window.same.setRangeText("go step=1 stage=sample")`)
	browser.Keyboard(tab).Press(`button[value="show"]`)
	tab.Wait("the second step", `
		document.querySelector(".draft__steps [aria-current=step]")?.textContent.startsWith("2 ") &&
		document.querySelector("#cl-stage") && document.querySelector("#draft-text") === window.same`)
	tab.Audit("draft with a run")
}
