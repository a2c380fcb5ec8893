package labs

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/stage"
)

// pseudoSite returns a site whose requests are in the pseudo-language.
func pseudoSite(t *testing.T) *site {
	t.Helper()
	s, l := newSite(t), pseudo.Language(t)
	s.pages.Context = t.Context()
	plain := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain.ServeHTTP(w, r.WithContext(terms.With(r.Context(), l)))
	})
	return s
}

// ownWords returns the texts on a lab's pages that are the same in every language.
func ownWords(t *testing.T) []string {
	t.Helper()
	target, draft := testmodel.Target(t), testmodel.Draft(t)
	return []string{
		target.Name(), draft.Name(), "Token by Token", "MHA", "GQA", "MQA", "int8", "Q4_0", "fp32", "fp16", "bf16",
		"int4",
		"min(1, p/q)", "GPT-2", "GPT-3", "GPT-4", "Claude 3", "Gemini 1.5 Pro", "Llama 2 7B", "Llama 2 70B",
		"Mistral 7B",
		"Radford et al. 2019", "Brown et al. 2020", "OpenAI 2023", "Anthropic 2024", "Gemini Team 2024",
		"Touvron et al. 2023", "Jiang et al. 2023",
		"max_tokens", "stop_string", "eos", "context", "segment", "filter", "greedy", // keys in raw rows
		// Prompts, stop strings and tokens.
		"Once there was a", "Once upon a time there was a", "There was a little old woman who", "or bo", "User",
		"answer",
		"young", "curious", "patient", "poor", "tired", "little", "tiny", "small", "boy", "girl",
		"Gemini 1.5 P…", "</answe…", // shortened in charts
		"tokens", "zero", // a field and its value
		"request", "unexpected end of JSON input", // JSON
	}
}

// checkWords fails the test if part of a page has a word that is in no catalog. Text from the model
// or the learner does not count.
func checkWords(t *testing.T, what, page string) {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	d.Find("head, nav, .top, .foot, template, .tk, .answer, textarea").Remove()
	d.Find(".rounds [title], .lane [title]").RemoveAttr("title")
	const data = ".about td, #s-straddle td, #s-ways td, #s-same td, tbody th, .lab__verdict b, .lab__say b, .racers b"
	d.Find(data).Each(func(_ int, e *goquery.Selection) {
		if !strings.ContainsAny(e.Text(), "⟦⟧") {
			e.Remove() // a token, a stop string or other data
		}
	})
	main, err := d.Find("body").Html()
	if err != nil {
		t.Fatal(err)
	}
	left, err := pseudo.NewData(ownWords(t)).OfPage(main)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range left {
		t.Errorf("%s: in no catalog: %s", what, words)
	}
}

// TestEveryWordIsInTheCatalog renders the pages of all labs before and after a run, as well as
// refusals and the live panels, in the pseudo-language, which marks every word from a catalog.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	s := pseudoSite(t)
	paths := []string{
		"/labs", "/labs/none", "/labs/cache?tokens=zero", "/labs/cache?run=1",
		"/labs/bill?request=%7B&was=x",
		"/labs/cache?model=other", "/labs/cache?run=1&guess=none&tokens=400&repeats=50",
		"/labs/cache/rows.csv?table=none",
		"/labs/cache?prompt=" + strings.Repeat("a", 600), "/labs/strategies?lanes=a", "/labs/memory?kv_heads=7",
		"/labs/memory?memory=1", "/labs/memory?batch=100", "/labs/draw?step=60",
	}
	for _, l := range lab.All() {
		name := l.Info(terms.English).Name
		paths = append(paths, "/labs/"+name, "/labs/"+name+"?run=1&sure=1&guess=none&"+small[name])
	}
	for _, path := range paths {
		w := s.do(http.MethodGet, path)
		checkWords(t, path, w.Body.String())
	}
	ctx := terms.With(t.Context(), pseudo.Language(t))
	w := stage.In(ctx)
	l, ok := lab.Find("bill")
	if !ok {
		t.Fatal("there is no bill")
	}
	f := &feed{p: s.pages, i: l.Info(w.Language), l: l, w: w}
	for _, c := range []map[string]string{{}, {"run": "1"}, {"max_tokens": "0"}, {"request": "{", "was": "x"}} {
		for _, p := range f.set(ctx, read(c)).Panels {
			checkWords(t, "panel "+p.ID, p.HTML)
		}
	}
	for _, r := range []*lab.Report{{}, {Canceled: true}, {Yielded: true}} {
		var b strings.Builder
		if err := runEnded(r, true).Render(ctx, &b); err != nil {
			t.Fatal(err)
		}
		checkWords(t, "the end of a run", b.String())
	}
	var b strings.Builder
	if err := running(lab.Progress{Say: lab.Text("labs.run.waiting", "n", 2)}).Render(ctx, &b); err != nil {
		t.Fatal(err)
	}
	checkWords(t, "a waiting run", b.String())
}
