package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// readAdded reads added_tokens. Special tokens are never recognized in a text. The others represent
// their own text, and [Tokenizer.readMatchers] adds them to the searches (added.go).
func (t *Tokenizer) readAdded(raw string) (list []addedToken, err error) {
	t.clear()
	if absent(raw) {
		return nil, nil
	}
	c := cursor{raw}
	if !is(c.next(), '[') {
		return nil, errors.New("added_tokens is not a JSON array")
	}
	if longer(raw, maxAdded) {
		return nil, fmt.Errorf("added_tokens has more than %d entries", maxAdded)
	}
	for {
		from := len(raw) - len(c.rest)
		token := c.next()
		if is(token, ']') {
			return list, nil
		}
		for depth := opens(token); depth > 0; {
			depth += opens(c.next())
		}
		item := strings.TrimLeft(raw[from:len(raw)-len(c.rest)], " \t\r\n,")
		var a addedToken
		name := fmt.Sprintf("added_tokens[%d]", len(list))
		if err := json.Unmarshal([]byte(item), &a); err != nil {
			return nil, explainType(name, name+".", err)
		}
		if err := t.addAdded(a); err != nil {
			return nil, fmt.Errorf("%s %s: %w", name, quote(a.Content), err)
		}
		list = append(list, a)
	}
}

func (t *Tokenizer) clear() {
	t.specials, t.names, t.added = map[int32]string{}, map[string]int32{}, map[string]int32{}
}

// addAdded adds one entry of added_tokens.
func (t *Tokenizer) addAdded(a addedToken) error {
	switch {
	case a.ID == nil:
		return errors.New("id is missing")
	case a.Content == "":
		return errors.New("content is missing or empty")
	case len(a.Content) > maxAddedBytes:
		return fmt.Errorf("content has %d bytes, more than the limit of %d", len(a.Content), maxAddedBytes)
	}
	if err := checkID(*a.ID); err != nil {
		return err
	}
	id := int32(*a.ID)
	if first, taken := t.specials[id]; taken {
		return fmt.Errorf("id %d already belongs to %s", id, quote(first))
	}
	for _, list := range []map[string]int32{t.names, t.added} {
		if first, taken := list[a.Content]; taken {
			return fmt.Errorf("already listed with id %d", first)
		}
	}
	if !a.Special {
		t.added[a.Content] = id
		return nil
	}
	t.specials[id] = a.Content
	t.names[a.Content] = id
	return nil
}

// Within returns the tokenizer for a model with rows for n tokens. It omits added tokens for which
// there is no row. Such tokens exist because all models in a family share one tokenizer file, and a
// text-only model, such as the smallest Gemma 3 models, may lack the image token's row. Within
// returns an error if a token that merging produces has no row.
func (t *Tokenizer) Within(n int) (*Tokenizer, error) {
	if t.Size() <= n {
		return t, nil
	}
	for id := n; id < t.Size(); id++ {
		bytes := t.Bytes(id)
		made, ok := t.findBytes(bytes)
		if ok && int(made) == id || len(bytes) == 1 && int(t.byteIDs[bytes[0]]) == id {
			return nil, fmt.Errorf("%s has id %d, but the model has only %d rows", quote(string(bytes)), id, n)
		}
	}
	if int(t.start) >= n {
		return nil, fmt.Errorf("%s, which begins every text, has id %d, but the model has only %d rows",
			quote(t.specials[t.start]), t.start, n)
	}
	within := *t
	within.spans = t.spans[:n:n]
	beyond := func(_ string, id int32) bool { return int(id) >= n }
	within.names, within.added = maps.Clone(t.names), maps.Clone(t.added)
	maps.DeleteFunc(within.names, beyond)
	maps.DeleteFunc(within.added, beyond)
	within.specials = maps.Clone(t.specials)
	maps.DeleteFunc(within.specials, func(id int32, _ string) bool { return int(id) >= n })
	within.raw, within.normal = t.raw.within(n), t.normal.within(n)
	return &within, nil
}

// checkID rejects an id that is negative or too high.
func checkID(id int64) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("id %d is out of range; want 0 to %d", id, maxID)
	}
	return nil
}

// partNames holds the names of a vocabulary's parts in error messages. The parts of a
// tokenizer.json have names, while GGUF and llama2.c have lists with numbered entries.
type partNames struct{ vocab, added, rule string }

