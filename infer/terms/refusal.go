package terms

import (
	"context"
	"errors"
)

// Code identifies the kind of a [Refusal] for programs.
type Code string

// The codes that many packages share. Packages can also define their own codes.
const (
	CodeRange   Code = "range"   // a field is outside its range: Field and Want are set
	CodeUnknown Code = "unknown" // there is no such command, field or part
	CodeFormat  Code = "format"  // the message is not a single JSON object
	CodeBusy    Code = "busy"    // too many requests at once, or the server is busy
	CodeFull    Code = "full"    // there is no room for another one of this kind
	CodeExpired Code = "expired" // the requested thing existed, but is gone
	CodeModel   Code = "model"   // the engine failed, or this model does not support the request
)

// Refusal explains why a request was rejected. The request did not change anything. Message is a
// sentence for people; the other fields are for programs. errors.Is compares codes, so
// errors.Is(err, &Refusal{Code: CodeFull}) is true for every refusal caused by a lack of space,
// regardless of its message.
type Refusal struct {
	Code    Code   `json:"code"`
	Field   string `json:"field,omitempty"` // the field at fault, as in JSON
	Want    string `json:"want,omitempty"`  // the accepted values of the field
	Message string `json:"message"`

	cause error   // the failure that caused it, if any
	text  *Phrase // the message, if it is a text from the catalogs
}

// Refuse returns a [Refusal] whose message is the text with the given key. The values are as in
// [Language.T].
func Refuse(code Code, key string, with ...any) *Refusal {
	text := PhraseOf(key, with...)
	return &Refusal{Code: code, Message: text.String(), text: &text}
}

// RefuseField returns a refusal for a field's value. got and want are as in [NewRangeError].
func RefuseField(field string, got, want any) *Refusal {
	return NewRangeError(field, got, want).refusal()
}

func (e *Refusal) Error() string { return e.Message }

// In returns the message in a language. A message that is not a text from the catalogs is the same in
// every language.
func (e *Refusal) In(l *Language) string {
	if e.text != nil {
		return e.text.In(l)
	}
	return e.Message
}

// Unwrap returns the program failure that caused the refusal, or nil if there was none.
func (e *Refusal) Unwrap() error { return e.cause }

// Is reports whether the target is a [*Refusal] with the same code.
func (e *Refusal) Is(target error) bool {
	other, ok := target.(*Refusal)
	return ok && other.Code == e.Code
}

// AsRefusal returns the refusal in an error: a *Refusal, or a refusal converted from a *RangeError.
// It returns false for failures and for canceled or expired contexts.
func AsRefusal(err error) (*Refusal, bool) {
	var own *Refusal
	var r *RangeError
	switch {
	case errors.As(err, &own):
		return own, true
	case errors.As(err, &r):
		return r.refusal(), true
	}
	return nil, false
}

// RefusalOf is like [AsRefusal], but for errors from a run, and it always returns a refusal. For a
// canceled or expired context, the code is [CodeBusy]. Any other error counts as a failure of the
// model. In both cases, the refusal unwraps to err.
func RefusalOf(err error) *Refusal {
	if r, ok := AsRefusal(err); ok {
		return r
	}
	r := Refuse(CodeModel, "error.model", "why", err.Error())
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		r = Refuse(CodeBusy, "error.late")
	}
	r.cause = err
	return r
}

func (e *RangeError) refusal() *Refusal {
	r := Refuse(CodeRange, rangeText, e.values()...)
	r.Field, r.Want = e.Field, e.Want.String()
	return r
}
