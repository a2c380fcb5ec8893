package lessons

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSearchFinds(t *testing.T) {
	c := course(t)
	for query, want := range map[string]string{
		"kv cache":          "/glossary#kv-cache",
		"KV-Cache":          "/glossary#kv-cache",
		"temperatur":        "/glossary#temperature", // a prefix of a word
		"greedy":            "/glossary#greedy",
		"holtzman":          "/reference#ref-holtzman2019",
		"what is the logit": "/glossary#logits", // stop words do not count
		"stop strings":      "/learn/stopping#",
		"divide by zero":    "/learn/temperature#zero",
	} {
		found := false
		for _, h := range c.Search(query, 5) {
			found = found || strings.HasPrefix(h.Where, want)
			if !exists(c, h.Where) {
				t.Errorf("%q finds %s, which does not exist", query, h.Where)
			}
			if h.Kind == "" || h.Title == "" || strings.ContainsAny(h.Snippet+h.Title, "\n$") {
				t.Errorf(
					"searching %q: got hit %+v, want a kind, a title, and a snippet on one line without TeX", query, h,
				)
			}
		}
		if !found {
			t.Errorf("%q does not find %s among its first five: %+v", query, want, c.Search(query, 5))
		}
	}
}

func TestSearchKinds(t *testing.T) {
	c := course(t)
	kinds := map[string]bool{}
	for _, h := range c.Search("temperature", 50) {
		kinds[h.Kind] = true
	}
	for _, kind := range []string{"section", "term", "card", "reference"} {
		if !kinds[kind] {
			t.Errorf("a search for temperature finds no %s", kind)
		}
	}
}

func TestSearchWithoutResults(t *testing.T) {
	c := course(t)
	for _, query := range []string{"", "   ", "…!?", "zzzzqqq", "\xff\xfe"} {
		if hits := c.Search(query, 10); len(hits) != 0 {
			t.Errorf("%q finds %+v, want 0 elements", query, hits)
		}
	}
	if hits := c.Search("greedy", 0); len(hits) != 0 {
		t.Errorf("a limit of 0 gives %d hits, want 0", len(hits))
	}
	if hits := c.Search("greedy", 3); len(hits) != 3 {
		t.Errorf("a limit of 3 gives %d hits, want 3", len(hits))
	}
	// A very long query is truncated and still gives results.
	if hits := c.Search(strings.Repeat("temperature divides logits ", 10_000), 3); len(hits) != 3 {
		t.Errorf("a very long query gives %d hits, want 3", len(hits))
	}
}

// TestSearchRanks: matches in titles rank before matches in texts, whole words before prefixes, and
// matches of all words before matches of only some of them.
func TestSearchRanks(t *testing.T) {
	c := &Course{Terms: []Term{
		{ID: "a", Name: "Cache", Text: "Keeps keys."},
		{ID: "b", Name: "Window", Text: "The cache fills it, slowly, with what it needs to keep."},
		{ID: "c", Name: "Cached", Text: "Done before."},
		{ID: "d", Name: "Other", Text: "Nothing of it."},
		{ID: "e", Name: "Rare", Text: "keys window"},
	}}
	c.index = newIndex(c)
	for query, want := range map[string]string{
		"cache":        "Cache Cached Window",
		"cache window": "Window Cache Cached Rare",
		"CACHED":       "Cached",
		"keys":         "Cache Rare",
		"the":          "Window",
	} {
		var got []string
		for _, h := range c.Search(query, 10) {
			got = append(got, h.Title)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q finds %v, want %s", query, got, want)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("word ", 100) + "needle " + strings.Repeat("wörter ", 100)
	got := snippet(long, []string{"needle"})
	if n := utf8.RuneCountInString(got); !strings.Contains(got, "needle") || n > snippetRunes+4 || n < snippetRunes-20 {
		t.Errorf(
			"got %d runes: %s; want at most %d and at least %d, it containing %q", n, got, snippetRunes+4,
			snippetRunes-20, "needle",
		)
	}
	if !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || !utf8.ValidString(got) {
		t.Errorf("got snippet %q, want valid UTF-8 with … at both ends", got)
	}
	if got := snippet("short needle", []string{"needle"}); got != "short needle" {
		t.Errorf("got %s, want %s", got, "short needle")
	}
}
