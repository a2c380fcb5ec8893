package tokenizer

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Encode returns the token ids of text, or an empty slice if text is empty. All of text is treated
// as plain text: "<|endoftext|>" becomes the ordinary tokens that spell it, and Encode finds only
// added tokens that are not special. Any bytes are accepted. A byte that is not part of valid UTF-8
// is treated as a character other than a letter, a digit or a space.
//
// A byte that has no token is skipped, as in Hugging Face's tokenizers. Most vocabularies have
// tokens for all 256 bytes. For other vocabularies, [Tokenizer.Check] detects texts with bytes that
// Encode would skip.
//
// Decode returns the exact text, except in the following cases, which are due to the model's
// training:
//
//   - with add_prefix_space, a text without a space in front gets one;
//   - SentencePiece decodes ▁ as a space, and the variant that adds a space only if there
//     is none drops an existing one;
//   - a tokenizer with the NFC normalizer returns the text in that form;
//   - the space that is added in front of a text is also added after an added token;
//   - an added token with lstrip or rstrip swallows the whitespace next to it.
//
// Encode takes O(n log n) time and O(longest piece) scratch memory for n bytes.
func (t *Tokenizer) Encode(text string) []int {
	e := encoder{t: t, ids: make([]int, 0, len(text)/3+1)}
	e.encode(text)
	return e.ids
}

// Check returns a *[MissingByteError] for the first byte of text that has no token, or nil if
// Encode would not skip any byte.
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

// EncodeSized is like Encode, but also returns how many bytes of text each token represents. For a
// text that [Tokenizer.Check] accepts, the sizes add up to len(text): a space that the tokenizer
// adds in front counts as 0 bytes, and whitespace that an added token swallows counts toward that
// token.
func (t *Tokenizer) EncodeSized(text string) (ids, sizes []int) {
	e := encoder{t: t, sized: true}
	e.encode(text)
	sizes, before := make([]int, len(e.ends)), 0
	for i, end := range e.ends {
		sizes[i], before = end-before, end
	}
	return e.ids, sizes
}

// An encoder encodes one text.
type encoder struct {
	t   *Tokenizer
	m   merger
	ids []int

	text    string
	from    int    // the offset in text at which the fragment begins
	origin  origin // the origin of the fragment, which is the text between two added tokens
	missing *MissingByteError

	sized bool
	ends  []int // [len(ids)] the offsets in text at which the tokens end, if sized
}

func (e *encoder) encode(text string) {
	e.text = text
	e.part(0, len(text))
}

// part encodes the text between two special tokens, or the whole text.
func (e *encoder) part(begin, end int) {
	text := e.text[begin:end]
	e.t.raw.cut(text, func(id int32, from, to int) {
		if id >= 0 {
			e.ids = append(e.ids, int(id))
			e.end(begin + to)
			return
		}
		source := text[from:to]
		e.from, e.origin = begin+from, origin{t: e.t, source: source}
		normal := e.t.normalize(source)
		e.t.normal.cut(normal, func(id int32, from, to int) {
			if id >= 0 {
				e.ids = append(e.ids, int(id))
				e.measure(e.t.spaced(normal, to))
				return
			}
			e.pieces(normal, from, to)
		})
	})
}

// pieces encodes a part of the normalized fragment.
func (e *encoder) pieces(normal string, from, to int) {
	text := e.t.withSpace(normal[from:to], e.from+from == 0)
	at := e.t.spaced(normal, from) - (len(text) - (to - from))
	if e.t.characters {
		if e.t.metaspace {
			text = strings.ReplaceAll(text, metaspace, " ")
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

// spaced converts an offset in the normalized fragment to the corresponding offset after each ▁ has
// been replaced with a space.
func (t *Tokenizer) spaced(normal string, at int) int {
	if !t.metaspace {
		return at
	}
	return at - (len(metaspace)-len(" "))*strings.Count(normal[:at], metaspace)
}

// piece encodes one piece, which begins at byte `at` of the normalized fragment.
func (e *encoder) piece(text string, at int) {
	if text == "" {
		return
	}
	var lost int
	before := len(e.ids)
	if e.ids, lost = e.m.appendPiece(e.ids, e.t, text); lost >= 0 && e.missing == nil {
		e.missing = e.explain(text, lost, at+lost)
	}
	if e.sized {
		for _, id := range e.ids[before:] {
			at += len(e.t.Bytes(id))
			e.measure(at)
		}
	}
}

// end records that the newest token ends at offset `at` in the text.
func (e *encoder) end(at int) {
	if e.sized {
		e.ends = append(e.ends, at)
	}
}

// measure records that the newest token ends at byte `at` of the normalized fragment.
func (e *encoder) measure(at int) {
	if e.sized {
		e.end(e.from + e.origin.of(at))
	}
}

// normalize converts a text to its normalized form, which is cut into pieces and searched for added
// tokens whose normalized flag is on.
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

// withSpace adds the space that the pre-tokenizer inserts in front of a part of the text. first is
// set for the first part.
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
