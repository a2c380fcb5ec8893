package why_test

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestScorePage: the page shows the same sums as viz score, and every token with its bits, both as
// pictures and in a table. Without a text, it shows an example that the model has scored, followed
// by the form with its settings folded. A text from the user is not called an example.
// Promise: The /score page shows the sums of `viz score`, and every token with its bits.
func TestScorePage(t *testing.T) {
	t.Parallel()
	site, m := webtest.Serve(t, webtest.Options{}), testmodel.Target(t)
	const text = "Once upon a time there was a <fox>."
	sum, err := m.ScoreAll(t.Context(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, status := open(t, site+"/score?text="+url.QueryEscape(text))
	facts := d.Find(".score__facts").Text()
	want := "tokens" + terms.Count(sum.Tokens) + "bits per token" + terms.Decimals(sum.BitsPerToken(), 2) +
		"perplexity" + terms.Decimals(sum.Perplexity(), 2) + "bits per byte" + terms.Decimals(sum.BitsPerByte(), 3) +
		"bits in total" + terms.Decimals(sum.Bits(), 1)
	if status != http.StatusOK || facts != want {
		t.Errorf("status %d, %q, want %q", status, facts, want)
	}
	tokens := len(m.Encode(text))
	if m.Config().BOS >= 0 {
		tokens--
	}
	if n, rows := d.Find(".surp__tk").Length(), d.Find("tbody tr").Length(); n != tokens || rows != tokens {
		t.Errorf("got %d tokens and %d rows, want %d of each", n, rows, tokens)
	}
	if got := d.Find("textarea").First().Text(); got != text {
		t.Errorf("the form has %q, want %q", got, text)
	}
	rowsHave(t, m, d, 0, text)
	opensWithAnExample(t, site)
}

// opensWithAnExample checks the page for a request without a text.
func opensWithAnExample(t *testing.T, site string) {
	t.Helper()
	d, status := open(t, site+"/score")
	const example = "The capital of France is Paris."
	if got := d.Find("#text").Text(); status != http.StatusOK || got != example {
		t.Errorf("status %d, the form has %q; want %d, %q", status, got, http.StatusOK, example)
	}
	rowsHave(t, testmodel.Target(t), d, 0, example)
	var order []string
	for _, e := range d.Find("main h1, main h2, main .surp, main form").EachIter() {
		name := goquery.NodeName(e)
		if e.Is("h1, h2") {
			name += " " + e.Text()
		}
		order = append(order, name)
	}
	want := []string{
		"h1 How well did the model expect this?", "h2 An example", "ol", "h2 Score your own text", "form",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the page has %q, want %q", order, want)
	}
	if n := d.Find("form > details:not([open])").Find("#t, #rules, #other, #u, #rules2").Length(); n != 5 {
		t.Errorf("got %d folded setting fields, want 5", n)
	}
	if got := d.Find("main form button").Text(); got != "Score this text" {
		t.Errorf("the button is %q, want %q", got, "Score this text")
	}
	d, _ = open(t, site+"/score?text=A+fox&rules=top_k%3D3")
	if got := d.Find("h2").First().Text(); got == "An example" || d.Find("form > details[open] #rules").Length() != 1 {
		t.Errorf("a text with rules is called %q, with its rules visible %d times; want them once, and no example", got,
			d.Find("form > details[open] #rules").Length())
	}
}

// rowsHave checks the bits of a side's tokens in the table of numbers against [infer.Model.Score].
func rowsHave(t *testing.T, m *infer.Model, d *goquery.Document, side int, text string) {
	t.Helper()
	list, err := m.Score(t.Context(), text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for n, token := range list {
		want := "–"
		if !token.First {
			want = terms.Decimals(-token.LogProb/math.Ln2, 1)
		}
		if got := d.Find("tbody tr").Eq(n).Find("td").Eq(2*side + 1).Text(); got != want {
			t.Errorf("token %d of side %d has %q bits in the table, want %s", n+1, side+1, got, want)
		}
	}
}

// TestScoreComparesTwo: a second text, or the same text at another temperature, is shown next
// to the first, with the divergence at each step. Identical texts do not diverge.
// Promise: The /score page compares two texts or temperatures, with the divergence at each step.
func TestScoreComparesTwo(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	for _, c := range []struct {
		query string
		names []string
		zero  bool
	}{
		{"text=The+dog+ran&other=The+cat+ran", []string{"First", "Second"}, false},
		{"text=The+dog+ran&other=The+dog+ran", []string{"First, at temperature 1", "Second, at temperature 1"}, true},
		{"text=The+dog+ran&t=1&u=0.5", []string{"First, at temperature 1", "Second, at temperature 0.5"}, false},
	} {
		d, status := open(t, site+"/score?"+c.query)
		sections := d.Find(".why__lens")
		if status != http.StatusOK || sections.Length() != 3 {
			t.Fatalf("%s: status %d, %d sections; want %d, 3", c.query, status, sections.Length(), http.StatusOK)
		}
		for i, name := range c.names {
			if got := sections.Eq(i).Find("h2").Text(); got != name {
				t.Errorf("%s: side %d is called %q, want %q", c.query, i, got, name)
			}
		}
		if texts, _ := url.ParseQuery(c.query); texts.Has("other") {
			rowsHave(t, testmodel.Target(t), d, 0, texts.Get("text"))
			rowsHave(t, testmodel.Target(t), d, 1, texts.Get("other"))
		}
		zero := true
		for _, cell := range d.Find("tbody [data-apart]").EachIter() {
			zero = zero && cell.Text() == "0.00"
		}
		if zero != c.zero || d.Find("tbody tr").Length() == 0 {
			t.Errorf(
				"%s: nothing diverges is %v: %q; want zero = %v, count of tbody tr not 0", c.query, zero,
				d.Find("tbody").Text(), c.zero,
			)
		}
	}
}

func TestScorePageRefusesBadInput(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	for query, want := range map[string]string{
		"text=" + strings.Repeat("a", 5000):           "5000 bytes long",
		"text=%ff":                                    "UTF-8",
		"text=a+b&t=x":                                "must be a number",
		"text=a+b&t=0":                                "0.1 to 10",
		"text=a+b&t=NaN":                              "0.1 to 10",
		"text=a+b&t=1e999":                            "must be a number",
		"text=a+b&rules=x":                            "is not a rule",
		"text=a+b&rules=top_k%3D1+top_k%3D2":          "is not a rule",
		"text=a+b&rules=x%3D1":                        "Unknown rule",
		"text=a+b&rules2=top_p%3D7":                   "above 0, up to 1",
		"text=a+b&rules=xtc_probability%3D1":          "has no single distribution",
		"text=a+b&rules=mirostat_tau%3D5":             "adapts to its own draws",
		"text=a+b&other=" + strings.Repeat("é", 3000): "6000 bytes long",
		"text=" + strings.Repeat("q+", 2000):          "tokens long",
	} {
		d, status := open(t, site+"/score?"+query)
		if say := d.Find("#score-error").Text(); status != http.StatusBadRequest || !strings.Contains(say, want) ||
			d.Find("[aria-invalid]").Length() != 1 || d.Find(".surp__tk").Length() != 0 {
			t.Errorf("%.30s: status %d, %q, want %q", query, status, say, want)
		}
	}
}

func TestScoreIsAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Chromebook, site+"/score")
	tab.Set("#other", "The capital of Spain is Paris.")
	tab.Click(".score__ask button")
	tab.Until(`document.querySelectorAll('.why__lens').length === 3`)
	tab.Click(".score__table summary")
	tab.Shot("score.png")
	tab.Audit("the page of scores")
	tab.Screen(browser.Phone)
	tab.FullShot("score-phone.png")
}

// TestScoreComparesSettings: two sets of rules are shown side by side. If one set cuts a token that
// the other keeps, the divergence at that step is infinite. The page says so, and also shows the
// divergence in the other direction.
func TestScoreComparesSettings(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	query := url.Values{"text": {"The capital of France is a"}, "rules2": {"top_k=1"}}
	d, status := open(t, site+"/score?"+query.Encode())
	rows := d.Find("tbody tr")
	if status != http.StatusOK || rows.Length() == 0 || d.Find("#rules2").AttrOr("value", "") != "top_k=1" {
		t.Fatalf(
			"status %d, %d rows; want status = %d, rows.Length() not 0, value of #rules2 = %q", status, rows.Length(),
			http.StatusOK, "top_k=1",
		)
	}
	for i, row := range rows.EachIter() {
		cells := row.Find("td")
		back, share := cells.Eq(cells.Length()-2).Text(), cells.Eq(cells.Length()-1).Text()
		if row.Find("[data-apart]").Text() != "∞" || back == "∞" || share == "–" {
			t.Errorf("row %d: got %q, want ∞ where the cut side has no share, and numbers elsewhere", i+1, row.Text())
		}
	}
	said := strings.Join(strings.Fields(d.Find("main").Text()), " ")
	for _, want := range []string{"it is infinite (∞)", "With top_k=1", "they would never write it"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}
