package learn

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// TestSearchListsAndMarksHits: hits are listed, and the words that match are marked. A query is
// never interpreted as markup.
func TestSearchListsAndMarksHits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.Get("/search?q=softmax")
	if d.Find("#results li").Length() == 0 || !strings.EqualFold(d.Find("#results mark").First().Text(), "softmax") {
		t.Errorf("searching softmax: got %s, want results with the word marked", text(d.Find("#results")))
	}
	if got := d.Find("#q").AttrOr("value", ""); got != "softmax" {
		t.Errorf("the field contains %q, want %q", got, "softmax")
	}
	if d = s.Get("/search"); d.Find("#results li").Length() != 0 || text(d.Find(".results__say")) != "" {
		t.Errorf("without a query: %s", text(d.Find("#results")))
	}
	const odd = `<script>alert("x")</script>`
	d = s.Get("/search?q=" + url.QueryEscape(odd))
	if d.Find("script:not([src])").Length() != 0 || d.Find("#q").AttrOr("value", "") != odd {
		t.Error("a query became markup")
	}
	d = s.Get("/search?q=" + strings.Repeat("%C3%A4", 500))
	if got := len([]rune(d.Find("#q").AttrOr("value", ""))); got != queryRunes {
		t.Errorf("a long query is cut to %d letters, want %d", got, queryRunes)
	}
	s.Get("/search?q=%ff%fe")
	card := s.pages.Course.Cards[0]
	want := "/cards?card=" + url.QueryEscape(card.ID)
	if d = s.Get("/search?q=" + url.QueryEscape(card.Front)); d.Find(`#results a[href^="`+want+`"]`).Length() == 0 {
		t.Errorf("searching for the question of card %s does not find the card: %s", card.ID, text(d.Find("#results")))
	}
	r := httptest.NewRequest(http.MethodGet, "/search?q=nucleus", nil)
	r.Header.Set("Viz-Fragment", "1")
	part := s.Parse("nucleus", s.Do(r), http.StatusOK)
	if part.Find("#results li").Length() == 0 || part.Find("h1, header").Length() != 0 {
		t.Error("the script gets more than the results")
	}
}

func TestMarkedPieces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, query string
		want        []segment
	}{
		{"", "a", nil},
		{"no", "", []segment{{"no", false}}},
		{"Top-p cuts", "cut", []segment{{"Top-p ", false}, {"cuts", true}}},
		{"Top-p, top-k", "TOP", []segment{{"Top", true}, {"-p, ", false}, {"top", true}, {"-k", false}}},
		{
			"·the cache…", "cache the",
			[]segment{{"·", false}, {"the", true}, {" ", false}, {"cache", true}, {"…", false}},
		},
		{"stop", "top", []segment{{"stop", false}}}, // a query matches only the beginning of a word
	} {
		if got := marked(c.text, c.query); !reflect.DeepEqual(got, c.want) {
			t.Errorf("marked(%q, %q) = %v, want %v", c.text, c.query, got, c.want)
		}
	}
}
