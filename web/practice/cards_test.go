package practice

import (
	"encoding/csv"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// count returns the number of cards that are "due", "new" or "later".
func count(d *goquery.Document, what string) string {
	return text(d.Find(`[data-count="` + what + `"]`))
}

// grade submits a review of the card shown on the given page.
func (s *site) grade(d *goquery.Document, grade string) *goquery.Document {
	s.T.Helper()
	return s.Parse("/cards/review", s.Post("/cards/review", false, url.Values{
		"card": {d.Find(`[name="card"]`).AttrOr("value", "")}, "key": {d.Find(`[name="key"]`).AttrOr("value", "")},
		"grade": {grade},
	}), http.StatusOK)
}

// TestCardsAcrossDays: a card that is recalled every time is due at growing intervals, which match
// the scheduler's. A forgotten card is due after a few minutes.
// Promise: A card that you know returns at growing intervals; one that you forgot returns after minutes.
func TestCardsAcrossDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSiteAt(t, func() time.Time { return now })
	d := s.Get("/cards")
	first := d.Find(`[name="card"]`).AttrOr("value", "")
	all := len(s.pages.Course.Cards)
	params, card := fsrs.Default(), fsrs.Card{Due: now}
	var spans []time.Duration
	for i := range 6 {
		if got := d.Find(`[name="card"]`).AttrOr("value", ""); got != first {
			t.Fatalf("review %d: the card is %s, want %s", i+1, got, first)
		}
		for j, wait := range d.Find(".grade small").EachIter() {
			if want := terms.English.Wait(params.Preview(card, now)[j].Due.Sub(now)); wait.Text() != want {
				t.Errorf("review %d, grade %d: %q is offered, want %q", i+1, j+1, wait.Text(), want)
			}
		}
		after := s.grade(d, "good")
		card = params.Next(card, now, fsrs.Good)
		if got, want := text(
			after.Find(".deck__said"),
		), "Saved: good. This card comes back in "+terms.English.Wait(card.Due.Sub(now))+"."; got != want {
			t.Errorf("review %d: %q, want %q", i+1, got, want)
		}
		spans = append(spans, card.Due.Sub(now))
		now = card.Due.Add(-time.Second)
		if due := count(s.Get("/cards"), "due"); due != "0" {
			t.Errorf("review %d: a second before the card is due, %s cards are due, want %s", i+1, due, "0")
		}
		now = card.Due
		d = s.Get("/cards")
	}
	for i := 1; i < len(spans); i++ {
		if spans[i] <= spans[i-1] {
			t.Errorf("the intervals do not grow: got %v, want the next one to exceed %v", spans, spans[i-1])
		}
	}
	after := s.grade(d, "again")
	if got := text(after.Find(".deck__said")); !strings.Contains(got, "10 min") { // the relearning step
		t.Errorf("forgotten: got %q, want it to contain %q", got, "10 min")
	}
	var tallied int
	for _, n := range after.Find(".counts dd").EachIter() {
		tallied += atoi(t, n.Text())
	}
	if tallied != all {
		t.Errorf("got %d cards counted, want %d", tallied, all)
	}
}

// TestReviewCountsOnce: a form that is sent twice counts as one review.
func TestReviewCountsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.Get("/cards")
	s.grade(d, "good")
	s.grade(d, "good")
	deck, err := s.pages.Progress.Cards(t.Context(), courseworktest.Learner)
	if err != nil {
		t.Fatal(err)
	}
	if n := deck.Cards[0].Reviews; n != 1 {
		t.Errorf("got %d reviews, want 1", n)
	}
}

// TestReviewRefused: an invalid review is refused, and nothing is saved.
func TestReviewRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.pages.Course.Cards[0].ID
	for _, c := range []struct {
		card, grade, key string
		status           int
	}{
		{"none", "good", "k", 404},
		{id, "", "k", 400},
		{id, "5", "k", 400},
		{id, "good", "", 400},
		{id, "good", "no good key", 400},
	} {
		if w := s.Post(
			"/cards/review", true, url.Values{"card": {c.card}, "grade": {c.grade}, "key": {c.key}},
		); w.Code != c.status {
			t.Errorf("%+v: got %d, want %d", c, w.Code, c.status)
		}
	}
	if got, want := count(s.Get("/cards"), "new"), strconv.Itoa(len(s.pages.Course.Cards)); got != want {
		t.Errorf("a refused review was saved: got %s new, want %s", got, want)
	}
	if w := s.Do(httptest.NewRequest(http.MethodGet, "/cards?card=none", nil)); w.Code != 404 {
		t.Errorf("a missing card: got %d, want 404", w.Code)
	}
}

