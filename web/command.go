package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// order is one message of a client: a command and the client's number for it.
type order struct {
	n       uint64          // 0 where the client gave none
	name    string          // "step", "set", ...
	command session.Command // nil for open, rebuild, ping, pieces and the queries
	link    string          // for open and rebuild: the link, which it takes a model to read
	pieces  string          // for pieces: the text to cut into tokens
	query   *query          // what is asked of the run, changing nothing
}

// commands lists what a message may ask for besides the commands of a run
// ([session.ParseCommand]): its fields, joined by commas, and how to read them.
var commands = map[string]struct {
	takes string
	read  func(f *session.Fields, o *order)
}{
	"ping":    {"", func(*session.Fields, *order) {}},
	"pieces":  {"prompt", func(f *session.Fields, o *order) { o.pieces = f.Text("prompt") }},
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
}

// commandNames are all commands, for messages.
var commandNames = strings.Join(slices.Sorted(slices.Values(
	append(session.Names(), slices.Collect(maps.Keys(commands))...))), ", ")

// readOrder reads a client's message, which must be valid UTF-8. Whatever is
// wrong with it is said in the error; n is set even then, where it could be
// read.
func readOrder(message []byte) (order, *terms.Refusal) {
	var o order
	f, err := readHead(message, &o.n, &o.name)
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
			Message: fmt.Sprintf("There is no command %s; the commands are %s.", quote(o.name), commandNames),
		}
	}
	return o, err
}

// readHead reads what every message begins with: the client's number for it,
// which may be missing, and the name of what it asks for. The number is set even
// with an error, where it could be read.
func readHead(message []byte, n *uint64, name *string) (*session.Fields, *terms.Refusal) {
	f, err := session.JSONFields(message)
	if err != nil {
		return nil, err
	}
	if f.Has("n") {
		*n = uint64(f.Whole("n", 0, terms.MaxSeed))
	}
	if f.Err() == nil {
		*name = f.Text("cmd")
	}
	return f, f.Err()
}
