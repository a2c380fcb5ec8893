package why_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Suite{M: m}) }

// open requests a page and returns it as a document, with its status.
func open(t *testing.T, address string) (*goquery.Document, int) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d, resp.StatusCode
}

func at(query ...string) string {
	v := url.Values{}
	for i := 0; i < len(query); i += 2 {
		v.Set(query[i], query[i+1])
	}
	return "/why?" + v.Encode()
}

// TestDisabledPartsChangeThePrediction: the page shows the sum with the same numbers as the
// mock-up. If parts are off, it also shows the changed prediction. Each part's button contains the
// address that opens when the button is pressed.
func TestDisabledPartsChangeThePrediction(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	d, status := open(t, site+"/why")
	if first := goquery.NodeName(d.Find("main h1, main form").First()); first != "h1" {
		t.Errorf("the page begins with a %s, want its title and the sum before the form", first)
	}
	if status != http.StatusOK || !strings.Contains(d.Find(".why__head").Text(), "21.30") ||
		d.Find("tbody .part").Length() != 42 || d.Find(".parts thead .part").Length() != 6 {
		t.Fatalf(
			"status %d, %d parts: %s; want status = %d, text of .why__head with %q, count of tbody .part = "+
				"42, count of .parts thead .part = 6",
			status, d.Find("tbody .part").Length(), d.Find(".why__head").Text(), http.StatusOK, "21.30",
		)
	}
	last := d.Find(`button[aria-label="block 6, feed-forward: +13.40"]`)
	if last.AttrOr("value", "") != "L6.ffn" || last.AttrOr("aria-pressed", "") != "false" {
		t.Errorf("the last part's button: got %q, want L6.ffn, not pressed", last.AttrOr("value", "none"))
	}
	if told := d.Find("#why-told").Text(); told !=
		"Block 6, head 1 puts >99% of its weight on ·France, and adds 3.35 to the score of ·Paris." {
		t.Errorf("the strongest head: got %q, want the tokens that it reads and its contribution", told)
	}
	d, _ = open(t, site+at("prompt", "The capital of France is", "off", "L1.ffn"))
	if said := d.Find(".says li").First().Text(); !strings.Contains(said, "·he") {
		t.Errorf("without L1.ffn, the model predicts %q, want ·he", said)
	}
	if d.Find(".says__moved li").Length() != 3 || d.Find(".fall__was").Length() == 0 {
		t.Error("the page does not show the change")
	}
	off := d.Find(`.part[aria-pressed="true"]`)
	if off.Length() != 1 || off.AttrOr("value", "x") != "" || off.Text() != "off" {
		t.Errorf("got %d parts off, want 1 whose button turns it on again", off.Length())
	}
	d, _ = open(t, site+at("prompt", "The capital of France is", "off", "L2,pos:4"))
	pressed := d.Find(`[form="why-off"][aria-pressed="true"], .parts [aria-pressed="true"]`).Map(
		func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) },
	)
	if want := "[block 2 off off off off off off off ·France after block 2]"; fmt.Sprint(pressed) != want {
		t.Errorf("the parts that are off are %v, want %s", pressed, want)
	}
}

