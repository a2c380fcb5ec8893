package learn

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

const (
	// hitsShown is the maximum number of hits that a search lists. Beyond that, typing another word
	// is faster than reading more hits.
	hitsShown = 30
	// queryRunes is the maximum length of a query.
	queryRunes = 200
)

// A searchPage shows a query and its hits.
type searchPage struct {
	Query string
	Hits  []lessons.Hit
}

// search handles GET /search?q=. It sends the whole page, or only the results to a script.
func (p *Pages) search(w http.ResponseWriter, r *http.Request) {
	v := searchPage{Query: strings.TrimSpace(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))}
	if utf8.RuneCountInString(v.Query) > queryRunes {
		v.Query = string([]rune(v.Query)[:queryRunes])
	}
	if v.Query != "" {
		v.Hits = p.Course.In(r.Context()).Search(v.Query, hitsShown)
		for i := range v.Hits {
			// The deck shows one card at a time, so a query parameter, not a fragment, identifies a
			// card.
			if id, ok := strings.CutPrefix(v.Hits[i].Where, "/cards#"); ok {
				v.Hits[i].Where = "/cards?" + url.Values{"card": {id}}.Encode()
			}
		}
	}
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, searchResults(v))
		return
	}
	p.HTML(w, r, http.StatusOK, searchHTML(v))
}

// say summarizes the result of the search.
func (v searchPage) say(w stage.Words) string {
	switch n := len(v.Hits); {
	case v.Query == "":
		return ""
	case n == 0:
		return w.T("learn.search.none", "query", terms.Isolated(v.Query))
	case n == hitsShown:
		return w.T("learn.search.most", "n", n)
	default:
		return w.T("learn.search.found", "n", n)
	}
}

// A segment is a part of a string. Hit is set if the segment matches the query.
type segment struct {
	S   string
	Hit bool
}

// marked splits text into segments. The hits are the words that begin with a word of the query.
func marked(text, query string) []segment {
	words := strings.FieldsFunc(strings.ToLower(query), notWord)
	var list []segment
	for rest := text; rest != ""; {
		start := strings.IndexFunc(rest, func(r rune) bool { return !notWord(r) })
		if start != 0 {
			gap := rest
			if start > 0 {
				gap = rest[:start]
			}
			list = appendPiece(list, segment{S: gap})
			rest = rest[len(gap):]
			continue
		}
		word := rest
		if end := strings.IndexFunc(rest, notWord); end >= 0 {
			word = rest[:end]
		}
		hit := false
		for _, w := range words {
			hit = hit || strings.HasPrefix(strings.ToLower(word), w)
		}
		list = appendPiece(list, segment{word, hit})
		rest = rest[len(word):]
	}
	return list
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// appendPiece appends p to list. If p and the list's last segment are both hits or both not, it
// extends that segment instead.
func appendPiece(list []segment, p segment) []segment {
	if n := len(list); n > 0 && list[n-1].Hit == p.Hit {
		list[n-1].S += p.S
		return list
	}
	return append(list, p)
}

// markedText renders text with the matching words marked.
func markedText(text, query string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, p := range marked(text, query) {
			if p.Hit {
				b.WriteString("<mark>" + templ.EscapeString(p.S) + "</mark>")
				continue
			}
			b.WriteString(templ.EscapeString(p.S))
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}
