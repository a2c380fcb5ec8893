package wire

import (
	"fmt"
	"sync"
	"time"
)

// Encoded is a message that is encoded once and sent to many clients. When a class of five hundred
// watches one run, everyone receives the same bytes. Each such message is a complete snapshot, so
// if several are queued for a connection, only the newest is sent.
type Encoded struct {
	seq   uint64
	bytes []byte

	once  sync.Once
	frame any
	err   error
}

// Encode encodes a message. seq is the message's number in the increasing sequence of snapshots. at
// is the time of the state that the message shows. It is sent in the field named at, in
// microseconds since 1970, so that programs can measure the delay. The message must not contain an
// acknowledgement or an error, because these are for a single connection.
func Encode(seq uint64, at time.Time, m Message) (*Encoded, error) {
	if m.Ack != 0 || m.Error != nil || m.Encoded != nil || m.Fields != nil {
		return nil, fmt.Errorf("wire: a shared message cannot answer a command: ack %d, error %v", m.Ack, m.Error)
	}
	b, err := plainJSON(struct {
		Seq uint64 `json:"seq"`
		At  int64  `json:"at"`
		Message
	}{seq, at.UnixMicro(), m})
	if err != nil {
		return nil, err
	}
	return &Encoded{seq: seq, bytes: b}, nil
}

// Seq returns the message's number in the sequence of snapshots.
func (e *Encoded) Seq() uint64 { return e.seq }

// Bytes returns the message as one JSON object. It must not be changed.
func (e *Encoded) Bytes() []byte { return e.bytes }

// Frame returns the form in which a transport sends the bytes, such as a frame with its header. The
// first call creates it by calling from. Later calls return the same frame.
func (e *Encoded) Frame(from func([]byte) (any, error)) (any, error) {
	e.once.Do(func() { e.frame, e.err = from(e.bytes) })
	return e.frame, e.err
}
