package class

import (
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Form is a command as pages and other servers send it: its name in [Commands], and its fields. An
// empty field counts as missing.
type Form struct {
	Name   string
	Fields map[string]string
}

// Command returns the command for a room with the given view. Unknown names, unknown fields and
// values out of range are refused.
func (f Form) Command(v *View) (Command, error) {
	made, ok, err := Commands.Read(f.Name, terms.TextFields(f.Fields))
	switch {
	case !ok:
		return nil, NoCommand(f.Name)
	case err != nil:
		return nil, err
	}
	return made(v), nil
}

// NoCommand refuses a command with an unknown name.
func NoCommand(name string) error {
	e := terms.Refuse(terms.CodeUnknown, "class.refused.unknown", "name", strconv.Quote(name))
	e.Field = "cmd"
	return e
}
