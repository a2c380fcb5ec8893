package loop

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestViewChoiceIsRemembered: newcomers see the Story. Switching views returns to the same run, and
// the choice is remembered even without scripts.
func TestViewChoiceIsRemembered(t *testing.T) {
	t.Parallel()
	x := newStorySite(t)
	if _, html := x.get("/loop"); !strings.Contains(html, `data-view="story"`) {
		t.Error("a newcomer does not see the Story")
	}
	res := x.post("/view", url.Values{"view": {"numbers"}, "back": {"/loop?log=abc"}})
	if at := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || at != "/loop?log=abc" {
		t.Errorf(
			"the switch answers %s, %s; want res.StatusCode = %d, at = %s", res.Status, at, http.StatusSeeOther,
			"/loop?log=abc",
		)
	}
	if _, html := x.get("/loop"); !strings.Contains(html, `data-view="numbers"`) {
		t.Error("the choice is not remembered")
	}
	if res := x.post("/view", url.Values{"view": {"opera"}}); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a view that does not exist: got %s", res.Status)
	}
	if _, html := x.get("/loop"); !strings.Contains(html, `data-view="numbers"`) {
		t.Error("a wrong form changed the choice")
	}
	y := x.stranger()
	y.jar, _ = cookiejar.New(nil)
	if _, html := y.get("/loop"); !strings.Contains(html, `data-view="story"`) {
		t.Error("another learner also got the choice")
	}
}

// post sends a form.
func (x *site) post(path string, form url.Values) *http.Response {
	x.t.Helper()
	client := http.Client{
		Jar: x.jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.PostForm(x.http.URL+path, form)
	if err != nil {
		x.t.Fatal(err)
	}
	res.Body.Close()
	return res
}

// TestEncoderSendsPanelsOfTheView: a page in the Story gets the Story's panels, and the page
// has an element for each of them.
func TestEncoderSendsPanelsOfTheView(t *testing.T) {
	t.Parallel()
	s := handmade(t, infer.KindFilter)
	page := NewPage(lang, s)
	page.View = storyView
	d := parse(t, html(t, PageHTML(page)))
	m := &wire.Message{}
	if err := encodeAll(encoders[wire.ProtocolHTML](lang, storyView), m, s); err != nil {
		t.Fatal(err)
	}
	if len(m.Panels) < len(storyPanels) {
		t.Errorf("got %d panels, want at least %d", len(m.Panels), len(storyPanels))
	}
	for _, p := range m.Panels {
		if n := d.Find("#" + p.ID).Length(); n != 1 {
			t.Errorf("the page has %d elements #%s; want 1", n, p.ID)
		}
	}
	if d.Find("#cost, #rail .stage__btn").Length() > 0 {
		t.Error("the Story has parts of Numbers")
	}
}

// TestBranchNamesItsStart: another draw creates a branch. The page names the token after which
// the branch began, and Undo returns to the earlier text.
func TestBranchNamesItsStart(t *testing.T) {
	t.Parallel()
	st := handmade(t, infer.KindFilter)
	if got := newBranched(st); got.Undo != "" {
		t.Errorf("a text without branches has %+v", got)
	}
	run := session.New(st.Model, session.DefaultLimits())
	sessiontest.Do(t, run, session.Start{Prompt: "In the old"})
	for range 3 {
		st = sessiontest.Do(t, run, session.StepToken{})
	}
	before := st.Branches[0].Chosen
	other := int(st.DistAt(2).Order[9])
	st = sessiontest.Do(t, run, session.Choose{Step: 2, Token: other})
	got := newBranched(st)
	if want := st.Model.Token(before[0]).Text; got.From.String() != strings.Replace(want, " ", "·", 1) {
		t.Errorf("the branch is from %q, want %q", got.From, want)
	}
	if got.Undo != `{"cmd":"branch","id":1}` {
		t.Errorf("Undo is %s, want %s", got.Undo, `{"cmd":"branch","id":1}`)
	}
	if st = sessiontest.Do(t, run, session.TakeBranch{ID: 1}); newBranched(st).Undo != "" {
		t.Error("after Undo there is still a branch to undo")
	}
	sessiontest.Do(t, run, session.TakeBranch{ID: 2})
	for range 2 {
		st = sessiontest.Do(t, run, session.StepToken{})
	}
	if newBranched(st).Undo != "" {
		t.Error("the branch is named although it has continued")
	}
}
