package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Read parses a command's fields as the values of the given inputs. If a field is not an input, or
// a value is invalid, the error is a [*terms.Refusal].
func (c Command) Read(inputs terms.Inputs) (terms.Values, error) {
	fields := c.Fields
	if len(fields) == 0 {
		fields = json.RawMessage("{}")
	}
	f, refused := terms.JSONFields(fields)
	if refused != nil {
		return nil, refused
	}
	v := f.ReadAll(inputs)
	if refused := f.Unexpected(c.Name, strings.Join(inputs.Keys(), ", ")); refused != nil {
		return nil, refused
	}
	return v, nil
}

// Texts returns a command's fields, which must all be strings. If a field is not among names, or a
// value is not a string, the error is a [*terms.Refusal].
func (c Command) Texts(names []string) (map[string]string, error) {
	var inputs terms.Inputs
	for _, name := range names {
		inputs = append(inputs, terms.Optional(terms.TextInput(name)))
	}
	return c.Read(inputs)
}

// FormInput is the input for the values of a form, which are an object of strings.
var FormInput = terms.Input{
	Key: "values", Kind: terms.KindAny, Optional: true, Want: terms.PhraseOf("want.object"),
	Verify: func(text string) error {
		if formOf(text) == nil {
			return terms.NewRangeError("values", terms.Clip([]byte(text)), terms.PhraseOf("want.object"))
		}
		return nil
	},
}

// FormOf returns the value of [FormInput].
func FormOf(v terms.Values) map[string]string { return formOf(v[FormInput.Key]) }

func formOf(text string) (form map[string]string) {
	if json.Unmarshal([]byte(text), &form) != nil {
		return nil
	}
	return form
}

// ReadCommand parses a client's message: cmd, n and the command's own fields. The message must be
// valid UTF-8 without duplicate fields. The number n is optional. If n can be parsed, ReadCommand
// sets N even if it returns an error.
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
		// This cannot happen, because the fields have just been decoded.
		return c, fmt.Errorf("wire: encoding the fields of a command: %w", err)
	}
	c.Fields = rest
	return c, nil
}
