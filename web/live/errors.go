package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// The codes of an [Error] that come up in many feeds. A feed may have its own.
const (
	Range   = "range"   // a field is out of its range: Field and Want are set
	Unknown = "unknown" // no such feed, part, command or field
	Busy    = "busy"    // too much is asked at once, or the server has no time now
	Full    = "full"    // no room for another connection of this kind
	Model   = "model"   // the engine failed, or this model cannot do it
)

// Error is why something asked for was not done. Message is a sentence for
// people.
type Error struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"`
	Want    string `json:"want,omitempty"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// ErrorOf makes an [Error] of what the rooms below report: settings out of
// their range, refusals of a run. Everything else is the model's failure.
func ErrorOf(err error) *Error {
	var own *Error
	var of *session.Error
	var r *terms.RangeError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &of):
		return &Error{string(of.Code), of.Field, of.Want, of.Message}
	case errors.As(err, &r):
		return &Error{Range, r.Field, r.Want, fmt.Sprintf("%s is %s; it must be %s.", r.Field, r.Got, r.Want)}
	}
	return &Error{Code: Model, Message: fmt.Sprintf("The model could not go on: %v.", err)}
}

// Decode reads a command's fields into the struct that into points to. Fields
// that it does not have, and values of the wrong type, give an [*Error].
func (c Command) Decode(into any) error {
	fields := c.Fields
	if len(fields) == 0 {
		fields = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(fields))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		return &Error{
			Range, typed.Field, typed.Type.String(),
			fmt.Sprintf("%s is a %s; it must be a %s.", typed.Field, typed.Value, typed.Type),
		}
	}
	return &Error{
		Code:    Unknown,
		Message: fmt.Sprintf("%s has a field that it does not know, or that cannot be read (%v).", c.Name, err),
	}
}
