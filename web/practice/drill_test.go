package practice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

const ownDrill = "/practice/softmax/check?seed=0&level=1"

// check submits a drill's form as the page's script does.
func (s *site) check(address string, form url.Values) *goquery.Document {
	s.T.Helper()
	return s.Parse(address, s.Post(address, true, form), http.StatusOK)
}

// TestDrillsAcceptTheirAnswers: with only plain forms, every drill at every level accepts its own
// answers, saves each step once, and reports that it has been completed.
func TestDrillsAcceptTheirAnswers(t *testing.T) {
	t.Parallel()
	for _, info := range drill.Kinds(terms.English) {
		t.Run(string(info.Kind), func(t *testing.T) {
			s := newSite(t)
			for level := 1; level <= info.Levels; level++ {
				p, err := drill.New(terms.English, info.Kind, uint64(level-1), level)
				if err != nil {
					t.Fatal(err)
				}
				form := url.Values{"key": {fmt.Sprintf("key-%d", level)}}
				for _, id := range p.Order() {
					form.Set(id, p.Answer(id))
				}
				address := fmt.Sprintf("/practice/%s/check?seed=%d&level=%d", info.Kind, level-1, level)
				for range 2 { // the second round saves nothing
					d := s.Parse(address, s.Post(address, false, form), http.StatusOK)
					want := fmt.Sprintf("%d of %d cells right, 100%% of the points", len(p.Order()), len(p.Order()))
					if got := text(d.Find("#ov small")); got != want {
						t.Errorf("level %d: %q, want %q", level, got, want)
					}
					if n := d.Find(".dsteps .is-done").Length(); n != len(p.Steps) {
						t.Errorf("level %d: %d steps done, want %d", level, n, len(p.Steps))
					}
				}
			}
			m, err := s.pages.Progress.Map(context.Background(), courseworktest.Learner)
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for level := 1; level <= info.Levels; level++ {
				p, _ := drill.New(terms.English, info.Kind, uint64(level-1), level)
				steps += len(p.Steps)
			}
			if len(m.Drills) != 1 || m.Drills[0].Times != steps || m.Drills[0].Best != 1 {
				t.Errorf("saved %+v, want %d steps and a best result of 1", m.Drills, steps)
			}
		})
	}
}

// TestDrillHidesAnswers: before a hint is requested, the page contains no answers to the first
// step.
func TestDrillHidesAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := s.Do(httptest.NewRequest(http.MethodGet, "/practice/softmax", nil)).Body.String()
	for _, answer := range []string{"54.598", "20.086", "86.440", "0.6316", "0.2324", "0.0855", "0.8640"} {
		if strings.Contains(body, answer) {
			t.Errorf("the page contains the answer %s, want it hidden", answer)
		}
	}
}

// TestDrillExplainsMistakeInItsRow: a wrong number stays in its cell, struck through, and a row
// below it names the mistake.
func TestDrillExplainsMistakeInItsRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.check(ownDrill, url.Values{"softmax.p.1": {"0.3679"}, "cell": {"softmax.p.1"}, "at": {"softmax.p.1"}})
	input := d.Find(`input[name="softmax.p.1"]`)
	if input.AttrOr("value", "") != "0.3679" || input.AttrOr("aria-invalid", "") != "true" ||
		!input.Parent().HasClass("ans--bad") {
		t.Errorf("the cell is %v, want 0.3679 in it, marked as wrong", input.Nodes[0].Attr)
	}
	row := input.Closest("tr").Next()
	if !row.HasClass("why") || row.Find("b").Text() != "You divided by the largest exponential instead of the sum." {
		t.Errorf("the row below is %q, want the name of the mistake", text(row))
	}
	// 20.086 / 54.598 = 0.36789
	if got := text(row); !strings.Contains(got, "20.086 / 54.598 = 0.3679") {
		t.Errorf("the message about the mistake is %q, want it to contain %q", got, "20.086 / 54.598 = 0.3679")
	}
	if id := input.AttrOr("aria-describedby", ""); d.Find(fmt.Sprintf(`[id="%s"]`, id)).Length() != 1 {
		t.Errorf("the cell is described by %q, which does not exist", id)
	}
	if got := text(d.Find(".tally")); got != "0 right, 1 to fix, 15 to go" {
		t.Errorf("the tally is %q, want %q", got, "0 right, 1 to fix, 15 to go")
	}
}

