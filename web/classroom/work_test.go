package classroom_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestAssignedWorkReachesTheSummary: an instructor assigns a lesson and a drill. Someone
// with the link makes a mistake in the drill and hands in their results. The summary shows
// the mistake and the results without a name.
// Promise: The results of an assignment appear in the class's summary.
func TestAssignedWorkReachesTheSummary(t *testing.T) {
	t.Parallel()
	base := serve(t)
	boss, code := instructor(t, base, url.Values{"title": {"Nine"}})
	summary := boss.post("/class/"+code+"/do", url.Values{
		"cmd": {"assign"}, "do": {"practice/five", "learn/temperature"},
	})
	link, ok := summary.Find("[data-assigned]").Attr("value")
	if summary.status != http.StatusOK || !ok {
		t.Fatalf(
			"assigning led to %s, %d; want summary.status = %d, ok = true", summary.path, summary.status, http.StatusOK,
		)
	}
	path := strings.TrimPrefix(link, base)
	learner := newPerson(t, base)
	list := learner.get(path)
	if got := list.Find(".tasks--do a").Length(); got != 2 {
		t.Fatalf("got %d tasks, want 2", got)
	}
	// The second token's share in the softmax of 4, 3, 2, 1, 0.5 is 0.2324. Dividing by the
	// largest exponential instead of the sum gives e³/e⁴ = 0.3679.
	form := url.Values{"key": {"once"}, "softmax.p.1": {"0.3679"}, "cell": {"softmax.p.1"}}
	check := "/practice/five/check?seed=0&level=1"
	page := learner.post(check, form)
	page.Find(`input[name="first"]`).Each(func(_ int, s *goquery.Selection) {
		form.Add("first", s.AttrOr("value", ""))
	})
	if got := strings.Join(form["first"], " "); got != "softmax.p.1=w.largest" {
		t.Fatalf("the first verdicts are %q, want %q", got, "softmax.p.1=w.largest")
	}
	p, err := drill.New(terms.English, "five", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range p.Order() {
		form.Set(id, p.Answer(id))
	}
	learner.post(check, form)
	key, _ := url.Parse(path)
	hand := url.Values{"key": {key.Query().Get("key")}, "nick": {"Ada"}}
	for range 2 { // each learner counts only once
		done := learner.post("/class/"+code+"/assigned", hand)
		said := words(done.Selection)
		if done.status != http.StatusOK || !strings.Contains(said, "Handed in: 1 of 2 tasks finished") {
			t.Fatalf(
				"handing in: got %d, %s; want %d, it containing %q", done.status, said, http.StatusOK,
				"Handed in: 1 of 2 tasks finished",
			)
		}
	}
	got := words(boss.get("/class/" + code + "/summary").Find("#work"))
	for _, want := range []string{
		"1 learner handed in.", "0 of 1", "1 of 1", "1 learner divided by the largest number, not by the sum",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the summary does not contain %q: %s", want, got)
		}
	}
	if strings.Contains(got, "Ada") {
		t.Error("the summary has a name that was not requested")
	}
	boss.do(code, "assign", "do", "practice/five", "names", "1")
	learner.post("/class/"+code+"/assigned", hand)
	if got := words(boss.get("/class/" + code + "/summary").Find("#work")); !strings.Contains(got, "Ada 1 of 1") {
		t.Errorf("the requested name is not in the summary: got %s, want it to contain %q", got, "Ada 1 of 1")
	}
}

// TestAssignmentNeedsItsKey: handing in needs the key and a cookie, and only the instructor
// can assign.
func TestAssignmentNeedsItsKey(t *testing.T) {
	t.Parallel()
	base := serve(t)
	boss, code := instructor(t, base, url.Values{"title": {"Nine"}})
	link, _ := boss.do(code, "assign", "do", "practice/five").Find("[data-assigned]").Attr("value")
	path := strings.TrimPrefix(link, base)
	address, _ := url.Parse(path)
	key := address.Query().Get("key")
	stranger := newPerson(t, base)
	if got := stranger.post("/class/"+code+"/assigned", url.Values{"key": {key}}); got.status != http.StatusForbidden {
		t.Errorf("without a cookie: got %d, want %d", got.status, http.StatusForbidden)
	}
	stranger.get("/")
	for _, bad := range []string{"", "x", key + "A"} {
		got := stranger.post("/class/"+code+"/assigned", url.Values{"key": {bad}})
		if got.status != http.StatusNotFound {
			t.Errorf("with key %q: got %d, want %d", bad, got.status, http.StatusNotFound)
		}
	}
	if got := stranger.post("/class/"+code+"/do", url.Values{"cmd": {"assign"}}); got.status != http.StatusForbidden {
		t.Errorf("assigning as a stranger: got %d, want %d", got.status, http.StatusForbidden)
	}
	if got := stranger.send(http.MethodGet, "/class/"+code+"/assign", nil, nil); got.status != http.StatusForbidden {
		t.Errorf("choosing as a stranger: got %d, want %d", got.status, http.StatusForbidden)
	}
	got := words(boss.get("/class/" + code + "/summary").Find("#work"))
	if !strings.Contains(got, "Nobody has handed anything in yet") {
		t.Errorf("the summary shows %s, want it to contain %q", got, "Nobody has handed anything in yet")
	}
}

// TestAssignByEveryHand: an instructor can assign tasks, and a learner can hand in results,
// by mouse, keyboard and touch. axe-core finds no faults on either page.
func TestAssignByEveryHand(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	base := serve(t)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, base+"/teach")
		hands := with(tab)
		hands.Press(`main form button.btn--main`)
		tab.Wait("the room", `location.pathname.endsWith("/made")`)
		room := strings.TrimSuffix(tab.URL(), "/made")
		tab.Go(room + "/assign")
		tab.Audit("assign")
		hands.Press(`input[value="practice/five"]`)
		hands.Press(`button[value="assign"]`)
		tab.Wait("the link", `document.querySelector("[data-assigned]")`)
		tab.Go(browser.Value[string](tab, `document.querySelector("[data-assigned]").value`))
		tab.Audit("assigned")
		hands.Press(`main form button.btn--main`)
		tab.WaitText(".toldline", "Handed in: 0 of 1 task finished.")
		tab.Go(room + "/summary")
		tab.Audit("summary")
		if got := tab.Text("#work"); !strings.Contains(got, "1 learner handed in.") {
			t.Errorf("the summary shows %q, want it to contain %q", got, "1 learner handed in.")
		}
	})
}
