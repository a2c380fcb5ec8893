package learn

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/progress"
)

// says changes the learner's sentence with the form of a lesson's page.
func (s *site) says(sentence string) {
	s.T.Helper()
	w := s.Post("/learn/sentence", false, url.Values{"sentence": {sentence}, "lesson": {"choosing-a-token"}})
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/learn/choosing-a-token" {
		s.T.Fatalf("the sentence %.40q: got %d to %q, want a redirect to the lesson", sentence, w.Code, to)
	}
}

// whose returns the lines above the states of a lesson's picture, and the text that each state shows.
func (s *site) whose(slug string) (whose, columns []string) {
	s.T.Helper()
	d := s.Get("/learn/" + slug)
	for _, e := range d.Find(".pic__state").EachIter() {
		whose = append(whose, text(e.Find(".pic__whose")))
		var tokens []string
		for _, c := range e.Find(".map__toks > span:not(.is-next):not(.is-pad) b").EachIter() {
			tokens = append(tokens, strings.TrimSpace(c.Text()))
		}
		columns = append(columns, strings.Join(tokens, "|"))
	}
	return whose, columns
}

const (
	mine   = "Your sentence"
	theirs = "The lesson’s sentence: "
)

// TestPicturesShowTheLearnersSentence: a lesson's picture shows the sentence of the learner, until they
// remove it. Pictures of the sentence do not enter the cache that all learners share.
func TestPicturesShowTheLearnersSentence(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	own := "In the old house lived a"
	s.says(own)
	whose, columns := s.whose("choosing-a-token")
	for i, columns := range columns {
		if whose[i] != mine || !strings.Contains(columns, "house") || strings.Contains(columns, "izard") {
			t.Errorf("state %d, %q, has the columns %s, want those of %q", i+1, whose[i], columns, own)
		}
	}
	d := s.Get("/learn/choosing-a-token")
	if got := text(d.Find(".own__say")); got != "Your sentence: “"+own+"”" {
		t.Errorf("the page says %q, want the sentence", got)
	}
	if got := text(d.Find(".pic__head")); !strings.Contains(got, "crosses 0.9") || strings.Contains(got, "4,089 cut") {
		t.Errorf("the heads %q lack the border of this sentence", got)
	}
	s.says("")
	whose, columns = s.whose("choosing-a-token")
	for i, columns := range columns {
		if whose[i] != "" || !strings.Contains(columns, "izard") {
			t.Errorf("state %d, %q, has the columns %s, want those of %q", i+1, whose[i], columns, lessons.Sentence)
		}
	}
	if len(columns) != 6 {
		t.Errorf("got %d states, want 6", len(columns))
	}
}

// TestPicturesWithoutTheLearnersSentence: where the sentence is too short or too long, or the lesson is
// about its own, the picture shows the lesson's sentence and says why.
func TestPicturesWithoutTheLearnersSentence(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, row := range []struct{ sentence, slug, why string }{
		{"Once upon a", "tokens", "yours is too short."},
		{strings.Repeat("very ", 17) + "old", "tokens", "yours is too long."},
		{"a" + strings.Repeat(" ", 60) + "a b c d", "tokens", "yours is too long."},
		{"كان يا ما كان في قديم الزمان", "tokens", "yours is too long."},
		{"从前有一座很高的山", "tokens", "yours is too long."},
		{"In the old house lived a", "where-paris-comes-from", "the text is about it."},
	} {
		s.says(row.sentence)
		whose, columns := s.whose(row.slug)
		for i, got := range whose {
			if got != theirs+row.why || !strings.Contains(columns[i], "The") {
				t.Errorf("%q, state %d: got %q over %s, want %q", row.sentence, i+1, got, columns[i], theirs+row.why)
			}
		}
		d := s.Get("/learn/" + row.slug)
		if got, want := d.Find(".own").Length() > 0, row.slug == "tokens"; got != want {
			t.Errorf("/learn/%s offers to change the sentence: %t, want %t", row.slug, got, want)
		}
		limits := text(d.Find(".own__limits"))
		if want := strings.HasPrefix(row.why, "yours"); want != strings.Contains(limits, "4 to 16 tokens") {
			t.Errorf("%q: the page gives the limits %q, want them: %v", row.sentence, limits, want)
		}
	}
	bad := url.Values{"sentence": {strings.Repeat("x", progress.MaxSentence+1)}}
	if w := s.Post("/learn/sentence", false, bad); w.Code != http.StatusBadRequest {
		t.Errorf("a sentence of %d bytes: got %d, want %d", progress.MaxSentence+1, w.Code, http.StatusBadRequest)
	}
}