// TestLeadAndMeanStayInForms: the page can show any token and its lead over another token, and
// parts that are off can contribute their mean instead of 0. Every form includes both settings.
func TestLeadAndMeanStayInForms(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	d, _ := open(t, site+at(
		"prompt", "The capital of France is", "token", "Paris", "over", "London", "off", "L6.ffn", "mean", "1",
	))
	m := testmodel.Target(t)
	study, err := why.New(t.Context(), m, m.Encode("The capital of France is"))
	if err != nil {
		t.Fatal(err)
	}
	paris, london := m.Encode(" Paris")[1], m.Encode(" London")[1]
	off := infer.Intervention{Off: []infer.Part{{Kind: infer.PartFeedForward, Block: 6}}, Mean: true}
	a, err := study.Ask(t.Context(), why.Question{Token: paris, Over: london, Intervention: off})
	if err != nil {
		t.Fatal(err)
	}
	head, zero := d.Find(".why__head").Text(), off
	for _, want := range []string{"lead", "·London", terms.Logit(a.Base.Z), terms.Logit(a.Changed.Z)} {
		if !strings.Contains(head, want) {
			t.Errorf("no %q in %q", want, head)
		}
	}
	zero.Mean = false
	b, err := study.Ask(t.Context(), why.Question{Token: paris, Over: london, Intervention: zero})
	if err != nil || terms.Logit(b.Changed.Z) == terms.Logit(a.Changed.Z) {
		t.Errorf(
			"0 and the mean give the same lead (%v); want no error, terms.Logit(b.Changed.Z) other than %q", err,
			terms.Logit(a.Changed.Z),
		)
	}
	d.Find("form[data-why]").Each(func(i int, f *goquery.Selection) {
		for _, name := range []string{"token", "over", "off", "mean"} {
			if f.Find(`[name="`+name+`"]`).Length() == 0 {
				t.Errorf("form %d would lose %s, want it kept", i, name)
			}
		}
	})
	if d, status := open(t, site+at("token", "<b>no token")); status != http.StatusBadRequest ||
		!strings.Contains(d.Find("#prompt-error").Text(), "more than one token") {
		t.Errorf(
			"status %d for two tokens, want status = %d, text of #prompt-error with %q", status, http.StatusBadRequest,
			"more than one token",
		)
	}
}