// TestCardByAddress: /cards?card=ID shows the card with that id, whichever cards are due.
func TestCardByAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	want := s.pages.Course.Cards[5]
	if got := s.Get("/cards?card="+want.ID).Find(`[name="card"]`).AttrOr("value", ""); got != want.ID {
		t.Errorf("the page shows %s, want %s", got, want.ID)
	}
}

// TestAnkiTextExport: the file has header lines, then one card per line, in three fields with
// escaped markup.
// Promise: Flashcards can be exported to Anki.
func TestAnkiTextExport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.Do(httptest.NewRequest(http.MethodGet, "/cards/export.txt", nil))
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="token-by-token.txt"` {
		t.Errorf("got %q, want %q", got, `attachment; filename="token-by-token.txt"`)
	}
	lines := strings.Split(strings.TrimRight(w.Body.String(), "\n"), "\n")
	var rows []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "#") {
			rows = append(rows, l)
		}
	}
	if lines[0] != "#separator:tab" || lines[1] != "#html:true" || len(rows) != len(s.pages.Course.Cards) {
		t.Fatalf(
			"%q, %d rows; want lines[0] = %q, lines[1] = %q, len(rows) = %d", lines[:2], len(rows), "#separator:tab",
			"#html:true", len(s.pages.Course.Cards),
		)
	}
	for i, row := range rows {
		fields := strings.Split(row, "\t")
		if len(fields) != 3 {
			t.Fatalf("row %d has %d fields, want 3", i, len(fields))
		}
		front := strings.Join(strings.Fields(s.pages.Course.Cards[i].FrontText), " ")
		if got := html.UnescapeString(strings.ReplaceAll(fields[0], "<br>", " ")); got != front {
			t.Errorf("row %d: %q, want %q", i, got, front)
		}
	}
	if got := ankiField("a <b> & \"c\"\n\td"); got != "a &lt;b&gt; &amp; &#34;c&#34;<br>d" {
		t.Errorf("a field is %q, want %q", got, "a &lt;b&gt; &amp; &#34;c&#34;<br>d")
	}
}

// TestCardsCSVExport: the file can be parsed, whether commas or semicolons separate its fields, and
// no field is a spreadsheet formula.
func TestCardsCSVExport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.Do(httptest.NewRequest(http.MethodGet, "/cards/export.csv", nil))
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(w.Body.String(), "\uFEFF"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(s.pages.Course.Cards) || rows[1][0] != s.pages.Course.Cards[0].ID {
		t.Errorf(
			"got %d rows, want len(rows) = %d, rows[1][0] = %q", len(rows), 1+len(s.pages.Course.Cards),
			s.pages.Course.Cards[0].ID,
		)
	}
	semicolons := csv.NewReader(strings.NewReader(strings.TrimPrefix(
		s.Do(httptest.NewRequest(http.MethodGet, "/cards/export.csv?decimal=comma", nil)).Body.String(), "\uFEFF",
	)))
	semicolons.Comma = ';'
	if same, err := semicolons.ReadAll(); err != nil || !reflect.DeepEqual(same, rows) {
		t.Errorf("with semicolons: got %d rows, %v; want the same %d rows", len(same), err, len(rows))
	}
	course, card := *s.pages.Course, *s.pages.Course.Cards[0]
	card.FrontText, card.BackText = " =1+1", "a=b"
	course.Cards, s.pages.Course = []*lessons.Card{&card}, &course
	w = s.Do(httptest.NewRequest(http.MethodGet, "/cards/export.csv", nil))
	if got := w.Body.String(); !strings.Contains(got, ",' =1+1,a=b,") {
		t.Errorf("a card that begins like a formula is exported as %q, want it to contain %q", got, ",' =1+1,a=b,")
	}
}
