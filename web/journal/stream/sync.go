package stream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/web/journal"
)

// sync reads the messages that were added to a log since the mirror's last one.
func (j *Journal) sync(ctx context.Context, m *mirror) error {
	return j.trying(ctx, func() error { return j.syncOnce(ctx, m) })
}

// trying calls f until it gets a reply or ctx ends.
func (j *Journal) trying(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || !errors.Is(away(err), journal.ErrAway) || Pause(ctx, again) != nil {
			return err
		}
	}
}

// rereads is how often a log with a gap is reread. A gap occurs if messages are deleted while the
// log is being read. If it remains, it is accepted, and the other messages are used.
const rereads = 3

func (j *Journal) syncOnce(ctx context.Context, m *mirror) error {
	if err := j.ensure(ctx); err != nil {
		return err
	}
	for n := 0; ; n++ {
		newest, found, err := j.lead(ctx, m.stream, m.log, 0)
		if err != nil {
			return j.checkStreams(ctx, err)
		}
		if !found {
			m.clear()
			m.loaded = true
			return nil
		}
		if !m.loaded || newest.seq < m.last {
			m.clear()
		}
		m.loaded = false
		if err := j.readTo(ctx, m, newest); err != nil {
			return err
		}
		if !m.lost || n == rereads {
			m.lost, m.loaded = false, true
			return nil
		}
		if err := Pause(ctx, time.Duration(n)*again); err != nil {
			return err
		}
	}
}

// checkStreams makes the next operation check the streams again if one of them is missing.
func (j *Journal) checkStreams(ctx context.Context, err error) error {
	api := (*jetstream.APIError)(nil)
	if !errors.As(err, &api) || api.ErrorCode != jetstream.JSErrCodeStreamNotFound {
		return err
	}
	select {
	case <-j.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	j.there = false
	j.ready <- struct{}{}
	return errors.Join(err, journal.ErrAway)
}

// readTo applies the messages after the mirror's last one, up to the newest.
func (j *Journal) readTo(ctx context.Context, m *mirror, newest message) error {
	if newest.seq == m.last {
		return nil
	}
	if newest.sound && newest.Of == 1 && newest.Prev == m.last {
		m.apply(newest)
		return nil
	}
	if _, err := j.fetch(ctx, m.stream, m.log, m.last+1, m.apply); err != nil {
		return err
	}
	// The replica that replied might lag behind.
	for m.last < newest.seq {
		x, found, err := j.lead(ctx, m.stream, m.log, m.last+1)
		if err != nil {
			return err
		}
		if !found { // the message was deleted in the meantime
			m.lost = true
			return nil
		}
		m.apply(x)
	}
	return nil
}
