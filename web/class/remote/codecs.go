package remote

import (
	"encoding/json"
	"fmt"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// codecs contains the codecs of all commands, by name. Servers running other versions use the same
// names.
var codecs = map[string]codec{
	"class.GoTo":               ofRoom[class.GoTo](),
	"class.AskWalk":            ofRoom[class.AskWalk](),
	"class.AskNext":            ofRoom[class.AskNext](),
	"class.AskQuestion":        ofRoom[class.AskQuestion](),
	"class.AskNumber":          ofRoom[class.AskNumber](),
	"class.AskDraw":            ofRoom[class.AskDraw](),
	"class.Close":              ofRoom[class.Close](),
	"class.Extend":             ofRoom[class.Extend](),
	"class.ShowSpread":         ofRoom[class.ShowSpread](),
	"class.Reveal":             ofRoom[class.Reveal](),
	"class.Revote":             ofRoom[class.Revote](),
	"class.Dismiss":            ofRoom[class.Dismiss](),
	"class.AppendMajority":     ofRoom[class.AppendMajority](),
	"class.AppendOf":           ofRoom[class.AppendOf](),
	"class.SetTimer":           ofRoom[class.SetTimer](),
	"class.Lock":               ofRoom[class.Lock](),
	"class.HideNames":          ofRoom[class.HideNames](),
	"class.AllowAlone":         ofRoom[class.AllowAlone](),
	"class.DropName":           ofRoom[class.DropName](),
	"class.Remove":             ofRoom[class.Remove](),
	"class.TakeOver":           ofRoom[class.TakeOver](),
	"class.End":                ofRoom[class.End](),
	"class.Reopen":             ofRoom[class.Reopen](),
	"class.Delete":             ofRoom[class.Delete](),
	"class.Assign":             ofRoom[class.Assign](),
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

// command is a [class.Command] that can be sent between servers.
type command struct{ class.Command }

// sent is a command in JSON: the name of its codec, and its fields.
type sent struct {
	Name string
	Data json.RawMessage
}

// A codec encodes and decodes the commands of one type.
type codec struct {
	// fields returns a command's fields, or false if the command has a different type.
	fields func(c class.Command) (any, bool)
	decode func(fields []byte) (class.Command, error)
}

// ofRoom returns the codec of a room's command.
func ofRoom[C class.Command]() codec {
	return codec{
		func(c class.Command) (any, bool) { own, ok := c.(C); return own, ok },
		func(fields []byte) (class.Command, error) { var c C; err := json.Unmarshal(fields, &c); return c, err },
	}
}

// ofRun returns the codec of a [class.Drive] with a run's command.
func ofRun[C session.Command]() codec {
	return codec{
		func(c class.Command) (any, bool) {
			d, _ := c.(class.Drive)
			own, ok := d.Do.(C)
			return own, ok
		},
		func(fields []byte) (class.Command, error) {
			var c C
			err := json.Unmarshal(fields, &c)
			return class.Drive{Do: c}, err
		},
	}
}

// MarshalJSON implements [json.Marshaler].
func (c command) MarshalJSON() ([]byte, error) {
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
func (c *command) UnmarshalJSON(text []byte) error {
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
