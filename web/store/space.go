package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Space is a level that describes how much of a database's limit is used. Levels are named after
// what is still accepted.
type Space int

// Each level accepts less than the previous one; see [DB.Space]. SQLite itself enforces the limit.
const (
	SpaceForAll     Space = iota
	SpaceForSmall         // imports are refused
	SpaceForKnown         // new rooms and records from learners without a log are also refused
	SpaceForAnswers       // only answers, card reviews, and the activity of classes
)

// spaceFrom is the percentage of the limit at which each level begins.
var spaceFrom = [...]int64{SpaceForSmall: 50, SpaceForKnown: 75, SpaceForAnswers: 90}

// LearnerShare limits the space of each learner to 1/LearnerShare of the database's limit.
const LearnerShare = 64

// space is the limit of a database and its last known size.
type space struct {
	mu    sync.Mutex
	limit int64 // in bytes; 0 for no limit
	used  int64
	until time.Time // used is not measured again before this time
}

// measureEvery is how long a measured size is used before the size is measured again. The reserved
// space is much larger than the data that can be written in that time.
const measureEvery = time.Second

// SetLimit sets the maximum size of the database, in bytes. A database that is already
// larger does not grow. A database in memory has no limit.
func (db *DB) SetLimit(limit int64) error {
	if db.dir == "" {
		return nil
	}
	var size int64
	if err := db.write.QueryRow("PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	// PRAGMA does not accept parameters.
	if _, err := db.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", max(limit/size, 1))); err != nil {
		return err
	}
	db.space.mu.Lock()
	defer db.space.mu.Unlock()
	db.space.limit, db.space.until = limit, time.Time{}
	return nil
}

// Limit returns the limit in bytes, or 0 if there is none.
func (db *DB) Limit() int64 {
	db.space.mu.Lock()
	defer db.space.mu.Unlock()
	return db.space.limit
}

// Space returns the level of the database's remaining space.
func (db *DB) Space(ctx context.Context) Space {
	s := &db.space
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit == 0 {
		return SpaceForAll
	}
	if now := time.Now(); now.After(s.until) {
		var pages, free, size int64
		err := db.read.QueryRowContext(context.WithoutCancel(ctx), `SELECT page_count, freelist_count, page_size
			FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&pages, &free, &size)
		if err == nil { // otherwise, a write will fail and report the error
			s.used, s.until = (pages-free)*size, now.Add(measureEvery)
		}
	}
	has := SpaceForAll
	for level := SpaceForSmall; level <= SpaceForAnswers; level++ {
		if s.used >= s.limit/100*spaceFrom[level] {
			has = level
		}
	}
	return has
}
