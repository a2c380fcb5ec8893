package journal

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"
)

// TestSweepResumesInSteps: a sweep works in small steps, continues where an earlier sweep
// was stopped, even after a restart, and leaves no data in the files.
func TestSweepResumesInSteps(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir)
	j.perCommit = 10
	var many []Record
	for i := range 35 {
		many = append(many, record("answer", fmt.Sprint("quetzal-", i), `{"detail":"mangosteen"}`))
	}
	put(t, j, Owner{Learner, "the-learner-carl"}, morning, many...)
	put(t, j, ada, morning, record("visit", "1", "{}"))
	if done, err := j.Retire(ctx, Owner{Learner, "the-learner-carl"}, morning.Add(time.Hour)); err != nil || !done {
		t.Fatalf("Retire: got %t, %v; want true, <nil>", done, err)
	}
	for left := 25; left >= 15; left -= 10 {
		if more, err := j.sweepSome(ctx); err != nil || !more {
			t.Fatalf("sweepSome: got %t, %v; want true, <nil>", more, err)
		}
		var n int
		must(t, j.db.Read(ctx, func(tx *sql.Tx) error {
			return tx.QueryRow("SELECT count(*) FROM records WHERE type = 'answer'").Scan(&n)
		}))
		if n != left {
			t.Errorf("%d records are left after a step, want %d", n, left)
		}
	}
	must(t, j.db.Close())
	again := onDisk(t, dir)
	put(t, again, ada, morning, record("visit", "2", "{}"))
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := again.Sweep(stopped); err == nil {
		t.Error("a stopped sweep reports that it is done")
	}
	must(t, again.Sweep(ctx))
	for _, text := range []string{"learner-carl", "quetzal", "mangosteen"} {
		if in := filesHold(t, dir, text); in != nil {
			t.Errorf("%s of a retired log is still in %v, want nil", text, in)
		}
	}
	wantTexts(t, again, ada, "visit 1 {}", "visit 2 {}")
}

// TestFoldsRetireWithTheLog: when a log is retired, its state in memory is dropped as well.
// A log for which ok returns false is not retired.
func TestFoldsRetireWithTheLog(t *testing.T) {
	j := NewMemory()
	folds := NewFolds(j, Learner, tallies)
	count := func() (n int) {
		t.Helper()
		must(t, folds.Use(ctx, "ada", func(a *Active[tally]) error {
			n = a.State().Records
			return nil
		}))
		return n
	}
	must(t, folds.Use(ctx, "ada", func(a *Active[tally]) error {
		if !a.Empty() {
			t.Error("a new log is reported as not empty")
		}
		_, err := a.Append(ctx, morning, record("visit", "a.1", "7"))
		if a.Empty() {
			t.Error("a log with a record is reported as empty")
		}
		return err
	}))
	later := morning.Add(time.Hour)
	for _, c := range []struct {
		before time.Time
		ok     func(*tally) bool
		want   int
	}{
		{morning.Add(-time.Hour), nil, 1},
		{later, func(s *tally) bool { return s.Records != 1 }, 1},
		{later, func(s *tally) bool { return s.Records == 1 }, 0},
	} {
		done, err := folds.Retire(ctx, "ada", c.before, c.ok)
		must(t, err)
		if got := count(); done != (c.want == 0) || got != c.want {
			t.Errorf("retired: %v; the state has %d records, want %d", done, got, c.want)
		}
	}
	if _, err := folds.Retire(ctx, "nobody", later, nil); err != nil || len(folds.active) != 1 {
		t.Errorf("%d owners are in memory, want 1, %v", len(folds.active), err)
	}
}
