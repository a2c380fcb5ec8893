package loop

import (
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// order is one message from a client: a command, with the number that the client has given it.
type order struct {
	n       uint64          // 0 if the client sent no number
	name    string          // "step", "set", …
	command session.Command // nil for open, rebuild, ping, pieces and the queries
	link    string          // for open and rebuild: the link, which is not parsed yet
	pieces  string          // for pieces: the text to cut into tokens,
	chat    *session.Chat   // or the conversation
	query   *query          // a question about the run, which changes nothing
}

// commands are the Loop's commands, in addition to a run's commands ([session.Commands]).
var commands = terms.Commands[order]{
	{Name: "ping", Make: func(terms.Values) order { return order{} }},
	{Name: "pieces", Inputs: terms.Inputs{
		terms.Optional(terms.TextInput("prompt")), terms.Optional(session.MessagesInput),
	}, Make: askPieces},
	{Name: "open", Inputs: terms.Inputs{terms.TextInput("link")}, Make: opened},
	{Name: "rebuild", Inputs: terms.Inputs{terms.TextInput("link")}, Make: opened},

	{Name: "peek", Inputs: terms.Inputs{session.IntInput("step")}, Make: asked},
	{Name: "find", Inputs: terms.Inputs{session.IntInput("step"), terms.TextInput("text")}, Make: asked},
	{Name: "head", Inputs: terms.Inputs{session.IntInput("block"), session.IntInput("head")}, Make: asked},
	{Name: "inside", Inputs: terms.Inputs{session.IntInput("block")}, Make: asked},
	{Name: "zoom", Inputs: terms.Inputs{
		session.IntInput("block"), terms.Optional(session.IntInput("head")),
		terms.Optional(terms.BoolInput("sum")),
	}, Make: asked},
}

func askPieces(v terms.Values) order {
	o := order{pieces: v["prompt"]}
	if _, chats := v[session.MessagesInput.Key]; chats {
		o.chat = &session.Chat{Messages: session.MessagesOf(v), At: time.Now().Unix()}
	}
	return o
}

func opened(v terms.Values) order { return order{link: v["link"]} }

func asked(v terms.Values) order {
	return order{query: &query{
		step: v.Int("step"), text: v["text"], block: v.Int("block"), head: v.Int("head"), sum: v.Bool("sum"),
	}}
}

// commandNames lists all commands, for error messages.
var commandNames = strings.Join(
	slices.Sorted(slices.Values(append(session.Commands.Names(), commands.Names()...))), ", ",
)

// readOrder parses a client's command. The error describes what is wrong with it.
func readOrder(c wire.Command) (order, *terms.Refusal) {
	o := order{n: c.N, name: c.Name}
	f, err := terms.JSONFields(c.Fields)
	if err != nil {
		return o, err
	}
	if o.name == "pieces" && f.Has("prompt") == f.Has(session.MessagesInput.Key) {
		return o, terms.RefuseField("prompt", terms.PhraseOf("loop.got.prompt"), terms.PhraseOf("loop.want.prompt"))
	}
	if own, ok, err := commands.Read(o.name, f); ok {
		own.n, own.name = o.n, o.name
		return own, err
	}
	var ok bool
	if o.command, ok, err = session.Commands.Read(o.name, f); !ok {
		unknown := terms.Refuse(
			terms.CodeUnknown, "loop.command.unknown", "name", terms.Quoted(o.name), "names", commandNames,
		)
		unknown.Field, unknown.Want = "cmd", commandNames
		return o, unknown
	}
	if c, ok := o.command.(session.StartChat); ok {
		c.Chat.At = time.Now().Unix()
		o.command = c
	}
	return o, err
}
