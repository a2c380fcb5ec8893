package labs

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// small contains settings for quick runs of the labs whose defaults are slow.
var small = map[string]string{
	"strategies":   "tokens=8&runs=2&horizon=2&passes=200",
	"draw":         "draws=10000&repeats=2",
	"cache":        "tokens=8&repeats=1",
	"memory":       "tokens=8",
	"prefill":      "lengths=1,8,16&tokens=8&repeats=1",
	"bill":         "max_tokens=8&try_max_tokens=4",
	"speculation":  "tokens=12&gammas=1,2&gamma=2&repeats=1&rounds=200",
	"stops":        "tokens=24&max_tokens=12",
	"quantization": "tokens=8&repeats=1",
	"induction":    "rows=1&length=8&off=2",
}

// TestEveryLabByForm: every lab works without scripts. Its page shows the prediction, charts with
// their tables, links to the raw rows, and a link to the same settings.
func TestEveryLabByForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		t.Run(i.Name, func(t *testing.T) {
			s.t = t
			guessed, asks := guess.Choice{Key: guess.None}, len(faces[i.Name].Choices) > 0
			if asks {
				guessed = faces[i.Name].Choices[0]
			}
			d := s.get("/labs/"+i.Name+"?"+small[i.Name]+"&run=1&sure=1&guess="+guessed.Key, http.StatusOK)
			if say := text(d.Find("#lab-trouble")); say != "" {
				t.Fatalf("the page reports %q, want no error", say)
			}
			if d.Find("#lab-results .part").Length() == 0 {
				t.Fatalf("no results:\n%s", text(d.Find("main")))
			}
			if got := text(d.Find(".verdict")); asks && (!strings.Contains(got,
				"You said "+stage.English.T(guessed.Text)) ||
				!strings.Contains(got, "Measured")) {
				t.Errorf("got the verdict %q, want the guess in words and the measurement", got)
			}
			d.Find(".chart").Each(func(_ int, c *goquery.Selection) {
				if c.Find(`svg[role="img"] title`).Length() == 0 || c.Find("table.grid tbody tr").Length() == 0 {
					t.Errorf("a chart lacks its text alternative: %s", text(c))
				}
			})
			if d.Find("[style]").Length() > 0 || d.Find("[onclick]").Length() > 0 {
				t.Error("the page has inline styles or scripts")
			}
			if !strings.Contains(text(d.Find(".lab__foot")), i.Includes) {
				t.Error("the page does not state what the measurement includes")
			}
			s.checkRows(d)
			s.checkLink(d, i)
		})
	}
}

// checkRows follows every link to raw rows.
func (s *site) checkRows(d *goquery.Document) {
	links := d.Find(".about__rows a")
	if links.Length() == 0 {
		s.t.Error("the page has no link to raw rows")
	}
	links.Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		w := s.do(http.MethodGet, href)
		text, marked := strings.CutPrefix(w.Body.String(), "\ufeff")
		table := csv.NewReader(strings.NewReader(text))
		if strings.HasSuffix(href, "&decimal=comma") || strings.Contains(href, "decimal=comma&") {
			table.Comma = ';'
		}
		rows, err := table.ReadAll()
		if !marked || len(rows) > 0 && len(rows[0]) < 2 {
			s.t.Errorf("%s: got %.60q, want a byte order mark and several columns", href, w.Body.String())
		}
		if w.Code != http.StatusOK || err != nil || len(rows) < 2 {
			s.t.Errorf(
				"%s: got %d, %d rows, %v; want %d, at least 2, <nil>", href, w.Code, len(rows), err, http.StatusOK,
			)
		}
		if got := w.Header().Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=") ||
			!strings.HasSuffix(got, `.csv"`) {
			s.t.Errorf(
				"%s: got %s; want it beginning with %q, it ending with %q", href, got, "attachment; filename=", `.csv"`,
			)
		}
	})
}

// checkLink checks that the link opens the same settings and the saved report without another run.
func (s *site) checkLink(d *goquery.Document, i lab.Info) {
	href, _ := d.Find(".lab__link").Attr("href")
	again := s.get(href, http.StatusOK)
	if again.Find("#lab-results .part").Length() != d.Find("#lab-results .part").Length() {
		s.t.Errorf("%s does not show the saved report", href)
	}
	asked, err := url.ParseQuery(small[i.Name])
	if err != nil {
		s.t.Fatal(err)
	}
	for name := range asked {
		if got, _ := again.Find(`[name="` + name + `"]`).Attr("value"); got != asked.Get(name) {
			s.t.Errorf("%s: %s is %q, want %q", href, name, got, asked.Get(name))
		}
	}
}

// TestFiltersAreGrouped: the temperature and all filters are among the additional settings.
func TestFiltersAreGrouped(t *testing.T) {
	t.Parallel()
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		f := newForm(stage.English, i, i.Inputs.Defaults(), "", nil)
		for _, c := range f.Main {
			if _, ok := sampling.Pure.Value(c.Key); ok {
				t.Errorf("%s: %s is among the first settings, want it among the further ones", i.Name, c.Key)
			}
		}
	}
}

