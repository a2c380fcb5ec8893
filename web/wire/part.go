// Package wire is how the small live parts of pages (experiments in lessons,
// labs, classes) speak with their page over a socket, without knowing of one.
//
// A part is a [Part]: it is given the page's commands one after another and
// sends messages back, each with pieces of the page ([Panel]) or with data of
// its own. Everything that a connection needs besides (who may open one, sizes,
// rates, a peer that has gone, a server that goes down) is the transport's:
// package web serves /ws?feed=NAME and keeps a feed for each connection. So a
// feed is tested by calling it, and all feeds are held to the same limits.
package wire

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/tokenbytoken/viz/infer/terms"
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

// Message is what a feed tells its page. Messages that wait to be sent are put
// together ([Message.Join]): a page that cannot keep up misses what lay in
// between, never how it ended.
type Message struct {
	// Ack is the number of the last command that this answers, 0 for none.
	Ack uint64 `json:"ack"`
	// Panels are carried out in order.
	Panels []Panel `json:"panels,omitempty"`
	// Data is whatever the page's own script wants to know, marshalled at once
	// or later: it must not be changed after it was sent.
	Data any `json:"data,omitempty"`
	// Done says that the work a command asked for is finished.
	Done bool `json:"done,omitempty"`
	// Error is why a command was refused, or could not be finished.
	Error *terms.Refusal `json:"error,omitempty"`
	// Encoded, where it is set, is sent as it is, and the other fields are not.
	// One that waits gives way to the next.
	Encoded *Encoded `json:"-"`
}

// Join returns what is left to be told when next comes before m was sent: of
// two panels that make one element new, the later; the later data; the higher
// acknowledgement; and done if either was. Neither may carry an error or be
// Encoded, which are always told by themselves.
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
// the peer: a feed that only cares for the newest takes all that wait.
//
// send hands a message over and waits only while the peer does not take what it
// was sent before and nothing of it can be left out. Its error is ctx's.
type Part interface {
	Serve(ctx context.Context, in <-chan Command, send func(Message) error) error
}

// Waiting is how many commands wait in a feed's channel.
const Waiting = 16

// Open makes the feed of a connection. learner is who opened it, q what its
// address asks for. An [*terms.Refusal] says why there is none and is told to the page;
// any other error is logged.
type Open func(ctx context.Context, learner string, q url.Values) (Part, error)
