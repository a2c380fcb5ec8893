package practice

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// storyRun returns the state of the course's run "story" after the given number of tokens.
func (s *site) storyRun(tokens int) *session.State {
	s.T.Helper()
	run := session.New(s.pages.Model, session.DefaultLimits())
	commands := startOf(s.pages.Course.Start("story"))
	for range tokens {
		commands = append(commands, session.StepToken{})
	}
	st, err := apply(context.Background(), run, commands...)
	if err != nil {
		s.T.Fatal(err)
	}
	return st
}

// hand returns the token ids of the candidates on a page.
func hand(t *testing.T, d *goquery.Document) (ids []int) {
	for _, c := range d.Find(`[name="pick"]`).EachIter() {
		ids = append(ids, atoi(t, c.AttrOr("value", "")))
	}
	return ids
}

var decimal = regexp.MustCompile(`[01]\.\d{3}|[<>]0\.|\d%\s*of`)

// TestPredictHidesTheAnswer: before the guess, the page contains no probability, and nothing
// distinguishes the next token from the other candidates.
// Promise: Before you guess the next token, the page contains no probability.
func TestPredictHidesTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ranked := 0 // number of pages whose candidates are ordered by probability
	for _, n := range []int{0, 1, 7} {
		path := "/predict?start=story&n=" + strconv.Itoa(n)
		body := s.Do(httptest.NewRequest(http.MethodGet, path, nil)).Body.String()
		main := body[strings.Index(body, "<main"):strings.Index(body, "</main>")]
		if found := decimal.FindString(main); found != "" {
			t.Errorf(`n = %d: the page holds %q, want ""`, n, found)
		}
		st := s.storyRun(n + 1)
		step := st.Steps[n]
		if p := terms.Prob(step.P); strings.Contains(main, p) {
			t.Errorf("n = %d: the page contains the probability %s, want none before the guess", n, p)
		}
		d := s.Get(path)
		ids := hand(t, d)
		if len(ids) != predictHand {
			t.Fatalf("got %d candidates, want %d", len(ids), predictHand)
		}
		found := 0
		for _, id := range ids {
			if id == step.Chosen {
				found++
			}
		}
		if found != 1 {
			t.Errorf("n = %d: the next token occurs %d times in %v; want 1", n, found, ids)
		}
		dist := step.Distribution()
		if slices.IsSortedFunc(ids, func(a, b int) int { return dist.RankOf(int32(a)) - dist.RankOf(int32(b)) }) {
			ranked++
		}
		shapes := map[string]int{} // all candidates must look the same except for text and number
		for _, c := range d.Find(".hand__card input").EachIter() {
			shapes[strings.Join(
				[]string{c.AttrOr("class", ""), c.AttrOr("type", ""), c.Parent().AttrOr("class", "")}, "|",
			)]++
		}
		if len(shapes) != 1 {
			t.Errorf("candidates look different: got %v, want 1 element", shapes)
		}
	}
	if ranked == 3 {
		t.Error("on every page, the candidates are in the order of their probabilities")
	}
}

