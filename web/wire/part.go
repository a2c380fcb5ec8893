// Package wire connects the live parts of pages (the Loop, experiments in lessons,
// labs, classes) with their page and with other programs.
//
// A live part is a [Part]: it receives commands one after another and sends
// messages back, each with pieces of the page ([Panel]) or with data of its own.
// It does not deal with sockets. This package handles the rest of a connection:
// who may open one, sizes, rates, a peer that has gone, a server that shuts down.
// So a test can call a part directly, and the same limits apply to all parts.
//
// [Server] answers /ws. A connection has a goroutine that reads, one that writes
// and one for its part. Queued messages are merged, so that a slow reader skips
// intermediate states, never delays another reader, and needs no long queue.
// Messages travel over a transport: a WebSocket, or a message port if the program
// runs in the browser ([Server.ServePort]).
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// The subprotocols.
const (
	ProtocolHTML = "viz.html.v1" // panels for the page
	ProtocolJSON = "viz.json.v1" // typed stages for programs
)

// The operations of a [Panel].
const (
	Morph  = "morph"  // turn the element with the panel's id into this HTML
	Append = "append" // add this HTML at the end of the element's content
	Remove = "remove" // remove the element
)

// Panel is a change to the page: an operation on one element, with its HTML.
type Panel struct {
	ID   string `json:"id"`
	Op   string `json:"op"`
	HTML string `json:"html,omitempty"`
}

// Message is one message from a part to its page. Queued messages are merged
// ([Message.Join]): a page that cannot keep up misses intermediate states, never the last
// one.
type Message struct {
	// Seq is the version of the state that the message shows; later messages repeat it. It
	// is 0 if the part does not number its states, and messages are then counted.
	Seq uint64 `json:"seq"`
	// Ack is the number of the last command that this message answers, 0 for none.
	Ack uint64 `json:"ack"`
	// Run is the id of the run, in the first message of a connection to one.
	Run string `json:"run,omitempty"`
	// Again, set with Run, means that this page has watched the run before, and that Ack is
	// the last of its commands that were carried out.
	Again bool `json:"again,omitempty"`
	// Error is the reason a command was refused or could not be completed.
	Error *terms.Refusal `json:"error,omitempty"`
	// Panels are applied in order.
	Panels []Panel `json:"panels,omitempty"`
	// Data is for the page's own script. It is marshaled some time after Send, so it must
	// not be changed after that.
	Data any `json:"data,omitempty"`
	// Done means that the work a command asked for is finished.
	Done bool `json:"done,omitempty"`

	// Fields is a struct of further fields of the message, which [ProtocolJSON] sends
	// instead of panels. Like Data, it must not be changed after Send.
	Fields any `json:"-"`
	// Alone keeps a message from being merged with others, and from being counted.
	Alone bool `json:"-"`
	// Encoded, if set, is sent unchanged, without the other fields. A queued one is
	// replaced by the next.
	Encoded *Encoded `json:"-"`
}

// Bytes encodes the message as one JSON object. HTML is not escaped a second
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

// Join merges m, which has not been sent yet, with the message after it. It keeps the later
// of two panels that replace the same element, the later data and the higher
// acknowledgement, and the result is done if either is. Both messages must be joinable:
// errors, snapshots and messages that are Alone are sent on their own.
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

// Command is one request from a page.
type Command struct {
	Name string
	// N is the page's number for the command; answers repeat it as [Message.Ack].
	N uint64
	// Fields holds the command's own fields as one JSON object of valid Unicode.
	// [Command.Decode] reads them.
	Fields json.RawMessage
}

// Part is one live part of one page. Serve is called once, in its own goroutine, and
// returns when ctx ends or in is closed. An error ends the connection and is logged; a
// learner's mistake is reported in a message instead. Commands queue in the channel, at
// most [Waiting] of them, and beyond that at the peer. A part that needs only the newest
// command reads all that are queued.
type Part interface {
	Serve(ctx context.Context, in <-chan Command, out Conn) error
}

// Waiting is the maximum number of commands queued in a part's channel.
const Waiting = 16

// Conn is a part's end of its connection. Its methods may be called from any goroutine;
// they return the context's error.
type Conn interface {
	// Send queues a message. It blocks only while the queue is full of messages
	// that can be neither merged nor dropped.
	Send(Message) error
	// Ready waits until a message sent now would leave at once. A part that builds
	// its message only then sends the newest state, and builds no message that would
	// be dropped.
	Ready() error
}

// Visit describes who opens a part, and how.
type Visit struct {
	admission.Caller
	Query    url.Values // of the address
	Protocol string     // [ProtocolHTML] or [ProtocolJSON]
}

// Open creates the part for a connection. A [*terms.Refusal] is sent to the page; any
// other error is logged.
type Open func(context.Context, Visit) (Part, error)

// Kind is one kind of part.
type Kind struct {
	Open Open
	// Programs lets other programs open the part, with [ProtocolJSON].
	Programs bool
	// Ordered passes pings to the part like its commands. Otherwise they are
	// answered at once, even while an earlier command is being carried out.
	Ordered bool
}