var (
	inJSON = partNames{"model.vocab", "added_tokens", "model.merges[%d]"}
	inList = partNames{"the vocabulary", "the list of added and special tokens", "merge %d"}
)

// A vocabReader reads a vocabulary, such as model.vocab, which maps spelled tokens to ids.
type vocabReader struct {
	t       *Tokenizer
	in      partNames
	bytes   []byte       // of all ordinary tokens, in file order
	entries []vocabEntry // [ordinary tokens]

	fallback map[int32]bool // SentencePiece's tokens <0x00> to <0xFF>
	both     map[int32]bool // added tokens that merging also produces
}

func newVocabReader(t *Tokenizer, in partNames, tokens int) *vocabReader {
	return &vocabReader{
		t: t, in: in, fallback: map[int32]bool{}, both: map[int32]bool{},
		entries: make([]vocabEntry, 0, tokens), bytes: make([]byte, 0, 8*tokens),
	}
}

// A vocabEntry is an ordinary token: its id, and the offsets of its bytes in
// vocabReader.bytes.
type vocabEntry struct {
	id int32
	span
}

// readVocab reads model.vocab and builds the tables between ids and bytes.
func (t *Tokenizer) readVocab(list string) error {
	if longer(list, 2*maxTokens) {
		return fmt.Errorf("model.vocab has more than %d tokens", maxTokens)
	}
	r := newVocabReader(t, inJSON, min(mostStrings(list), maxTokens))
	if err := eachEntry(list, r.add); err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	return r.build()
}

// eachEntry calls add for each member of a JSON object, in order.
func eachEntry(list string, add func(spelling, value string) error) error {
	if absent(list) {
		return errors.New("missing")
	}
	c := cursor{list}
	if !is(c.next(), '{') {
		return errors.New("not a JSON object")
	}
	for {
		spelling, ok := text(c.next())
		if !ok { // the closing brace
			return nil
		}
		if err := add(spelling, c.next()); err != nil {
			return err
		}
	}
}

// add adds one entry of model.vocab.
func (r *vocabReader) add(spelling, value string) error {
	id, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("the id of %s is not a whole number", quote(spelling))
	}
	if err := checkID(id); err != nil {
		return fmt.Errorf("%s: %w", quote(spelling), err)
	}
	return r.addEntry(spelling, id)
}

// addEntry adds a token with a valid id.
func (r *vocabReader) addEntry(spelling string, id int64) error {
	if len(r.entries) == maxTokens {
		return fmt.Errorf("more than %d tokens", maxTokens)
	}
	for _, list := range []map[string]int32{r.t.names, r.t.added} {
		want, added := list[spelling]
		if added && int32(id) != want {
			return fmt.Errorf("%s has id %d here, but id %d in %s", quote(spelling), id, want, r.in.added)
		}
	}
	if _, special := r.t.names[spelling]; special {
		return nil
	}
	if _, added := r.t.added[spelling]; added {
		if !r.t.spellsItself(spelling) {
			return nil
		}
		r.both[int32(id)] = true
	}
	if name, taken := r.t.specials[int32(id)]; taken {
		return fmt.Errorf("%s has id %d, which %s assigns to %s", quote(spelling), id, r.in.added, quote(name))
	}
	if spelling == "" {
		return fmt.Errorf("the token with id %d is empty", id)
	}
	from := len(r.bytes)
	var bad rune
	var ok bool
	if r.bytes, bad, ok = r.t.appendBytes(r.bytes, spelling); !ok {
		return fmt.Errorf("%s (id %d): character %q (%U) does not represent a byte", quote(spelling), id, bad, bad)
	}
	if _, ok := fallbackByte(spelling); ok && r.t.characters {
		if r.fallback[int32(id)] = true; len(r.fallback) > 256 {
			return fmt.Errorf("duplicate token %s", spelling)
		}
	}
	r.entries = append(r.entries, vocabEntry{int32(id), span{uint32(from), uint32(len(r.bytes))}})
	return nil
}

// spellsItself reports whether the text of an added token means the same in the vocabulary's
// spelling, so that merging can also produce the token.
func (t *Tokenizer) spellsItself(text string) bool {
	if t.characters {
		return true
	}
	bytes, _, ok := appendSpelled(nil, text)
	return ok && string(bytes) == text
}

