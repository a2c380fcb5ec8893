package stream

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/web/journal"
)

// form is the number of the message format that this version writes. A message in a later format is
// refused, so that an outdated server does not misread it.
const form = 1

// aboutHeader is the header that contains a message's [meta].
const aboutHeader = "Viz-Log"

// indexBits is the number of low bits in a record's sequence number that hold the record's index
// within its message. The high bits hold the message's sequence number in the stream. A message
// never has more records than indexBits can number.
const indexBits = 17

// meta describes a message and the state of its log after the message's change. It is in a header,
// so that logs can be listed without reading the bodies of messages.
type meta struct {
	Form int    `json:"v"`
	ID   string `json:"id"` // id of the change to which the message belongs
	Part int    `json:"part"`
	Of   int    `json:"of"`
	// Prev is the last message of the subject before the change, or 0.
	Prev uint64 `json:"prev"`
	// Whole is set if the change describes the log completely, so that the messages before it are
	// obsolete.
	Whole bool `json:"whole,omitempty"`
	// Exists is set if there is a log. Retired is set if there is data that Sweep must
	// delete.
	Exists  bool `json:"exists,omitempty"`
	Retired bool `json:"retired,omitempty"`
	// First is the lowest number that a record of the log can have. Cut is the newest
	// message that deleted records; snapshots from before it are invalid. In both, 0 means the
	// first message of this change.
	First int64  `json:"first,omitempty"`
	Cut   uint64 `json:"cut,omitempty"`

	// Aside is the time at which records of the log were last set aside, or 0 if none are.
	// Used is the time at which the log was last used. Both are in milliseconds since 1970.
	Aside   int64 `json:"aside,omitempty"`
	Used    int64 `json:"used,omitempty"`
	Records int   `json:"records,omitempty"`
	Bytes   int64 `json:"bytes,omitempty"`
}

// message is one message of a log's subject.
type message struct {
	seq uint64
	meta
	sound bool // whether meta could be read
	body  []byte
	at    time.Time
}

// asMessage returns a message with its decoded header.
func asMessage(seq uint64, h nats.Header, body []byte) (message, error) {
	x := message{seq: seq, body: body}
	x.sound = json.Unmarshal([]byte(h.Get(aboutHeader)), &x.meta) == nil && x.Form > 0 && x.Part >= 1 && x.Part <= x.Of
	if x.sound && x.Form > form {
		return x, fmt.Errorf("message %d was written by a newer version of this program "+
			"(format %d, but this one reads format %d)", seq, x.Form, form)
	}
	return x, nil
}

// The items in the body of a message, in the order in which they are applied.
const (
	itemRecord  = 'r' // group, number or 0, type, id, data: adds a record
	itemGone    = 'd' // type, id: deletes a record
	itemAside   = 'a' // time: begins the next group of records that are set aside
	itemMove    = 'm' // number: moves a record to the newest group
	itemMoveAll = 'M' // moves all records to the newest group
)

// encodeRecord encodes a record of the log (group 0) or of a group of records that were set aside.
// If the record's number is 0, its position in the stream determines the number.
func encodeRecord(group int, r journal.Record) []byte {
	b := make([]byte, 0, 16+r.Size())
	b = binary.AppendUvarint(append(b, itemRecord), uint64(group))
	b = binary.AppendUvarint(b, uint64(r.Seq))
	return appendText(appendText(appendText(b, r.Type), r.ID), string(r.Data))
}

func encodeGone(k journal.Key) []byte { return appendText(appendText([]byte{itemGone}, k.Type), k.ID) }

func encodeAside(at int64) []byte { return binary.AppendVarint([]byte{itemAside}, at) }

func encodeMove(seq int64) []byte { return binary.AppendUvarint([]byte{itemMove}, uint64(seq)) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// item is a decoded item of a message's body.
type item struct {
	kind  byte
	group int
	at    int64
	journal.Record
}

var errItem = errors.New("invalid item in a message")

// reader reads the items of a body.
type reader struct{ rest []byte }

// next returns the next item. It does not copy the item's data.
func (r *reader) next() (i item, err error) {
	defer func() {
		if recover() != nil { // the body ends in the middle of an item
			err = errItem
		}
	}()
	i.kind, r.rest = r.rest[0], r.rest[1:]
	switch i.kind {
	case itemRecord:
		i.group, i.Seq = int(r.number()), int64(r.number())
		i.Type, i.ID, i.Data = string(r.text()), string(r.text()), r.text()
	case itemGone:
		i.Type, i.ID = string(r.text()), string(r.text())
	case itemAside:
		n, size := binary.Varint(r.rest)
		i.at, r.rest = n, r.rest[size:]
		if size <= 0 {
			return i, errItem
		}
	case itemMove:
		i.Seq = int64(r.number())
	case itemMoveAll:
	default:
		return i, errItem
	}
	return i, nil
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		panic(errItem)
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) text() []byte {
	n := r.number()
	s := r.rest[:n:n]
	r.rest = r.rest[n:]
	return s
}
