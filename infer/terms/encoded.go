package terms

// EncodedRefusal is the form in which servers send refusals to each other, and in which refusals
// are stored with suspended runs. In addition to the fields for clients, it contains the text's key
// and values, so that a page can show the refusal in the reader's language.
type EncodedRefusal struct {
	*Refusal
	Key  string         `json:"key,omitempty"`
	With []encodedValue `json:"with,omitempty"`
}

// encodedValue is a value in the text, or the name of such a value. Exactly one of Text, Number and
// Refusal is set. For a phrase from the catalogs, Text is the English one, and Key and With are set.
type encodedValue struct {
	Text    *string         `json:"text,omitempty"`
	Number  *int            `json:"number,omitempty"`
	Refusal *EncodedRefusal `json:"refusal,omitempty"`
	Key     string          `json:"key,omitempty"`
	With    []encodedValue  `json:"with,omitempty"`
}

// Encode returns the encoded form of the refusal, which is nil for nil.
func (e *Refusal) Encode() *EncodedRefusal {
	if e == nil {
		return nil
	}
	encoded := &EncodedRefusal{Refusal: e}
	if e.text != nil {
		encoded.Key, encoded.With = e.text.key, encodeValues(e.text.with)
	}
	return encoded
}

func encodeValues(with []any) (list []encodedValue) {
	for _, v := range with {
		var encoded encodedValue
		switch v := v.(type) {
		case int:
			encoded.Number = &v
		case *Refusal:
			encoded.Refusal = v.Encode()
		case Phrase:
			encoded.Key, encoded.With = v.key, encodeValues(v.with)
		}
		if encoded.Number == nil && encoded.Refusal == nil {
			text := English.value(v)
			encoded.Text = &text
		}
		list = append(list, encoded)
	}
	return list
}

// Decode is the inverse of [Refusal.Encode]. A text that this server does not have, because the other
// one is newer, stays in English.
func (s *EncodedRefusal) Decode() *Refusal {
	if s == nil || s.Refusal == nil {
		return nil
	}
	if s.text != nil || !English.Has(s.Key) {
		return s.Refusal // it is from this server, has no text, or has a text that this server lacks
	}
	e, text := *s.Refusal, PhraseOf(s.Key, decodeValues(s.With)...)
	e.text = &text
	return &e
}

func decodeValues(list []encodedValue) (with []any) {
	for _, v := range list {
		switch {
		case v.Number != nil:
			with = append(with, *v.Number)
		case v.Refusal != nil:
			with = append(with, v.Refusal.Decode())
		case v.Key != "" && English.Has(v.Key):
			with = append(with, PhraseOf(v.Key, decodeValues(v.With)...))
		case v.Text != nil:
			with = append(with, *v.Text)
		}
	}
	return with
}
