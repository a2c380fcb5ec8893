package stream

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// TestConcurrentDuplicateRecordsAreStoredOnce: if several servers append the same records at
// the same moment, each record is stored once, and exactly one of the servers gets its
// number.
func TestConcurrentDuplicateRecordsAreStoredOnce(t *testing.T) {
	const servers, records = 4, 25
	s := streamtest.Node(t, t.TempDir())
	nc := dial(t, s)
	first := open(t, nc, Config{InMemory: true})
	var mu sync.Mutex
	numbers := map[string][]int64{}
	var wg sync.WaitGroup
	for range servers {
		j := open(t, nc, first.cfg)
		wg.Go(func() {
			for i := range records {
				id := fmt.Sprint(i)
				seq := put(t, j, ada, record("vote", id, "{}"))[0]
				mu.Lock()
				numbers[id] = append(numbers[id], seq)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	stored := map[string]int64{}
	must(t, first.Read(ctx, ada, 0, func(r journal.Record) error {
		if stored[r.ID] != 0 {
			t.Errorf("%s is stored twice", r.ID)
		}
		stored[r.ID] = r.Seq
		return nil
	}))
	for id, got := range numbers {
		slices.Sort(got)
		if len(got) != servers || got[servers-1] != stored[id] || got[servers-2] != 0 || stored[id] == 0 {
			t.Errorf(
				"the servers got the numbers %v for %s, want %d for one of them and 0 for the others",
				got, id, stored[id],
			)
		}
	}
	if len(stored) != records {
		t.Errorf("%d records are stored, want %d", len(stored), records)
	}
}

// TestLateWriterIsFenced: the stream refuses a change that was prepared before another
// change arrived.
func TestLateWriterIsFenced(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	early := open(t, nc, Config{InMemory: true})
	late := open(t, nc, early.cfg)
	put(t, late, ada, record("vote", "1", "{}"))
	m := late.acquire(ada)
	d, _ := m.appending(one("3"))
	put(t, early, ada, record("vote", "2", "{}"))
	if _, _, err := late.send(ctx, m.stream, m.log, d, true); !conflict(err) {
		t.Errorf("a late change: %v", err)
	}
	late.release(m)
	wantIDs(t, early, ada, "1", "2")
	// The late server's next change takes the other server's record into account.
	got := put(t, late, ada, record("vote", "2", "{}"), record("vote", "3", "{}"))
	if got[0] != 0 || got[1] == 0 {
		t.Errorf("got numbers %v; want [0] = 0, since the first record was there, and [1] not 0", got)
	}
	// A log that was dropped and recreated is a new log.
	must(t, early.Drop(ctx, ada))
	put(t, early, ada, record("vote", "9", "{}"))
	if got := put(t, late, ada, record("vote", "1", "{}")); got[0] == 0 {
		t.Error("a record of the dropped log still counts")
	}
	wantIDs(t, early, ada, "9", "1")
}

// TestLargeBatchIsAtomic: a large batch consists of several messages, of which either all
// are stored or none.
func TestLargeBatchIsAtomic(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	j := open(t, nc, Config{InMemory: true})
	put(t, j, ada, record("visit", "0", "{}"))
	var list []journal.Record
	var want []string
	for i := range 12_000 {
		id := fmt.Sprint("a", i)
		list, want = append(list, record("answer", id, `{"detail":"`+fmt.Sprintf("%0200d", i)+`"}`)), append(want, id)
	}
	// The batch is interrupted before its last message, and then sent again.
	sent := 0
	cut := errors.New("cut off")
	j.hinder = func(answered bool) error {
		if sent++; sent == 3 && !answered {
			return cut
		}
		return nil
	}
	if _, err := j.Append(ctx, batch(list...)); !errors.Is(err, cut) {
		t.Fatalf("an interrupted batch: got error %v, want %v", err, cut)
	}
	other := open(t, nc, j.cfg)
	wantIDs(t, other, ada, "0")
	seqs := put(t, j, ada, list...)
	if !slices.IsSorted(seqs) || seqs[0] == 0 {
		t.Error("the numbers do not increase")
	}
	wantIDs(t, other, ada, append([]string{"0"}, want...)...)
	rest := 0
	must(t, other.Read(ctx, ada, seqs[9_999], func(journal.Record) error { rest++; return nil }))
	if rest != 2_000 {
		t.Errorf("got %d records after the 10,000th, want 2,000", rest)
	}
}

// TestLostAnswersDoNotDuplicate: after a lost reply, the server looks up whether its change was
// stored. The change is neither duplicated nor lost.
func TestLostAnswersDoNotDuplicate(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	j := open(t, nc, Config{InMemory: true})
	put(t, j, ada, record("vote", "0", "{}"))
	n := 0
	j.hinder = func(answered bool) error {
		if n++; answered && n%4 == 2 { // the reply to every other message is lost
			return nats.ErrTimeout
		}
		return nil
	}
	for i := 1; i <= 6; i++ {
		if seq := put(t, j, ada, record("vote", fmt.Sprint(i), "{}"))[0]; seq == 0 {
			t.Errorf("record %d has no number", i)
		}
	}
	wantIDs(t, j, ada, "0", "1", "2", "3", "4", "5", "6")
	wantIDs(t, open(t, nc, j.cfg), ada, "0", "1", "2", "3", "4", "5", "6")
}
