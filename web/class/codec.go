package class

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/tokenbytoken/viz/web/session"
)

// codecs contains the codecs of all commands, by name.
var codecs = func() map[string]codec {
	all := maps.Clone(roomCodecs)
	maps.Copy(all, runCodecs)
	return all
}()

// runCodecs contains the codecs of a run's commands, which a [Drive] contains.
var runCodecs = map[string]codec{
	"drive session.Start":      ofRun[session.Start](),
	"drive session.StartChat":  ofRun[session.StartChat](),
	"drive session.Open":       ofRun[session.Open](),
	"drive session.Rebuild":    ofRun[session.Rebuild](),
	"drive session.StepStage":  ofRun[session.StepStage](),
	"drive session.Draw":       ofRun[session.Draw](),
	"drive session.Back":       ofRun[session.Back](),
	"drive session.StepToken":  ofRun[session.StepToken](),
	"drive session.Seek":       ofRun[session.Seek](),
	"drive session.Reset":      ofRun[session.Reset](),
	"drive session.Play":       ofRun[session.Play](),
	"drive session.Finish":     ofRun[session.Finish](),
	"drive session.Pause":      ofRun[session.Pause](),
	"drive session.SetSpeed":   ofRun[session.SetSpeed](),
	"drive session.Set":        ofRun[session.Set](),
	"drive session.SetPreset":  ofRun[session.SetPreset](),
	"drive session.Move":       ofRun[session.Move](),
	"drive session.Choose":     ofRun[session.Choose](),
	"drive session.TakeBranch": ofRun[session.TakeBranch](),
	"drive session.GoOn":       ofRun[session.GoOn](),
	"drive session.WhatIf":     ofRun[session.WhatIf](),
	"drive session.Redraw":     ofRun[session.Redraw](),
	"drive session.Try":        ofRun[session.Try](),
	"drive session.SetLook":    ofRun[session.SetLook](),
}

// Sendable is a [Command] that can be sent between servers as JSON.
type Sendable struct{ Command }

// sent is a command in JSON: the name of its codec, and its fields.
type sent struct {
	Name string
	Data json.RawMessage
}

// A codec encodes and decodes the commands of one type.
type codec struct {
	// fields returns a command's fields, or false if the command has a different type.
	fields func(c Command) (any, bool)
	decode func(fields []byte) (Command, error)
}

// ofRoom returns the codec of a room's command.
func ofRoom[C Command]() codec {
	return codec{
		func(c Command) (any, bool) { own, ok := c.(C); return own, ok },
		func(fields []byte) (Command, error) { var c C; err := json.Unmarshal(fields, &c); return c, err },
	}
}

// ofRun returns the codec of a [Drive] with a run's command.
func ofRun[C session.Command]() codec {
	return codec{
		func(c Command) (any, bool) {
			d, _ := c.(Drive)
			own, ok := d.Do.(C)
			return own, ok
		},
		func(fields []byte) (Command, error) {
			var c C
			err := json.Unmarshal(fields, &c)
			return Drive{Do: c}, err
		},
	}
}

// MarshalJSON implements [json.Marshaler].
func (c Sendable) MarshalJSON() ([]byte, error) {
	if c.Command == nil {
		return []byte("null"), nil
	}
	for name, of := range codecs {
		if fields, ok := of.fields(c.Command); ok {
			data, err := json.Marshal(fields)
			if err != nil {
				return nil, err
			}
			return json.Marshal(sent{name, data})
		}
	}
	return nil, fmt.Errorf("command %T cannot be sent to another server", c.Command)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Sendable) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	var s sent
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	of, ok := codecs[s.Name]
	if !ok {
		return fmt.Errorf("unknown command %q", s.Name)
	}
	var err error
	c.Command, err = of.decode(s.Data)
	return err
}
