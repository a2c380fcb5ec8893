package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Added tokens that are not special, such as CodeGen's and GPT-NeoX's runs of blanks, are found in
// a text first, and only the text between them is split and merged. If several added tokens begin
// at the same byte, the longest is used. As in Hugging Face's tokenizers, there are two searches:
// first for tokens whose normalized flag is off, in the original text, and then for the others, in
// the normalized text between the tokens that the first search found.
//
// Special tokens are also searched for, but remain plain text when found. This prevents the search
// from finding an added token inside the name of a special token.

// maxAddedBytes is the maximum length of an added token. Published added tokens have fewer than 100
// bytes.
const maxAddedBytes = 1024

// A matcher finds added tokens in a text. The zero matcher does not find any tokens.
type matcher struct {
	tokens  map[string]addedMatch
	lengths [256][]int // of the tokens beginning with a given byte, longest first
}

// An addedMatch describes an added token to a matcher.
type addedMatch struct {
	id      int32
	special bool // found, but treated as text

	singleWord     bool // found only if no word character is next to it
	lstrip, rstrip bool // swallows the whitespace on that side
}

// add adds a token. If two tokens have the same text, only the first is used.
func (m *matcher) add(text string, match addedMatch) {
	if _, taken := m.tokens[text]; taken || text == "" {
		return
	}
	if m.tokens == nil {
		m.tokens = map[string]addedMatch{}
	}
	m.tokens[text] = match
	lengths := &m.lengths[text[0]]
	at, found := slices.BinarySearchFunc(*lengths, len(text), func(have, want int) int { return want - have })
	if !found {
		*lengths = slices.Insert(*lengths, at, len(text))
	}
}

// within returns the matcher without the tokens whose ids are n or more.
func (m *matcher) within(n int) (smaller matcher) {
	for text, match := range m.tokens {
		if int(match.id) < n {
			smaller.add(text, match)
		}
	}
	return smaller
}

// next finds the first token that begins at or after offset `from`. If several begin at the same
// byte, it returns the longest.
func (m *matcher) next(text string, from int) (match addedMatch, start, end int, ok bool) {
	for start = from; start < len(text); start++ {
		for _, n := range m.lengths[text[start]] {
			if n > len(text)-start {
				continue
			}
			if match, ok = m.tokens[text[start:start+n]]; ok {
				return match, start, start + n, true
			}
		}
	}
	return match, 0, 0, false
}

// cut calls visit for the parts of a text in order: with its id for each added token, and with -1
// for the text between added tokens.
func (m *matcher) cut(text string, visit func(id int32, from, to int)) {
	if len(m.tokens) == 0 {
		visit(-1, 0, len(text))
		return
	}
	done, searched := 0, 0
	for {
		match, start, end, ok := m.next(text, searched)
		if !ok {
			break
		}
		searched = end
		if match.special || match.singleWord && (endsWithWord(text[:start]) || startsWithWord(text[end:])) {
			continue
		}
		if match.lstrip {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if match.rstrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if done < start {
			visit(-1, done, start)
		}
		visit(match.id, start, end)
		// If this token is whitespace that the previous token swallowed, it ends before the
		// previous token does. Like the reference implementation, continue after this token even
		// then.
		done = end
	}
	if done < len(text) {
		visit(-1, done, len(text))
	}
}

func endsWithWord(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	return size > 0 && wordCharacter(r)
}

func startsWithWord(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size > 0 && wordCharacter(r)
}

// wordCharacter reports whether r matches \w of Unicode Technical Standard 18: alphabetic
// characters, marks, decimal digits, connectors and the two joiners.
func wordCharacter(r rune) bool {
	return unicode.IsLetter(r) || r == '\u200c' || r == '\u200d' ||
		unicode.In(r, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic)
}

// readMatchers divides the added tokens between the two searches.
func (t *Tokenizer) readMatchers(list []addedToken) {
	// If two tokens have the same text after normalization, a special token takes precedence.
	slices.SortStableFunc(list, func(a, b addedToken) int {
		switch {
		case a.Special == b.Special:
			return 0
		case a.Special:
			return -1
		}
		return 1
	})
	for _, a := range list {
		if a.Special && (a.LStrip || a.RStrip) {
			if t.strips == nil {
				t.strips = map[int32]strip{}
			}
			t.strips[int32(*a.ID)] = strip{a.LStrip, a.RStrip}
		}
		match := addedMatch{
			id: int32(*a.ID), special: a.Special, singleWord: a.SingleWord, lstrip: a.LStrip, rstrip: a.RStrip,
		}
		if a.normalized() {
			t.normal.add(t.normalize(a.Content), match)
		} else {
			t.raw.add(a.Content, match)
		}
	}
	if !slices.ContainsFunc(list, func(a addedToken) bool { return !a.Special }) {
		t.raw, t.normal = matcher{}, matcher{} // nothing to find
	}
}
