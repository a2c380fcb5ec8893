package classroom_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/shell"
)

// TestStoryViewIsPerScreen: newcomers see the Story on phones and on the wall. Each screen
// has its own switch, which leads back to the same page and whose setting is remembered.
func TestStoryViewIsPerScreen(t *testing.T) {
	t.Parallel()
	base := serveStory(t)
	p, code := instructor(t, base, url.Values{})
	room := "/class/" + code
	p.do(code, "start", "prompt", "Once upon a time there was a")
	p.do(code, "token")
	for range 3 {
		p.do(code, "forward")
	}
	phone := newPerson(t, base)
	views := func(p *person, want shell.View) {
		t.Helper()
		for _, path := range []string{"", "/projector", "?at=1.5", "/tour"} {
			at := room + path
			if path == "/tour" {
				at = "/tour/loop"
			}
			got := p.get(at)
			story, numbers := got.Find(".story, .ph__prose").Length() > 0, got.Find(".panel, .ph__strip").Length() > 0
			if story != (want == shell.Story) || numbers == story {
				t.Errorf("%s in %s: the page has the Story: %t, Numbers: %t; want only the chosen view",
					at, want, story, numbers)
			}
			if now := got.Find(`.view [aria-pressed="true"]`); now.First().AttrOr("value", "") != string(want) {
				t.Errorf("%s: the switch is set to %q, want %q", at, now.Text(), want)
			}
			if got.Find(`.view [name="back"]`).First().AttrOr("value", "") == "" {
				t.Errorf("%s: the switch has no target, want this page", at)
			}
		}
	}
	views(phone, shell.Story)
	shown := phone.get(room)
	if rail := words(shown.Find("#cl-rail")); rail != "Read Score Share Trim Draw Write Keep" &&
		rail != "ReadScoreShareTrimDrawWriteKeep" {
		t.Errorf("the stages are %q, want the seven verbs", rail)
	}
	if text := shown.Find("#cl-strip .prose").Text(); !strings.HasPrefix(text, "Once upon a time there was a ") {
		t.Errorf("the text is %q, want it to begin with %q", text, "Once upon a time there was a ")
	}
	back := shown.Find(`.view [name="back"]`).First().AttrOr("value", "")
	if got := phone.post("/view", url.Values{"view": {"numbers"}, "back": {back}}); got.status != http.StatusOK ||
		got.path != room {
		t.Errorf("the switch leads to %s, %d; want %s, %d", got.path, got.status, room, http.StatusOK)
	}
	views(phone, shell.Numbers)
	views(p, shell.Story) // the presenter's browser has its own choice
}

// TestStoryAndNumbersViewsAgree: at every stage with shares, the Story's shares are the shares in
// Numbers, rounded to whole percents, and its scores are the same to the last digit. This is
// true on a phone and on the wall, which also agree with each other.
func TestStoryAndNumbersViewsAgree(t *testing.T) {
	t.Parallel()
	base := serveStory(t)
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "The capital of")
	story, numbers := newPerson(t, base), newPerson(t, base)
	numbers.post("/view", url.Values{"view": {"numbers"}, "back": {"/"}})
	for stage, at := range []struct{ rows, share, number string }{
		2: {".shares li:not(.is-rest)", ".pct", "td.c3"},
		3: {".shares li:not(.is-rest)", ".pct", "td.p"},
		4: {".shares li:not(.is-rest)", ".pct", "td.q"},
		5: {".laid__twin li", "", "td.q"},
	} {
		if at.rows == "" {
			continue
		}
		p.do(code, "forward")
		said := map[string]string{}
		for _, screen := range []string{"", "/projector"} {
			where := fmt.Sprintf("stage %d, %q", stage, screen)
			shares := map[string]string{}
			for _, row := range story.get("/class/" + code + screen).Find("#panel " + at.rows).EachIter() {
				name, share := words(row.Find(".tk")), words(row.Find(at.share))
				if at.share == "" {
					share = strings.TrimSpace(strings.TrimPrefix(words(row), name))
				}
				if name != "" {
					shares[name] = share
				}
			}
			if len(shares) < 4 {
				t.Fatalf("%s: the Story names only %v", where, shares)
			}
			if said[""] == "" {
				said[""] = fmt.Sprint(shares)
			} else if got := fmt.Sprint(shares); got != said[""] {
				t.Errorf("%s: the wall shows %s, want %s, as on the phone", where, got, said[""])
			}
			seen := 0
			for _, row := range numbers.get("/class/" + code + screen).Find("#panel .tc tbody tr").EachIter() {
				name, number := row.AttrOr("data-token", ""), words(row.Find(at.number).First())
				share, ok := shares[name]
				if !ok {
					continue
				}
				seen++
				if stage == 2 && share != number || stage > 2 && !agree(t, share, number) {
					t.Errorf(
						"%s: %s has %s in the Story and %s in Numbers, want the same number", where, name, share,
						number,
					)
				}
			}
			if seen != len(shares) {
				t.Errorf("%s: got %d of %d shares in Numbers, want all: %v", where, seen, len(shares), shares)
			}
		}
	}
}

// agree reports whether a share in whole percent matches a probability with decimals. The
// Story rounds its shares so that they add up to 100%, so they can differ by one.
func agree(t *testing.T, share, p string) bool {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimLeft(p, "<>"), 64)
	if err != nil {
		t.Fatalf("Numbers has the probability %q", p)
	}
	if share == "<1%" {
		return x < 0.01
	}
	whole, err := strconv.ParseFloat(strings.Trim(share, ">%"), 64)
	if err != nil {
		t.Fatalf("the Story has the share %q", share)
	}
	return math.Abs(whole/100-x) <= 0.01
}