// build checks that ids are dense and unique and that tokens are unique, and then builds the
// tables.
func (r *vocabReader) build() error {
	size, err := r.size()
	if err != nil {
		return err
	}
	t := r.t
	t.bytes = r.bytes
	t.spans = make([]span, size)
	for _, e := range r.entries {
		if first := t.spans[e.id]; first != (span{}) {
			return fmt.Errorf("%s: %s and %s both have id %d", r.in.vocab, r.quote(first), r.quote(e.span), e.id)
		}
		t.spans[e.id] = e.span
	}
	t.index = newIndex(len(r.entries))
	for _, e := range r.entries {
		if r.fallback[e.id] {
			continue
		}
		if first, ok := t.register(e.id); !ok {
			return fmt.Errorf(
				"%s: %s is listed twice, with ids %d and %d", r.in.vocab, r.quote(e.span), first, e.id,
			)
		}
	}
	if err := r.buildAdded(); err != nil {
		return err
	}
	if err := t.findSingles(r.fallback); err != nil {
		return fmt.Errorf("%s: %w", r.in.vocab, err)
	}
	return nil
}

// buildAdded sets the bytes of the added tokens that are not special.
func (r *vocabReader) buildAdded() error {
	t := r.t
	for text, id := range t.added {
		if name, taken := t.specials[id]; taken {
			return fmt.Errorf("%s: %s and %s both have id %d", r.in.added, quote(name), quote(text), id)
		}
		if r.both[id] {
			continue
		}
		if first := t.spans[id]; first != (span{}) {
			return fmt.Errorf(
				"%s: %s has id %d, which %s assigns to %s", r.in.vocab, r.quote(first), id, r.in.added, quote(text),
			)
		}
		from := uint32(len(t.bytes))
		t.bytes = append(t.bytes, text...)
		t.spans[id] = span{from, uint32(len(t.bytes))}
	}
	return nil
}

// size returns the size of the vocabulary, or an error if its highest id is too
// high.
func (r *vocabReader) size() (int, error) {
	highest := int32(-1)
	for _, e := range r.entries {
		highest = max(highest, e.id)
	}
	for id := range r.t.specials {
		highest = max(highest, id)
	}
	for _, id := range r.t.added {
		highest = max(highest, id)
	}
	count := len(r.entries) + len(r.t.specials) + len(r.t.added)
	if int(highest) >= maxIDsPerEntry*count {
		return 0, fmt.Errorf("%s: the highest id is %d, but there are only %d tokens", r.in.vocab, highest, count)
	}
	return int(highest) + 1, nil
}

// quote returns an entry in the file's spelling, in quotes.
func (r *vocabReader) quote(s span) string {
	if r.t.characters {
		return quote(string(r.bytes[s.from:s.to]))
	}
	return quote(spell(r.bytes[s.from:s.to]))
}

// findSingles fills the table of single-byte tokens. Byte-level encoding starts from these tokens,
// and SentencePiece uses them for characters without a token. fallback holds SentencePiece's byte
// tokens.
func (t *Tokenizer) findSingles(fallback map[int32]bool) error {
	if t.index.used+len(fallback) == 0 {
		return errors.New("no token represents text")
	}
	for b := range t.byteIDs {
		t.byteIDs[b] = -1
	}
	if t.characters {
		for id := range fallback {
			b := t.Bytes(int(id))[0]
			if t.byteIDs[b] >= 0 {
				return fmt.Errorf("duplicate token <0x%02X>", b)
			}
			t.byteIDs[b] = id
			t.register(id) // no effect if the vocabulary already has this character as a token
		}
	} else {
		for b := range t.byteIDs {
			if id, ok := t.findBytes([]byte{byte(b)}); ok {
				t.byteIDs[b] = id
			}
		}
	}
	for _, id := range t.byteIDs {
		if id < 0 {
			t.lacks++
		}
	}
	return nil
}

// appendBytes appends the bytes that a spelling in this vocabulary represents. If a character does
// not represent a byte, it returns that character and false.
func (t *Tokenizer) appendBytes(dst []byte, spelling string) (_ []byte, bad rune, ok bool) {
	if t.characters {
		return appendPlain(dst, spelling), 0, true
	}
	return appendSpelled(dst, spelling)
}