// TestPicturesWaitTheirTurn: if the queue for the model has no place for a learner's pictures, or if they
// take too long, the page still shows the lesson's, and says so. The turn counts as this learner's, even if
// the request is their first and has no cookie.
func TestPicturesWaitTheirTurn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.says("In the old house lived a")
	busy := func(what string) {
		t.Helper()
		whose, columns := s.whose("tokens")
		for i, got := range whose {
			if want := theirs + "the model is busy now."; got != want || !strings.Contains(columns[i], "izard") {
				t.Errorf("%s, state %d: got %q over %s, want %q", what, i+1, got, columns[i], want)
			}
		}
	}
	s.pages.ownTime = time.Nanosecond
	busy("no time")
	s.pages.ownTime = ownTime
	s.pages.Replays = admission.NewQueue(admission.Backlog{}, 0)
	busy("no place")
	l := s.pages.Course.Lesson("tokens")
	own := s.pages.ownSentence(httptest.NewRequest(http.MethodGet, l.Href(), nil), courseworktest.Learner, l)
	if got := own.who.Learner; got != courseworktest.Learner {
		t.Errorf("the pictures wait in the turn of learner %q, want %q", got, courseworktest.Learner)
	}
}

// TestFailedPicturesShowTheError: if a state cannot be drawn with the learner's sentence, it shows the same
// error as with the lesson's. It does not say that the sentence lacks the state's point.
func TestFailedPicturesShowTheError(t *testing.T) {
	t.Parallel()
	s := newSite(t) // without a draft model
	const slug, path = "speculative-decoding", "/learn/speculative-decoding"
	want := text(s.Get(path).Find(".pic__trouble").First())
	s.says("In the old house lived a")
	whose, _ := s.whose(slug)
	states := s.Get(path).Find(".pic__state")
	for i, own := range whose {
		got := text(states.Eq(i).Find(".pic__trouble"))
		if guesses := i > 0; own != mine || guesses && (got != want || want == "") || !guesses && got != "" {
			t.Errorf("state %d, %q: got the error %q, want %q in the states with guesses", i+1, own, got, want)
		}
	}
	if len(whose) != 3 {
		t.Errorf("got %d states, want 3", len(whose))
	}
}

// TestExperimentsOfferTheLearnersSentence: one press runs an experiment with the learner's sentence. It
// is a choice: the experiment begins with the lesson's text, about which its question asks.
func TestExperimentsOfferTheLearnersSentence(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const button = `button[name="prompt"]`
	if n := s.Get("/learn/temperature").Find(button).Length(); n != 0 {
		t.Errorf("without a sentence: got %d buttons, want none", n)
	}
	own := "In the old house lived a"
	s.says(own)
	figure := s.Get("/learn/temperature").Find("#temperature-wizard")
	offered := figure.Find(button)
	if got := offered.AttrOr("value", ""); got != own || text(offered) != "Try it with your sentence" {
		t.Errorf("the button %q sends %q, want %q", text(offered), got, own)
	}
	if got := figure.Find("textarea").Text(); got != lessons.Sentence {
		t.Errorf("the experiment begins with %q, want %q", got, lessons.Sentence)
	}
	// A form without scripts sends the field and, after it, the button.
	form := url.Values{"prompt": {lessons.Sentence, own}, "t": {"1"}}
	d := s.Get("/learn/widget/temperature-wizard?" + form.Encode())
	if got := d.Find("textarea").Text(); got != own || !strings.Contains(text(d.Find(".w__body")), "soldier") {
		t.Errorf("after the press, the experiment shows %q: %s", got, text(d.Find(".w__body")))
	}
	if n := d.Find(button).Length(); n != 0 {
		t.Errorf("after the press: got %d buttons, want none", n)
	}
	for _, slug := range []string{"stopping", "anatomy-of-a-chat", "sure-and-wrong"} {
		if n := s.Get("/learn/" + slug).Find(button).Length(); n != 0 {
			t.Errorf("%s: got %d buttons, want none, since the experiment needs a text of its own", slug, n)
		}
	}
}
