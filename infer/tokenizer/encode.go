package tokenizer

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Encode returns the token ids of text, an empty slice for an empty text. The
// text is plain text throughout: "<|endoftext|>" becomes the ordinary tokens
// that spell it; only added tokens that are not special are found in it. Any
// bytes are accepted; a byte outside valid UTF-8 counts as a character that is
// neither letter, digit nor space.
//
// A byte that has no token is left out, as in Hugging Face's tokenizers. Most
// vocabularies have all 256; for others [Tokenizer.Check] finds the texts that
// lose something.
//
// Decode returns the exact text, with these exceptions, each part of how the
// model was trained: add_prefix_space leaves a space in front of a text that
// had none; SentencePiece reads ▁ as a space, and one that adds its space only
// if there is none drops one that was there; a tokenizer with the NFC
// normalizer returns the text in that form; the space in front of a text is
// repeated after an added token; and an added token with lstrip or rstrip
// swallows the whitespace next to it.
//
// Encode takes O(n log n) time and O(longest piece) scratch memory for n bytes.
func (t *Tokenizer) Encode(text string) []int {
	e := encoder{t: t, ids: make([]int, 0, len(text)/3+1)}
	e.encode(text)
	return e.ids
}

// Check returns a *[MissingByteError] for the first byte of text that has no
// token, or nil if Encode leaves nothing out.
func (t *Tokenizer) Check(text string) error {
	if t.lacks == 0 {
		return nil
	}
	e := encoder{t: t}
	e.encode(text)
	if e.missing == nil {
		return nil
	}
	return e.missing
}

// An encoder encodes one text.
type encoder struct {
	t   *Tokenizer
	m   merger
	ids []int

	text    string
	from    int    // where in text the fragment begins
	source  string // the fragment: what is between two added tokens
	missing *MissingByteError
}

func (e *encoder) encode(text string) {
	e.text = text
	e.part(0, len(text))
}

// part encodes what stands between two special tokens, or all.
func (e *encoder) part(begin, end int) {
	text := e.text[begin:end]
	e.t.raw.cut(text, func(id int32, from, to int) {
		if id >= 0 {
			e.ids = append(e.ids, int(id))
			return
		}
		e.from, e.source = begin+from, text[from:to]
		normal := e.t.normalize(e.source)
		e.t.normal.cut(normal, func(id int32, from, to int) {
			if id >= 0 {
				e.ids = append(e.ids, int(id))
				return
			}
			e.pieces(normal[from:to], from)
		})
	})
}

// pieces encodes what begins at byte `at` of the normalized fragment.
func (e *encoder) pieces(normal string, at int) {
	text := e.t.withSpace(normal, e.from+at == 0)
	at -= len(text) - len(normal)
	if e.t.characters {
		if e.t.metaspace {
			plain := strings.ReplaceAll(text, metaspace, " ")
			at += len(text) - len(plain)
			text = plain
		}
		e.piece(text, at)
		return
	}
	for text != "" {
		segment := text[:e.t.split.segment(text)]
		text = text[len(segment):]
		for segment != "" {
			n := e.t.split.length(segment)
			e.piece(segment[:n], at)
			segment = segment[n:]
			at += n
		}
	}
}

// piece encodes one piece, which begins at byte `at` of the normalized fragment.
func (e *encoder) piece(text string, at int) {
	if text == "" {
		return
	}
	var lost int
	if e.ids, lost = e.m.appendPiece(e.ids, e.t, text); lost >= 0 && e.missing == nil {
		e.missing = e.explain(text, lost, at+lost)
	}
}

// normalize converts a text to the form in which added tokens with the flag
// normalized are searched for, and which is cut into pieces.
func (t *Tokenizer) normalize(text string) string {
	if t.nfc {
		text = norm.NFC.String(text)
	}
	if t.characters && !t.metaspace {
		if t.prefix == prefixAlways && text != "" {
			text = " " + text
		}
		text = strings.ReplaceAll(text, metaspace, " ")
	}
	return text
}

// withSpace adds the space that the pre-tokenizer puts in front of a part of
// the text; first marks the text's first part.
func (t *Tokenizer) withSpace(text string, first bool) string {
	switch {
	case text == "" || text[0] == ' ':
	case t.addPrefixSpace:
		return " " + text
	case t.prefix == prefixFirst && !first, strings.HasPrefix(text, metaspace):
	case t.prefix == prefixFirst || t.prefix == prefixMissing:
		return " " + text
	}
	return text
}