// TestPredictScoresTheGuess: a guess receives its logarithmic score and is saved only once, and the
// page shows the numbers that the model computed.
func TestPredictScoresTheGuess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	step := s.storyRun(3).Steps[2]
	other := func(step *infer.Step) string { // a candidate that is not drawn
		list := hand(t, s.Get(fmt.Sprintf("/predict?start=story&n=%d", step.N-1)))
		return strconv.Itoa(list[slices.IndexFunc(list, func(id int) bool { return id != step.Chosen })])
	}
	form := url.Values{"start": {"story"}, "n": {"2"}, "pick": {strconv.Itoa(step.Chosen)}, "sure": {"80"}}
	d := s.Parse("/predict", s.Post("/predict", false, form), http.StatusOK)
	if d.Find(".reveal__again").Length() != 0 {
		t.Error("the page claims that the first guess does not count")
	}
	if got := text(d.Find(".reveal__log")); got != "−0.22" { // ln 0.8 = −0.2231
		t.Errorf("the score is %s, want %s", got, "−0.22")
	}
	dist := step.Distribution()
	if got := text(d.Find(".is-pick td").Eq(1)); got != terms.Prob(dist.P[step.Chosen]) {
		t.Errorf("the p of the drawn token is %s, want %s", got, terms.Prob(dist.P[step.Chosen]))
	}
	if got := d.Find("#predict-next").AttrOr("href", ""); got != "/predict?n=3&start=story" {
		t.Errorf("the link to the next token is %s, want %s", got, "/predict?n=3&start=story")
	}
	form.Set("pick", other(step))
	form.Set("sure", "30")
	d = s.Parse("/predict", s.Post("/predict", false, form), http.StatusOK)
	if got := text(d.Find(".reveal__log")); got != "−0.36" { // ln 0.7 = −0.3567
		t.Errorf("the score of the wrong guess is %s, want %s", got, "−0.36")
	}
	if !strings.Contains(text(d.Find(".reveal__again")), "first guess is the one that counts") {
		t.Error("the page does not state that a second guess of a token does not count")
	}
	form.Set("n", "3")
	form.Set("sure", "80")
	form.Set("pick", other(s.storyRun(4).Steps[3]))
	s.Parse("/predict", s.Post("/predict", false, form), http.StatusOK)
	c, err := s.pages.Progress.Calibration(context.Background(), courseworktest.Learner)
	if err != nil {
		t.Fatal(err)
	}
	if want := (math.Log(0.8) + math.Log(0.2)) / 2; c.N != 2 || c.Right != 1 || !(math.Abs(c.Score-want) <= 1e-9) {
		t.Errorf("saved %+v, want 2 guesses and a mean score of %g", c, want)
	}
	if d.Find("#calibration svg circle").Length() != 1 || d.Find("#calibration tbody tr").Length() == 0 {
		t.Error("the calibration chart or its table is missing")
	}
}

// TestPredictedRoundsKeepTheirIDs: a round whose guess was saved before typical-p existed is still
// recognized, so that a second guess does not count. The ids in this test were assigned by the
// program at commit 3b5ab6c.
func TestPredictedRoundsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	cut := infer.Settings{
		Settings: sampling.Settings{Temperature: 0.7, TopK: 40, TopP: 0.9, MinP: 0.05}, Seed: 42,
		Stop: infer.Stop{MaxTokens: 64, Strings: []string{"The end", "\n"}},
	}
	wide := infer.DefaultSettings()
	wide.Temperature, wide.TopK = 1e-7, 4_000_000
	round := func(prompt string, s infer.Settings, chosen int, made ...stage.Text) *predictRound {
		return &predictRound{Prompt: prompt, Made: made, step: &infer.Step{Chosen: chosen, Settings: s}}
	}
	old := round(`Once "upon`, cut, 265, stage.Text{{S: " a"}}, stage.Text{{S: " time"}})
	for _, c := range []struct {
		round *predictRound
		want  string
	}{
		{old, "zlYBK4rSdWKDjIUz"},
		{round("p", infer.DefaultSettings(), 1), "2XusSWDfuBkzEnea"},
		{round("p", wide, 1), "9IsyKuRGvOGSGlNJ"},
	} {
		if got := c.round.id(); got != c.want {
			t.Errorf("%+v has the id %s, want %s", c.round.step.Settings, got, c.want)
		}
	}
	was := old.id()
	old.step.Settings.TypicalP = 0.2
	if old.id() == was {
		t.Error("rounds with and without typical-p have the same id")
	}
	was = old.id()
	old.step.Settings.RepetitionPenalty = 1.2
	if old.id() == was {
		t.Error("rounds with and without a repetition penalty have the same id")
	}
}