// TestLensCellsOpen: the color of a lens cell shows its surprise at the actual token, and clicking
// the cell opens its distribution. Clicking a token in the strip does the same for that token.
func TestLensCellsOpen(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	d, _ := open(t, site+at("prompt", "The capital of France is", "cell", "6.4"))
	m := testmodel.Target(t)
	study, err := why.New(t.Context(), m, m.Encode("The capital of France is"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := study.Lens(t.Context(), infer.Intervention{}, 0, why.Shown)
	if err != nil {
		t.Fatal(err)
	}
	lens := d.Find("#why-map tbody tr")
	for i := range rows {
		lens.Eq(6 - i).Find("td").Each(func(at int, td *goquery.Selection) {
			bits := ""
			if c := rows[i][at]; c.Rank > 0 {
				bits = terms.Decimals(c.Surprise(), 1)
			}
			if got := td.Find(".map__note").Text(); got != bits {
				t.Errorf("height %d, position %d: surprise %q, want %q", i, at, got, bits)
			}
		})
	}
	if n := d.Find(".surp__tk").Length(); n != 5 {
		t.Errorf("the strip has %d tokens, want 5", n)
	}
	cell := d.Find(".why__cell")
	for _, want := range []string{
		"After block 6, at position 4", terms.Percent(rows[6][4].Came), terms.Decimals(rows[6][4].Bits, 2),
		"all others",
	} {
		if !strings.Contains(cell.Text(), want) {
			t.Errorf("no %q in %q", want, cell.Text())
		}
	}
	if cell.Find("li").Length() != why.Shown+1 || d.Find(`#why-map [aria-pressed="true"]`).Length() != 1 {
		t.Errorf("got %d rows, want %d and one place of the map pressed", cell.Find("li").Length(), why.Shown+1)
	}
}

// TestJSONMatchesThePage: programs get the content of the page from the same address with .json.
// Promise: Programs can read the Why page as JSON, at the same address with .json.
func TestJSONMatchesThePage(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	address := at("prompt", "The capital of France is", "over", "London", "off", "L6.H1", "mean", "1")
	resp, err := http.Get(site + strings.Replace(address, "/why?", "/why.json?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Off  string
		Mean bool
		Base struct{ Z float64 }
		Lens [][]struct{ Entropy float64 }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v; want %d, <nil>", resp.StatusCode, err, http.StatusOK)
	}
	d, _ := open(t, site+address)
	if !strings.Contains(d.Find(".why__head b").First().Text(), terms.Logit(got.Base.Z)) || got.Off != "L6.H1" ||
		!got.Mean || len(got.Lens) != 7 {
		t.Errorf(
			"got %+v, want text of .why__head b with %q, Off = %q, Mean = true, len(Lens) = 7", got,
			terms.Logit(got.Base.Z), "L6.H1",
		)
	}
	for want, address := range map[string]string{
		"L1 to L6": "/why.json?off=L7", "same number": "/why.json?with=The+capital", "a cell": "/why.json?cell=9.9",
	} {
		resp, err := http.Get(site + address)
		if err != nil {
			t.Fatal(err)
		}
		say, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(say), want) {
			t.Errorf(
				"%s: status %d, %s; want %d, a message with %q", address, resp.StatusCode, say, http.StatusBadRequest,
				want,
			)
		}
	}
}

// TestMomentOfARun: the Loop's link opens the text of the step shown. The question is about the
// token that was drawn there or, before the draw, about the most probable token.
func TestMomentOfARun(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	var st *session.State
	for seed := 1.0; st == nil || st.Steps[1].Rank == 1; seed++ { // until the drawn token is not the most probable one
		run := session.New(testmodel.Target(t), session.DefaultLimits())
		commands := []session.Command{
			session.SetKnob("temperature", 1.6), session.SetKnob("top_p", 1), session.SetKnob("seed", seed),
			session.Start{Prompt: "Once upon a time"},
		}
		for range 13 { // up to the second step's last stage
			commands = append(commands, session.StepStage{})
		}
		for _, c := range commands {
			var err error
			if st, err = run.Apply(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindCache}) {
		t.Fatalf("the run is at %+v, want %+v", st.Cursor, session.Cursor{Step: 2, Stage: infer.KindCache})
	}
	step := st.Steps[1]
	d, status := open(t, site+at("log", session.LinkOf(st)))
	want := strings.ReplaceAll(testmodel.Target(t).Token(step.Chosen).Text, " ", "·")
	if got := d.Find(".tk--pick").Text(); status != http.StatusOK || got != want {
		t.Errorf("status %d, the page is about %q, want the drawn %q", status, got, want)
	}
	back := url.Values{"log": {session.LinkOf(st)}}.Encode()
	if got := d.Find(".why__back a").AttrOr("href", ""); got != "/loop?"+back {
		t.Errorf("the link back is %q, want %q", got, "/loop?"+back)
	}
	if d.Find(`form[data-why] input[name="log"]`).Length() != d.Find("form[data-why]").Length() {
		t.Error("a press would lose the run")
	}
}

// TestPatchShowsWhereTheAnswerIsLookedUp: carrying over another text's vectors shows where the
// answer is looked up. Low in the stack of blocks, the answer depends on the position of the word
// that differs; high in the stack, it depends on the last position.
func TestPatchShowsWhereTheAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	d, _ := open(t, site+at("prompt", "The capital of France is", "with", "The capital of Italy is", "off", "L1.H1"))
	grid := d.Find(`[aria-label="How far the answer moves"]`)
	row := func(n int) []string {
		return grid.Find("tbody tr").Eq(n).Find("td").Map(func(_ int, s *goquery.Selection) string {
			return strings.TrimSpace(s.Text())
		})
	}
	if got := fmt.Sprint(row(0), row(6)); got != "[0% 0% 0% 0% 0% 100%] [0% 0% 0% 0% 100% 0%]" {
		t.Errorf("at the lowest and the highest height, the answer depends on %s, want %s", got,
			"[0% 0% 0% 0% 0% 100%] [0% 0% 0% 0% 100% 0%]")
	}
	want := "Before block 6 the answer follows the vector at position 4; after it, the one at the last position."
	if !strings.Contains(d.Find("main").Text(), want) {
		t.Errorf("the page does not contain %q", want)
	}
	kept := d.Find(`[data-why] input[name="with"][type="hidden"]`).Length()
	if d.Find(`.parts [aria-pressed="true"]`).Length() != 1 || kept < 1 {
		t.Error("a press would lose the other text, or the parts that are off")
	}
	for want, with := range map[string]string{
		"Both must have the same number": "The capital", "Both texts predict": "The capital of France is",
	} {
		if d, _ := open(t, site+at("prompt", "The capital of France is", "with", with)); !strings.Contains(
			d.Find("main").Text(), want,
		) {
			t.Errorf("with %q, the page does not contain %q", with, want)
		}
	}
}

// TestPageListsMeasuredHeads: the page lists the heads that meet the criterion, or states that none
// does.
func TestPageListsMeasuredHeads(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	d, status := open(t, site+at("heads", "1"))
	for d.Find("[data-again]").Length() > 0 { // on a busy machine, the heads may not have been measured yet
		d, status = open(t, site+at("heads", "1"))
	}
	text := d.Find("main").Text()
	for _, want := range []string{"block 4, head 4: 64%", "2 heads of this model do", "no head of this model does"} {
		if status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("status %d, no %q", status, want)
		}
	}
}

// TestRefusalsAreShownBesideTheField: if a question cannot be answered, the reason is shown next to
// its field, and typed text is escaped.
func TestRefusalsAreShownBesideTheField(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	for want, address := range map[string]string{
		"1 to 4096 bytes":   at("prompt", strings.Repeat("x", 5000)),
		"1 to 256 tokens":   at("prompt", strings.Repeat("x y ", 200)),
		"L1 to L6":          at("off", "L7"),
		"is not a part":     at("off", "<b>"),
		"earlier position":  at("off", "pos:5"),
		"This link is dama": at("log", "nonsense"),
	} {
		d, status := open(t, site+address)
		if again := d.Find(".why__again a").AttrOr("href", ""); strings.Contains(address, "off=") &&
			!strings.HasPrefix(again, "/why?prompt=") {
			t.Errorf("%s: the link without the mistake is %q, want the question with nothing off", address, again)
		}
		if say := d.Find("#prompt-error").Text(); status != http.StatusBadRequest || !strings.Contains(say, want) {
			t.Errorf("status %d, %q, want %q", status, say, want)
		}
	}
	d, status := open(t, site+at("prompt", "<script>alert(1)</script>"))
	if status != http.StatusOK || d.Find("main script").Length() != 0 || d.Find("#prompt").AttrOr("value", "") == "" {
		t.Error("text was inserted as markup")
	}
}

// TestSpaceAtEndIsExplained: for a text that ends with a space, the page shows an explanation
// with a link to the text without the space.
func TestSpaceAtEndIsExplained(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	for prompt, want := range map[string]string{
		"The capital of France is ": "/why?prompt=The+capital+of+France+is", "The capital of France is": "none",
	} {
		d, _ := open(t, site+at("prompt", prompt))
		if got := d.Find(".space-end a").AttrOr("href", "none"); got != want {
			t.Errorf("%q: got a link to %q, want %q", prompt, got, want)
		}
	}
}

// TestMapButtonsKeepTheQuestion: the map's buttons belong to forms that keep the rest of the
// question. The tokens that share the map's first column can also be hidden.
func TestMapButtonsKeepTheQuestion(t *testing.T) {
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	text := "The capital of France is" + strings.Repeat(" the capital of France is", 2)
	d, _ := open(t, site+at("prompt", text, "over", "London", "off", "L1.H1", "cell", "6.12"))
	// A folded cell can still be opened, and its content is the same as in the JSON.
	resp, err := http.Get(site + strings.Replace(at("prompt", text), "/why?", "/why.json?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all struct {
		Lens [][]struct{ Entropy float64 }
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	early, _ := open(t, site+at("prompt", text, "cell", "2.1"))
	want := "Its entropy is " + terms.Decimals(all.Lens[2][1].Entropy, 2) + " bits"
	if all.Lens[2][1].Entropy == 0 || !strings.Contains(early.Find(".why__cell").Text(), want) {
		t.Errorf("no %q in %q", want, early.Find(".why__cell").Text())
	}
	const folded = 4 // the start token and 15 words, in 12 columns
	if n := d.Find(`[aria-label^="Hide a folded position"] button`).Length(); n != folded {
		t.Errorf("%d folded positions can be hidden, want %d", n, folded)
	}
	keys := d.Find("#why-map button")
	if columns := d.Find("#why-map thead button"); columns.Length() != 11 || keys.Length() != 11+6+7*12 {
		t.Errorf("got %d columns, %d buttons; want 11, 11+6+7*12", columns.Length(), keys.Length())
	}
	keys.Each(func(i int, key *goquery.Selection) {
		form := d.Find("#" + key.AttrOr("form", "none"))
		name := key.AttrOr("name", "")
		if form.Find(`input[name="over"]`).Length() != 1 || form.Find(`input[name="`+name+`"]`).Length() != 0 {
			t.Errorf("button %d would lose the other token, or send %s twice", i, name)
		}
	})
}
