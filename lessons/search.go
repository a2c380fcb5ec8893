package lessons

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hit is a search result.
type Hit struct {
	Kind    string // "section", "term", "card" or "reference"
	Title   string // plain text
	Where   string // href
	Snippet string // plain text around the matching words
}

// Limits of a search. A longer query is truncated, not rejected.
const (
	maxQueryRunes = 200
	maxQueryWords = 12
	snippetRunes  = 160
)

// index finds words in entries. It is built once, in memory: the course has a
// few hundred entries of a few hundred words each.
type index struct {
	entries  []entry
	words    []string    // sorted
	postings [][]posting // by word
}

// entry is a searchable part of the course.
type entry struct {
	hit   Hit
	text  string // the text for snippets
	title int    // number of words in the title
}

// posting holds how often a word occurs in an entry's text and in its title.
type posting struct{ entry, text, title int }

// newIndex indexes the sections of all lessons, terms, cards and the reference.
func newIndex(c *Course) *index {
	x := &index{}
	for _, lesson := range c.Lessons {
		for i, s := range lesson.Sections {
			text := s.text
			if i == 0 {
				text = lesson.Title + ". " + lesson.LeadText + " " + text
			}
			title := lesson.Name + ": " + s.Title
			x.entries = append(x.entries, entry{hit: Hit{Kind: "section", Title: title, Where: s.Href()}, text: text})
		}
	}
	for _, t := range c.Terms {
		x.entries = append(x.entries, entry{hit: Hit{Kind: "term", Title: t.Name, Where: termHref(t.ID)}, text: t.Text})
	}
	for _, card := range c.Cards {
		x.entries = append(
			x.entries,
			entry{
				hit: Hit{Kind: "card", Title: oneLine(card.FrontText), Where: cardHref(card.ID)}, text: card.BackText,
			},
		)
	}
	if c.Sheet != nil {
		for _, s := range c.Sheet.Sections {
			x.entries = append(
				x.entries, entry{hit: Hit{Kind: "reference", Title: s.Title, Where: sheetHref(s.ID)}, text: s.text},
			)
		}
	}
	if c.Checked != nil {
		for _, s := range c.Checked.Sections {
			x.entries = append(
				x.entries, entry{hit: Hit{Kind: "reference", Title: s.Title, Where: checkedHref(s.ID)}, text: s.text},
			)
		}
	}
	for _, r := range c.References {
		x.entries = append(
			x.entries, entry{hit: Hit{Kind: "reference", Title: r.Short, Where: referenceHref(r.ID)}, text: r.Text},
		)
	}
	x.post()
	return x
}

// post counts the words of all entries and stores the counts as postings.
func (x *index) post() {
	all := map[string]map[int]posting{}
	for i := range x.entries {
		e := &x.entries[i]
		e.text, e.title = oneLine(e.text), len(wordsOf(e.hit.Title))
		count := func(text string, add func(p *posting)) {
			for _, w := range wordsOf(text) {
				if all[w.text] == nil {
					all[w.text] = map[int]posting{}
				}
				p := all[w.text][i]
				p.entry = i
				add(&p)
				all[w.text][i] = p
			}
		}
		count(e.hit.Title, func(p *posting) { p.title++ })
		count(e.text, func(p *posting) { p.text++ })
	}
	for w := range all {
		x.words = append(x.words, w)
	}
	slices.Sort(x.words)
	for _, w := range x.words {
		var list []posting
		for _, p := range all[w] {
			list = append(list, p)
		}
		slices.SortFunc(list, func(a, b posting) int { return a.entry - b.entry })
		x.postings = append(x.postings, list)
	}
}

// span is a word with its offset in a text.
type span struct {
	text string // in lower case
	from int    // offset of the first byte
}

// wordsOf splits a text into runs of letters and digits, in lower case.
func wordsOf(text string) (list []span) {
	from := -1
	cut := func(to int) {
		if from >= 0 {
			list = append(list, span{strings.ToLower(text[from:to]), from})
			from = -1
		}
	}
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			cut(i)
		} else if from < 0 {
			from = i
		}
	}
	cut(len(text))
	return list
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// found is an entry with its score and the number of query words that it contains.
type found struct {
	entry, words int
	score        float64
}

