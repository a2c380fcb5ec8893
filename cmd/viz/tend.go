package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// tended is a database from which old data is deleted once a day.
type tended struct {
	db   *store.DB
	stop context.CancelFunc
	done chan struct{}
}

// tend deletes what is too old, now and once a day, until the result is closed.
// Nobody waits for it.
func tend(db *store.DB, learners *progress.Store, log *slog.Logger) io.Closer {
	ctx, stop := context.WithCancel(context.Background())
	t := &tended{db, stop, make(chan struct{})}
	go func() {
		defer close(t.done)
		tick := time.NewTicker(day)
		defer tick.Stop()
		for {
			err := fault.Do(log, "deleting old data", func() error {
				gone, err := learners.Expire(ctx)
				if gone > 0 {
					log.Info("Data of learners who have been away for a long time was deleted.", "learners", gone)
				}
				return errors.Join(err, db.Expire(ctx, time.Now()))
			})
			if err != nil && ctx.Err() == nil {
				log.Error("old data could not be deleted", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return t
}

// Close stops deleting, and closes the database.
func (t *tended) Close() error {
	t.stop()
	<-t.done
	return t.db.Close()
}

// The bounds of -data-limit.
const (
	defaultDataLimit = 2 << 30
	leastDataLimit   = 16 << 20
	mostDataLimit    = 1 << 40
)

// parseLimit reads the size of -data-limit; none is 0.
func parseLimit(s string) (int64, error) {
	if s == "none" {
		return 0, nil
	}
	n, ok := terms.ReadBytes(s)
	if !ok || n < leastDataLimit || n > mostDataLimit {
		return 0, errors.New("it must be 16MiB to 1TiB, such as 500MiB or 2GiB, or none")
	}
	return n, nil
}
