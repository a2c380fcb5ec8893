package terms

import (
	"context"
	"errors"
)

// Code identifies the kind of a [Refusal] for programs.
type Code string

// The codes that many packages share. A package can have its own codes.
const (
	CodeRange   Code = "range"   // a field is outside its range: Field and Want are set
	CodeUnknown Code = "unknown" // there is no such command, field or part
	CodeFormat  Code = "format"  // the message is not a single JSON object
	CodeBusy    Code = "busy"    // too many requests at a time, or the server is busy
	CodeFull    Code = "full"    // there is no room for another one of this kind
	CodeExpired Code = "expired" // the requested thing existed, but is gone
	CodeModel   Code = "model"   // the engine failed, or this model does not support the request
)

// Refusal explains why a request was rejected. The request has not changed anything. Message is a
// sentence for people, and the other fields are for programs. errors.Is compares codes, so
// errors.Is(err, &Refusal{Code: CodeFull}) is true for every refusal that is due to a lack of
// space, regardless of its message.
type Refusal struct {
	Code    Code   `json:"code"`
	Field   string `json:"field,omitempty"` // the field at fault, as in JSON
	Want    string `json:"want,omitempty"`  // the accepted values of the field
	Message string `json:"message"`

	cause error       // the failure that caused it, if any
	text  *Phrase     // the text of the message, if it is in the catalogs
	bound *RangeError // the value at fault, if the message describes it
}

// Refuse returns a [Refusal] whose message is the text with the given key. The values are those of
// [Language.T].
func Refuse(code Code, key string, with ...any) *Refusal {
	text := PhraseOf(key, with...)
	return &Refusal{Code: code, Message: text.String(), text: &text}
}

// RefuseField returns a refusal of a field's value. got and want are those of [NewRangeError].
func RefuseField(field string, got, want any) *Refusal {
	return NewRangeError(field, got, want).refusal()
}

func (e *Refusal) Error() string { return e.Message }

// In returns the message in a language. A message from another server of the cluster is in English.
func (e *Refusal) In(l *Language) string {
	switch {
	case e.text != nil:
		return e.text.In(l)
	case e.bound != nil:
		return l.Sentence(e.bound)
	}
	return e.Message
}

// Text returns the key and the values of the message. The key is "" if the message is not a text of
// the catalogs.
func (e *Refusal) Text() (key string, with []any) {
	if e.text == nil {
		return "", nil
	}
	return e.text.key, e.text.with
}

// Unwrap returns the failure of the program that led to the refusal, or nil if there was
// none.
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

// RefusalOf is like [AsRefusal], but for the errors of a run, and always returns a refusal. For a
// canceled or expired context, its code is [CodeBusy]. Any other error is a failure of the model,
// and the refusal unwraps to that error.
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
	return &Refusal{Code: CodeRange, Field: e.Field, Want: e.Want.String(), Message: e.Sentence(), bound: e}
}
