// Package wire is how the live parts of pages (the Loop, experiments in lessons,
// labs, classes) speak with their page and with other programs.
//
// A live part is a [Part]: it is given commands one after another and sends
// messages back, each with pieces of the page ([Panel]) or with data of its own.
// It knows nothing of sockets. Everything that a connection needs besides is
// here: who may open one, sizes, rates, a peer that has gone, a server that goes
// down. So a part is tested by calling it, and all parts are held to the same
// limits.
//
// [Server] answers /ws. A connection has a goroutine that reads, one that writes
// and one for its part. What waits to be sent is joined, so that a slow reader
// misses states in between, never holds up another, and needs no long queue.
// Below a line of messages lies a transport: a WebSocket.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/tokenbytoken/viz/infer/terms"
)

// The subprotocols.
const (
	ProtocolHTML = "viz.html.v1" // panels for the page
	ProtocolJSON = "viz.json.v1" // typed stages for programs
)

// The operations of a [Panel].
const (
	Morph  = "morph"  // make the element with the panel's id look like this
	Append = "append" // put this at the end of the element's content
	Remove = "remove" // take the element away
)

// Panel is a piece of the page: one element, as HTML, and where it goes.
type Panel struct {
	ID   string `json:"id"`
	Op   string `json:"op"`
	HTML string `json:"html,omitempty"`
}

// Message is what a part tells its page. Messages that wait to be sent are put
// together ([Message.Join]): a page that cannot keep up misses what lay in
// between, never how it ended.
type Message struct {
	// Seq is the version of the state that the message shows; later messages
	// carry it on. A part that numbers no states leaves it 0: its messages are
	// counted then.
	Seq uint64 `json:"seq"`
	// Ack is the number of the last command that this answers, 0 for none.
	Ack uint64 `json:"ack"`
	// Run is the id of the run, in the first message of a connection to one.
	Run string `json:"run,omitempty"`
	// Again, beside Run: this page has watched the run before, and Ack is the last
	// of its commands carried out.
	Again bool `json:"again,omitempty"`
	// Error is why a command was refused, or could not be finished.
	Error *terms.Refusal `json:"error,omitempty"`
	// Panels are carried out in order.
	Panels []Panel `json:"panels,omitempty"`
	// Data is whatever the page's own script wants to know, marshalled at once
	// or later: it must not be changed after it was sent.
	Data any `json:"data,omitempty"`
	// Done says that the work a command asked for is finished.
	Done bool `json:"done,omitempty"`

	// Fields are further fields of the message, a struct: what [ProtocolJSON]
	// tells instead of panels. Like Data they must not be changed any more.
	Fields any `json:"-"`
	// Alone keeps a message from being joined with others, and from being counted.
	Alone bool `json:"-"`
	// Encoded, where it is set, is sent as it is, and the other fields are not.
	// One that waits gives way to the next.
	Encoded *Encoded `json:"-"`
}

// Bytes writes the message out as one JSON object. HTML is not escaped a second
// time: the message is never part of a page.
func (m Message) Bytes() ([]byte, error) {
	b, err := plainJSON(m)
	if err != nil || m.Fields == nil {
		return b, err
	}
	more, err := plainJSON(m.Fields)
	if err != nil || len(more) <= len("{}") {
		return b, err
	}
	b[len(b)-1] = ','
	return append(b, more[1:]...), nil
}

func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("wire: encoding a message: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Join returns what is left to be told when next comes before m was sent: of
// two panels that make one element new, the later; the later data; the higher
// acknowledgement; and done if either was. Both must be joinable: errors, snapshots
// and what is Alone are told by themselves.
func (m Message) Join(next Message) Message {
	j := Message{Ack: max(m.Ack, next.Ack), Data: m.Data, Done: m.Done || next.Done}
	if next.Data != nil {
		j.Data = next.Data
	}
	newer := map[string]bool{}
	for _, p := range next.Panels {
		if p.Op != Append {
			newer[p.ID] = true
		}
	}
	for _, p := range m.Panels {
		if !newer[p.ID] {
			j.Panels = append(j.Panels, p)
		}
	}
	j.Panels = append(j.Panels, next.Panels...)
	return j
}

// Command is one thing that a page asks for.
type Command struct {
	Name string
	// N is the page's number for it; answers name it as [Message.Ack].
	N uint64
	// Fields are the command's own, one JSON object of valid Unicode.
	// [Command.Decode] reads them.
	Fields json.RawMessage
}

// Part is one live part of one page. Serve is called once, with its own
// goroutine, and returns when ctx ends or in is closed; an error ends the
// connection and is logged, so what a learner did wrong is told by a message
// instead. Commands wait in the channel, at most [Waiting] of them, and then at
// the peer: a part that only cares for the newest takes all that wait.
type Part interface {
	Serve(ctx context.Context, in <-chan Command, out Line) error
}

// Waiting is how many commands wait in a part's channel.
const Waiting = 16

// Line is where a part's messages go. Its methods may be called from any
// goroutine; their errors are the context's.
type Line interface {
	// Send hands a message over and waits only while the peer does not take what
	// it was sent before and nothing of it can be left out.
	Send(Message) error
	// Ready waits until a message that is sent now leaves at once. A part that
	// makes its message only then tells the newest there is, and makes none that
	// would be left out.
	Ready() error
}

// SendFunc is a [Line] that is always ready: messages go to a function.
type SendFunc func(Message) error

// Send implements [Line].
func (f SendFunc) Send(m Message) error { return f(m) }

// Ready implements [Line].
func (SendFunc) Ready() error { return nil }

// Visit is who opens a part, and how.
type Visit struct {
	Learner  string     // of the cookie
	Query    url.Values // of the address
	Protocol string     // [ProtocolHTML] or [ProtocolJSON]
}

// Open makes the part of a connection. A [*terms.Refusal] says why there is none
// and is told to the page; any other error is logged.
type Open func(context.Context, Visit) (Part, error)

// Kind is one kind of part.
type Kind struct {
	Open Open
	// Programs lets other programs open the part, with [ProtocolJSON].
	Programs bool
	// Ordered hands pings to the part like its commands. Without it they are
	// answered at once, also while a command is being carried out, and before it.
	Ordered bool
}