// TestDrillAcceptsOtherNotations: other notations of a number are accepted, and the page shows
// how they were read.
func TestDrillAcceptsOtherNotations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for answer, read := range map[string]string{
		"63.2%": "63.2% is 0.632", "0,632": "0.632", ".632": "0.632", "12/19": "12/19 is 0.631579",
	} {
		d := s.check(ownDrill, url.Values{"softmax.p.0": {answer}, "cell": {"softmax.p.0"}})
		if got := text(d.Find(".sheet__told")); !strings.Contains(got, "right") ||
			strings.Contains(read, " is ") && !strings.Contains(got, read) {
			t.Errorf("%s: %q, want it to contain %q", answer, got, read)
		}
	}
	for _, answer := range []string{"about two thirds", "inf", "NaN", "1e999"} {
		d := s.check(ownDrill, url.Values{"softmax.p.0": {answer}, "cell": {"softmax.p.0"}})
		if d.Find(".ans--refused").Length() != 1 || d.Find(".ans--bad").Length() != 0 {
			t.Errorf("%s counts as a mistake, want it to be only refused", answer)
		}
		if d.Find(`[id="why-softmax.p.0"] b`).Text() == "" {
			t.Errorf("%s: got no message", answer)
		}
	}
}

// TestDrillHints: the first hints are questions. The result is shown only on request, and then
// the cell gives no credit.
func TestDrillHints(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p, err := drill.New(terms.English, drill.Softmax, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"at": {"softmax.p.1"}, "do": {"hint"}, "help": {"0"}}
	for rung := 1; rung <= drill.Rungs; rung++ {
		d := s.check(ownDrill, form)
		if got := text(d.Find(".shown li.is-now .eq")); !strings.HasPrefix(got, p.Hint("softmax.p.1", rung).Text[:10]) {
			t.Errorf("hint %d is %q, want the drill's hint", rung, got)
		}
		if strings.Contains(text(d.Find(".shown")), "0.2324") {
			t.Errorf("hint %d contains the result, want it hidden", rung)
		}
		form.Set("help", d.Find(`input[name="help"]`).AttrOr("value", ""))
	}
	d := s.check(ownDrill, form)
	if d.Find(".shown .blank").Text() != "?" || strings.Contains(text(d.Find(".shown")), "0.2324") {
		t.Errorf("the step shows %q, want a blank in place of the result", text(d.Find(".shown")))
	}
	form.Set("do", "show")
	d = s.check(ownDrill, form)
	if !strings.Contains(text(d.Find(".shown .is-now")), "= 0.2324") {
		t.Errorf("the result is %q, want it to contain %q", text(d.Find(".shown .is-now")), "= 0.2324")
	}
	if d.Find(`input[name="first"][value="softmax.p.1=s"]`).Length() != 1 {
		t.Error("the form does not record that the result was shown")
	}
}

// TestDrillCredit: a cell that was wrong at first gives half the credit, and a cell whose result
// was shown gives none.
func TestDrillCredit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p, err := drill.New(terms.English, drill.Shift, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"key": {"sitting"}, "first": {"before.p.0=w", "before.p.1=s"}}
	for _, id := range p.Order() {
		if strings.HasPrefix(id, "before.") {
			form.Set(id, p.Answer(id))
		}
	}
	s.check("/practice/shift/check?seed=0&level=1", form)
	m, err := s.pages.Progress.Map(context.Background(), courseworktest.Learner)
	if err != nil {
		t.Fatal(err)
	}
	// There are seven cells: 3 exponentials, their sum and 3 probabilities. Five were right at
	// first, one gives half the credit, and one gives none.
	if want := 5.5 / 7; len(m.Drills) != 1 || m.Drills[0].Best < want-1e-9 || m.Drills[0].Best > want+1e-9 {
		t.Errorf("saved %+v, want a credit of 5.5 / 7", m.Drills)
	}
}

// TestDrillStepsKeepAnswers: answers are kept from step to step, and a locked step names the step
// that must be done first.
func TestDrillStepsKeepAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.check(ownDrill, url.Values{"step": {"softmax"}, "softmax.exp.0": {"54.598"}, "do": {"go:topk"}})
	if got := text(d.Find(".sheet--locked p")); !strings.Contains(got, "step 1, Softmax") {
		t.Errorf("the locked step shows %q, want it to contain %q", got, "step 1, Softmax")
	}
	if d.Find(`input[type="hidden"][name="softmax.exp.0"]`).AttrOr("value", "") != "54.598" {
		t.Error("the answer of the other step is lost")
	}
	d = s.Get("/practice/softmax?step=hot")
	if got := d.Find("#dq").Text(); got != "Work out the softmax again at T = 2" {
		t.Errorf("?step=hot leads to %q, want %q", got, "Work out the softmax again at T = 2")
	}
}

// TestDrillTickBoxesAreOneAnswer: the boxes checked in several rows form one answer. If the
// crossing token is missing, the message names it.
func TestDrillTickBoxesAreOneAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p, err := drill.New(terms.English, drill.Softmax, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"step": {"topp"}, "topp.keep": {"the", "a"}}
	for _, id := range p.Order() {
		if strings.HasPrefix(id, "softmax.") {
			form.Set(id, p.Answer(id))
		}
	}
	d := s.check(ownDrill, form)
	if got := d.Find(".slip b").Text(); got != "The token that crosses the threshold stays." {
		t.Errorf("two of three kept: got %q, want %q", got, "The token that crosses the threshold stays.")
	}
	form["topp.keep"] = []string{"the", "a", "an"}
	d = s.check(ownDrill, form)
	if n := d.Find(".pick.ans--ok input[checked]").Length(); n != 3 || d.Find(".slip").Length() != 0 {
		t.Errorf("%d of 3 boxes are right, want n = 3, count of .slip = 0", n)
	}
}

