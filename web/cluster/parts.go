package cluster

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/web/class/remote"
)

// partHeader is the header of each part of a message. It contains the message's id, the
// part's number (starting at 1), the number of parts, and the message's length in bytes.
const partHeader = "Viz-Part"

// Limits of parts.
const (
	partBytes   = 256 << 10 // accepted by any NATS server whose limit is high enough for the logs
	mostParts   = remote.MaxReply/partBytes + 1
	mostSenders = 4 // number of senders per room whose parts can be assembled concurrently
)

var errParts = errors.New("failed to reassemble a message from another server")

// send publishes a message, in parts if it is long.
func (b *bus) send(subject, reply string, message []byte) error {
	if len(message) > remote.MaxReply {
		return fmt.Errorf("a message has %d bytes; the limit is %d", len(message), remote.MaxReply)
	}
	if len(message) <= partBytes {
		return b.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: message})
	}
	id, of := nuid.Next(), (len(message)+partBytes-1)/partBytes
	for i := range of {
		m := &nats.Msg{
			Subject: subject, Reply: reply, Data: message[i*partBytes : min((i+1)*partBytes, len(message))],
			Header: nats.Header{partHeader: {fmt.Sprintf("%s %d %d %d", id, i+1, of, len(message))}},
		}
		if err := b.nc.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// assembly assembles one message from its parts, which arrive in order.
type assembly struct {
	id      string
	part    int
	of      int
	message []byte
	size    int
}

// add adds a part and, once the message is complete, returns it. A message without a part
// header is complete.
func (a *assembly) add(m *nats.Msg) (whole []byte, ok bool, err error) {
	text := m.Header.Get(partHeader)
	if text == "" {
		if len(m.Data) > remote.MaxReply {
			return nil, false, errParts
		}
		return m.Data, true, nil
	}
	id, part, of, size, err := readPart(text)
	if err != nil {
		return nil, false, err
	}
	if part == 1 {
		*a = assembly{id: id, of: of, size: size, message: make([]byte, 0, size)}
	}
	if a.id != id || a.part != part-1 || a.of != of || a.size != size || len(a.message)+len(m.Data) > size {
		*a = assembly{}
		return nil, false, errParts
	}
	a.part, a.message = part, append(a.message, m.Data...)
	if part < of {
		return nil, false, nil
	}
	whole, is := a.message, len(a.message) == size
	if *a = (assembly{}); !is {
		return nil, false, errParts
	}
	return whole, true, nil
}

func readPart(text string) (id string, part, of, size int, err error) {
	if len(text) > 100 {
		return "", 0, 0, 0, errParts
	}
	if _, err := fmt.Sscanf(text, "%s %d %d %d", &id, &part, &of, &size); err != nil {
		return "", 0, 0, 0, errParts
	}
	if part < 1 || of < 2 || part > of || of > mostParts || size < 1 || size > remote.MaxReply {
		return "", 0, 0, 0, errParts
	}
	return id, part, of, size, nil
}

// gather adds a part to the message that is being assembled for its sender. ok is true if the part
// completes the message.
func (b *bus) gather(senders map[string]*assembly, m *nats.Msg) (whole []byte, ok bool) {
	id := ""
	if text := m.Header.Get(partHeader); text != "" {
		var err error
		if id, _, _, _, err = readPart(text); err != nil {
			b.refused.Add(1)
			return nil, false
		}
	}
	a := senders[id]
	if a == nil {
		if len(senders) >= mostSenders {
			clear(senders) // drop the incomplete messages
		}
		a = &assembly{}
		if id != "" {
			senders[id] = a
		}
	}
	whole, ok, err := a.add(m)
	if err != nil {
		b.refused.Add(1)
	}
	if err != nil || ok {
		delete(senders, id)
	}
	return whole, ok
}
