// Package tokenizer turns text into token ids and token ids back into bytes,
// with the byte-level byte-pair encoding of GPT-2 (Radford et al. 2019; the
// merging itself is Sennrich et al. 2016), read from the tokenizer.json of a
// Hugging Face model folder.
//
// Encoding runs in three steps, one file each:
//
//  1. The text is cut into pieces by GPT-2's split pattern: a contraction such
//     as 's, a run of letters, of digits or of other characters, each with at
//     most one space in front, or a run of whitespace (pretokenize.go). No
//     token ever crosses the border between two pieces.
//  2. The bytes of a piece become one single-byte token each. The file spells
//     a byte as one printable character, so that byte 0x20 reads Ġ; that
//     alphabet is in alphabet.go.
//  3. Of all adjacent pairs of tokens that have a merge rule, the pair whose
//     rule comes first in the file becomes one token, the leftmost such pair
//     first, until no pair has a rule (merge.go).
//
// Since all 256 single bytes are tokens, every string can be encoded, broken
// UTF-8 included, and joining the bytes of the tokens gives the string back.
// A token may end in the middle of a character: bytes, not characters, are the
// unit, and a caller who prints a single token has to expect half of one.
//
// What a learner types is always plain text. The special tokens of a model
// (end of text and the like) have ids and names, but Encode never produces
// them, whatever the text looks like; a caller who wants one asks SpecialID.
//
// A tokenizer.json can describe many other tokenizers. Parse (parse.go)
// refuses each with a sentence that names what it does not support, since a
// tokenizer that is almost right gives a model almost the right input and
// nobody notices. The file counts as untrusted.
package tokenizer

// A Tokenizer is a vocabulary with its merge rules. Parse makes one; it never
// changes afterwards and may be used by any number of goroutines at once.
type Tokenizer struct {
	// addPrefixSpace puts a space in front of a text that does not begin with
	// one, as the ByteLevel pre-tokenizer's option of that name asks.
	addPrefixSpace bool

	// bytes holds the bytes of all ordinary tokens, and spans says which of
	// them are token id's: none for a special token and for an id that the
	// vocabulary skips.
	bytes []byte
	spans []span // [size]

	ids      map[string]int32 // bytes to id, special tokens left out
	byteIDs  [256]int32       // single byte to id
	merges   map[pair]merge
	specials map[int32]string // id to name
	names    map[string]int32 // name to id, special tokens only
}

// A span is the part of Tokenizer.bytes from one offset up to another. That of an
// ordinary token is never empty.
type span struct{ from, to uint32 }

// Encode returns the token ids of text, an empty slice for an empty text. The
// text is plain text throughout: "<|endoftext|>" becomes the ordinary tokens
// that spell it. Any bytes are accepted; one that is not part of valid UTF-8
// counts as a character that is neither letter, digit nor space.
//
// Decode gives the text back exactly. The one exception is a tokenizer.json
// with add_prefix_space set: a text that is not empty and does not begin with
// a space then comes back with one in front.
//
// Encode takes O(n log n) time and O(longest piece) scratch memory for n bytes.
func (t *Tokenizer) Encode(text string) []int {
	if t.addPrefixSpace && text != "" && text[0] != ' ' {
		text = " " + text
	}
	ids := make([]int, 0, len(text)/3+1)
	var m merger
	for text != "" {
		n := pieceLen(text)
		ids = m.appendPiece(ids, t, text[:n])
		text = text[n:]
	}
	return ids
}

// Bytes returns the bytes that token id stands for, which need not be whole
// characters. It is nil for a special token, for an id out of range and for an
// id that the vocabulary skips. The caller must not modify it.
func (t *Tokenizer) Bytes(id int) []byte {
	if id < 0 || id >= t.Size() {
		return nil
	}
	s := t.spans[id]
	if s == (span{}) {
		return nil
	}
	return t.bytes[s.from:s.to:s.to]
}

// Special returns the name of special token id, such as "<|endoftext|>"; ok is
// false when id is not a special token.
func (t *Tokenizer) Special(id int) (name string, ok bool) {
	if id < 0 || id >= t.Size() {
		return "", false
	}
	name, ok = t.specials[int32(id)]
	return name, ok
}

// SpecialID returns the id of the special token called name; ok is false when
// there is none.
func (t *Tokenizer) SpecialID(name string) (id int, ok bool) {
	i, ok := t.names[name]
	return int(i), ok
}

// Decode returns the bytes of the tokens, joined. Special tokens and ids out of
// range stand for no bytes. The result can be invalid UTF-8 when ids begin or
// end in the middle of a character.
func (t *Tokenizer) Decode(ids []int) string {
	n := 0
	for _, id := range ids {
		n += len(t.Bytes(id))
	}
	text := make([]byte, 0, n)
	for _, id := range ids {
		text = append(text, t.Bytes(id)...)
	}
	return string(text)
}

// Size returns the size of the vocabulary, special tokens included: the highest
// id plus one. It is the number of logits that a model with exactly this
// vocabulary gives; a model may pad its table to more.
func (t *Tokenizer) Size() int { return len(t.spans) }

// Lookup returns the ordinary token that stands for exactly these bytes; ok is
// false when there is none. It never finds a special token.
func (t *Tokenizer) Lookup(bytes string) (id int, ok bool) {
	i, ok := t.ids[bytes]
	return int(i), ok
}
