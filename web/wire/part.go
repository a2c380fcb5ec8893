// Package wire connects the live parts of pages (the Loop, experiments in lessons, labs,
// classes) to their pages and to other programs.
//
// A live part is a [Part]: it receives commands one after another and sends messages back, each
// with changes to the page ([Panel]) or with other data. The part does not deal with sockets. This
// package handles everything else about a connection: who may open one, limits on sizes and rates,
// peers that have gone away, and server shutdown. Tests can therefore call a part directly, and the
// same limits apply to all parts.
//
// [Server] handles /ws. A connection has a goroutine that reads, one that writes, and one that runs
// the part. Queued messages are merged, so that a slow reader skips intermediate states, never
// delays another reader, and does not need a long queue. Messages travel over a transport: a
// WebSocket, or a message port if the program runs in the browser ([Server.ServePort]).
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
	ProtocolHTML = "viz.html.v1" // panels for pages
	ProtocolJSON = "viz.json.v1" // typed stages for programs
)

// The operations of a [Panel].
const (
	Morph  = "morph"  // change the element with the panel's id into this HTML
	Append = "append" // add this HTML at the end of the element's content
	Remove = "remove" // remove the element
)

// Panel is a change to the page: an operation on one element, with its HTML.
type Panel struct {
	ID   string `json:"id"`
	Op   string `json:"op"`
	HTML string `json:"html,omitempty"`
	// Later means that the page may show the panel after the frame with the other panels.
	Later bool `json:"later,omitempty"`
}

// Message is one message from a part to its page. Queued messages are merged ([Message.Join]): a
// page that is too slow misses intermediate states, but never the last one.
type Message struct {
	// Seq is the version of the state that the message shows. Later messages repeat it. If the
	// part does not number its states, it sets 0, and messages are numbered instead.
	Seq uint64 `json:"seq"`
	// Ack is the number of the last command that this message answers, or 0 if it answers none.
	Ack uint64 `json:"ack"`
	// Run is the id of the run, in the first message of a connection to a run.
	Run string `json:"run,omitempty"`
	// Again is set together with Run. It means that this page has watched the run before, and that
	// Ack is the number of the page's last command that was executed.
	Again bool `json:"again,omitempty"`
	// Error is the reason why a command was refused or could not be completed. It is sent in the
	// language of the request that opened the connection ([terms.In]).
	Error *terms.Refusal `json:"error,omitempty"`
	// Panels are applied in order.
	Panels []Panel `json:"panels,omitempty"`
	// More means that the state's other panels follow in a message with Rest, before the next
	// state.
	More bool `json:"more,omitempty"`
	Rest bool `json:"rest,omitempty"`
	// Data is for the page's own script. It may be marshaled after Send returns, so it must not be
	// changed after the call.
	Data any `json:"data,omitempty"`
	// Done means that the work requested by a command is finished.
	Done bool `json:"done,omitempty"`

	// Fields is a struct with further fields of the message, which [ProtocolJSON] sends instead of
	// panels. Like Data, it must not be changed after Send.
	Fields any `json:"-"`
	// Alone excludes a message from merging and from the numbering of messages.
	Alone bool `json:"-"`
	// Encoded, if set, is sent unchanged, without the other fields. If it is still queued when the
	// next one is sent, the next one replaces it.
	Encoded *Encoded `json:"-"`
}

// Bytes encodes the message as one JSON object. It does not escape HTML a second time, since the
// message is never embedded in a page.
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

// Join merges m, which has not been sent yet, with the message after it. It keeps the later data,
// the higher acknowledgement, and, if two panels replace the same element, the later one. The
// result has Done set if either message has. Both messages must be joinable: errors, snapshots and
// messages that are Alone are sent separately.
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
	// N is the page's number for the command. Answers repeat it as [Message.Ack].
	N uint64
	// Fields holds the command's own fields as one JSON object of valid Unicode.
	// [Command.Decode] parses them.
	Fields json.RawMessage
}

// Part is one live part of one page. Serve is called once, in its own goroutine, and returns when
// ctx ends or in is closed. If it returns an error, the connection ends and the error is logged. A
// learner's mistake is reported in a message instead. Up to [Waiting] commands are queued in the
// channel, and further ones wait at the peer. A part that needs only the newest command should read
// all queued commands.
type Part interface {
	Serve(ctx context.Context, in <-chan Command, out Conn) error
}

// Waiting is the maximum number of commands queued in a part's channel.
const Waiting = 16

// Conn is a part's end of its connection. Its methods may be called from any goroutine. They return
// the error of the part's context.
type Conn interface {
	// Send queues a message. It blocks only if the queue is full of messages that can be neither
	// merged nor dropped.
	Send(Message) error
	// Ready waits until a message would be sent immediately. A part that waits for Ready before it
	// builds a message always sends the newest state, and never builds a message only for it to be
	// dropped.
	Ready() error
}

// Visit describes the client that opens a part, and the request.
type Visit struct {
	admission.Caller
	Query    url.Values // of the address
	Protocol string     // [ProtocolHTML] or [ProtocolJSON]
}

// Open creates the part for a connection, whose context has the language of the request
// ([terms.In]). If the error is a [*terms.Refusal], it is sent to the page. Any other error is
// logged.
type Open func(context.Context, Visit) (Part, error)

// Kind is one kind of part.
type Kind struct {
	Open Open
	// Programs allows other programs to open the part, with [ProtocolJSON].
	Programs bool
	// Ordered means that pings are passed to the part, in order with the commands. If it is false,
	// pings are answered immediately, even while an earlier command is being executed.
	Ordered bool
}
