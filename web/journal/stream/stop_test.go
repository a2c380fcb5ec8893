package stream

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

var errStopped = errors.New("the server was stopped")

// TestServerStoppedAtEveryMessage: no matter at which message of an operation a server is stopped,
// the log is in the state before or after the operation, and another server can complete the
// operation.
func TestServerStoppedAtEveryMessage(t *testing.T) {
	nc := dial(t, streamtest.Node(t, t.TempDir()))
	before := []string{"1", "2", "3"}
	for _, c := range []struct {
		name  string
		do    func(j *Journal, seqs []int64) error
		after []string
	}{
		{"append", func(j *Journal, _ []int64) error {
			_, err := j.Append(ctx, batch(record("name", "4", "{}")))
			return err
		}, []string{"1", "2", "3", "4"}},
		{"compact", func(j *Journal, _ []int64) error {
			return j.Compact(ctx, ada, []journal.Key{{Type: "name", ID: "2"}})
		}, []string{"1", "3"}},
		{"compact and scrub", func(j *Journal, _ []int64) error {
			return errors.Join(j.Compact(ctx, ada, []journal.Key{{Type: "name", ID: "2"}}), j.Scrub(ctx, ada))
		}, []string{"1", "3"}},
		{"drop", func(j *Journal, _ []int64) error { return j.Drop(ctx, ada) }, nil},
		{"set aside", func(j *Journal, seqs []int64) error {
			return j.SetAside(ctx, ada, morning, seqs[0])
		}, []string{"2", "3"}},
		{"retire and sweep", func(j *Journal, _ []int64) error {
			_, err := j.Retire(ctx, ada, morning.Add(time.Hour))
			return errors.Join(err, j.Sweep(ctx))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for most := 0; ; most++ {
				j := open(t, nc, Config{InMemory: true})
				seqs := put(t, j, ada, record("name", "1", "{}"))
				seqs = append(seqs, put(t, j, ada, record("name", "2", "{}"))...)
				put(t, j, ada, record("name", "3", "{}"))
				must(t, j.KeepSnapshot(ctx, ada, journal.Snapshot{Version: "1", Seq: seqs[1]}))
				var steps atomic.Int64
				j.hinder = func(bool) error {
					if steps.Add(1) > int64(most) {
						return errStopped
					}
					return nil
				}
				err := c.do(j, seqs)
				other := open(t, nc, j.cfg)
				got := ids(t, other, ada)
				if !slices.Equal(got, c.after) && (err == nil || !slices.Equal(got, before)) {
					t.Fatalf("stopped after %d steps (%v), the log has %q", most, err, got)
				}
				must(t, c.do(other, seqs))
				if got := ids(t, other, ada); !slices.Equal(got, c.after) {
					t.Fatalf("completed by another server after %d steps, the log has %q", most, got)
				}
				if err == nil {
					return
				}
			}
		})
	}
}

// TestDroppedLogsAreGoneFromTheDisk: the NATS files contain no data of logs that were
// dropped, swept, or compacted and scrubbed; other logs are intact.
func TestDroppedLogsAreGoneFromTheDisk(t *testing.T) {
	dir := t.TempDir()
	s := streamtest.Node(t, dir)
	nc := dial(t, s)
	j := open(t, nc, Config{})
	owner := func(name string) journal.Owner { return journal.Owner{Kind: journal.Room, Name: name} }
	for _, name := range []string{"dropped", "retired", "scrubbed"} {
		o := owner(name)
		put(t, j, o, record("vote", name+"-quetzal", `{"x":"`+name+`-mangosteen"}`),
			record("vote", "1", `{"kept":"`+name+`"}`))
		seq := put(t, j, o, record("name", name+"-durian", "{}"))[0]
		must(t, j.KeepSnapshot(ctx, o, journal.Snapshot{Version: "1", Seq: seq, State: []byte(name + "-rambutan")}))
		must(t, j.KeepSnapshot(ctx, o, journal.Snapshot{Version: "1", Seq: seq, State: []byte(name + "-salak")}))
	}
	put(t, j, ada, record("visit", "ada-stays", "{}"))
	must(t, j.Drop(ctx, owner("dropped")))
	_, err := j.Retire(ctx, owner("retired"), morning.Add(time.Hour))
	must(t, err)
	must(t, j.Sweep(ctx))
	gone := []journal.Key{{Type: "vote", ID: "scrubbed-quetzal"}, {Type: "name", ID: "scrubbed-durian"}}
	must(t, j.Compact(ctx, owner("scrubbed"), gone))
	must(t, j.Scrub(ctx, owner("scrubbed")))
	nc.Close()
	streamtest.Stop(s)
	for _, name := range []string{"dropped", "retired", "scrubbed"} {
		texts := []string{"-quetzal", "-mangosteen", "-durian", "-rambutan", "-salak"}
		for _, text := range texts {
			if in := holding(t, dir, name+text); in != nil {
				t.Errorf("%s is still in %v, want it removed", name+text, in)
			}
		}
		if in := holding(t, dir, "log.room."+name); in != nil && name != "scrubbed" {
			t.Errorf("the name of the log that was %s is still in %v", name, in)
		}
	}
	for _, text := range []string{"ada-stays", `{"kept":"scrubbed"}`} {
		if holding(t, dir, text) == nil {
			t.Errorf("%s is not in any file, so the test cannot find data", text)
		}
	}
}

// holding returns the names of the files in a folder and its subfolders that contain text.
func holding(t *testing.T, dir, text string) (in []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			in = append(in, path)
		}
		return err
	}))
	return in
}
