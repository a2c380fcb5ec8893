package room

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// create saves a new room whose log begins with the given records.
func (c *core) create(first ...records.Entry) error {
	begun, data := c.book.Entry(records.TypeBegun, records.TypeBegun, records.Begun{At: c.begun}),
		c.book.Entry(records.TypeData, records.TypeData, c.data)
	return c.keep(append(first, begun, data))
}

// restored is the result of [restore].
type restored struct {
	rooms   []*core
	damaged map[string]*Damaged // by code
}

// Damaged is a room that could not be read.
type Damaged struct {
	Hash     []byte    // hash of the instructor's secret; nil if it is lost too
	SetAside time.Time // when it was set aside; zero if its log is unchanged but could not be read
	Used     time.Time // when the room was last used; decides when it expires
}

// restore reads all rooms independently of each other. A room that cannot be read is set
// aside.
func restore(ctx context.Context, cfg *Config) (all restored, err error) {
	secrets, err := cfg.Secrets.Secrets(ctx)
	if err != nil {
		return all, err
	}
	logs, err := cfg.Logs.Owners(ctx, journal.Room)
	if err != nil {
		return all, err
	}
	all.rooms = make([]*core, len(logs))
	unread := make([]*Damaged, len(logs))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, log := range logs {
		hash := secrets[log.Name]
		group.Go(func() error {
			var c *core
			err := fault.Do(cfg.Log, "reading a room", func() (err error) {
				c, err = restoreRoom(reading, cfg, log, hash)
				return err
			})
			if err != nil && reading.Err() == nil {
				cfg.Log.Error("a room could not be read and was left unchanged", "error", err)
				unread[i] = &Damaged{Hash: hash, Used: log.Used}
				if !records.ValidTime(log.Used) || log.Used.After(cfg.Now()) {
					unread[i].Used = cfg.Now()
				}
				return nil
			}
			all.rooms[i] = c
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return all, err
	}
	all.rooms = slices.DeleteFunc(all.rooms, func(c *core) bool { return c == nil })
	for _, c := range all.rooms {
		delete(secrets, c.code)
	}
	if all.damaged, err = findDamaged(ctx, cfg, secrets); err != nil {
		return all, err
	}
	for _, c := range all.rooms { // only some of these rooms' records were set aside
		delete(all.damaged, c.code)
	}
	for i, d := range unread {
		if d != nil {
			all.damaged[logs[i].Name] = d
		}
	}
	for room := range secrets { // left by rooms whose creation or deletion was interrupted
		if all.damaged[room] == nil {
			if err := cfg.Secrets.DropSecret(ctx, room); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// restoreRoom reads a room, and sets aside its unreadable records. If the whole room is
// unreadable, restoreRoom sets all of it aside and returns nil.
func restoreRoom(ctx context.Context, cfg *Config, log journal.Info, hash []byte) (c *core, err error) {
	f, err := journal.Load(ctx, cfg.Logs, log.Owner, records.Folding)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, setAside(ctx, cfg, log.Owner, "its log cannot be read")
	case err != nil:
		return nil, fmt.Errorf("a room: %w", err)
	case len(hash) != sha256.Size:
		return nil, setAside(ctx, cfg, log.Owner, "its secret is damaged or missing")
	case f.Seq == 0:
		return nil, setAside(ctx, cfg, log.Owner, "its log is empty")
	}
	if n := len(f.Unreadable); n > 0 {
		cfg.Log.Error("unreadable records of a room were set aside", "records", n)
		if err := cfg.Logs.SetAside(ctx, log.Owner, cfg.Now(), f.Unreadable...); err != nil {
			return nil, err
		}
	}
	if f.State.Begun.IsZero() {
		f.State.Begun = log.Used
	}
	f.State.Data.Title = cmp.Or(f.State.Data.Title, class.Untitled)
	used := log.Used
	if used.Before(f.State.Begun.Add(-clocksDiffer)) || used.After(cfg.Now().Add(clocksDiffer)) {
		used = cfg.Now() // otherwise, the room might be deleted as expired
	}
	c = &core{cfg: cfg, code: log.Name, secret: [sha256.Size]byte(hash), used: used}
	c.keptUsed = log.Used
	c.empty()
	if c.loss, err = lossOf(ctx, cfg, log.Owner); err != nil {
		return nil, err
	}
	c.become(f.State)
	c.place, c.since, c.owed = f.Seq, f.Since, c.book.OwesErasure() // an erasure may have been interrupted
	return c, nil
}

// clocksDiffer is how far a room's last use can plausibly be in the future or before its creation.
const clocksDiffer = 7 * 24 * time.Hour

// setAside sets a whole room aside.
func setAside(ctx context.Context, cfg *Config, room journal.Owner, why string) error {
	cfg.Log.Error("a room could not be opened and was set aside: " + why)
	return cfg.Logs.SetAside(ctx, room, cfg.Now())
}

// lossDays is the number of days for which an instructor sees a notice about a room's lost data.
const lossDays = 7

// lossOf returns a notice about data that was recently set aside from a room, or nil if there was
// none.
func lossOf(ctx context.Context, cfg *Config, room journal.Owner) (*terms.Refusal, error) {
	list, err := cfg.Logs.Aside(ctx, room)
	n := 0
	for _, x := range list {
		if cfg.Now().Sub(x.Used) < lossDays*24*time.Hour {
			n += x.Records
		}
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return terms.Refuse(class.CodeDamaged, "class.notice.loss", "n", n), nil
}

// findDamaged returns the rooms that were set aside at this startup or earlier. A log whose name is
// lost might belong to any secret that has no room.
func findDamaged(ctx context.Context, cfg *Config, secrets map[string][]byte) (map[string]*Damaged, error) {
	damaged := map[string]*Damaged{}
	logs, err := cfg.Logs.Owners(ctx, store.SetAsideKind)
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		switch kind, name := store.SetAsideOf(log.Name); {
		case kind == journal.Room && class.IsCode(name):
			damaged[name] = &Damaged{secrets[name], log.Used, log.Used}
		case kind != journal.Room && kind != journal.Learner:
			for room, hash := range secrets {
				if damaged[room] == nil {
					damaged[room] = &Damaged{hash, log.Used, log.Used}
				}
			}
		}
	}
	return damaged, nil
}

// mayKnow reports whether a secret is the room's, or might be, because the hash of the room's
// secret is lost.
func (d *Damaged) mayKnow(secret class.Secret) bool {
	return len(d.Hash) != sha256.Size || secret.Fits([sha256.Size]byte(d.Hash))
}

// Err returns the refusal that describes the damage.
func (d *Damaged) Err() error {
	if d.SetAside.IsZero() {
		return terms.Refuse(class.CodeDamaged, "class.refused.unreadable")
	}
	return terms.Refuse(class.CodeDamaged, "class.refused.set_aside", "day", d.SetAside.UTC().Format("2 January 2006"))
}

// become restores a core from the state of its log.
func (c *core) become(k *records.State) {
	c.begun, c.data, c.link, c.texts, c.votes = k.Begun, k.Data, k.Link, k.Texts, k.Votes
	c.book, c.keptSeq, c.seq, c.epoch = k.Book, k.Seq, k.Seq+afterRestart, k.Epoch
	for i, is := range k.Members {
		m := &member{Member: class.Member{ID: i + 1}}
		if is == nil || is.Learner == "" { // the member was never saved, and the number stays unused
			m.Removed = true
		} else {
			m.Name, m.Learner, m.Nameless, m.Removed = is.Name, is.Learner, is.Nameless, is.Removed
			m.Work, m.voted = is.Work, is.Work != nil
			c.byLearner[m.Learner] = m
		}
		c.members = append(c.members, m)
	}
	for i, p := range k.Polls {
		if p == nil {
			p = &polls.Poll{ID: i + 1, Kind: class.Question, Phase: class.Revealed, Round: 1}
		}
		c.polls = append(c.polls, p)
	}
	for _, round := range c.votes {
		for id := range round {
			if id >= 1 && id <= len(c.members) {
				c.members[id-1].voted = true
			}
		}
	}
}

// roomState returns the state of the log. No changes may be pending.
func (c *core) roomState() *records.State {
	k := &records.State{
		Begun: c.begun, Data: c.data, Link: c.link, Seq: c.keptSeq, Texts: c.texts, Polls: c.polls,
		Votes: c.votes, Book: c.book, Epoch: c.epoch,
	}
	for _, m := range c.members {
		if m.Learner == "" {
			k.Members = append(k.Members, nil)
			continue
		}
		k.Members = append(k.Members, &records.Member{
			Learner: m.Learner, Name: m.Name, Nameless: m.Nameless,
			Removed: m.Removed, Work: m.Work,
		})
	}
	return k
}

// forgotten returns the id that replaces the learner id of a member who has deleted their data.
func forgotten(id int) string { return "forgotten " + strconv.Itoa(id) }
