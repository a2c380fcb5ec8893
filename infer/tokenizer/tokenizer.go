// Package tokenizer converts text to token ids and token ids back to bytes, with byte-pair encoding
// (Sennrich et al. 2016) of two kinds: the byte-level encoding of GPT-2 (Radford et al. 2019),
// Llama 3, Qwen and many more, and the encoding of SentencePiece (Kudo and Richardson 2018), which
// Llama 2, Mistral and Gemma use. Vocabularies come from the tokenizer.json of a Hugging Face model
// folder ([Parse]) or as lists ([NewByteLevel], [NewSentencePiece]), as stored in GGUF and llama2.c
// files.
//
// Byte-level encoding has four steps, each in its own file:
//
//  1. Added tokens, such as sequences of blanks, are found in the text (added.go).
//  2. The text between them is cut into pieces by a split pattern. In GPT-2's, a piece is a
//     contraction such as 's, a sequence of letters, of digits or of other
//     characters, each with at most one space in front, or a sequence of whitespace
//     (pretokenize.go; the others are in split.go). No merged token crosses the
//     border between two pieces.
//  3. Each byte of a piece becomes a single-byte token. The file spells a byte
//     as one printable character, so byte 0x20 is Ġ (alphabet.go).
//  4. Of all adjacent pairs of tokens that have a merge rule, the pair whose
//     rule comes first in the file becomes one token, the leftmost such pair
//     first, until no pair has a rule (merge.go).
//
// SentencePiece skips the second step and, in the third, starts with characters instead of bytes
// (sentencepiece.go).
//
// If all 256 single bytes are tokens, every string can be encoded, even invalid UTF-8, and joining
// the bytes of the tokens restores the string. Some published vocabularies lack a few bytes;
// [Tokenizer.Check] detects texts that need a missing byte (missing.go). The unit is the byte, not
// the character, so a token can end in the middle of a character, or be only a part of one.
//
// Text typed by a learner is always plain text. The special tokens of a model (such as end of text)
// have ids and names, but Encode never produces them for any text; SpecialID returns their ids.
//
// A tokenizer.json can describe many other tokenizers. Parse (parse.go) rejects them with an error
// that names the unsupported part, because an almost correct tokenizer would produce almost correct
// input for the model, which would go unnoticed. The file is untrusted.
package tokenizer

// A Tokenizer is a vocabulary with its merge rules. It is immutable and safe for concurrent
// use.
type Tokenizer struct {
	split      *splitter // nil for SentencePiece
	characters bool      // SentencePiece: merging starts from characters, not from bytes
	prefix     prefix    // SentencePiece: when to add a space in front
	metaspace  bool      // SentencePiece: the pre-tokenizer inserts ▁, not the normalizer
	nfc        bool      // the text is converted to normalization form C first
	start      int32     // the token to put in front of a text, or -1 if there is none

	// addPrefixSpace is set if a space is added in front of a text that does not begin with one. It
	// is the option of that name in the ByteLevel pre-tokenizer.
	addPrefixSpace bool

	// bytes holds the bytes of all ordinary tokens; spans[id] locates the bytes of token id. The
	// span is empty for a special token or an id that the vocabulary skips.
	bytes []byte
	spans []span // [size]

	index   index      // bytes to id, for tokens that merging produces
	byteIDs [256]int32 // single byte to id, -1 if the vocabulary lacks it
	lacks   int        // number of byte values without a token
	merges  rules      // empty if ranks determine the merges
	ranks   []int32    // [size] rank of the rule that produces a token; nil if merges is used

	wholePieces bool // a piece that is itself a token becomes that token, regardless of the merges

	specials map[int32]string // id to name
	names    map[string]int32 // name to id, special tokens only
	strips   map[int32]strip  // of special tokens that swallow whitespace
	added    map[string]int32 // added tokens that are not special: text to id

	raw, normal matcher // find added tokens in the original and in the normalized text
}

// A span is a range of offsets into Tokenizer.bytes. An ordinary token's span is never empty.
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

// Longest returns the maximum number of bytes of text that one token can represent.
func (t *Tokenizer) Longest() int {
	most := 1
	for _, s := range t.spans {
		most = max(most, int(s.to-s.from))
	}
	if t.nfc {
		most *= 3 // composing can shorten a character by this factor: the Kelvin sign becomes a K
	}
	for name := range t.names {
		most = max(most, len(name))
	}
	return most
}

// Special returns the name of special token id, such as "<|endoftext|>"; ok is false if id
// is not a special token.
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

// Decode returns the concatenated bytes of the tokens, without the space that SentencePiece added
// in front. Special tokens and ids out of range have no bytes. The result can be invalid UTF-8 if
// ids begin or end in the middle of a character.
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

// Start returns the token that the tokenizer's file puts in front of a text; ok is false if there
// is none. Encode does not add it.
func (t *Tokenizer) Start() (id int, ok bool) { return int(t.start), t.start >= 0 }

// Size returns the size of the vocabulary, including special tokens: the highest id plus one. A
// model with exactly this vocabulary has that many logits; a model may also pad its table with
// additional rows.
func (t *Tokenizer) Size() int { return len(t.spans) }

// Lookup returns the ordinary token with exactly these bytes; ok is false if
// there is none. It never finds a special token.
func (t *Tokenizer) Lookup(bytes string) (id int, ok bool) {
	i, ok := t.find(bytes)
	return max(0, int(i)), ok
}
