package progress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// earlier is the state of the learners whose data a version without logs has saved; see
// web/journal/testdata/README.md.
type earlier struct {
	Now      time.Time
	Learners map[string]struct {
		Map         Map
		Deck        Deck
		Calibration Calibration
		Export      string
	}
}

const version2 = "../journal/testdata/version2"

// oldFolder returns a folder with an old database, the database, and the state of its learners.
func oldFolder(t *testing.T) (dir string, database []byte, was earlier) {
	t.Helper()
	database, err := os.ReadFile(filepath.Join(version2, "viz.db"))
	must(t, err)
	text, err := os.ReadFile(filepath.Join(version2, "progress.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &was))
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "viz.db"), database, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cookie-secret"), []byte(strings.Repeat("7f", 32)), 0o600))
	return dir, database, was
}

// startOn opens a folder as a server does. It returns a store and a function that closes the
// folder.
func startOn(t *testing.T, dir string, now time.Time) (*Store, func()) {
	t.Helper()
	db, err := store.Open(dir, nil)
	must(t, err)
	logs := journal.For(db)
	must(t, Carry(ctx, db, logs))
	if n := db.Notices(); len(n) != 0 {
		t.Errorf("the start has the notices %v, want 0 elements", n)
	}
	return New(logs, db, course(), func() time.Time { return now }), func() { must(t, db.Close()) }
}

// sameAsBefore compares the learners' current state with their state before the migration.
func sameAsBefore(t *testing.T, s *Store, was earlier) {
	t.Helper()
	for who, want := range was.Learners {
		if got := mapOf(t, s, who); !reflect.DeepEqual(got, want.Map) {
			t.Errorf("the map of %s is\n%+v\nwant\n%+v", who, got, want.Map)
		}
		if got := deckOf(t, s, who); !reflect.DeepEqual(got, want.Deck) {
			t.Errorf("the cards of %s are\n%+v\nwant, as before,\n%+v", who, got, want.Deck)
		}
		if got := export(t, s, who); got != want.Export {
			t.Errorf("the export of %s is\n%s\nwant, as before,\n%s", who, got, want.Export)
		}
		got, err := s.Calibration(ctx, who)
		must(t, err)
		// The old version computed means from sums of floats. They are now computed from
		// sums of integers, so old and new means agree to twelve digits.
		near := func(a, b *float64) {
			if math.Abs(*a-*b) < 1e-12 {
				*a = *b
			}
		}
		near(&got.Stated, &want.Calibration.Stated)
		near(&got.Score, &want.Calibration.Score)
		for i := range got.Bins {
			near(&got.Bins[i].Stated, &want.Calibration.Bins[i].Stated)
		}
		if !reflect.DeepEqual(got, want.Calibration) {
			t.Errorf("the calibration of %s is\n%+v\nwant\n%+v", who, got, want.Calibration)
		}
	}
}

func oldCopies(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "viz-version2-*.db"))
	must(t, err)
	return list
}

// TestOldDatabaseIsMigrated: an old database without logs is migrated at the first start. All
// learners keep their data, even after a second start, and a dated copy of the file remains.
func TestOldDatabaseIsMigrated(t *testing.T) {
	dir, database, was := oldFolder(t)
	for range 2 {
		s, end := startOn(t, dir, was.Now)
		sameAsBefore(t, s, was)
		list := oldCopies(t, dir)
		if len(list) != 1 {
			t.Fatalf("the copies are %v, want 1 element", list)
		}
		if copied, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(copied, database) {
			t.Errorf("%s is not a copy of the old database: %v; want no error, copied = %q", list[0], err, database)
		}
		end()
	}
	if len(was.Learners["ada"].Map.Drills) == 0 || was.Learners["ada"].Calibration.N == 0 {
		t.Error("the old database contains too little to compare")
	}
	// After the migration, old entries are recognized by their ids.
	s, end := startOn(t, dir, was.Now.Add(time.Hour))
	defer end()
	must(t, s.Answer(ctx, "ada", Answer{ID: "a0", Item: "q-order", Kind: Quiz, Credit: 1}))
	if m := mapOf(t, s, "ada"); m.All != was.Learners["ada"].Map.All {
		t.Errorf("an answer that was sent again counts: the map is %+v, was %+v", m.All, was.Learners["ada"].Map.All)
	}
	if got, err := settingOf(s, "ada", "pace"); err != nil || got != "ganz schön schnell" {
		t.Errorf("a setting is %q, %v; want %q, <nil>", got, err, "ganz schön schnell")
	}
}

// A failing is a journal that accepts a given number of batches.
type failing struct {
	journal.Journal
	left atomic.Int64 // atomic, since several learners are migrated at a time
}

var errDisk = errors.New("the disk is full")

func (f *failing) Append(ctx context.Context, b journal.Batch) ([]int64, error) {
	if f.left.Add(-1) < 0 {
		return nil, errDisk
	}
	return f.Journal.Append(ctx, b)
}

// TestInterruptedMigrationIsCompleted: a migration that was interrupted at any point is completed
// at the next start, and there is still only one copy.
func TestInterruptedMigrationIsCompleted(t *testing.T) {
	for kept := range 3 {
		dir, _, was := oldFolder(t)
		db, err := store.Open(dir, nil)
		must(t, err)
		logs := &failing{Journal: journal.For(db)}
		logs.left.Store(int64(kept))
		if err := Carry(ctx, db, logs); !errors.Is(err, errDisk) {
			t.Fatalf("with space for %d batches, it ends with %v, want %v", kept, err, errDisk)
		}
		must(t, db.Close())
		s, end := startOn(t, dir, was.Now)
		sameAsBefore(t, s, was)
		if list := oldCopies(t, dir); len(list) != 1 {
			t.Errorf("the copies are %v, want 1 element", list)
		}
		end()
	}
}

// TestDeleteErasesTheOldCopy: data that a learner deletes is also deleted from the copy; other
// learners' data stays in it.
// Promise: Deleting your data also deletes it from the server's own copies of its database.
func TestDeleteErasesTheOldCopy(t *testing.T) {
	dir, _, was := oldFolder(t)
	s, end := startOn(t, dir, was.Now)
	defer end()
	holds := func(text string) bool {
		list := oldCopies(t, dir)
		if len(list) != 1 {
			t.Fatalf("the copies are %v, want 1 element", list)
		}
		data, err := os.ReadFile(list[0])
		must(t, err)
		if logs, err := filepath.Glob(list[0] + "-*"); err != nil || len(logs) != 0 {
			t.Errorf("besides the copy, there are %v, want no error, 0 elements", logs)
		}
		return strings.Contains(string(data), text)
	}
	if !holds("q-gone") || !holds("wörth") {
		t.Fatal("the copy does not contain the data to delete")
	}
	must(t, s.Delete(ctx, "dora"))
	if holds("q-gone") || holds("dora") || !holds("wörth") {
		t.Error("after a learner's deletion, the copy still contains their data, or has lost another learner's")
	}
	must(t, s.Delete(ctx, "ada"))
	if holds("wörth") {
		t.Error("the copy still contains the second learner's data")
	}
}
