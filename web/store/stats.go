package store

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/web/metrics"
)

// commitBounds are the bounds of the buckets of [DB.Commits]. A commit waits for the disk, which
// takes between a fraction of a millisecond and tens of milliseconds.
var commitBounds = []time.Duration{
	time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond,
	300 * time.Millisecond, time.Second, 3 * time.Second,
}

// stats counts calls to [DB.Write].
type stats struct {
	once    sync.Once
	commits *metrics.Histogram
	failed  atomic.Int64
}

func (s *stats) histogram() *metrics.Histogram {
	s.once.Do(func() { s.commits = metrics.NewHistogram(commitBounds...) })
	return s.commits
}

func (s *stats) note(took time.Duration, err error) {
	if err != nil {
		s.failed.Add(1)
		return
	}
	s.histogram().Observe(took)
}

// Commits returns a histogram of the durations of successful calls to [DB.Write]. A duration begins
// with the call, which may have to wait for its turn, and ends when the change is confirmed to be
// on disk.
func (db *DB) Commits() *metrics.Histogram { return db.stats.histogram() }

// FailedCommits returns the number of failed calls to [DB.Write].
func (db *DB) FailedCommits() int64 { return db.stats.failed.Load() }

// Size returns the size of the database and its write-ahead log on disk; 0 in memory.
func (db *DB) Size() (bytes int64) {
	if db.dir == "" {
		return 0
	}
	for _, name := range []string{fileName, fileName + "-wal"} {
		if info, err := os.Stat(filepath.Join(db.dir, name)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
