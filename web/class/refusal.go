package class

import "github.com/tokenbytoken/viz/infer/terms"

// sentRefusal is a refusal in the form that servers send each other. In addition to the fields for
// clients, it contains the text's key and values, so that a page can show the refusal in the
// reader's language.
type sentRefusal struct {
	*terms.Refusal
	Key  string      `json:"key,omitempty"`
	With []sentValue `json:"with,omitempty"`
}

// sentValue is a value in the text, or the name of such a value. Exactly one field is set.
type sentValue struct {
	Text    *string      `json:"text,omitempty"`
	Number  *int         `json:"number,omitempty"`
	Refusal *sentRefusal `json:"refusal,omitempty"`
}

// sendable converts a refusal for sending. It returns nil for nil.
func sendable(e *terms.Refusal) *sentRefusal {
	if e == nil {
		return nil
	}
	s := &sentRefusal{Refusal: e}
	key, with := e.Text()
	s.Key = key
	for _, v := range with {
		switch v := v.(type) {
		case int:
			s.With = append(s.With, sentValue{Number: &v})
		case *terms.Refusal:
			s.With = append(s.With, sentValue{Refusal: sendable(v)})
		default:
			text := terms.ValueText(v)
			s.With = append(s.With, sentValue{Text: &text})
		}
	}
	return s
}

// received is the inverse of [sendable]. A text that this server does not have, because the other one
// is newer, stays in English.
func (s *sentRefusal) received() *terms.Refusal {
	if s == nil || s.Refusal == nil {
		return nil
	}
	if key, _ := s.Refusal.Text(); key == s.Key || !terms.English.Has(s.Key) {
		return s.Refusal // it has no text, is from this server, or has a text that this server lacks
	}
	var with []any
	for _, v := range s.With {
		switch {
		case v.Number != nil:
			with = append(with, *v.Number)
		case v.Refusal != nil:
			with = append(with, v.Refusal.received())
		case v.Text != nil:
			with = append(with, *v.Text)
		}
	}
	e := terms.Refuse(s.Code, s.Key, with...)
	e.Field, e.Want = s.Field, s.Want
	return e
}
