package main

import (
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
)

// TestClockAheadAtOneStart: if the clock is more than a day ahead of the time of the last start, a
// server logs this when it starts and does not delete old data; the next start with the same clock
// deletes it. Days that pass while a server runs do not count as a jump.
// Promise: A server that starts with its clock set ahead deletes nothing because of it.
func TestClockAheadAtOneStart(t *testing.T) {
	course, err := loadCourse()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// start opens the folder with the clock at the given time and deletes old data. It returns the
	// remaining learners, the time from which the age of rooms is calculated, and the log.
	start := func(at time.Time, days int, learners ...string) (left []string, aged time.Time, said string) {
		t.Helper()
		var passed atomic.Int64 // days since the start
		clock := func() time.Time { return at.AddDate(0, 0, int(passed.Load())) }
		out := newOutput()
		log := slog.New(slog.NewTextHandler(out, nil))
		db, logs, err := openData(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range learners {
			if _, err := logs.Append(t.Context(), journal.Batch{
				Owner: journal.Owner{Kind: journal.Learner, Name: name}, At: at,
				Records: []journal.Record{{Type: "visit", ID: "1", Data: []byte("{}")}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		tended := tend(db, progress.New(logs, db, course, clock), clock, log)
		for range days {
			passed.Add(1)
			tended.look(t.Context())
		}
		tended.expire(t.Context())
		owners, err := logs.Owners(t.Context(), journal.Learner)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range owners {
			left = append(left, o.Name)
		}
		aged = tended.aged()
		if err := tended.Close(); err != nil {
			t.Fatal(err)
		}
		return left, aged, out.String()
	}
	begin := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	const jumps, life = "The clock is more than a day past", 410
	check := func(what string, now time.Time, days int, wantLeft []string, wantAged time.Time, jump bool) {
		t.Helper()
		left, aged, said := start(now, days)
		if !slices.Equal(left, wantLeft) || !aged.Equal(wantAged) || strings.Contains(said, jumps) != jump {
			t.Errorf("%s: got learners %v at %v, log %q; want %v at %v, a jump logged: %v", what, left, aged, said,
				wantLeft, wantAged, jump)
		}
	}
	start(begin, 0, "ada")
	check("the same day", begin.Add(20*time.Hour), 0, []string{"ada"}, begin.Add(20*time.Hour), false)
	check("a year ahead", begin.AddDate(0, 0, life), 0, []string{"ada"}, begin.Add(20*time.Hour), true)
	check("the right clock again", begin.Add(21*time.Hour), 0, []string{"ada"}, begin.Add(21*time.Hour), false)
	check("a year ahead again", begin.AddDate(0, 0, life), 0, []string{"ada"}, begin.Add(21*time.Hour), true)
	check("and at the next start", begin.AddDate(0, 0, life), 0, nil, begin.AddDate(0, 0, life), false)

	dir = t.TempDir()
	start(begin, 0, "ada")
	check("after 410 days", begin, life, nil, begin.AddDate(0, 0, life), false)
}