// TestLaneStepShowsRankAndPlace: if typical-p cuts the most probable tokens, a token's rank is not
// its position among the tokens that are kept.
func TestLaneStepShowsRankAndPlace(t *testing.T) {
	t.Parallel()
	step := lab.LaneStep{Step: 3, Token: lab.Token{Text: " a"}, Rank: 15, P: 0.01, From: 0.9, To: 1, Kept: 11}
	want := "token 3, “·a”: p 0.0100, rank 15, one of 11 kept; u = 0.9500 falls between 0.9000 and 1.0000"
	if got := stepText(stage.English, step, []float64{0, 0, 0.95}); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	step.Kept = 1
	if got := stepText(stage.English, step, nil); got != "token 3, “·a”: p 0.0100, rank 15, the only one kept" {
		t.Errorf("alone: got %q, want %q", got, "token 3, “·a”: p 0.0100, rank 15, the only one kept")
	}
}

// TestListOfLabs: every lab is listed with its question and a link.
func TestListOfLabs(t *testing.T) {
	t.Parallel()
	d := newSite(t).get("/labs", http.StatusOK)
	doors := d.Find(".door a")
	if doors.Length() != len(lab.All()) {
		t.Fatalf("got %d links to labs, want %d", doors.Length(), len(lab.All()))
	}
	for n, l := range lab.All() {
		i := l.Info(terms.English)
		if href, _ := doors.Eq(n).Attr("href"); href != "/labs/"+i.Name || !strings.Contains(
			text(d.Find(".door").Eq(n)), i.Question,
		) {
			t.Errorf("link %d leads to %s, want it to lead to the lab %s and show its question", n, href, i.Name)
		}
	}
	if d.Find(`.nav [aria-current="page"]`).Text() != "Labs" {
		t.Error("the navigation does not mark the current section")
	}
}

// TestRefusedValueKeepsTheInput: if a value is invalid, the page marks the field and keeps what was
// typed.
func TestRefusedValueKeepsTheInput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for query, c := range map[string]struct{ field, say string }{
		"tokens=zero&run=1&guess=none": {"tokens", `Tokens to write is "zero"`},
		"tokens=3000":                  {"tokens", "1 to 2048 tokens"},
		"temperature=-1":               {"temperature", "Temperature is -1"},
	} {
		d := s.get("/labs/cache?"+query, http.StatusBadRequest)
		if got := text(d.Find("#err-" + c.field)); got == "" || !strings.Contains(got, c.say) {
			t.Errorf("%s: got the message %q, want %q", query, got, c.say)
		}
		if _, marked := d.Find(`[name="` + c.field + `"]`).Attr("aria-invalid"); !marked {
			t.Errorf("%s: the field is not marked", query)
		}
		q, _ := url.ParseQuery(query)
		if got, _ := d.Find(`[name="` + c.field + `"]`).Attr("value"); got != q.Get(c.field) {
			t.Errorf("%s: the field has %q, want %q", query, got, q.Get(c.field))
		}
	}
	if d := s.get("/labs/cache?temperature=-1", http.StatusBadRequest); d.Find("details.more[open]").Length() != 1 {
		t.Error("the error is hidden in the closed further settings")
	}
	s.get("/labs/cache?nonsense=1", http.StatusBadRequest)
	if got := text(s.get("/labs/cache?run=1",
		http.StatusBadRequest).Find("#guess-error")); got != stage.English.T("labs.guess.missing") {
		t.Errorf("without a prediction: got %q, want %q", got, stage.English.T("labs.guess.missing"))
	}
	if d := s.get(
		"/labs/cache?run=1&guess=none&tokens=400&repeats=50", http.StatusOK,
	); d.Find(".ask button[name=sure]").Length() != 1 {
		t.Error("the page does not ask before a large run")
	}
	d := s.get("/labs/bill?request=%7B&was=x", http.StatusBadRequest)
	if text(d.Find("#err-request")) == "" || !strings.Contains(d.Find("#f-request").Text(), "{") {
		t.Error("the error in the JSON is not shown next to it")
	}
}

// TestJSONByForm: without scripts, a run uses the JSON if it was edited.
func TestJSONByForm(t *testing.T) {
	t.Parallel()
	d := newSite(t).get(
		"/labs/bill?max_tokens=96&was=x&request="+url.QueryEscape(`{"prompt":"Once upon","max_tokens":5}`),
		http.StatusOK,
	)
	if got, _ := d.Find("#f-max_tokens").Attr("value"); got != "5" {
		t.Errorf("max_tokens is %q, want %q", got, "5")
	}
	if got := strings.TrimSpace(d.Find("#f-prompt").Text()); got != "Once upon" {
		t.Errorf("the prompt is %q, want %q", got, "Once upon")
	}
}

