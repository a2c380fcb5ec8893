package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// tended is a database that is copied regularly. Old data is deleted from it once a day.
type tended struct {
	db       *store.DB
	learners *progress.Store
	clock    func() time.Time
	log      *slog.Logger
	stop     context.CancelFunc
	done     chan struct{}

	mu     sync.Mutex
	ahead  time.Duration // how far the clock jumped
	jumped time.Time     // when the jump was noticed, by the monotonic clock
}

// copyCheck is the interval between calls of [store.DB.Copy]. lookEvery is the interval between
// checks of the clock. A clock jump of up to believeAfter is accepted immediately; a larger jump is
// accepted once it has lasted for that long.
const (
	copyCheck    = 10 * time.Second
	lookEvery    = time.Hour
	believeAfter = day
)

// tend copies the database and deletes old data in the background, immediately and then at regular
// intervals, until the result is closed.
func tend(db *store.DB, learners *progress.Store, clock func() time.Time, log *slog.Logger) *tended {
	t := &tended{db: db, learners: learners, clock: clock, log: log, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	t.look(ctx)
	go t.run(ctx)
	return t
}

func (t *tended) run(ctx context.Context) {
	defer close(t.done)
	tick := time.NewTicker(copyCheck)
	defer tick.Stop()
	for n := 0; ; n++ {
		if n > 0 && n%int(lookEvery/copyCheck) == 0 {
			t.look(ctx)
		}
		t.copy(ctx)
		if n%int(day/copyCheck) == 0 {
			t.expire(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// copy copies the database if a copy is due.
func (t *tended) copy(ctx context.Context) {
	err := fault.Do(t.log, "copying the database", func() error { return t.db.Copy(ctx, t.clock()) })
	if err != nil && ctx.Err() == nil {
		t.log.Warn("failed to copy the database", "error", err)
	}
}

// look records the time in the database and detects whether the clock has jumped since the last
// check. After a jump, the clock may be wrong: a machine whose clock battery is empty can start
// with the wrong year.
func (t *tended) look(ctx context.Context) {
	now := t.clock()
	last, err := t.db.Seen(ctx, now)
	if err != nil && store.Why(err) == "" && ctx.Err() == nil { // the database has already logged other errors
		t.log.Warn("failed to record the time in the database", "error", err)
	}
	if last.IsZero() || now.Sub(last) <= believeAfter {
		return
	}
	t.log.Warn("The clock is more than a day past the time when this server last used its data. If it is "+
		"correct, ignore this. Until the next start, but at most for a day, ages are calculated from the earlier time.",
		"last", last.UTC().Format(time.DateTime), "now", now.UTC().Format(time.DateTime))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ahead, t.jumped = now.Sub(last), time.Now()
}

// aged returns the time from which the age of data is calculated: the clock's time or, for a day
// after a jump, an earlier time.
func (t *tended) aged() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ahead > 0 && time.Since(t.jumped) < believeAfter {
		return t.clock().Add(-t.ahead)
	}
	return t.clock()
}

// expire deletes data that is too old.
func (t *tended) expire(ctx context.Context) {
	err := fault.Do(t.log, "deleting old data", func() error {
		now := t.aged()
		gone, err := t.learners.Expire(ctx, now)
		if gone > 0 {
			t.log.Info("deleted the data of long-inactive learners", "learners", gone)
		}
		return errors.Join(err, t.db.Expire(ctx, now))
	})
	if err != nil && ctx.Err() == nil {
		t.log.Error("failed to delete old data", "error", err)
	}
}

// Close stops the background work and closes the database.
func (t *tended) Close() error {
	t.stop()
	<-t.done
	t.look(context.Background())
	return t.db.Close()
}

// The bounds of -data-limit.
const (
	defaultDataLimit = 2 << 30
	leastDataLimit   = 16 << 20
	mostDataLimit    = 1 << 40
)

// parseLimit parses the size in -data-limit. It returns 0 for "none".
func parseLimit(s string) (int64, error) {
	if s == "none" {
		return 0, nil
	}
	n, ok := terms.ReadBytes(s)
	if !ok || n < leastDataLimit || n > mostDataLimit {
		return 0, errors.New("must be none or a size from 16MiB to 1TiB, such as 500MiB or 2GiB")
	}
	return n, nil
}
