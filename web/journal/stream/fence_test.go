package stream

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// as appends a batch as the writer of an epoch.
func as(j *Journal, epoch uint64, records ...journal.Record) error {
	_, err := j.AppendAs(ctx, batch(records...), "epoch", epoch)
	return err
}

func epoch(n int) journal.Record { return record("epoch", fmt.Sprint(n), "{}") }

// TestLateWriterIsRefused: only the newest writer can append, even if older writers do not
// know that they have been replaced.
func TestLateWriterIsRefused(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	a := open(t, nc, Config{InMemory: true})
	b := open(t, nc, a.cfg)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrFenced) {
			t.Errorf("%s: got error %v, want %v", what, err, ErrFenced)
		}
	}
	refused("before anybody began", as(a, 1, record("vote", "0", "{}")))
	must(t, as(a, 1, epoch(1), record("vote", "1", "{}")))
	refused("a second writer with the same epoch", as(b, 1, epoch(1), record("vote", "x", "{}")))
	must(t, as(a, 1, record("vote", "2", "{}")))
	must(t, as(b, 2, epoch(2)))
	refused("the previous writer", as(a, 1, record("vote", "3", "{}")))
	refused("the previous writer, after reading the newest records", as(a, 1, record("vote", "4", "{}")))
	refused("an epoch that has passed", as(a, 1, epoch(1)))
	must(t, as(b, 2, record("vote", "6", "{}")))
	must(t, a.Compact(ctx, ada, []journal.Key{{Type: "epoch", ID: "1"}}))
	refused("the previous writer, after its epoch was compacted", as(a, 1, record("vote", "7", "{}")))
	must(t, as(b, 2, record("vote", "8", "{}")))
	wantIDs(t, open(t, nc, a.cfg), ada, "1", "2", "2", "6", "8")
	must(t, b.Drop(ctx, ada))
	refused("after the log was deleted", as(b, 2, record("vote", "9", "{}")))
	wantIDs(t, open(t, nc, a.cfg), ada)
}

// TestFencedWriterWithLostAnswer: a writer that got no reply does not know whether its batch
// was stored. Once the next writer has begun, the batch has either been stored exactly once
// or is refused.
func TestFencedWriterWithLostAnswer(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	a := open(t, nc, Config{InMemory: true})
	b := open(t, nc, a.cfg)
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprint(arrives), func(t *testing.T) {
			must(t, a.Drop(ctx, ada))
			must(t, as(a, 1, epoch(1)))
			times := 0
			a.hinder = func(answered bool) error {
				if answered != arrives || times > 0 {
					return nil
				}
				times++
				must(t, as(b, 2, epoch(2), record("vote", "b", "{}")))
				return journal.ErrAway
			}
			err := as(a, 1, record("vote", "a", "{}"))
			if arrives {
				must(t, err)
				wantIDs(t, open(t, nc, a.cfg), ada, "1", "a", "2", "b")
				return
			}
			if !errors.Is(err, ErrFenced) {
				t.Errorf("the late batch: got error %v, want %v", err, ErrFenced)
			}
			wantIDs(t, open(t, nc, a.cfg), ada, "1", "2", "b")
		})
	}
}
