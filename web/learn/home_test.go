package learn

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// loopOf runs the home page's prompt and settings directly on the engine.
func loopOf(t *testing.T, seed uint64) *infer.Loop {
	t.Helper()
	m := testmodel.Target(t)
	p, ok := sampling.PresetByKey(homePreset)
	if !ok {
		t.Fatal("no preset ", homePreset)
	}
	settings := infer.DefaultSettings()
	settings.Settings, settings.Seed, settings.Stop.MaxTokens = p.Settings, seed, homeTurns
	l, err := infer.NewLoop(m, homePrompt, settings)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestHomeTurnMatchesTheEngine: every number in a turn matches the engine's loop.
func TestHomeTurnMatchesTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	l := loopOf(t, 3)
	l.Rows = homeRows
	for n := 1; n <= 3; n++ {
		stages := map[infer.Kind]infer.Stage{}
		for range infer.Kinds {
			st, err := l.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			stages[st.Kind()] = st
		}
		d := s.Get(fmt.Sprintf("/learn/turn?seed=3&n=%d", n))
		filter, sample := stages[infer.KindFilter].(infer.Filter), stages[infer.KindSample].(infer.Sample)
		rows := d.Find("tbody tr")
		if rows.Length() != len(filter.Rows.Rows) {
			t.Fatalf("turn %d: %d rows, want %d", n, rows.Length(), len(filter.Rows.Rows))
		}
		rows.Each(func(i int, tr *goquery.Selection) {
			r := filter.Rows.Rows[i]
			want := []string{stage.TokenText(r.Token).String(), terms.Logit(float64(r.Z)), terms.Prob(r.P)}
			got := []string{tr.Find("th .tk").Text(), text(tr.Find("td").Eq(0)), text(tr.Find("td").Eq(1))}
			for j := range want {
				if got[j] != want[j] {
					t.Errorf("turn %d, row %d: %q, want %q", n, i, got[j], want[j])
				}
			}
			if tr.HasClass("is-pick") != (r.ID == sample.Chosen.ID) || tr.HasClass("is-cut") == r.Kept {
				t.Errorf("turn %d, row %d: wrongly marked, or not marked, as drawn or cut", n, i)
			}
		})
		chosen := stage.TokenText(sample.Chosen.Token).String()
		want := fmt.Sprintf("Draw: The marker fell on %s. That happens %.0f times in 100.", chosen, 100*sample.Chosen.Q)
		if got := text(d.Find(".say-5")); got != want {
			t.Errorf("turn %d: %q, want %q", n, got, want)
		}
		// The bars show p before the filters and p′ after them, since the sentence about the draw
		// mentions p′.
		first := filter.Rows.Rows[0]
		for at, p := range map[string]float64{
			".map__bars:not(.map__bars--4, .map__bars--5)": first.P, ".map__bars--4": first.Q, ".map__bars--5": first.Q,
		} {
			bars := d.Find(at + " .map__bar text")
			if got, want := text(bars.First()), terms.Percent(p); got != want || bars.Length() != 6 {
				t.Errorf("turn %d, %s: %q, want %q", n, at, got, want)
			}
		}
		if got := d.Find(".map__bar.is-pick").Length(); got != 1 || d.Find(".map__bars--5 .is-pick").Length() != 1 {
			t.Errorf("turn %d: %d bars are marked as picked, want one, at the draw", n, got)
		}
		if got := d.Find(".tok--gen").Length(); got != n {
			t.Errorf("turn %d: got %d generated tokens, want as many as the number of the turn", n, got)
		}
	}
}

// TestLessonsAreCountedAlike: the home page and the lessons count lessons in the same way. They
// do not count the overview, which has no number.
func TestLessonsAreCountedAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if got := text(s.Get("/").Find(`.ways a[href="/learn"]`)); !strings.Contains(got, "14 short lessons") {
		t.Errorf("the home page says %q, want 14 short lessons", got)
	}
	if got := text(s.Get("/learn/temperature").Find(".top")); !strings.Contains(got, "Lesson 6 of 14") {
		t.Errorf("the lesson's header says %q, want Lesson 6 of 14", got)
	}
}

// TestHomeRunEndsAndRestarts: a run continues turn by turn until it ends, and the page then shows
// the first turn of another run. An invalid turn in the address is replaced by the nearest valid
// one.
func TestHomeRunEndsAndRestarts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path, turns := "/?seed=8&n=1", 0
	for {
		d := s.Get(path)
		turns++
		turn := d.Find("#turn")
		path = d.Find("[data-next]").AttrOr("href", "")
		if _, last := turn.Attr("data-last"); last {
			break
		}
		if want := "/?n=" + strconv.Itoa(turns+1) + "&seed=8"; path != want {
			t.Fatalf("after turn %d: %s, want %s", turns, path, want)
		}
		if turns > homeTurns {
			t.Fatal("the run does not end")
		}
	}
	if path != "/?seed=1" {
		t.Errorf("after the end: got %s, want %s", path, "/?seed=1")
	}
	if s.pages.turns.run(terms.English, 8).session != nil {
		t.Error("a finished run still has its trace")
	}
	for _, ask := range []string{"seed=0&n=0", "seed=-5&n=x", "seed=99999999999999999999&n=1"} {
		d := s.Get("/learn/turn?" + ask)
		if got := d.Find("#turn").AttrOr("data-n", ""); got != "1" {
			t.Errorf("%s: turn %s, want %s", ask, got, "1")
		}
	}
}

