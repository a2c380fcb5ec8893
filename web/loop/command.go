package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// order is one message from a client: a command and the client's number for it.
type order struct {
	n       uint64          // 0 if the client sent no number
	name    string          // "step", "set", …
	command session.Command // nil for open, rebuild, ping, pieces and the queries
	link    string          // for open and rebuild: the link, still to be parsed for the model
	pieces  string          // for pieces: the text to cut into tokens,
	chat    *session.Chat   // or the conversation
	query   *query          // a question about the run, which changes nothing
}

// commands maps each command that is not a run command ([session.ParseCommand]) to its fields,
// joined by commas, and to the function that parses them.
var commands = map[string]struct {
	takes string
	read  func(f *session.Fields, o *order)
}{
	"ping": {"", func(*session.Fields, *order) {}},
	"pieces": {"prompt, messages", func(f *session.Fields, o *order) {
		if !f.Has("messages") {
			o.pieces = f.Text("prompt")
			return
		}
		o.chat = &session.Chat{Messages: f.Messages("messages"), At: time.Now().Unix()}
	}},
	"open":    {"link", func(f *session.Fields, o *order) { o.link = f.Text("link") }},
	"rebuild": {"link", func(f *session.Fields, o *order) { o.link = f.Text("link") }},

	"peek": {"step", func(f *session.Fields, o *order) { o.query = &query{step: f.Int("step")} }},
	"find": {"step, text", func(f *session.Fields, o *order) {
		o.query = &query{step: f.Int("step"), text: f.Text("text")}
	}},
	"head": {"block, head", func(f *session.Fields, o *order) {
		o.query = &query{block: f.Int("block"), head: f.Int("head")}
	}},
	"inside": {"block", func(f *session.Fields, o *order) { o.query = &query{block: f.Int("block")} }},
	"zoom": {"block, head, sum", func(f *session.Fields, o *order) {
		o.query = &query{block: f.Int("block")}
		if f.Has("head") {
			o.query.head = f.Int("head")
		}
		if f.Has("sum") {
			o.query.sum = f.Truth("sum")
		}
	}},
}

// commandNames lists all commands, for error messages.
var commandNames = strings.Join(slices.Sorted(slices.Values(
	append(session.Names(), slices.Collect(maps.Keys(commands))...))), ", ")

// readOrder parses a client's command. The error describes what is wrong with it.
func readOrder(c wire.Command) (order, *terms.Refusal) {
	o := order{n: c.N, name: c.Name}
	f, err := session.JSONFields(c.Fields)
	if err != nil {
		return o, err
	}
	if g, ok := commands[o.name]; ok {
		g.read(f, &o)
		return o, f.Unexpected(o.name, g.takes)
	}
	var ok bool
	if o.command, ok, err = session.ParseCommand(o.name, f); !ok {
		return o, &terms.Refusal{
			Code: terms.CodeUnknown, Field: "cmd", Want: commandNames,
			Message: fmt.Sprintf("There is no command %s; the commands are %s.", terms.Quoted(o.name), commandNames),
		}
	}
	if c, ok := o.command.(session.StartChat); ok {
		c.Chat.At = time.Now().Unix()
		o.command = c
	}
	return o, err
}
