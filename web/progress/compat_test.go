package progress

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// earlier is the state of the learners whose data was saved by an earlier version of this program;
// see web/journal/testdata/README.md.
type earlier struct {
	Now      time.Time
	Learners map[string]struct {
		Map         Map
		Deck        Deck
		Calibration Calibration
		Export      string
	}
}

const version5 = "../journal/testdata/version5"

// savedFolder returns a folder with the saved database, and the state of its learners.
func savedFolder(t *testing.T) (dir string, was earlier) {
	t.Helper()
	database, err := os.ReadFile(filepath.Join(version5, "viz.db"))
	must(t, err)
	text, err := os.ReadFile(filepath.Join(version5, "progress.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &was))
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "viz.db"), database, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cookie-secret"), []byte(strings.Repeat("7f", 32)), 0o600))
	return dir, was
}

// startOn opens a folder as a server does. It returns a store, and a function that closes the
// folder.
func startOn(t *testing.T, dir string, now time.Time) (*Store, func()) {
	t.Helper()
	db, err := store.Open(dir, nil)
	must(t, err)
	logs := journal.For(db)
	if n := db.Notices(); len(n) != 0 {
		t.Errorf("the start has the notices %v, want 0 elements", n)
	}
	return New(logs, db, course(), func() time.Time { return now }), func() { must(t, db.Close()) }
}

// sameAsBefore compares the learners' current state with their saved state.
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
		// The saved means were computed from sums of floats, whereas means are now computed from
		// sums of integers. The two agree to twelve digits.
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

// TestSavedLearnersOpen: learners who were saved by an earlier version of this program keep their
// data.
func TestSavedLearnersOpen(t *testing.T) {
	dir, was := savedFolder(t)
	s, end := startOn(t, dir, was.Now)
	defer end()
	sameAsBefore(t, s, was)
	if len(was.Learners["ada"].Map.Drills) == 0 || was.Learners["ada"].Calibration.N == 0 {
		t.Error("the database contains too little to compare")
	}
	// Saved entries are recognized by their ids.
	must(t, s.Answer(ctx, "ada", Answer{ID: "a0", Item: "q-order", Kind: Quiz, Credit: 1}))
	if m := mapOf(t, s, "ada"); m.All != was.Learners["ada"].Map.All {
		t.Errorf("an answer that was sent again counts: the map is %+v, was %+v", m.All, was.Learners["ada"].Map.All)
	}
	if got, err := settingOf(s, "ada", "pace"); err != nil || got != "ganz schön schnell" {
		t.Errorf("a setting is %q, %v; want %q, <nil>", got, err, "ganz schön schnell")
	}
}
