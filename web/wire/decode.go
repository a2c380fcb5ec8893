package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Decode reads a command's fields into the struct that into points to. Fields
// that the struct lacks, and values of the wrong type, give a [*terms.Refusal].
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

// ReadCommand reads a client's message, which must be valid UTF-8: cmd, n and
// whatever fields the command has. The number n, which may be missing, is set even
// with an error, where it could be read.
func ReadCommand(message []byte) (Command, error) {
	var c Command
	f, bad := session.JSONFields(message)
	if bad != nil {
		return c, bad
	}
	if f.Has("n") {
		c.N = uint64(f.Whole("n", 0, terms.MaxSeed))
	}
	if f.Err() == nil {
		c.Name = f.Text("cmd")
	}
	if f.Err() != nil {
		return c, f.Err()
	}
	rest, err := json.Marshal(f.Rest())
	if err != nil {
		return c, fmt.Errorf("wire: reading a command: %w", err) // it has just been read
	}
	c.Fields = rest
	return c, nil
}
