package class

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// begin makes this server the owner of the room. It first appends the epoch record, after
// which the previous owner cannot append anything, and then reads the log, which therefore
// contains everything that the previous owner appended.
func (f *relay) begin(ctx context.Context, lease Lease, used time.Time) (*Room, error) {
	h, log := f.hub, journal.Owner{Kind: journal.Room, Name: f.room.code}
	if used.IsZero() {
		used = h.cfg.Now()
	}
	if d := h.damagedHere(log.Name); d != nil { // the room failed on this server too often
		return nil, d.err()
	}
	before, err := journal.Load(ctx, h.cfg.Logs, log, folding)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, (&damagedRoom{}).err()
	case err != nil:
		return nil, err
	case before.Seq == 0:
		return nil, f.missing(ctx)
	}
	epoch := before.State.Epoch + 1
	first := newEntry(EpochType, strconv.FormatUint(epoch, 10), EpochType, epochRecord{epoch})
	batch := journal.Batch{Owner: log, At: used, Records: []journal.Record{first.Record}}
	if _, err := h.cfg.Cluster.Fence.AppendAs(ctx, batch, epoch); errors.Is(err, store.ErrFull) {
		return nil, notKept(err)
	} else if err != nil {
		return nil, err
	}
	var c *core
	if err := fault.Do(h.cfg.Log, "reading a room", func() (err error) {
		c, err = restoreRoom(ctx, &h.cfg, journal.Info{Owner: log, Used: used}, f.room.secret[:])
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
	c.relay = f
	// The view's number is saved immediately, since the next owner's views must have higher
	// numbers.
	if err := c.keep([]entry{c.entry(typeSeq, typeSeq, seqRecord{c.seq})}); err != nil {
		return nil, err
	}
	c.keptSeq = c.seq
	return f.start(c, lease)
}

// start starts a room that this server owns.
func (f *relay) start(c *core, lease Lease) (*Room, error) {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, ErrGone
	}
	r := h.begin(c)
	h.rooms[r.code], h.relays[r.code] = r, f
	f.mu.Lock()
	f.here, f.lease = r, lease
	f.mu.Unlock()
	h.wg.Go(func() { f.watch(r, lease) })
	h.cfg.Broker.Publish(r.code, Note{r.View().Seq})
	return r, nil
}

// watch stops a room when its lease is lost, and releases the lease when the room has
// ended.
func (f *relay) watch(r *Room, lease Lease) {
	h := f.hub
	beat := time.NewTicker(h.cfg.Cluster.Paces.Beat)
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
			_ = r.ask(r.ctx, func(c *core) error { c.dropSilent(); return nil }) // the room may be gone
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
func (r *Room) leave() {
	r.lost.Store(true)
	r.stop()
}

// whyMoved returns err, or errMoved if this server no longer owns the room or is about to
// lose it.
func (r *Room) whyMoved(err error) error {
	ends := r.lost.Load() || r.hub.ctx.Err() != nil
	if errors.Is(err, errMoved) || ends && (errors.Is(err, ErrGone) || errors.Is(err, ErrKept)) {
		return errMoved
	}
	return err
}

// append appends to the room's log. In a cluster, if it is unknown whether the batch was
// stored, this server stops running the room, and the next owner reads the log.
func (c *core) append(b journal.Batch) ([]int64, error) {
	if c.relay == nil {
		return c.cfg.Logs.Append(context.Background(), b)
	}
	if c.left() {
		return nil, errMoved
	}
	within, cancel := context.WithTimeout(context.Background(), c.cfg.Cluster.Paces.Call)
	defer cancel()
	seqs, err := c.cfg.Cluster.Fence.AppendAs(within, b, c.epoch)
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

// left reports whether this server no longer owns the room.
func (c *core) left() bool { return c.room != nil && c.room.lost.Load() }

// report lists the pages of a room that a server has open. A report of thousands of pages
// is sent in parts, none of which is longer than [MaxRequest].
type report struct {
	Server      string
	N           uint64 // grows with each report from the server
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

// from returns the pages of a server and notes that it is still reporting.
func (c *core) from(server string) *serverPages {
	s := c.servers[server]
	if s == nil {
		if c.servers == nil {
			c.servers = map[string]*serverPages{}
		}
		s = &serverPages{pages: map[string]int{}, presenters: map[string]int{}}
		c.servers[server] = s
	}
	s.at = time.Now()
	return s
}

// setPages records a server's report. If the report lists any pages, the run is opened.
func (r *Room) setPages(ctx context.Context, a report) (placed, error) {
	watched := len(a.Pages)+len(a.Presenters) > 0
	err := r.ask(ctx, func(c *core) error {
		if c.from(a.Server).take(a) {
			c.recount()
		}
		return nil
	})
	if err == nil && watched {
		err = r.wake(ctx)
	}
	v := r.View()
	return placed{v.epoch, v.Seq}, err
}

// dropSilent drops the pages of servers that have stopped reporting.
func (c *core) dropSilent() {
	before := len(c.servers)
	maps.DeleteFunc(c.servers, func(_ string, s *serverPages) bool {
		return time.Since(s.at) > c.cfg.Cluster.Paces.Gone
	})
	if len(c.servers) < before {
		c.recount()
	}
}

// recount adds up the pages of all servers.
func (c *core) recount() {
	present, here, leading := c.present(), c.here, c.presenterPages[c.presenter]
	for _, m := range c.members {
		m.pages = 0
	}
	c.here, c.presenterPages = 0, map[string]int{}
	for _, s := range c.servers {
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

// joinFrom is [Room.Join] for a page on any server. It saves the member before it returns,
// since the next owner must know them.
func (r *Room) joinFrom(ctx context.Context, a joining) (Member, error) {
	name, err := cleanNick(a.Nick)
	if err != nil {
		return Member{}, err
	}
	if err := r.wake(ctx); err != nil {
		return Member{}, err
	}
	return send(ctx, r, func(c *core, reply func(Member, error)) {
		m, err := c.join(a.Who)
		if err != nil {
			reply(m, err)
			return
		}
		c.from(a.Server).pages[a.Who.Learner]++
		c.rename(a.Who.Learner, name, reply)
	})
}

// presentFrom is [Room.OpenPresenter] for a page on any server.
func (r *Room) presentFrom(ctx context.Context, a presenting) error {
	if !a.Secret.fits(r.secret) {
		return ErrSecret
	}
	if err := r.wake(ctx); err != nil {
		return err
	}
	return r.ask(ctx, func(c *core) error {
		c.openPresenter(a.Who)
		c.from(a.Server).presenters[a.Who]++
		return nil
	})
}

type epochRecord struct {
	Epoch uint64 `json:"epoch"`
}

func (e epochRecord) check() bool { return e.Epoch >= 1 && e.Epoch <= mostChanges }
