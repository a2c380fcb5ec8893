package wire

import (
	"fmt"
	"sync"
	"time"
)

// Encoded is a message that is written out once and sent to many: a class of
// five hundred looks at one run, and what they look at is the same to the byte.
// It is a snapshot. Whoever misses one is made whole by the next, so of those
// that wait for a connection only the newest is sent.
type Encoded struct {
	seq   uint64
	bytes []byte

	once  sync.Once
	frame any
	err   error
}

// Encode writes a message out. seq is its place in the sequence of snapshots,
// which grows; at is when what it shows came to be, told as at, in microseconds
// since 1970, so that a program can measure how long the way took. The message
// must carry no acknowledgement and no error: they are one connection's own.
func Encode(seq uint64, at time.Time, m Message) (*Encoded, error) {
	if m.Ack != 0 || m.Error != nil || m.Encoded != nil || m.Fields != nil {
		return nil, fmt.Errorf("wire: a message for all answers nobody: ack %d, error %v", m.Ack, m.Error)
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

// Seq is the place in the sequence of snapshots.
func (e *Encoded) Seq() uint64 { return e.seq }

// Bytes is the message as one JSON object. It must not be changed.
func (e *Encoded) Bytes() []byte { return e.bytes }

// Frame returns what the transport makes of the bytes, which it makes once,
// whoever comes first: a frame with its header, say.
func (e *Encoded) Frame(from func([]byte) (any, error)) (any, error) {
	e.once.Do(func() { e.frame, e.err = from(e.bytes) })
	return e.frame, e.err
}
