package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Code classifies an error for programs; Message is for people.
type Code string

// The codes a command can be refused with.
const (
	CodeRange   Code = "range"   // a field is outside its range; Field and Want are set
	CodeOrder   Code = "order"   // the command does not fit the state of the run
	CodeStopped Code = "stopped" // a stop condition has fired
	CodeUnknown Code = "unknown" // no such command
	CodeModel   Code = "model"   // the model failed
	CodeLink    Code = "link"    // a link that cannot be opened
	CodeOther   Code = "other"   // a link made with another model
	CodeFormat  Code = "format"  // the message is not a JSON object
)

// Error is why a command was refused. The run is as it was before it.
type Error struct {
	Code    Code
	Field   string // the field at fault, as in JSON, or ""
	Want    string // the allowed range, or ""
	Message string
}

func (e *Error) Error() string { return e.Message }

// FieldError is the refusal of a field's value; want says what is taken.
func FieldError(field, got, want string) *Error { return refuseField(field, got, want) }

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refuseField is the refusal of a field's value.
func refuseField(field, got, want string) *Error {
	return typed(terms.NewRangeError(field, got, want)).(*Error)
}

// typed makes an *Error of what the engine reports; a context that ended is
// passed on as it is.
func typed(err error) error {
	var e *Error
	var r *terms.RangeError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &r):
		return &Error{Code: CodeRange, Field: r.Field, Want: r.Want, Message: r.Sentence()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &Error{Code: CodeModel, Message: "The model could not go on: " + err.Error() + "."}
}
