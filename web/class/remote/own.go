package remote

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// begin makes this server the owner of the room. It first appends the epoch record, after
// which the previous owner cannot append anything, and then reads the log, which therefore
// contains everything that the previous owner appended.
func (f *relay) begin(ctx context.Context, lease Lease, used time.Time) (*room.Local, error) {
	h, log := f.shared, journal.Owner{Kind: journal.Room, Name: f.Code()}
	if used.IsZero() {
		used = h.Config().Now()
	}
	if d := h.DamagedHere(log.Name); d != nil { // the room failed on this server too often
		return nil, d.Err()
	}
	before, err := journal.Load(ctx, h.Config().Logs, log, records.Folding)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, (&room.Damaged{}).Err()
	case err != nil:
		return nil, err
	case before.Seq == 0:
		return nil, f.missing(ctx)
	}
	epoch := before.State.Epoch + 1
	first := records.New(records.EpochType, strconv.FormatUint(epoch, 10), records.EpochType,
		records.Epoch{Epoch: epoch})
	batch := journal.Batch{Owner: log, At: used, Records: []journal.Record{first.Record}}
	if _, err := h.c.Fence.AppendAs(ctx, batch, epoch); errors.Is(err, store.ErrFull) {
		return nil, records.NotKept(err)
	} else if err != nil {
		return nil, err
	}
	u, err := h.RestoreOwned(ctx, journal.Info{Owner: log, Used: used}, f.Face, f, epoch)
	if err != nil {
		return nil, err
	}
	return f.start(u, lease)
}

// start starts a room that this server owns.
func (f *relay) start(u *room.Unstarted, lease Lease) (here *room.Local, err error) {
	h := f.shared
	err = h.Hub.Start(u, func(r *room.Local) (watch func()) {
		f.mu.Lock()
		f.here, f.lease = r, lease
		f.mu.Unlock()
		h.keep(f) // only now, since a sweep discards relays without a room
		h.Config().Broker.Publish(r.Code(), class.Note{Seq: r.View().Seq})
		here = r
		return func() { f.watch(r, lease) }
	})
	return here, err
}

// watch stops a room when its lease is lost, and releases the lease when the room has
// ended.
func (f *relay) watch(r *room.Local, lease Lease) {
	h := f.shared
	beat := time.NewTicker(h.c.Paces.Beat)
	defer beat.Stop()
	for ended := false; !ended; {
		select {
		case <-lease.Lost:
			r.Abandon()
			<-r.Done()
			ended = true
		case <-r.Done():
			ended = true
		case <-beat.C:
			r.DropSilent(h.c.Paces.Gone)
		}
	}
	h.Drop(r)
	f.mu.Lock()
	if f.here == r {
		f.here, f.lease = nil, Lease{}
	}
	f.mu.Unlock()
	lease.Release()
	signal(f.changed) // watchers on this server need the next owner
}

// Append implements [room.Host]. If it is unknown whether the batch was stored, it returns
// [room.ErrMoved], and the next owner reads the log.
func (f *relay) Append(b journal.Batch, epoch uint64) ([]int64, error) {
	within, cancel := context.WithTimeout(context.Background(), f.shared.c.Paces.Call)
	defer cancel()
	seqs, err := f.shared.c.Fence.AppendAs(within, b, epoch)
	switch {
	case err == nil:
		return seqs, nil
	case errors.Is(err, store.ErrFull): // the batch was refused, and the log is unchanged
		return nil, err
	case !errors.Is(err, ErrFenced):
		f.shared.Config().Log.Error("failed to save a class; reloading it", "error", err)
	}
	return nil, room.ErrMoved
}

// MayDelete implements [room.Host]. Appending to the log fails if another server owns the room.
func (f *relay) MayDelete(try func() error) error { return try() }

// Shown implements [room.Host]: it publishes a view of a room that this server owns.
func (f *relay) Shown(v *class.View) {
	f.mu.Lock()
	blank := f.blank(v, v.State != nil)
	f.mu.Unlock()
	if blank || !f.see(v) {
		return
	}
	text, err := encode(v)
	if err != nil || len(text) > MaxReply {
		f.shared.Config().Log.Error("failed to send a class's view to other servers", "error", err, "bytes",
			len(text))
		return
	}
	f.shared.c.Bus.Publish(f.Code(), text)
	if v.Gone {
		f.end()
	}
}
