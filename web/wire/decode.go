package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Decode reads a command's fields into the struct that into points to. Fields
// that it does not have, and values of the wrong type, give a [*terms.Refusal].
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
		return terms.RefuseField(typed.Field, "a "+typed.Value, "a "+typed.Type.String())
	}
	return &terms.Refusal{
		Code:    terms.CodeUnknown,
		Message: fmt.Sprintf("%s has a field that it does not know, or that cannot be read (%v).", c.Name, err),
	}
}
