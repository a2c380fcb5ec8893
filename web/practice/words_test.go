package practice

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// course selects the parts of the pages that contain course texts, tokens, or texts from packages
// coursework and session.
const course = `form.check, .goon, .course, .outs, dl.tally, .tasks .tickbox, .tasks--do, .drills__been b, .prose,
	.then > li > p:not(.then__back), .then__knew .then, option:not([value=""]), h2 bdi, .texts, .guess__given, .tk,
	.then__back, main.plain .acts, .guess__end, .is-token`

// TestEveryWordIsInTheCatalog requests the pages in the pseudo-language, which marks every word
// from a catalog. A word without a mark is hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	t.Parallel()
	s, l := newSite(t), pseudo.Language(t)
	check := func(what string, r *http.Request, data ...string) *goquery.Document {
		t.Helper()
		w := s.Do(r.WithContext(terms.With(t.Context(), l)))
		d, err := goquery.NewDocumentFromReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		d.Find(course).Remove()
		main, err := goquery.OuterHtml(d.Find("main"))
		if err != nil {
			t.Fatal(err)
		}
		left, err := pseudo.NewData(data).OfPage(main)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 || main == "" {
			t.Errorf("%s: got words that are in no catalog, want none: %q", what, left)
		}
		return d
	}
	get := func(path string, data ...string) *goquery.Document {
		return check(path, httptest.NewRequest(http.MethodGet, path, nil), data...)
	}
	post := func(path string, form url.Values, data ...string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		check(path, r, data...)
	}
	for _, path := range []string{
		"/practice", "/quiz", "/quiz?ten=99", "/quiz?all=1",
		"/quiz?kind=choice", "/quiz?outcome=none", "/cards", "/cards?card=none",
		"/cards/print", "/cards/fold", "/predict", "/predict?start=story", "/predict?start=none",
		"/predict?start=story&n=-1", "/predict?start=sure&n=40", "/then-and-now", "/progress", "/progress?done=deleted",
		"/progress?done=imported&visits=2&answers=1&reviews=1&guesses=1", "/progress?done=imported", "/assigned",
		"/assigned?do=practice/five&do=practice/none", "/practice/none", "/practice/five?seed=x",
		"/practice/five?level=9",
	} {
		get(path)
	}
	card := s.pages.Course.Cards[0].ID
	for _, grade := range []string{"good", "again", "perfect"} {
		post("/cards/review", url.Values{"card": {card}, "grade": {grade}, "key": {"key-" + grade}})
	}
	for i, pick := range []string{"", "0"} {
		form := url.Values{"start": {"story"}, "n": {strconv.Itoa(i)}, "sure": {"70"}}
		d := s.Get("/predict?start=story&n=" + strconv.Itoa(i))
		if pick != "" {
			pick = d.Find(`[name="pick"]`).AttrOr("value", "")
		}
		form.Set("pick", pick)
		post("/predict", form)
	}
	post("/progress/delete", url.Values{})
	for _, path := range []string{"/practice", "/cards", "/predict", "/then-and-now", "/progress"} {
		get(path)
	}
	for _, info := range drill.Kinds(terms.English) {
		for level := 1; level <= info.Levels; level++ {
			p, err := drill.New(l, info.Kind, uint64(level-1), level)
			if err != nil {
				t.Fatal(err)
			}
			checkDrill(t, p, post)
		}
	}
}

// checkDrill sends wrong and right answers to a drill.
func checkDrill(t *testing.T, p *drill.Problem, post func(path string, form url.Values, data ...string)) {
	t.Helper()
	data := tokensOf(p)
	answers := []string{"hello", "63.2%", "-1", "2 GiB", ""}
	for _, id := range p.Order() {
		answers = append(answers, p.Answer(id))
	}
	for i, id := range p.Order() {
		for _, a := range answers {
			v := p.Check(id, a)
			text := strings.Join([]string{v.Title, v.Why, v.Note, p.Cell(id).Label, p.Cell(id).Unit}, "\n")
			if left := pseudo.NewData(append(data, a)).Unmarked(text); len(left) > 0 {
				t.Errorf("%s, %s = %q: %q is in no catalog, want none: %q", p.Kind, id, a, left, text)
			}
		}
		if i%7 > 0 {
			continue
		}
		for _, do := range []string{"check", "hint", "work:" + id, "show", "worked"} {
			form := url.Values{"at": {id}, "cell": {id}, "do": {do}, "help": {"2"}, "step": {strings.Split(id, ".")[0]}}
			for _, other := range p.Order()[:i] {
				form.Set(other, p.Answer(other))
			}
			form.Set(id, answers[i%len(answers)])
			path := "/practice/" + string(p.Kind) + "/check?seed=" + strconv.FormatUint(p.Seed, 10) + "&level=" +
				strconv.Itoa(p.Level)
			post(path, form, append(data, answers...)...)
		}
	}
}

// tokensOf returns the texts in a drill that are not the program's own words: tokens, the names of
// number formats, and the unit of a wrong answer.
func tokensOf(p *drill.Problem) []string {
	data := []string{"fp16", "fp32", "int8", "gib"}
	for _, s := range p.Steps {
		for _, r := range s.Rows {
			if r.Token {
				data = append(data, strings.TrimSpace(r.Name))
			}
		}
	}
	if p.Kind == drill.Stops {
		data = append(data, "User:", "</answer>")
	}
	for _, id := range p.Order() {
		for _, o := range p.Cell(id).Options {
			if o.Token || id == "run.text" {
				data = append(data, strings.TrimSpace(o.Text))
			}
		}
	}
	return data
}
