package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// readSpecials reads added_tokens. Encoding needs none of them, since a text is
// always plain text; an added token that is not special would have to be found
// in plain text, before everything else, and is refused.
func (t *Tokenizer) readSpecials(raw json.RawMessage) error {
	t.specials = map[int32]string{}
	t.names = map[string]int32{}
	if isNull(raw) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return errors.New("added_tokens is not a JSON array")
	}
	for i := 0; dec.More(); i++ {
		if i == maxAdded {
			return fmt.Errorf("added_tokens has more than %d entries", maxAdded)
		}
		var a addedToken
		place := fmt.Sprintf("added_tokens[%d]", i)
		if err := dec.Decode(&a); err != nil {
			return explainType(place, place+".", err)
		}
		if err := t.addSpecial(a); err != nil {
			return fmt.Errorf("%s %s: %w", place, quote(a.Content), err)
		}
	}
	return nil
}

// addSpecial takes one entry of added_tokens.
func (t *Tokenizer) addSpecial(a addedToken) error {
	switch {
	case a.ID == nil:
		return errors.New("id is missing")
	case a.Content == "":
		return errors.New("content is missing or empty")
	case !a.Special:
		return errors.New("an added token that is not special is not supported")
	}
	if err := checkID(*a.ID); err != nil {
		return err
	}
	id := int32(*a.ID)
	if first, taken := t.specials[id]; taken {
		return fmt.Errorf("id %d already belongs to %s", id, quote(first))
	}
	if first, taken := t.names[a.Content]; taken {
		return fmt.Errorf("already listed with id %d", first)
	}
	t.specials[id] = a.Content
	t.names[a.Content] = id
	return nil
}

// checkID refuses an id that is negative or absurd.
func checkID(id int64) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("id %d is outside 0 to %d", id, maxID)
	}
	return nil
}

// A vocabReader gathers model.vocab: spelled token to id.
type vocabReader struct {
	t       *Tokenizer
	bytes   []byte       // of all ordinary tokens, in file order
	entries []vocabEntry // [ordinary tokens]
}

// A vocabEntry is an ordinary token: its id, and where its bytes are in
// vocabReader.bytes.
type vocabEntry struct {
	id int32
	span
}

// readVocab reads model.vocab and builds the tables between ids and bytes.
func (t *Tokenizer) readVocab(raw json.RawMessage) error {
	r := vocabReader{t: t}
	if err := eachEntry(raw, r.add); err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	return r.build()
}

// eachEntry calls add for each member of a JSON object, in order.
func eachEntry(raw json.RawMessage, add func(spelling string, value []byte) error) error {
	if isNull(raw) {
		return errors.New("missing")
	}
	c := cursor{raw}
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

// add takes one entry of model.vocab.
func (r *vocabReader) add(spelling string, value []byte) error {
	id, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return fmt.Errorf("the id of %s is not a whole number", quote(spelling))
	}
	if err := checkID(id); err != nil {
		return fmt.Errorf("%s: %w", quote(spelling), err)
	}
	if want, special := r.t.names[spelling]; special {
		if int32(id) != want {
			return fmt.Errorf("%s has id %d, but id %d in added_tokens", quote(spelling), id, want)
		}
		return nil
	}
	if name, taken := r.t.specials[int32(id)]; taken {
		return fmt.Errorf("%s has id %d, which added_tokens gives to %s", quote(spelling), id, quote(name))
	}
	if spelling == "" {
		return fmt.Errorf("the token with id %d is empty", id)
	}
	from := len(r.bytes)
	var bad rune
	var ok bool
	if r.bytes, bad, ok = appendSpelled(r.bytes, spelling); !ok {
		return fmt.Errorf("%s (id %d): the character %q (%U) stands for no byte", quote(spelling), id, bad, bad)
	}
	r.entries = append(r.entries, vocabEntry{int32(id), span{uint32(from), uint32(len(r.bytes))}})
	return nil
}

// build makes the tables once all entries are known to be sound one by one:
// ids dense and unique, tokens unique, every single byte present.
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
			return fmt.Errorf("model.vocab: %s and %s both have id %d", r.quote(first), r.quote(e.span), e.id)
		}
		t.spans[e.id] = e.span
	}
	// One string for all keys: each is a slice of it, not a copy.
	all := string(t.bytes)
	t.ids = make(map[string]int32, len(r.entries))
	for _, e := range r.entries {
		key := all[e.from:e.to]
		if first, taken := t.ids[key]; taken {
			return fmt.Errorf("model.vocab: %s is listed twice, with ids %d and %d", r.quote(e.span), first, e.id)
		}
		t.ids[key] = e.id
	}
	return t.findBytes()
}

// size returns the size of the vocabulary, or why its highest id is too high.
func (r *vocabReader) size() (int, error) {
	highest := int32(-1)
	for _, e := range r.entries {
		highest = max(highest, e.id)
	}
	for id := range r.t.specials {
		highest = max(highest, id)
	}
	count := len(r.entries) + len(r.t.specials)
	if int(highest) >= maxIDsPerEntry*count {
		return 0, fmt.Errorf("model.vocab: the highest id is %d, but there are only %d tokens", highest, count)
	}
	return int(highest) + 1, nil
}

// quote gives an entry as the file spells it.
func (r *vocabReader) quote(s span) string {
	return quote(spell(r.bytes[s.from:s.to]))
}

// findBytes fills the table of single bytes; encoding starts from them, so none
// may be missing.
func (t *Tokenizer) findBytes() error {
	for b := range t.byteIDs {
		id, ok := t.ids[string([]byte{byte(b)})]
		if !ok {
			return fmt.Errorf("model.vocab: no token for the single byte 0x%02X, spelled %q", b, string(byteToRune[b]))
		}
		t.byteIDs[b] = id
	}
	return nil
}