// TestPredictFromALink: a round that starts from a link to the Loop asks for the first token after
// the stage in the link.
func TestPredictFromALink(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := session.New(s.pages.Model, session.DefaultLimits())
	commands := append(
		startOf(s.pages.Course.Start("story")), session.StepToken{}, session.StepToken{}, session.StepToken{},
	)
	if _, err := apply(context.Background(), run, commands...); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		stage infer.Kind
		token string
	}{{infer.KindSoftmax, "token 2"}, {infer.KindSample, "token 3"}, {infer.KindCache, "token 3"}} {
		st, err := run.Apply(context.Background(), session.Seek{Step: 2, Stage: at.stage})
		if err != nil {
			t.Fatal(err)
		}
		d := s.Get("/predict?" + url.Values{"log": {session.LinkOf(st)}}.Encode())
		if got := text(d.Find(".guess__title small")); got != at.token {
			t.Errorf("at %v: %s, want %s", at.stage, got, at.token)
		}
	}
	for path, status := range map[string]int{
		"/predict?start=none": 404, "/predict?log=damaged": 400, "/predict?start=story&n=-1": 400,
		"/predict?start=story&n=201": 400,
	} {
		if w := s.Do(httptest.NewRequest(http.MethodGet, path, nil)); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
	for _, form := range []url.Values{
		{"start": {"story"}, "pick": {"1"}, "sure": {"101"}}, {"start": {"story"}, "pick": {"1"}, "sure": {"x"}},
	} {
		if w := s.Post("/predict", false, form); w.Code != http.StatusBadRequest {
			t.Errorf("%v: got %d, want %d", form, w.Code, http.StatusBadRequest)
		}
	}
	d := s.Parse("/predict", s.Post("/predict", false, url.Values{"start": {"story"}, "sure": {"60"}}), http.StatusOK)
	if d.Find(".field-error").Text() == "" || d.Find("#reveal").Length() != 0 {
		t.Error("a form without a guess reveals the answer")
	}
}

// TestPredictMarksCutTokens: typical-p cuts the most probable tokens here. Tokens that the run
// could not have drawn are marked as cut in the table, whatever their rank.
func TestPredictMarksCutTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	settings := infer.Settings{Settings: sampling.Pure, Seed: 1, Stop: infer.Stop{MaxTokens: 4}}
	settings.TypicalP = 0.2
	run := session.New(s.pages.Model, session.DefaultLimits())
	_, err := apply(
		context.Background(), run,
		append(session.Begin(settings, "Once upon a time there was a"), session.StepToken{})...,
	)
	if err != nil {
		t.Fatal(err)
	}
	st, err := run.Apply(context.Background(), session.Seek{Step: 1, Stage: infer.KindForward})
	if err != nil {
		t.Fatal(err)
	}
	d := st.Steps[0].Distribution()
	pick := strconv.Itoa(st.Steps[0].Chosen)
	page := s.Parse("/predict", s.Post("/predict", false, url.Values{
		"log": {session.LinkOf(st)}, "pick": {pick}, "sure": {"50"},
	}), http.StatusOK)
	rows := page.Find("#reveal tbody tr")
	if rows.Length() != predictHand || d.Stays(0) {
		t.Fatalf("got %d rows; the first token is kept: %v; want %d, false", rows.Length(), d.Stays(0), predictHand)
	}
	kept := 0
	for _, row := range rows.EachIter() {
		rank := atoi(t, row.Find("td").Eq(0).Text())
		if row.HasClass("is-cut") == d.Stays(rank-1) {
			t.Errorf("rank %d: kept %v, and the row is %q; want cut rows marked", rank, d.Stays(rank-1), text(row))
		}
		if d.Stays(rank - 1) {
			kept++
		}
	}
	if kept == 0 || kept == predictHand {
		t.Errorf("%d of %d candidates are kept, so the test proves little", kept, predictHand)
	}
}

// TestPredictStopsAtTheEndOfText: after the end of the text, there is nothing to guess.
func TestPredictStopsAtTheEndOfText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	start := s.pages.Course.Start("sure") // at most 16 tokens
	d := s.Get("/predict?start=sure&n=" + strconv.Itoa(start.Settings.Stop.MaxTokens+1))
	if d.Find(".guess__end").Text() == "" || d.Find("#guess").Length() != 0 {
		t.Errorf(
			"after the end of the text, the page shows %s, want only a message about it", text(d.Find(".guess")),
		)
	}
}