// Search returns the entries that match a query best, at most limit of them. A word also matches
// longer words that begin with it, but such matches have less weight. Rare words and words in a
// title have more weight. Entries that match fewer of the words than others score much lower. Stop
// words count only in a query without other words.
func (c *Course) Search(query string, limit int) []Hit {
	if c.index == nil || limit <= 0 {
		return nil
	}
	asked := queryWords(query)
	if len(asked) == 0 {
		return nil
	}
	best := map[int]*found{}
	for _, word := range asked {
		for entry, score := range c.index.scores(word) {
			if best[entry] == nil {
				best[entry] = &found{entry: entry}
			}
			best[entry].words++
			best[entry].score += score
		}
	}
	var list []*found
	most := 0
	for _, f := range best {
		list = append(list, f)
		most = max(most, f.words)
	}
	for _, f := range list {
		f.score *= math.Pow(float64(f.words)/float64(most), 3)
	}
	slices.SortFunc(list, func(a, b *found) int {
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		return a.entry - b.entry
	})
	var hits []Hit
	for _, f := range list[:min(limit, len(list))] {
		e := c.index.entries[f.entry]
		e.hit.Snippet = snippet(e.text, asked)
		hits = append(hits, e.hit)
	}
	return hits
}

// queryWords returns a query's words without duplicates.
func queryWords(query string) (list []string) {
	if utf8.RuneCountInString(query) > maxQueryRunes {
		query = string([]rune(query)[:maxQueryRunes])
	}
	for _, w := range wordsOf(query) {
		if !slices.Contains(list, w.text) && len(list) < maxQueryWords {
			list = append(list, w.text)
		}
	}
	if telling := slices.DeleteFunc(
		slices.Clone(list), func(w string) bool { return littleWords[w] },
	); len(telling) > 0 {
		return telling
	}
	return list
}

// littleWords are stop words, which carry no information about the topic.
var littleWords = map[string]bool{}

func init() {
	for _, w := range strings.Fields("a an and are as at be by can do does for from how in is it its of on or that " +
		"the this to was what when which why with") {
		littleWords[w] = true
	}
}

// scores returns a score for each entry that contains the word, or a longer word that begins with
// it.
func (x *index) scores(word string) map[int]float64 {
	scores := map[int]float64{}
	at, _ := slices.BinarySearch(x.words, word)
	for ; at < len(x.words) && strings.HasPrefix(x.words[at], word); at++ {
		// A word that is only a prefix has a lower weight, in proportion to the
		// missing letters.
		whole := float64(len(word)) / float64(len(x.words[at]))
		if whole < 1 {
			whole *= 0.8
		}
		rare := math.Log(1 + float64(len(x.entries))/float64(len(x.postings[at])))
		for _, p := range x.postings[at] {
			text := float64(p.text)
			title := float64(min(p.title, 1))
			title += 2 * title / float64(max(x.entries[p.entry].title, 1)) // a higher weight in a shorter title
			score := whole * rare * (text/(text+1.5) + title)
			scores[p.entry] = max(scores[p.entry], score)
		}
	}
	return scores
}

// snippet returns the part of a text around the first match of the query's words.
func snippet(text string, asked []string) string {
	runes := utf8.RuneCountInString(text)
	if runes <= snippetRunes {
		return text
	}
	at := 0
	for _, w := range wordsOf(text) {
		if slices.ContainsFunc(asked, func(a string) bool { return strings.HasPrefix(w.text, a) }) {
			at = utf8.RuneCountInString(text[:w.from])
			break
		}
	}
	from := max(0, min(at-snippetRunes/3, runes-snippetRunes))
	cut := string([]rune(text)[from:min(runes, from+snippetRunes)])
	if from > 0 {
		_, cut, _ = strings.Cut(cut, " ")
		cut = "… " + cut
	}
	if from+snippetRunes < runes {
		cut = cut[:max(strings.LastIndexByte(cut, ' '), 0)] + " …"
	}
	return cut
}
