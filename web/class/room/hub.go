package room

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/store"
)

// Hub manages all rooms of a server. Its methods can be called from any goroutine.
type Hub struct {
	cfg    Config
	ctx    context.Context // ends with the hub
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	rooms   map[string]*Local   // by code: the rooms that this server runs
	damaged map[string]*Damaged // by code; none of them are in rooms

	dir Directory
}

func newHub(cfg Config) *Hub {
	h := &Hub{cfg: cfg.withDefaults(), rooms: map[string]*Local{}, damaged: map[string]*Damaged{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// NewShared returns a hub that shares its rooms with other servers. The function connect returns the
// directory of the rooms.
func NewShared(cfg Config, connect func(*Hub) (Directory, error)) (*Hub, error) {
	h := newHub(cfg)
	var err error
	if h.dir, err = connect(h); err != nil {
		h.cancel()
		return nil, err
	}
	h.wg.Go(h.sweepOften)
	return h, nil
}

// NewHub returns a hub with the saved rooms. Their runs are opened when someone joins. Rooms that
// nobody has used for [Limits.TTL] are deleted at startup and periodically after that.
func NewHub(ctx context.Context, cfg Config) (*Hub, error) {
	h := newHub(cfg)
	h.dir = single{h}
	kept, err := restore(ctx, &h.cfg)
	if err != nil {
		h.cancel()
		return nil, err
	}
	h.damaged = kept.damaged
	for _, c := range kept.rooms {
		err := fault.Do(h.cfg.Log, "beginning a room", func() error {
			c.host = single{h}
			h.rooms[c.code] = h.begin(c)
			return nil
		})
		if err != nil {
			h.damaged[c.code] = &Damaged{Hash: c.secret[:], Used: c.used}
		}
	}
	h.Sweep(ctx)
	h.wg.Go(h.sweepOften)
	return h, nil
}

// Broker returns the broker that announces the hub's views.
func (h *Hub) Broker() class.Broker { return h.cfg.Broker }

// TTL returns how long an unused room is kept.
func (h *Hub) TTL() time.Duration { return h.cfg.Limits.TTL }

// Config returns the hub's configuration, with its defaults.
func (h *Hub) Config() *Config { return &h.cfg }

// begin starts the goroutine of a room.
func (h *Hub) begin(c *core) *Local {
	r := &Local{
		Face: NewFace(c.code, c.secret), hub: h,
		requests: make(chan func(*core)), woken: make(chan struct{}, 1), runLock: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	r.ctx, r.stop = context.WithCancel(h.ctx)
	c.room = r
	c.show()
	h.wg.Go(func() { h.run(r, c) })
	return r
}

// Create creates a room and its run. The given caller is the first presenter. Only Create returns
// the secret: the hub stores just its hash.
func (h *Hub) Create(ctx context.Context, who admission.Caller, o class.Options) (class.Room, class.Secret, error) {
	title, err := class.CleanTitle(o.Title)
	if err != nil {
		return nil, class.Secret{}, err
	}
	if o.Walk != "" && h.cfg.Course.Walk(o.Walk) == nil {
		return nil, class.Secret{}, terms.Refuse(class.CodeWalk, "class.refused.no_such_walk", "name",
			strconv.Quote(o.Walk))
	}
	if h.cfg.NewRooms.Allow(who) > 0 {
		return nil, class.Secret{}, terms.Refuse(terms.CodeBusy, "class.refused.rooms_fast")
	}
	if h.cfg.Space(ctx) >= store.SpaceForKnown {
		return nil, class.Secret{}, records.NotKept(store.ErrScarce)
	}
	most := h.mostRooms(who)
	h.makeSpace(ctx, most)
	return h.create(ctx, who, o, title, most)
}

// create is [Hub.Create] after the limits have been checked.
func (h *Hub) create(
	ctx context.Context, who admission.Caller, o class.Options, title string, most int,
) (class.Room, class.Secret, error) {
	secret := class.NewSecret()
	c := &core{cfg: &h.cfg, secret: secret.Hash(), begun: h.cfg.Now(), used: h.cfg.Now()}
	c.data = records.Data{
		Title: title, Language: terms.In(ctx).Tag, Walk: o.Walk,
		Nicknames: o.Nicknames, NamesFall: o.Nicknames && o.NamesFall, Alone: o.Alone,
		Seed: newSeed(),
	}
	c.presenter = who.Learner
	c.empty()
	r, err := h.dir.Open(ctx, &Unstarted{c}, most)
	if err != nil {
		return nil, class.Secret{}, err
	}
	if err := c.room.Wake(ctx); err != nil {
		// The caller does not get the secret, so nobody could use the room.
		return nil, class.Secret{}, errors.Join(err, c.room.RemoveAll(ctx))
	}
	return r, secret, r.Ready(ctx)
}

// choose gives a new room a code that is not used by any room known to this server. It returns an
// error if there are too many rooms. The caller holds the hub's lock.
func (h *Hub) choose(c *core, most int) error {
	if h.ctx.Err() != nil {
		return class.ErrGone
	}
	if len(h.rooms) >= most {
		return terms.Refuse(terms.CodeFull, "class.refused.rooms", "n", len(h.rooms))
	}
	for c.code = class.NewCode(); h.rooms[c.code] != nil || h.damaged[c.code] != nil; c.code = class.NewCode() {
	}
	return nil
}

// unusedAfter is how long a full server keeps a room that has had no activity.
const unusedAfter = 10 * time.Minute

// mostRooms returns the maximum number of rooms on the server, including the one that the caller is
// about to create.
func (h *Hub) mostRooms(who admission.Caller) int {
	l := h.cfg.Limits.Rooms
	if l.Newcomers > 0 && !who.Known(h.cfg.Now()) {
		return min(l.Newcomers, l.Most)
	}
	return l.Most
}

// makeSpace deletes the oldest unused room if the number of rooms has reached most.
func (h *Hub) makeSpace(ctx context.Context, most int) {
	all := h.all()
	if len(all) < most {
		return
	}
	var oldest *Local
	var begun time.Time
	for _, r := range all {
		since, err := get(ctx, r, func(c *core) (time.Time, error) {
			if c.unused() && h.cfg.Now().Sub(c.used) > unusedAfter {
				return c.begun, nil
			}
			return time.Time{}, nil
		})
		if err == nil && !since.IsZero() && (oldest == nil || since.Before(begun)) {
			oldest, begun = r, since
		}
	}
	if oldest == nil {
		return
	}
	if err := oldest.RemoveAll(ctx); err != nil {
		h.cfg.Log.Error("an unused room could not be deleted", "error", err)
	}
}

// unused reports whether the room has had no activity and nobody is in it.
func (c *core) unused() bool {
	return len(c.members) == 0 && len(c.polls) == 0 && len(c.texts) == 0 && c.link == "" && !c.linkDue &&
		len(c.presenterPages) == 0 && c.here == 0
}

// mayTry reports whether a caller may try a code, either because they have not tried a wrong code
// recently or because they have budget left. A caller therefore cannot lock out others at the same
// address.
func (h *Hub) mayTry(c admission.Caller) bool {
	return h.cfg.WrongCodes.Wait(c) == 0 || !h.cfg.WrongCodes.Spent(c)
}

// Enter returns the room with the given code for a follower. Wrong codes are counted. A learner who
// is already a member needs no budget and may enter even if the room is locked or full.
//
// Errors: [class.ErrNoRoom], [class.ErrExpired], [class.ErrFull], [class.ErrLocked],
// [class.ErrRemoved], [class.ErrTries], and [class.CodeDamaged].
func (h *Hub) Enter(ctx context.Context, code string, who admission.Caller) (class.Room, error) {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return nil, err
	}
	var a Entered
	if r != nil {
		if a, err = r.Entering(ctx, who); err != nil {
			return nil, err
		}
	}
	if !a.Known {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		if r == nil {
			if d, err := h.dir.FindDamaged(ctx, code); err != nil {
				return nil, err
			} else if d != nil {
				return nil, d.Err()
			}
			h.cfg.WrongCodes.Spend(who)
			return nil, class.ErrNoRoom
		}
	}
	if a.Refused != nil {
		return nil, a.Refused.Decode()
	}
	return r, r.Ready(ctx)
}

// Fits reports whether a secret belongs to a room. Since it does not count wrong tries, use
// it only to choose among the secrets in one request.
func (h *Hub) Fits(code string, secret class.Secret) bool {
	r, err := h.dir.Lookup(h.ctx, code)
	return err == nil && r != nil && r.Fits(secret)
}

// Instruct returns the room with the given code for its instructor. A wrong secret counts like a
// wrong code, and the error does not reveal whether there is such a room.
func (h *Hub) Instruct(
	ctx context.Context, code string, secret class.Secret, who admission.Caller,
) (class.Room, error) {
	r, err := h.dir.Lookup(ctx, code)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Fits(secret) {
		if !h.mayTry(who) {
			return nil, class.ErrTries
		}
		if d, err := h.dir.FindDamaged(ctx, code); err != nil {
			return nil, err
		} else if d != nil && d.mayKnow(secret) {
			return nil, d.Err()
		}
		h.cfg.WrongCodes.Spend(who)
		return nil, class.ErrSecret
	}
	return r, r.Ready(ctx)
}

func (h *Hub) find(code string) *Local {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[class.NormalCode(code)]
}

func (h *Hub) all() []*Local {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*Local, 0, len(h.rooms))
	for _, r := range h.rooms {
		list = append(list, r)
	}
	return list
}

// Forget removes from all rooms a learner who has deleted their data: their name is erased, and
// their votes become anonymous. Someone whom an instructor has removed stays removed. If the
// learner still has a page open, the page joins again as a new member.
func (h *Hub) Forget(ctx context.Context, learner string) error {
	ctx = context.WithoutCancel(ctx) // must not stop halfway
	var errs []error
	for _, r := range h.all() {
		if err := r.Forget(ctx, learner); err != nil && !errors.Is(err, class.ErrGone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, h.dir.ForgetOthers(ctx, learner))...)
}

// Save saves the unsaved changes of all rooms. A slow room does not delay others. The error reports
// how many rooms could not be saved.
func (h *Hub) Save(ctx context.Context) error {
	var saving sync.WaitGroup
	var failed atomic.Int64
	for _, r := range h.all() {
		saving.Go(func() {
			if err := r.ask(ctx, func(c *core) error { return c.commit() }); err != nil &&
				!errors.Is(err, class.ErrGone) {
				failed.Add(1)
			}
		})
	}
	saving.Wait()
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%s could not be saved", terms.Counted(int(n), "room"))
	}
	return nil
}

// Close saves all unsaved changes and ends all rooms and their runs.
func (h *Hub) Close(ctx context.Context) error {
	err := h.Save(ctx)
	h.mu.Lock() // a room that is being created is started before this point or not at all
	h.cancel()
	h.mu.Unlock()
	defer h.dir.StopServing()
	ended := make(chan struct{})
	go func() {
		h.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// Async calls each function in list in its own goroutine; [Hub.Close] waits for them. If the
// hub is closed, async calls none of them and returns false. The caller must not hold the
// hub's lock.
func (h *Hub) Async(list ...func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	for _, f := range list {
		h.wg.Go(f)
	}
	return true
}

// Context returns the context that ends with the hub.
func (h *Hub) Context() context.Context { return h.ctx }
