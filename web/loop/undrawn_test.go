package loop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/wire"
)

var withhold = session.StepStage{Withhold: true}

// undrawn returns a run of "Once upon a time" whose first draw is withheld.
func undrawn(t *testing.T, seed uint64) *session.Session {
	t.Helper()
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	sessiontest.Do(t, s, session.SetKnob("seed", float64(seed)))
	sessiontest.Do(t, s, session.Start{Prompt: "Once upon a time"})
	for range 4 {
		sessiontest.Do(t, s, withhold)
	}
	if !s.State().Undrawn {
		t.Fatal("no draw is withheld")
	}
	return s
}

// shownOf returns everything that the server sends for a state, to a page and over its socket. It
// omits the seed and the link, which contains the seed.
func shownOf(t *testing.T, in view, st *session.State) string {
	t.Helper()
	timeless := *st
	timeless.Steps = slices.Clone(st.Steps)
	for i, step := range st.Steps {
		copied := *step
		clear(copied.Took[:])
		timeless.Steps[i] = &copied
	}
	st = &timeless
	var page strings.Builder
	shown := NewPage(lang, st)
	shown.View = in
	if err := PageHTML(shown).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	var m wire.Message
	if err := encodeAll((&htmlEncoder{words: lang, view: in}), &m, st); err != nil {
		t.Fatal(err)
	}
	message, err := json.Marshal(m.Panels)
	if err != nil {
		t.Fatal(err)
	}
	data := *m.Data.(*pageData)
	data.Link = ""
	rest, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	all := page.String() + string(message) + string(rest)
	return strings.ReplaceAll(all, fmt.Sprint(st.Settings.Seed), "SEED")
}

// TestWithheldDrawIsNotSent: nothing that is sent while a draw is withheld depends on its outcome.
// For two seeds with different draws, the data is the same byte for byte, except for the seed.
// After that the draw is sent, which shows that the comparison would detect it.
func TestWithheldDrawIsNotSent(t *testing.T) {
	t.Parallel()
	for _, in := range []view{numbersView, storyView} {
		const first = 777001
		one := undrawn(t, first)
		before := shownOf(t, in, one.State())
		drawn := sessiontest.Do(t, one, session.Draw{})
		for seed := uint64(first + 1); seed < first+20; seed++ {
			other := undrawn(t, seed)
			if got := shownOf(t, in, other.State()); got != before {
				at := 0
				for got[at] == before[at] {
					at++
				}
				from := max(0, at-40)
				t.Fatalf(
					"%s: with seed %d it is …%.80s…, want the same as with seed %d: …%.80s…", in, seed, got[from:],
					first, before[from:],
				)
			}
			if st := sessiontest.Do(t, other, session.Draw{}); shownOf(t, in, st) == shownOf(t, in, drawn) {
				t.Errorf(
					"%s, seed %d: u = %v and u = %v look the same, want them to differ once drawn", in, seed,
					st.Step().U, drawn.Step().U,
				)
			}
		}
	}
}

// TestExportsWithholdTheDraw: files saved while a draw is withheld contain neither its u
// nor its token.
func TestExportsWithholdTheDraw(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	s := undrawn(t, 42)
	link := session.LinkOf(s.State())
	for _, name := range []string{"text", "trace", "table"} {
		answer, err := x.http.Client().Get(x.http.URL + "/export/" + name + "?log=" + url.QueryEscape(link))
		if err != nil {
			t.Fatal(err)
		}
		saved, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf(
				"%s: got %v, %s, %s; want no error, answer.StatusCode = %d", name, err, answer.Status, saved,
				http.StatusOK,
			)
		}
		u := terms.Plain(sessiontest.Do(t, s, session.Draw{}).Step().U)[:6]
		if body := string(saved); strings.Contains(body, `"sample"`) || strings.Contains(body, u) {
			t.Errorf("%s has the draw, %s:\n%.400s\nwant it without %q and without %q", name, u, body, `"sample"`, u)
		}
	}
}

// TestBrowserWithholdsTheDraw: in a browser, the whole document, its title, its live regions
// and all messages of its socket contain neither u nor the chosen token until the draw is made.
func TestBrowserWithholdsTheDraw(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.Eval(`
		window.received = [];
		const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data').get;
		Object.defineProperty(MessageEvent.prototype, 'data', { configurable: true, get() {
			const text = data.call(this);
			received.push(String(text));
			return text;
		} })`)
	for n := 2; n <= 4; n++ {
		b.forward(n)
	}
	b.Keys(browser.ArrowRight)
	b.Until(atStage("5") + ` && ` + isUndrawn)
	st := x.onlyRun().Latest()
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	twin := session.New(st.Model, session.DefaultLimits())
	sessiontest.Do(t, twin, session.Open{Link: link})
	step := sessiontest.Do(t, twin, session.Draw{}).Step()
	u := terms.Prob(step.U)
	const everything = `document.title + document.documentElement.outerHTML +
		[...document.querySelectorAll('input')].map((input) => input.value).join(' ') + received.join(' ')`
	all := browser.Value[string](b.Tab, everything)
	if len(browser.Value[[]string](b.Tab, `received`)) == 0 {
		t.Fatal("the test saw no message of the socket")
	}
	for what, text := range map[string]string{
		"u": u, "u in full": terms.Plain(step.U)[:6], "the marker": `class="u"`, "the chosen row": "is-pick",
		"the chosen token": "tk--pick", "the next token": "tok--next is-known",
	} {
		if strings.Contains(all, text) {
			t.Errorf("before the draw, the page has %s, %q", what, text)
		}
	}
	if got := b.Text("#strip-next .tok"); !strings.Contains(got, "?") {
		t.Errorf("before the draw, the slot of the next token shows %q, want it to contain %q", got, "?")
	}
	if got := b.Text("#transport .btn--main"); !strings.Contains(got, "Let it fall") {
		t.Errorf("the main button is %q, want it to contain %q", got, "Let it fall")
	}
	b.Click("#transport .btn--main")
	b.Until(isDrawn)
	if all := browser.Value[string](b.Tab, everything); !strings.Contains(all, u) || !strings.Contains(all, "is-pick") {
		t.Errorf("after the draw, the page does not show u = %s or its token", u)
	}
	if st := x.onlyRun().Latest(); st.Step().U != step.U || st.Cursor.Stage != infer.KindSample {
		t.Errorf("after the draw: u = %v at %+v, want %v", st.Step().U, st.Cursor, step.U)
	}

	// The N key makes later draws without stopping.
	b.Keys("n")
	b.Until(atStage("7") + ` && ` + isDrawn)
	b.Keys("n")
	b.tokens(2)
}
