package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Decode parses a command's fields into the struct or map that into points to. It returns a
// [*terms.Refusal] for fields that the struct does not have and for values of the wrong type.
func (c Command) Decode(into any) error {
	fields := c.Fields
	if len(fields) == 0 {
		fields = json.RawMessage("{}")
	}
	if refused := c.unknown(fields, reflect.TypeOf(into).Elem()); refused != nil {
		return refused
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
		Code: terms.CodeUnknown, Message: fmt.Sprintf("The fields of %s cannot be read (%v).", c.Name, err),
	}
}

// unknown refuses fields that a struct does not have, and names the alphabetically first one.
// The JSON decoder by itself ignores case, so it would accept several spellings of a field's
// name.
func (c Command) unknown(fields json.RawMessage, of reflect.Type) *terms.Refusal {
	if of.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(fields, &given) != nil {
		return nil // Decode returns the error
	}
	return c.refuseUnknown(given, names)
}

// Texts returns a command's fields, which must all be strings. It returns a [*terms.Refusal]
// for fields that are not among names and for values of the wrong type.
func (c Command) Texts(names []string) (map[string]string, error) {
	var given map[string]json.RawMessage
	if err := c.Decode(&given); err != nil {
		return nil, err
	}
	if refused := c.refuseUnknown(given, names); refused != nil {
		return nil, refused
	}
	var texts map[string]string
	return texts, c.Decode(&texts)
}

// refuseUnknown refuses given fields that are not among names, and names the alphabetically
// first one.
func (c Command) refuseUnknown(given map[string]json.RawMessage, names []string) *terms.Refusal {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			takes := strings.Join(append(slices.Clone(names), "cmd", "n"), ", ")
			r := terms.Refuse(
				terms.CodeUnknown, "%s has no field %s; its fields are %s.", c.Name, terms.Quoted(name), takes,
			)
			r.Field, r.Want = name, strings.Join(names, ", ")
			return r
		}
	}
	return nil
}

// ReadCommand parses a client's message: cmd, n and the command's own fields. The message must
// be valid UTF-8 without duplicate fields. The number n is optional. If it could be parsed, N
// is set even if there is an error.
func ReadCommand(message []byte) (Command, error) {
	var c Command
	f, bad := terms.JSONFields(message)
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
		return c, fmt.Errorf("wire: reading a command: %w", err) // cannot happen: the fields have just been decoded
	}
	c.Fields = rest
	return c, nil
}
