package terms

import (
	"context"
	"errors"
	"fmt"
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
	text  *text       // the text of the message, if it is in the catalogs
	bound *RangeError // the value at fault, if the message describes it
}

// text is a text of a catalog with its values.
type text struct {
	key  string
	with []any
}

// Refuse returns a [Refusal] whose message is the text with the given key. The values are those of
// [Language.T].
func Refuse(code Code, key string, with ...any) *Refusal {
	if !English.Has(key) {
		return &Refusal{Code: code, Message: fmt.Sprintf(key, with...)}
	}
	return &Refusal{Code: code, Message: English.T(key, with...), text: &text{key, with}}
}

// RefuseField returns a refusal of a field's value. want describes the accepted values.
func RefuseField(field, got, want string) *Refusal { return NewRangeError(field, got, want).refusal() }

func (e *Refusal) Error() string { return e.Message }

// In returns the message in a language. A message from another server of the cluster is in English.
func (e *Refusal) In(l *Language) string {
	switch {
	case e.text != nil:
		return l.T(e.text.key, e.text.with...)
	case e.bound != nil:
		return l.Sentence(e.bound)
	}
	return e.Message
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
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Refusal{Code: CodeBusy, Message: "This was not done in time. Try again.", cause: err}
	}
	return &Refusal{Code: CodeModel, Message: fmt.Sprintf("The model could not continue: %v.", err), cause: err}
}

func (e *RangeError) refusal() *Refusal {
	return &Refusal{Code: CodeRange, Field: e.Field, Want: e.Want, Message: e.Sentence(), bound: e}
}