// TestDrillRefusesBadAddresses: the response to an invalid address states the valid range.
func TestDrillRefusesBadAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, status := range map[string]int{
		"/practice/none": 404, "/practice/softmax?level=4": 404, "/practice/softmax?level=x": 404,
		"/practice/softmax?seed=-1": 400, "/practice/softmax?seed=18446744073709551616": 400,
		"/practice/softmax?seed=18446744073709551615&level=3": 200,
	} {
		if w := s.Do(httptest.NewRequest(http.MethodGet, path, nil)); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
	bad := s.Post(
		ownDrill, true,
		url.Values{
			"key": {"no good key"}, "step": {"none"}, "at": {"<script>"}, "first": {"x=y"}, "help": {"-7"},
			"cell": {"<b>"},
		},
	)
	if bad.Code != http.StatusOK || strings.Contains(bad.Body.String(), "<script>") {
		t.Errorf(
			"a form edited by hand: got %d, want bad.Code = %d, bad.Body.String() without %q", bad.Code, http.StatusOK,
			"<script>",
		)
	}
}

// TestSeedDeterminesDrillNumbers: different seeds give different numbers, and the same seed gives
// the same numbers.
func TestSeedDeterminesDrillNumbers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	facts := func(path string) string { return text(s.Get(path).Find(".dfacts")) }
	one, two := facts("/practice/softmax?seed=11&level=2"), facts("/practice/softmax?seed=12&level=2")
	if one == two || one != facts("/practice/softmax?seed=11&level=2") {
		t.Errorf("seed 11: got %q, seed 12: %q, want different numbers, and the same for the same seed", one, two)
	}
	fresh := s.Get("/practice/softmax?seed=11&level=2").Find(`[data-key="n"]`).AttrOr("href", "")
	if !strings.HasPrefix(fresh, "/practice/softmax?seed=") || !strings.HasSuffix(fresh, "&level=2") {
		t.Errorf(
			"the address of new numbers is %q, want it to begin with %q, end with %q", fresh, "/practice/softmax?seed=",
			"&level=2",
		)
	}
	for level := 1; level <= 3; level++ {
		want := fmt.Sprintf("/practice/softmax?seed=11&level=%d", level)
		if level != 2 && s.Get("/practice/softmax?seed=11&level=2").Find(`a[href="`+want+`"]`).Length() == 0 {
			t.Errorf("no link to the same numbers at level %d, %s", level, want)
		}
	}
}

// TestDrillBarsShowRightValuesOnly: a row gets a bar once its probability is right. A wrong value
// has no bar, even if it is almost right, such as the misprint 0.866, or 63.2 without its percent
// sign.
func TestDrillBarsShowRightValuesOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for answer, bars := range map[string]int{"0.632": 1, "0.63": 1, "0.3": 0, "63.2": 0, "1": 0, "": 0} {
		d := s.check(ownDrill, url.Values{"softmax.p.0": {answer}, "cell": {"softmax.p.0"}})
		row := d.Find(`input[name="softmax.p.0"]`).Closest("tr")
		if n := row.Find(".bars__p").Length(); n != bars {
			t.Errorf("the answer %q has %d bars, want %d", answer, n, bars)
		}
	}
}

// TestDrillClaimsLessonNumbersTruthfully: a drill states that its first numbers are the lesson's
// only if that is true: the drill must accept the figure in the lesson as an answer.
func TestDrillClaimsLessonNumbersTruthfully(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for kind, figure := range map[drill.Kind]struct{ cell, inLesson string }{
		drill.Five: {"softmax.p.0", "0.6316"}, drill.Softmax: {"softmax.sum", "86.4397"},
		drill.KVBytes: {"cache.long", "64 GiB"}, drill.Bill: {"call.total", "0.0105"},
		drill.Speculation: {"expected.e", "3.36"}, drill.Shift: {}, drill.MultiplyAdds: {}, drill.Stops: {},
		drill.Attention: {"message.added", "2.807"},
	} {
		said := text(s.Get("/practice/" + string(kind)).Find(".dfacts"))
		if own := strings.Contains(said, "the lesson's own"); own != (figure.cell != "") {
			t.Errorf(
				"%s: the page says %q, want it to call the numbers the lesson's own: %t", kind, said, figure.cell != "",
			)
		} else if own {
			p, err := drill.New(terms.English, kind, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			if v := p.Check(figure.cell, figure.inLesson); v.State != drill.Right {
				t.Errorf(
					"%s: the lesson's %s is %s in %v; want %s", kind, figure.inLesson, v.State, p.Order(), drill.Right,
				)
			}
		}
	}
}