// TestLeavingVisitorDoesNotSpoilHomeRun: a visitor who leaves while the model is working does not
// affect the run that others are watching.
func TestLeavingVisitorDoesNotSpoilHomeRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := s.Do(httptest.NewRequest("GET", "/learn/turn?seed=2&n=4", nil).WithContext(ctx))
	if w.Code == 200 {
		t.Error("the server worked on a request that had ended")
	}
	want := newSite(t).Get("/learn/turn?seed=2&n=4").Find("#turn .turn__text").Text()
	if got := s.Get("/learn/turn?seed=2&n=4").Find("#turn .turn__text").Text(); got != want {
		t.Errorf("after a visitor left: %q, want %q", strings.TrimSpace(got), strings.TrimSpace(want))
	}
}

// TestHomeRunIsShared: however many visitors watch the home page, the model generates each of its
// texts once.
func TestHomeRunIsShared(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made, model := 0, s.pages.turns.model
	s.pages.turns.model = func() *infer.Model {
		made++
		return model()
	}
	for range 5 {
		s.Get("/?seed=3&n=1")
		s.Get("/learn/turn?seed=3&n=2")
	}
	if done := len(s.pages.turns.run(terms.English, 3).done); made != 1 || done != 2 {
		t.Errorf("five visitors caused %d runs with %d turns; want 1 run with 2 turns", made, done)
	}
}

// TestHomeStartsAtAnUnsureTurn: if no turn is requested, the home page shows the first turn after
// the end of a sentence at which no token has a probability of one half or more. If the run has no
// such turn, the page shows the last one.
func TestHomeStartsAtAnUnsureTurn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	atLast := 0
	for seed := 1; seed <= homeSeeds; seed++ {
		l := loopOf(t, uint64(seed))
		l.Rows = 1
		want, sentence := 0, false
		for n := 1; want == 0; n++ {
			sure, ends, last := false, false, false
			for range infer.Kinds {
				st, err := l.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				switch st := st.(type) {
				case infer.Softmax:
					sure = st.Rows.Rows[0].P >= 0.5
				case infer.Append:
					ends, last = strings.ContainsAny(st.Text, ".!?"), st.Stop != infer.StopNone
				}
			}
			if last || sentence && !sure {
				want = n
			}
			if last {
				atLast++
			}
			sentence = sentence || ends
		}
		turn := s.Get(fmt.Sprintf("/?seed=%d", seed)).Find("#turn")
		if got := turn.AttrOr("data-n", ""); got != strconv.Itoa(want) {
			t.Errorf("seed %d: the page shows turn %s, want %d", seed, got, want)
		}
		if s := turn.Find(".turn__text").Text(); want > 1 && !strings.ContainsAny(s, ".!?") {
			t.Errorf("seed %d: no sentence in %q", seed, s)
		}
	}
	if atLast > homeSeeds/4 {
		t.Errorf("%d runs of %d have no unsure turn after a sentence", atLast, homeSeeds)
	}
}

// TestHomeFormWithoutScripts: the home page has one field, one black button, and openings to choose
// from. All of them work without scripts.
func TestHomeFormWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.Get("/?seed=2")
	form := d.Find("main form")
	field := form.Find("input")
	if form.AttrOr("action", "") != "/loop" || form.AttrOr("method", "") != "get" || field.Length() != 1 ||
		field.AttrOr("name", "") != "prompt" || field.AttrOr("value", "") != session.OpeningOf(session.Tale, 2).Text {
		t.Errorf("the form is %s, want one field named prompt, with an opening, that leads to the Loop", form.Text())
	}
	if n := d.Find("main .btn--main").Length(); n != 1 {
		t.Errorf("got %d black buttons, want 1", n)
	}
	for n := range 3 {
		want := session.OpeningOf(session.Tale, 3+n).Text
		a, to := d.Find(".starters a").Eq(n), "/loop?prompt="+url.QueryEscape(want)
		if a.Text() != want || a.AttrOr("href", "") != to {
			t.Errorf("opening %d is %q, to %s; want %q, %s", n, a.Text(), a.AttrOr("href", ""), want, to)
		}
	}
	if d.Find(".door__back").Length() != 0 {
		t.Error("a new visitor is welcomed back")
	}
	if says := d.Find(".starters").Text(); !strings.Contains(says, "I know fairy tales best.") {
		t.Errorf(
			"the page does not state what the bundled model knows: got %q, want it to contain %q", says,
			"I know fairy tales best.",
		)
	}
}
