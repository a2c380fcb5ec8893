// Package tokenizer turns text into token ids and token ids back into bytes,
// by byte-pair encoding (Sennrich et al. 2016) of two kinds: the byte-level one
// of GPT-2 (Radford et al. 2019), Llama 3, Qwen and many more, and that of
// SentencePiece (Kudo and Richardson 2018), which Llama 2, Mistral and Gemma
// use. Vocabularies come from the tokenizer.json of a Hugging Face model folder
// ([Parse]) or as lists ([NewByteLevel], [NewSentencePiece]), as GGUF and
// llama2.c keep them.
//
// Byte-level encoding runs in four steps, one file each:
//
//  1. Added tokens, such as runs of blanks, are found in the text (added.go).
//  2. What is between them is cut into pieces by a split pattern. GPT-2's: a
//     contraction such as 's, a run of letters, of digits or of other
//     characters, each with at most one space in front, or a run of whitespace
//     (pretokenize.go; the others are in split.go). No merged token crosses the
//     border between two pieces.
//  3. Each byte of a piece becomes a single-byte token. The file spells a byte
//     as one printable character, so byte 0x20 is Ġ (alphabet.go).
//  4. Of all adjacent pairs of tokens that have a merge rule, the pair whose
//     rule comes first in the file becomes one token, the leftmost such pair
//     first, until no pair has a rule (merge.go).
//
// SentencePiece leaves out the second step and begins the third with
// characters (sentencepiece.go).
//
// If all 256 single bytes are tokens, every string can be encoded, even invalid
// UTF-8, and joining the bytes of the tokens restores the string. Some
// published vocabularies lack a few bytes; [Tokenizer.Check] finds the texts
// that need one (missing.go). A token may end in the middle of a character:
// bytes, not characters, are the unit, so a single token may be half a
// character.
//
// What a learner types is always plain text. The special tokens of a model (end
// of text and the like) have ids and names, but Encode never produces them,
// whatever the text looks like; SpecialID returns their ids.
//
// A tokenizer.json can describe many other tokenizers. Parse (parse.go) rejects
// them with an error that names what it does not support, since an almost right
// tokenizer would give a model almost the right input unnoticed. The file is
// untrusted.
package tokenizer

// A Tokenizer is a vocabulary with its merge rules. It never changes and is
// safe for concurrent use.
type Tokenizer struct {
	split      *splitter // nil for SentencePiece
	characters bool      // SentencePiece: tokens begin as characters, not as bytes
	prefix     prefix    // SentencePiece: when a space is added in front
	metaspace  bool      // SentencePiece: its pre-tokenizer writes ▁, not its normalizer
	nfc        bool      // the text is converted to normalization form C first
	start      int32     // added in front of a text, -1 for none

	// addPrefixSpace puts a space in front of a text that does not begin with
	// one: the ByteLevel pre-tokenizer's option of that name.
	addPrefixSpace bool

	// bytes holds the bytes of all ordinary tokens, and spans[id] says which
	// are token id's: none for a special token or an id that the vocabulary
	// skips.
	bytes []byte
	spans []span // [size]

	index   index      // bytes to id, for tokens that merging makes
	byteIDs [256]int32 // single byte to id, -1 if the vocabulary lacks it
	lacks   int        // how many bytes have no token
	merges  rules      // none if ranks decide the merges
	ranks   []int32    // [size] of the rule that makes a token; nil if merges decide

	wholePieces bool // a piece that is a token is that token, whatever the merges say

	specials map[int32]string // id to name
	names    map[string]int32 // name to id, special tokens only
	strips   map[int32]strip  // of special tokens that take white space with them
	added    map[string]int32 // added tokens that are not special: text to id

	raw, normal matcher // find the added tokens: in the text as it is, and normalized
}

// A span is the part of Tokenizer.bytes from one offset up to another. That of an
// ordinary token is never empty.
type span struct{ from, to uint32 }

// Bytes returns the bytes of token id, which need not be whole characters. It
// is nil for a special token, for an id out of range and for an id that the
// vocabulary skips. The caller must not modify it.
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

// Longest returns the most bytes of a text that one token can stand for.
func (t *Tokenizer) Longest() int {
	most := 1
	for _, s := range t.spans {
		most = max(most, int(s.to-s.from))
	}
	if t.nfc {
		most *= 3 // as much as composing shortens a character: the Kelvin sign becomes a K
	}
	for name := range t.names {
		most = max(most, len(name))
	}
	return most
}

// Special returns the name of special token id, such as "<|endoftext|>"; ok is
// false if id is not a special token.
func (t *Tokenizer) Special(id int) (name string, ok bool) {
	if id < 0 || id >= t.Size() {
		return "", false
	}
	name, ok = t.specials[int32(id)]
	return name, ok
}

// SpecialID returns the id of the special token called name; ok is false if
// there is none.
func (t *Tokenizer) SpecialID(name string) (id int, ok bool) {
	i, ok := t.names[name]
	return int(i), ok
}

// Decode returns the bytes of the tokens, joined, without the space that
// SentencePiece added in front. Special tokens and ids out of range have no
// bytes. The result can be invalid UTF-8 if ids begin or end in the middle of a
// character.
func (t *Tokenizer) Decode(ids []int) string {
	n := 0
	for _, id := range ids {
		n += len(t.Bytes(id))
	}
	text := make([]byte, 0, n)
	for _, id := range ids {
		text = append(text, t.Bytes(id)...)
	}
	return string(t.withoutPrefix(text))
}

// Kind describes the tokenizer, such as "byte-level BPE, GPT-2 split" or
// "SentencePiece BPE".
func (t *Tokenizer) Kind() string {
	if t.characters {
		return "SentencePiece BPE"
	}
	return "byte-level BPE, " + t.split.name
}

// Start returns the token that the tokenizer's own description puts in front of
// a text; ok is false if it names none. Encode leaves it out.
func (t *Tokenizer) Start() (id int, ok bool) { return int(t.start), t.start >= 0 }

// Size returns the size of the vocabulary, special tokens included: the highest
// id plus one. A model with exactly this vocabulary has this many logits; a
// model may pad its table to more.
func (t *Tokenizer) Size() int { return len(t.spans) }

// Lookup returns the ordinary token with exactly these bytes; ok is false if
// there is none. It never finds a special token.
func (t *Tokenizer) Lookup(bytes string) (id int, ok bool) {
	i, ok := t.find(bytes)
	return max(0, int(i)), ok
}
