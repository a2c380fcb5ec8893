package class

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/tokenbytoken/viz/web/journal"
)

// Secrets stores the hashes of instructors' secrets, outside the logs, by the code
// of the room.
type Secrets interface {
	KeepSecret(ctx context.Context, room string, hash []byte) error
	Secrets(ctx context.Context) (map[string][]byte, error)
	// DropSecret deletes a secret, from the disk as well.
	DropSecret(ctx context.Context, room string) error
}

// create saves a new room.
func (c *core) create(ctx context.Context) error {
	if err := c.cfg.Secrets.KeepSecret(ctx, c.code, c.secret[:]); err != nil {
		return err
	}
	return c.keep([]entry{c.entry(typeBegun, typeBegun, begunRecord{c.begun}), c.entry(typeData, typeData, c.data)})
}

// restore reads all rooms. One that cannot be read is left alone.
func restore(ctx context.Context, cfg *Config) (list []*core, err error) {
	secrets, err := cfg.Secrets.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	logs, err := cfg.Logs.Owners(ctx, journal.Room)
	if err != nil {
		return nil, err
	}
	list = make([]*core, len(logs))
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, log := range logs {
		hash := secrets[log.Name]
		delete(secrets, log.Name)
		if len(hash) != sha256.Size {
			cfg.Log.Error("a room cannot be opened: its secret is damaged or missing", "bytes", len(hash))
			continue
		}
		group.Go(func() (err error) {
			list[i], err = restoreRoom(reading, cfg, log, [sha256.Size]byte(hash))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for room := range secrets { // of rooms whose creation or deletion was interrupted
		if err := cfg.Secrets.DropSecret(ctx, room); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(c *core) bool { return c == nil }), nil
}

func restoreRoom(ctx context.Context, cfg *Config, log journal.Info, hash [sha256.Size]byte) (*core, error) {
	f, err := journal.Load(ctx, cfg.Logs, log.Owner, folding)
	if err != nil {
		return nil, fmt.Errorf("a room: %w", err)
	}
	c := &core{cfg: cfg, code: log.Name, secret: hash, used: log.Used, keptUsed: log.Used}
	c.empty()
	c.become(f.State)
	c.place, c.since, c.owed = f.Seq, f.Since, c.book.owes() // erasing may have been interrupted
	return c, nil
}

// become restores a core from the state of a log.
func (c *core) become(k *kept) {
	c.begun, c.data, c.link, c.texts, c.votes = k.Begun, k.Data, k.Link, k.Texts, k.Votes
	c.book, c.keptSeq, c.seq = k.Book, k.Seq, k.Seq+afterRestart
	for i, is := range k.Members {
		m := &member{Member: Member{ID: i + 1}}
		if is == nil || is.Learner == "" { // one who was never saved: the number stays unused
			m.Removed = true
		} else {
			m.Name, m.Learner, m.Nameless, m.Removed = is.Name, is.Learner, is.Nameless, is.Removed
			c.byLearner[m.Learner] = m
		}
		c.members = append(c.members, m)
	}
	for i, p := range k.Polls {
		if p == nil {
			p = &poll{ID: i + 1, Kind: Question, Phase: Revealed, Round: 1}
		}
		c.polls = append(c.polls, p)
	}
}

// kept returns the state of the log, when nothing is pending.
func (c *core) kept() *kept {
	k := &kept{
		Begun: c.begun, Data: c.data, Link: c.link, Seq: c.keptSeq, Texts: c.texts, Polls: c.polls,
		Votes: c.votes, Book: c.book,
	}
	for _, m := range c.members {
		if m.Learner == "" {
			k.Members = append(k.Members, nil)
			continue
		}
		k.Members = append(k.Members, &keptMember{m.Learner, m.Name, m.Nameless, m.Removed})
	}
	return k
}

// forgotten replaces the id of a member who has deleted their data.
func forgotten(id int) string { return "forgotten " + strconv.Itoa(id) }
