package stream

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/journal"
)

// with calls f with exclusive access to the mirror of a log, and with a context that ends when the
// journal's patience does. f continues even if the caller disconnects, so that operations are not
// interrupted halfway.
func (j *Journal) with(ctx context.Context, o journal.Owner, f func(context.Context, *mirror) error) error {
	return j.withSize(ctx, o, 0, f)
}

// withSize is like with, but for an operation that sends the given number of bytes.
func (j *Journal) withSize(
	ctx context.Context, o journal.Owner, size int64, f func(context.Context, *mirror) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.cfg.Patience+onTheWay(size))
	defer cancel()
	m := j.acquire(o)
	defer j.release(m)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return away(err)
	}
	err := fault.Try(func() error { return f(ctx, m) })
	if err != nil {
		m.loaded = false
	}
	return away(err)
}

func (j *Journal) acquire(o journal.Owner) *mirror {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.mirrors[o]
	if e == nil {
		e = j.order.PushFront(j.newMirror(o))
		j.mirrors[o] = e
	}
	j.order.MoveToFront(e)
	m := e.Value.(*mirror)
	m.users++
	return m
}

// release ends a use of a mirror. If there are too many mirrors, it drops the least recently used
// ones.
func (j *Journal) release(m *mirror) {
	m.mu.Lock()
	size := m.weigh()
	m.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bytes += size - m.size
	m.size = size
	m.users--
	for e := j.order.Back(); e != nil && (j.order.Len() > mostMirrors || j.bytes > mirrorBytes); {
		old := e
		e = e.Prev()
		if x := old.Value.(*mirror); x.users == 0 {
			j.order.Remove(old)
			delete(j.mirrors, x.owner)
			j.bytes -= x.size
		}
	}
}

// Pause waits for d before a retry. It returns an error if ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Mirrors describes how many logs are in memory and how large they are.
type Mirrors struct {
	Logs  int
	Bytes int64
}

// Mirrors describes the logs that this server has in memory.
func (j *Journal) Mirrors() Mirrors {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Mirrors{j.order.Len(), j.bytes}
}