// TestPresetsAreValid: both presets of every lab are valid settings, and every prediction can be
// judged. A lab that asks for no prediction shows its results immediately.
func TestPresetsAreValid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, l := range lab.All() {
		i := l.Info(terms.English)
		d := s.get("/labs/"+i.Name, http.StatusOK)
		if n := d.Find(".try a").Length(); n != 2 {
			t.Errorf("%s: got %d presets to try, want 2", i.Name, n)
		}
		d.Find(".try a").Each(func(_ int, a *goquery.Selection) {
			href, _ := a.Attr("href")
			s.get(href, http.StatusOK)
		})
		g := faces[i.Name]
		if asks := g.Ask != ""; !asks && g.tiles == nil || asks && g.Rings == (len(g.Choices) > 1 && g.truth != nil) {
			t.Errorf("%s neither has results at once nor asks for a prediction", i.Name)
		}
		if i.Friend != "" && d.Find(".lab__friend").Length() != 1 {
			t.Errorf("%s: the page does not end with its sentence for a friend", i.Name)
		}
		if i.Claim == "" {
			t.Errorf("%s has no claim", i.Name)
		}
	}
}

// TestSpeculationWithoutADraft: without a draft, the speculation lab shows a message and does not
// run.
func TestSpeculationWithoutADraft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.Draft = nil
	d := s.get("/labs/speculation?run=1&guess=none&sure=1&"+small["speculation"], http.StatusBadRequest)
	if say := text(d.Find("#lab-trouble")); !strings.Contains(say, "draft") {
		t.Errorf("got the message %q, want it to contain %q", say, "draft")
	}
	asked := 0
	s.pages.Draft = func() (*pool.Slot, error) { asked++; return nil, errors.New("it has not arrived") }
	d = s.get("/labs/speculation?run=1&guess=none&sure=1&"+small["speculation"], http.StatusBadRequest)
	if say := text(d.Find("#lab-trouble")); !strings.Contains(say, "It has not arrived.") || asked != 1 {
		t.Errorf(
			"with a draft that does not load, loaded %d times: %q; want 1, containing %q", asked, say,
			"It has not arrived.",
		)
	}
	s.get("/labs/cache?run=1&guess=none&sure=1&"+small["cache"], http.StatusOK)
	s.get("/labs/speculation", http.StatusOK)
	if asked != 1 {
		t.Errorf("the draft was loaded for a lab that does not need it, or for a page before its run")
	}
}

// TestReportsArePrivateAndBounded: only the newest reports are kept, and only the learner who ran a
// lab sees its report.
func TestReportsArePrivateAndBounded(t *testing.T) {
	t.Parallel()
	k := newReportCache(2)
	l, _ := lab.Find("cache")
	i := l.Info(terms.English)
	reports := map[string]*lab.Report{}
	for _, tokens := range []string{"1", "2", "3"} {
		v, err := i.Inputs.Read(terms.Values{"tokens": tokens})
		if err != nil {
			t.Fatal(err)
		}
		reports[tokens] = &lab.Report{Values: v}
		k.keep("a", i, reports[tokens])
	}
	if k.find("a", i, reports["1"].Values) != nil || k.find(
		"a", i, reports["2"].Values,
	) != reports["2"] || k.find("a", i, reports["3"].Values) != reports["3"] {
		t.Error("the cache does not hold exactly the two newest reports")
	}
	if k.find("b", i, reports["3"].Values) != nil {
		t.Error("got someone else's report")
	}
}

// TestCrossSiteAndQueueLimits: a link on another site cannot start a run, and a measurement is
// refused if too many others are waiting.
func TestCrossSiteAndQueueLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := "/labs/draw?run=1&guess=none&" + small["draw"]
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), `class="about"`) {
		t.Error("a link on another site started a run")
	}
	r = httptest.NewRequest(http.MethodGet, "/labs/draw/rows.csv?"+small["draw"], nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w = httptest.NewRecorder()
	if s.handler.ServeHTTP(w, r); w.Code != http.StatusForbidden || s.pages.kept.order.Len() != 0 {
		t.Errorf("rows for another site: status %d", w.Code)
	}
	_, leave, err := s.pages.queue.Enter(context.Background(), admission.Caller{Learner: "someone"}, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for i := range admission.DefaultLimits().Labs.Most {
		in := make(chan struct{})
		waiting.Go(func() {
			once := sync.OnceFunc(func() { close(in) })
			who := admission.Caller{Learner: fmt.Sprint(i)}
			if _, _, err := s.pages.queue.Enter(ctx, who, 0, func(int) { once() }); err == nil {
				t.Error("two measurements ran at the same time")
			}
		})
		<-in
	}
	d := s.get(path, http.StatusServiceUnavailable)
	if say := text(d.Find("#lab-trouble")); !strings.Contains(say, "Too many measurements") {
		t.Errorf("got the message %q, want it to contain %q", say, "Too many measurements")
	}
	cancel()
	waiting.Wait()
	leave()
	s.get(path, http.StatusOK)
}
