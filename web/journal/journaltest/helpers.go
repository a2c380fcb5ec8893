package journaltest

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/web/journal"
)

func owner(kind, name string) journal.Owner { return journal.Owner{Kind: kind, Name: name} }

func key(kind, id string) journal.Key { return journal.Key{Type: kind, ID: id} }

func info(o journal.Owner, used time.Time, records int, bytes int64) journal.Info {
	return journal.Info{Owner: o, Used: used, Records: records, Bytes: bytes}
}

func snapshot(version string, seq int64, state string) journal.Snapshot {
	return journal.Snapshot{Version: version, Seq: seq, State: []byte(state)}
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func record(kind, id, data string) journal.Record {
	return journal.Record{Type: kind, ID: id, Data: []byte(data)}
}

// put appends records and returns their sequence numbers.
func put(t rapid.TB, j journal.Journal, o journal.Owner, at time.Time, records ...journal.Record) []int64 {
	t.Helper()
	places, err := j.Append(ctx, journal.Batch{Owner: o, At: at, Records: records})
	must(t, err)
	if len(places) != len(records) {
		t.Fatalf("got %d sequence numbers, want %d", len(places), len(records))
	}
	return places
}

// read returns the records after a sequence number.
func read(t rapid.TB, j journal.Journal, o journal.Owner, after int64) (list []journal.Record) {
	t.Helper()
	must(t, j.Read(ctx, o, after, func(r journal.Record) error {
		list = append(list, r)
		return nil
	}))
	return list
}

// texts returns records as strings, without their sequence numbers.
func texts(list []journal.Record) (all []string) {
	for _, r := range list {
		all = append(all, r.Type+" "+r.ID+" "+string(r.Data))
	}
	return all
}

func wantTexts(t rapid.TB, j journal.Journal, o journal.Owner, want ...string) {
	t.Helper()
	if got := texts(read(t, j, o, 0)); !slices.Equal(got, want) {
		t.Errorf("the log of %v is %q, want %q", o, got, want)
	}
}

// ids returns the ids of a log's records in order.
func ids(t *testing.T, j journal.Journal, o journal.Owner) (list []string) {
	t.Helper()
	must(t, j.Read(ctx, o, 0, func(r journal.Record) error {
		list = append(list, r.ID)
		return nil
	}))
	return list
}
