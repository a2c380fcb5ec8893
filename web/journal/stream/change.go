package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/tokenbytoken/viz/web/journal"
)

// Limits of a change. Messages stay well below the default size limit of a NATS server, and atomic
// batches have no more messages than the server accepts.
const (
	mostBody  = 512 << 10
	mostParts = 1000
)

// draft is a change that has not been published yet: the metadata of its messages, and their items.
type draft struct {
	meta
	items [][]byte
}

// draft returns a change that leaves the log unchanged.
func (m *mirror) draft() *draft {
	return &draft{meta: meta{
		Form: form, ID: nuid.Next(), Prev: m.last, Whole: m.empty(), Exists: m.exists, Retired: m.retired,
		First: m.first, Cut: m.cut, Aside: m.lastAside(), Used: m.used, Records: len(m.records), Bytes: m.bytes,
	}}
}

// begin makes the draft describe an empty log.
func (d *draft) begin() {
	d.Exists, d.First, d.Cut, d.Used, d.Records, d.Bytes = true, 0, 0, 0, 0, 0
}

// end makes the draft describe a log that does not exist.
func (d *draft) end() {
	d.Exists, d.Retired, d.First, d.Cut, d.Used, d.Records, d.Bytes = false, true, 0, 0, 0, 0, 0
}

// parts returns the bodies of a draft's messages.
func (d *draft) parts(most int) (bodies [][]byte, err error) {
	var body []byte
	records := 0
	for _, i := range d.items {
		if len(body) > 0 && (len(body)+len(i) > most || records == 1<<indexBits) {
			bodies, body, records = append(bodies, body), nil, 0
		}
		body, records = append(body, i...), records+1
	}
	bodies = append(bodies, body)
	if len(bodies) > mostParts {
		return nil, fmt.Errorf("%w: the change needs %d messages; the limit is %d",
			journal.ErrTooLarge, len(bodies), mostParts)
	}
	return bodies, nil
}

// alter makes a change to a log. The function build returns the change, or nil if there is
// nothing to do. It can be called several times, because other servers might change the log
// in the meantime.
func (j *Journal) alter(ctx context.Context, m *mirror, build func() *draft) error {
	synced := false
	var open *draft // a change that was sent without a reply, and might still arrive
	for n := 0; ; n++ {
		if !m.loaded || n > 0 {
			m.watch(open)
			if err := j.sync(ctx, m); err != nil {
				return err
			}
			synced = true
		}
		d := open
		switch {
		case d == nil:
		case m.arrived:
			return nil
		case m.reread: // the change might have arrived and been rewritten
			return fmt.Errorf("%w: no reply to a change", journal.ErrAway)
		case d.Prev != m.last: // the change can no longer be stored
			d, open = nil, nil
		}
		if d == nil {
			if d = build(); d == nil && synced {
				return nil
			} else if d == nil {
				continue // other servers might have changed the log
			}
		}
		err := j.publish(ctx, m, d)
		switch {
		case err == nil:
			return nil
		case conflict(err): // other servers were first; this is the error if there is no time to retry
			err = fmt.Errorf("%w: %w", journal.ErrAway, err)
		case errors.Is(away(err), journal.ErrAway):
			open = d
		case open != nil: // the change was refused this time, but an earlier attempt might have stored it
			return fmt.Errorf("%w: no reply to a change: %w", journal.ErrAway, err)
		default:
			return err
		}
		if n > 0 && Pause(ctx, again) != nil {
			return err
		}
	}
}

// publish stores a change to a log and applies it to the mirror.
func (j *Journal) publish(ctx context.Context, m *mirror, d *draft) error {
	first, bodies, err := j.send(ctx, m.stream, m.log, d, true)
	if err != nil {
		return err
	}
	for i, body := range bodies {
		x := message{seq: first + uint64(i), meta: d.meta, sound: true, body: body}
		x.Part, x.Of = i+1, len(bodies)
		m.apply(x)
	}
	return nil
}

// send publishes either all messages of a draft or none. It returns the number of the first message
// and the bodies of all messages. If fenced is set, the stream refuses the messages when the
// subject has a message that is newer than the draft's Prev.
func (j *Journal) send(
	ctx context.Context, stream, subject string, d *draft, fenced bool,
) (first uint64, bodies [][]byte, err error) {
	bodies, err = d.parts(min(mostBody, int(j.nc.MaxPayload())-8<<10))
	if err != nil {
		return 0, nil, err
	}
	size := int64(0)
	for _, body := range bodies {
		size += int64(len(body))
	}
	ctx, cancel := j.attempt(ctx, size)
	defer cancel()
	for i, body := range bodies {
		msg, err := d.message(subject, i+1, len(bodies), body)
		if err != nil {
			return 0, nil, err
		}
		if fenced && i == 0 {
			msg.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(d.Prev, 10))
		}
		if i > 0 && i < len(bodies)-1 {
			if err := j.nc.PublishMsg(msg); err != nil { // only the reply to the last message matters
				return 0, nil, err
			}
			continue
		}
		last, err := j.sendOne(ctx, stream, msg)
		if err != nil {
			return 0, nil, err
		}
		first = last + 1 - uint64(len(bodies))
	}
	return first, bodies, nil
}

// message returns one of a draft's messages.
func (d *draft) message(subject string, part, of int, body []byte) (*nats.Msg, error) {
	m := d.meta
	m.Part, m.Of = part, of
	about, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	msg := &nats.Msg{Subject: subject, Header: nats.Header{aboutHeader: {string(about)}}, Data: body}
	if of > 1 {
		msg.Header.Set("Nats-Batch-Id", d.ID)
		msg.Header.Set("Nats-Batch-Sequence", strconv.Itoa(part))
		if part == of {
			msg.Header.Set("Nats-Batch-Commit", "1")
		}
	}
	return msg, nil
}

// sendOne publishes a message and returns its number. A message in the middle of a batch has no
// number yet, so sendOne returns 0 for it.
func (j *Journal) sendOne(ctx context.Context, stream string, msg *nats.Msg) (uint64, error) {
	if err := j.hinder(false); err != nil {
		return 0, err
	}
	r, err := j.nc.RequestMsgWithContext(ctx, msg)
	if err := cmp.Or(err, j.hinder(true)); err != nil {
		return 0, err
	}
	if len(r.Data) == 0 {
		return 0, nil
	}
	var ack struct {
		Error  *jetstream.APIError `json:"error"`
		Stream string              `json:"stream"`
		Seq    uint64              `json:"seq"`
	}
	if err := json.Unmarshal(r.Data, &ack); err != nil {
		return 0, err
	}
	switch {
	case ack.Error != nil:
		return 0, ack.Error
	case ack.Stream != stream || ack.Seq == 0:
		return 0, fmt.Errorf("got an acknowledgment from stream %s, want one from %s", ack.Stream, stream)
	}
	return ack.Seq, nil
}
