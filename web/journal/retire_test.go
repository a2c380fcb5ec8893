package journal

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"
)

// A log that was last used before a time is gone at once, one that was used since is
// not, and an owner who returns begins again.
func TestRetire(t *testing.T) {
	conform(t, func(t *testing.T, j Journal) {
		noon := morning.Add(3 * time.Hour)
		var many []Record
		for i := range 5 {
			many = append(many, record("visit", fmt.Sprint(i), "{}"))
		}
		seqs := put(t, j, ada, morning, many...)
		must(t, j.KeepSnapshot(ctx, ada, Snapshot{"v1", seqs[4], []byte("x")}))
		put(t, j, bob, noon, record("visit", "1", "{}"))
		put(t, j, hall, morning, record("vote", "1", "{}"))
		retire := func(o Owner, want bool) {
			t.Helper()
			if done, err := j.Retire(ctx, o, noon); err != nil || done != want {
				t.Errorf("Retire of %v: %v, %v; want %v", o, done, err, want)
			}
		}
		retire(bob, false)
		retire(ada, true)
		retire(ada, false)
		wantTexts(t, j, ada)
		if s, err := j.Snapshot(ctx, ada); err != nil || s.Version != "" {
			t.Errorf("its snapshot is %+v, %v", s, err)
		}
		if list, err := j.Owners(ctx, Learner); err != nil || len(list) != 1 || list[0].Owner != bob {
			t.Errorf("the learners are %+v, %v", list, err)
		}
		put(t, j, ada, noon, record("visit", "again", "{}"))
		must(t, j.Sweep(ctx))
		must(t, j.Sweep(ctx))
		wantTexts(t, j, ada, "visit again {}")
		wantTexts(t, j, bob, "visit 1 {}")
		wantTexts(t, j, hall, "vote 1 {}")
	})
}

// A sweep works in small steps, goes on where an earlier one was stopped, even after a
// restart, and leaves nothing in the files.
func TestSweepInSteps(t *testing.T) {
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
		t.Fatal(done, err)
	}
	for left := 25; left >= 15; left -= 10 {
		if more, err := j.sweepSome(ctx); err != nil || !more {
			t.Fatal(more, err)
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
		t.Error("a sweep that was stopped reports that it is done")
	}
	must(t, again.Sweep(ctx))
	for _, text := range []string{"learner-carl", "quetzal", "mangosteen"} {
		if in := filesHold(t, dir, text); in != nil {
			t.Errorf("%s of a retired log is still in %v", text, in)
		}
	}
	wantTexts(t, again, ada, "visit 1 {}", "visit 2 {}")
}

// What is in memory of an owner goes with the log. A log that must stay does.
func TestFoldsRetire(t *testing.T) {
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
			t.Error("a new log is not empty")
		}
		_, err := a.Append(ctx, morning, record("visit", "a.1", "7"))
		if a.Empty() {
			t.Error("a log with a record is empty")
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
			t.Errorf("retired: %v, and the state has %d records; want %d", done, got, c.want)
		}
	}
	if _, err := folds.Retire(ctx, "nobody", later, nil); err != nil || len(folds.active) != 1 {
		t.Errorf("%d owners are in memory, want 1, %v", len(folds.active), err)
	}
}
