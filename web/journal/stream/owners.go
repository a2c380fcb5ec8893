package stream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// listed is the number of messages requested at a time when logs are listed.
const listed = 512

// Owners implements [journal.Journal]. It reads the header of each log's last message.
func (j *Journal) Owners(ctx context.Context, kind string) (list []journal.Info, err error) {
	if kind == store.SetAsideKind {
		return j.ownersAside(ctx)
	}
	err = j.eachLast(ctx, encodeName(kind), func(o journal.Owner, x message) error {
		if x.Exists {
			list = append(list, journal.Info{
				Owner: o, Used: time.UnixMilli(x.Used).UTC(), Records: x.Records, Bytes: x.Bytes,
			})
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b journal.Info) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// eachLast calls f for the last message, without its body, of each log of a kind. The kind
// is encoded as in subjects; * means all kinds.
func (j *Journal) eachLast(ctx context.Context, kind string, f func(journal.Owner, message) error) error {
	for n := range Streams {
		var last map[journal.Owner]message
		begin, cancel := context.WithTimeout(ctx, j.cfg.Patience)
		err := j.trying(begin, func() error {
			last = map[journal.Owner]message{}
			if err := j.ensure(begin); err != nil {
				return err
			}
			return j.list(ctx, n, kind, func(o journal.Owner, x message) { last[o] = x })
		})
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return away(err)
		}
		for o, x := range last {
			if err := f(o, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// list calls f for the last message of each log in a stream. To do so, it creates a
// consumer, which is kept in the leader's memory and deleted when the list is complete.
func (j *Journal) list(ctx context.Context, n int, kind string, f func(journal.Owner, message)) error {
	begin, cancel := context.WithTimeout(ctx, j.cfg.Patience)
	defer cancel()
	c, err := j.js.OrderedConsumer(begin, j.streamName(n), jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{fmt.Sprintf("%s.%d.log.%s.*", j.cfg.Prefix, n, kind)},
		DeliverPolicy:  jetstream.DeliverLastPerSubjectPolicy,
		HeadersOnly:    true,
	})
	if err != nil {
		return err
	}
	i := c.CachedInfo()
	defer func() {
		away, cancel := context.WithTimeout(context.WithoutCancel(ctx), again)
		defer cancel()
		_ = j.js.DeleteConsumer(away, j.streamName(n), i.Name) // best effort: the consumer would expire anyway
	}()
	for left := int(i.NumPending); left > 0; {
		some, err := c.Fetch(min(left, listed), jetstream.FetchMaxWait(j.cfg.Patience))
		if err != nil {
			return err
		}
		got := 0
		for msg := range some.Messages() {
			got++
			left--
			if err := listedMessage(msg, f); err != nil {
				return err
			}
		}
		if err := cmp.Or(ctx.Err(), some.Error()); err != nil {
			return err
		}
		if got == 0 {
			return context.DeadlineExceeded
		}
	}
	return nil
}

func listedMessage(msg jetstream.Msg, f func(journal.Owner, message)) error {
	x, err := asMessage(1, msg.Headers(), nil)
	if err != nil || !x.sound {
		return err
	}
	parts := strings.Split(msg.Subject(), ".")
	if len(parts) < 2 {
		return nil
	}
	kind, err1 := decodeName(parts[len(parts)-2])
	name, err2 := decodeName(parts[len(parts)-1])
	if err1 == nil && err2 == nil {
		f(journal.Owner{Kind: kind, Name: name}, x)
	}
	return nil
}
