package room

import (
	"context"
	"errors"
	"maps"
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
	f.servers = map[string]*serverPages{} // reports to this server as an earlier owner are out of date
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
			_ = r.ask(r.ctx, func(c *core) error { f.dropSilent(c); return nil }) // the room may be gone
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

// leave stops a room that this server no longer owns, so that the room does not confirm
// anything else.
func (r *local) leave() {
	r.lost.Store(true)
	r.stop()
}

// whyMoved returns err, or errMoved if this server no longer owns the room or is about to
// lose it.
func (r *local) whyMoved(err error) error {
	ends := r.lost.Load() || r.hub.ctx.Err() != nil
	if errors.Is(err, errMoved) || ends && (errors.Is(err, class.ErrGone) || errors.Is(err, class.ErrKept)) {
		return errMoved
	}
	return err
}

// append implements [host]. If it is unknown whether the batch was stored, this server stops running
// the room, and the next owner reads the log.
func (f *relay) append(c *core, b journal.Batch) ([]int64, error) {
	if c.left() {
		return nil, errMoved
	}
	within, cancel := context.WithTimeout(context.Background(), f.shared.c.Paces.Call)
	defer cancel()
	seqs, err := f.shared.c.Fence.AppendAs(within, b, c.epoch)
	if err == nil && !c.left() {
		return seqs, nil
	}
	if errors.Is(err, store.ErrFull) { // the batch was refused, and the log is unchanged
		return nil, err
	}
	if c.room != nil {
		c.room.leave()
	}
	if err != nil && !errors.Is(err, ErrFenced) {
		c.cfg.Log.Error("a class could not be saved and is reloaded", "error", err)
	}
	return nil, errMoved
}

// mayDelete implements [host]. It appends to the log, which fails if another server owns the room.
func (f *relay) mayDelete(c *core) error {
	return c.keep([]records.Entry{c.book.Entry(records.TypeSeq, records.TypeSeq, records.Seq{Seq: c.seq})})
}

// left reports whether this server no longer owns the room.
func (c *core) left() bool { return c.room != nil && c.room.lost.Load() }

// report lists the pages of a room that are open on a server. A report of thousands of pages is
// sent in parts of at most [MaxRequest] bytes each.
type report struct {
	Server      string
	N           uint64 // increases with each report from the server
	Part, Parts int    // the index of this part and the number of parts; both are 0 for a complete report
	Pages       map[string]int
	Presenters  map[string]int
}

// partPages is the average number of learners in a part of a large report.
const partPages = 2000

// split splits a report into its parts.
func (a report) split() []report {
	parts := max((len(a.Pages)+partPages-1)/partPages, 1)
	list := make([]report, parts)
	for i := range list {
		list[i] = report{Server: a.Server, N: a.N, Part: i, Parts: parts, Pages: map[string]int{}}
	}
	i := 0
	for learner, n := range a.Pages {
		list[i%parts].Pages[learner] = n
		i++
	}
	list[0].Presenters = a.Presenters
	return list
}

// serverPages holds the open pages of one server, as last reported.
type serverPages struct {
	n                 uint64
	at                time.Time
	pages, presenters map[string]int
	next              partial // a report that is not complete yet
}

// partial is an incomplete report.
type partial struct {
	n                 uint64
	got               map[int]bool
	pages, presenters map[string]int
}

// take adds a part of a report, and reports whether the report is complete.
func (s *serverPages) take(a report) bool {
	if a.N <= s.n || a.N < s.next.n {
		return false // a newer report exists
	}
	if a.N > s.next.n {
		s.next = partial{a.N, map[int]bool{}, map[string]int{}, map[string]int{}}
	}
	s.next.got[a.Part] = true
	maps.Copy(s.next.pages, a.Pages)
	maps.Copy(s.next.presenters, a.Presenters)
	if len(s.next.got) < a.Parts {
		return false
	}
	s.n, s.pages, s.presenters, s.next = a.N, s.next.pages, s.next.presenters, partial{}
	return true
}

// from returns a server's pages and records that the server is still reporting.
func (f *relay) from(server string) *serverPages {
	s := f.servers[server]
	if s == nil {
		s = &serverPages{pages: map[string]int{}, presenters: map[string]int{}}
		f.servers[server] = s
	}
	s.at = time.Now()
	return s
}

// dropSilent drops the pages of servers that have stopped reporting.
func (f *relay) dropSilent(c *core) {
	before := len(f.servers)
	maps.DeleteFunc(f.servers, func(_ string, s *serverPages) bool {
		return time.Since(s.at) > f.shared.c.Paces.Gone
	})
	if len(f.servers) < before {
		f.recount(c)
	}
}

// recount adds up the pages of all servers.
func (f *relay) recount(c *core) {
	present, here, leading := c.present(), c.here, c.presenterPages[c.presenter]
	for _, m := range c.members {
		m.pages = 0
	}
	c.here, c.presenterPages = 0, map[string]int{}
	for _, s := range f.servers {
		for learner, n := range s.pages {
			if m := c.byLearner[learner]; m != nil && n > 0 {
				m.pages += n
				c.here += n
			}
		}
		for who, n := range s.presenters {
			c.presenterPages[who] += max(n, 0)
		}
	}
	if c.presenterPages[c.presenter] == 0 {
		delete(c.presenterPages, c.presenter)
		c.presenter = ""
	}
	if present != c.present() || here != c.here || leading != c.presenterPages[c.presenter] {
		c.publishSoon(crowdEvery)
	}
}

// owned is a room that this server runs for pages on all servers.
type owned struct {
	*local
	relay *relay
}

// setPages records a server's report. If the report lists any pages, the run is opened.
func (o owned) setPages(ctx context.Context, a report) (placed, error) {
	watched := len(a.Pages)+len(a.Presenters) > 0
	err := o.ask(ctx, func(c *core) error {
		if o.relay.from(a.Server).take(a) {
			o.relay.recount(c)
		}
		return nil
	})
	if err == nil && watched {
		err = o.wake(ctx)
	}
	v := o.View()
	return placed{v.Epoch, v.Seq}, err
}

// join is [class.Room.Join] for a page on any server. It saves the member before it returns, since
// the next owner needs the record.
func (o owned) join(ctx context.Context, a joining) (class.Member, error) {
	name, err := class.CleanNick(a.Nick)
	if err != nil {
		return class.Member{}, err
	}
	if err := o.wake(ctx); err != nil {
		return class.Member{}, err
	}
	return send(ctx, o.local, func(c *core, reply func(class.Member, error)) {
		m, err := c.join(a.Who)
		if err != nil {
			reply(m, err)
			return
		}
		o.relay.from(a.Server).pages[a.Who.Learner]++
		c.rename(a.Who.Learner, name, func(m class.Member, err error) {
			if err != nil {
				reply(m, err)
				return
			}
			c.whenSaved(func(err error) { // another join may have renamed them by then
				if now := c.byLearner[a.Who.Learner]; now != nil {
					m = now.Member
				}
				reply(m, err)
			})
		})
	})
}

// openPresenter is [class.Room.OpenPresenter] for a page on any server.
func (o owned) openPresenter(ctx context.Context, a presenting) error {
	if !o.fits(a.Secret) {
		return class.ErrSecret
	}
	if err := o.wake(ctx); err != nil {
		return err
	}
	return o.ask(ctx, func(c *core) error {
		c.openPresenter(a.Who)
		o.relay.from(a.Server).presenters[a.Who]++
		return nil
	})
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
