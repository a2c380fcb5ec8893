package room

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// begin makes this server the owner of the room. It first appends the epoch record, after
// which the previous owner cannot append anything, and then reads the log, which therefore
// contains everything that the previous owner appended.
func (f *relay) begin(ctx context.Context, lease Lease, used time.Time) (*local, error) {
	h, log := f.shared, journal.Owner{Kind: journal.Room, Name: f.code}
	if used.IsZero() {
		used = h.cfg.Now()
	}
	if d := h.damagedHere(log.Name); d != nil { // the room failed on this server too often
		return nil, d.err()
	}
	before, err := journal.Load(ctx, h.cfg.Logs, log, records.Folding)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, (&damagedRoom{}).err()
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
	var c *core
	if err := fault.Do(h.cfg.Log, "reading a room", func() (err error) {
		c, err = restoreRoom(ctx, &h.cfg, journal.Info{Owner: log, Used: used}, f.secret[:])
		return err
	}); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, (&damagedRoom{at: h.cfg.Now()}).err()
	}
	if c.epoch != epoch {
		return nil, ErrFenced
	}
	c.host = f
	// The view's number is saved immediately, since the next owner's views must have higher
	// numbers.
	if err := c.keep([]records.Entry{c.book.Entry(records.TypeSeq, records.TypeSeq,
		records.Seq{Seq: c.seq})}); err != nil {
		return nil, err
	}
	c.keptSeq = c.seq
	return f.start(c, lease)
}

// start starts a room that this server owns.
func (f *relay) start(c *core, lease Lease) (*local, error) {
	h := f.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, class.ErrGone
	}
	r := h.Hub.begin(c)
	h.rooms[r.code], h.relays[r.code] = r, f
	f.mu.Lock()
	f.here, f.lease = r, lease
	f.mu.Unlock()
	h.wg.Go(func() { f.watch(r, lease) })
	h.cfg.Broker.Publish(r.code, class.Note{Seq: r.View().Seq})
	return r, nil
}

// watch stops a room when its lease is lost, and releases the lease when the room has
// ended.
func (f *relay) watch(r *local, lease Lease) {
	h := f.shared
	beat := time.NewTicker(h.c.Paces.Beat)
	defer beat.Stop()
	for ended := false; !ended; {
		select {
		case <-lease.Lost:
			r.leave()
			<-r.done
			ended = true
		case <-r.done:
			ended = true
		case <-beat.C:
			r.dropSilent(h.c.Paces.Gone)
		}
	}
	h.mu.Lock()
	if h.rooms[r.code] == r {
		delete(h.rooms, r.code)
	}
	h.mu.Unlock()
	f.mu.Lock()
	if f.here == r {
		f.here, f.lease = nil, Lease{}
	}
	f.mu.Unlock()
	lease.Release()
	signal(f.changed) // watchers on this server need the next owner
}

// append implements [host]. If it is unknown whether the batch was stored, it returns errMoved, and
// the next owner reads the log.
func (f *relay) append(b journal.Batch, epoch uint64) ([]int64, error) {
	within, cancel := context.WithTimeout(context.Background(), f.shared.c.Paces.Call)
	defer cancel()
	seqs, err := f.shared.c.Fence.AppendAs(within, b, epoch)
	switch {
	case err == nil:
		return seqs, nil
	case errors.Is(err, store.ErrFull): // the batch was refused, and the log is unchanged
		return nil, err
	case !errors.Is(err, ErrFenced):
		f.hub.cfg.Log.Error("a class could not be saved and is reloaded", "error", err)
	}
	return nil, errMoved
}

// mayDelete implements [host]. Appending to the log fails if another server owns the room.
func (f *relay) mayDelete(try func() error) error { return try() }

// owned is a room that this server runs for pages on all servers.
type owned struct {
	*local
	relay *relay
}

// present is [class.Room.Present] for a presenter on any server. If the room moves during the call,
// it is unknown whether the command was executed.
func (o owned) present(ctx context.Context, a presenting) (placed, error) {
	if !o.fits(a.Secret) {
		return placed{}, class.ErrSecret
	}
	if a.Do.Command == nil {
		return placed{}, terms.Refuse(terms.CodeUnknown, "class.refused.no_command")
	}
	v, err := o.local.present(ctx, a.Who, a.Do.Command)
	if errors.Is(o.whyMoved(err), errMoved) {
		return placed{}, class.ErrUnsure
	}
	if err != nil {
		return placed{}, err
	}
	return placed{v.Epoch, v.Seq}, nil
}
