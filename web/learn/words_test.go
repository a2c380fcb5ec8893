package learn

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/shell"
)

// notOurs selects the parts of this package's pages that are not in its catalogs: the course,
// tokens, and components of package coursework.
const notOurs = `.prose, .check, .read__head, .goon, .course, .outs, .times > a, .view, figcaption, bdi, .term,
	.cited li, .onesheet h1, .onesheet__lead, .onesheet h2, .checked h2, main:has(.checked) > .lead, .sec__notes,
	.nums[data-fold] > summary > span, .pic__steps span, .starters a, .w-answer, .pic__state,
	svg[role=img]:not(.w-chart),
	.tk, .tok > span:not(.sr), .tc th > i, .seg__t, .laid__t, .vis text, .flow > *:not(small), .pic__name,
	.map__toks b, .unit b, .w__text textarea, .ck, .w-chat__sees span`

// TestEveryWordIsInTheCatalog requests the pages in the pseudo-language, which marks every word
// from a catalog. A word without a mark is hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	language := pseudo.Language(t)
	known := append(s.courseTexts(), "xyzzy")
	paths := []string{
		"/?seed=1&n=3", "/?seed=1&n=32", "/learn/turn?seed=2&n=2", "/learn", "/learn?minutes=20", "/reference",
		"/glossary", "/checked", "/search", "/search?q=token", "/search?q=xyzzy", "/search?q=temperature",
		"/learn/nowhere", "/learn/widget/nothing",
	}
	for _, l := range s.pages.Course.Lessons {
		paths = append(paths, l.Href())
	}
	for kind, states := range map[lessons.WidgetKind][]string{
		lessons.WidgetTurn:         {"at=1", "at=5", "at=9", "at=3000"},
		lessons.WidgetTemperature:  {"t=2"},
		lessons.WidgetGreedyLoop:   {"t=1", "tokens=4", "t=0&tokens=60"},
		lessons.WidgetBestSequence: {"prompt=The", "length=2", "width=10"},
		lessons.WidgetStopString:   {"at=1", "at=3", "stop=", "stop=qqq"},
		lessons.WidgetCache:        {"at=1"},
		lessons.WidgetSpeculate:    {"at=1", "at=3&t=1&gamma=1", "at=500"},
		lessons.WidgetTokens:       {"prompt=a+b"},
		lessons.WidgetLook:         {"block=6&head=6", "row=2", "row=4&block=5&head=4"},
		lessons.WidgetChat:         {"at=1", "at=2", "at=3", "at=4"},
		lessons.WidgetHide:         {"off=5", "off=3,4"},
		lessons.WidgetCounters:     {"spread=1.9&done=yes", "done=none"},
		lessons.WidgetSure:         {"a_guess=right", "a_guess=none", "a_guess=wrong&a_says=x"},
	} {
		for _, state := range states {
			paths = append(paths, "/learn/widget/"+s.specOf(kind).ID+"?"+state)
		}
	}
	for _, view := range shell.Views {
		s.View = view
		for _, path := range paths {
			left := s.unmarked(path, language, known)
			slices.Sort(left)
			for _, words := range slices.Compact(left) {
				t.Errorf("%s, %s: in no catalog: %s", path, view, words)
			}
		}
	}
}

// TestCourseInOtherLanguages: pages show the course in the language of the request, or in English if
// it is not translated into that language.
func TestCourseInOtherLanguages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Deps.Course = courseworktest.Translated(t, "de")
	s.pages = newPages(t, s.Deps)
	s.ServeMux = http.NewServeMux()
	s.pages.Mount(s.ServeMux)
	lesson := s.Deps.Course.Lessons[2]
	german, err := terms.ReadLanguage("de", mustTexts(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		language   *terms.Language
		title, say string
	}{
		{german, "(" + lesson.Title + ")", "translated"},
		{terms.English, lesson.Title, "in English"},
		{pseudo.Language(t), lesson.Title, "not translated"},
	} {
		get := func(path string) *goquery.Document {
			r := httptest.NewRequest("GET", path, nil)
			d, err := goquery.NewDocumentFromReader(s.Do(r.WithContext(terms.With(r.Context(), tt.language))).Body)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		page := get(lesson.Href())
		if got := text(page.Find("h1")); got != tt.title {
			t.Errorf("%s: got the title %q, want %q", tt.say, got, tt.title)
		}
		caption := text(page.Find(".widget figcaption").First())
		if strings.HasPrefix(caption, "(") != (tt.say == "translated") {
			t.Errorf("%s: the caption of the experiment is %q", tt.say, caption)
		}
		if got := text(get("/learn").Find(".cl h3 a").Eq(2)); got != tt.title {
			t.Errorf("%s: the list of lessons has %q, want %q", tt.say, got, tt.title)
		}
		results := get("/search?q=" + url.QueryEscape(lesson.Title)).Find("#results")
		if got := text(results); !strings.Contains(got, tt.title) {
			t.Errorf("%s: the search results are %q, want one with %q", tt.say, got, tt.title)
		}
	}
}

// mustTexts returns the program's English texts.
func mustTexts(t *testing.T) string {
	t.Helper()
	texts, err := terms.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// unmarked requests a page in a language, and returns the words on the page that are neither marked
// nor known.
func (s *site) unmarked(path string, language *terms.Language, known []string) []string {
	s.T.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r = r.WithContext(terms.With(r.Context(), language))
	r.Header.Set("Viz-Fragment", "1") // without the frame of an error page
	d, err := goquery.NewDocumentFromReader(s.Do(r).Body)
	if err != nil {
		s.T.Fatal(err)
	}
	part := d.Find("main, #turn, #results")
	if part.Length() == 0 {
		part = d.Find("body")
	}
	var tokens []string
	part.Find(".tk, .tok > span, .seg__t, .laid__t, .vis text, .pic__name, .map__toks b").Each(
		func(_ int, e *goquery.Selection) { tokens = append(tokens, text(e)) },
	)
	part.Find(notOurs).Remove()
	html, err := goquery.OuterHtml(part.First())
	if err != nil {
		s.T.Fatal(err)
	}
	left, err := pseudo.NewData(append(tokens, known...)).OfPage(html)
	if err != nil {
		s.T.Fatal(err)
	}
	return left
}

// courseTexts returns the names and titles in the course and the initial texts of its experiments,
// with these texts' tokens and the most likely next tokens.
func (s *site) courseTexts() []string {
	var list []string
	tokens := func(text string) {
		m := s.pages.Model
		ids := m.Encode(text)
		for _, id := range s.distribution(text, sampling.Pure).Order[:80] {
			ids = append(ids, int(id))
		}
		for _, id := range ids {
			list = append(list, strings.TrimSpace(m.Token(id).Text))
		}
	}
	for _, l := range s.pages.Course.Lessons {
		list = append(list, l.Title, l.Name, l.Sentence)
		tokens(l.Sentence)
		for _, s := range l.Sections {
			list = append(list, s.Title)
			for _, b := range s.Blocks {
				if w, ok := b.(lessons.Widget); ok {
					list = slices.AppendSeq(list, maps.Values(w.Params))
					if prompt := w.Params["prompt"]; prompt != "" {
						tokens(prompt)
					}
				}
			}
		}
	}
	for _, term := range s.pages.Course.Terms {
		list = append(list, term.Name)
	}
	return slices.DeleteFunc(list, func(text string) bool { return len(text) < 2 })
}
