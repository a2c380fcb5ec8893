package stream

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
	"github.com/tokenbytoken/viz/web/store"
)

// TestDropReachesQuarantinedRooms: when learners delete their data, they are also deleted from
// quarantined rooms, together with the nicknames there. All other data of these rooms remains, and
// the rooms remain in the list of quarantined logs until they are dropped.
func TestDropReachesQuarantinedRooms(t *testing.T) {
	dir := t.TempDir()
	s := streamtest.Node(t, dir)
	nc := dial(t, s)
	j, other := open(t, nc, Config{Prefix: "aside"}), open(t, nc, Config{Prefix: "aside"})
	room := func(code string) journal.Owner { return journal.Owner{Kind: journal.Room, Name: code} }
	member := func(code, id, learner string) journal.Record {
		return record("member", id, `{"learner":"`+learner+`","x":"`+code+`"}`)
	}
	const who, another = "learner-quetzal", "learner-durian"
	put(t, j, journal.Owner{Kind: journal.Learner, Name: who}, record("visit", "1", "{}"))
	for _, code := range []string{"WHOLE1", "PARTS1", "HAPPY1"} {
		seqs := put(t, j, room(code), member(code, "1", who), record("name", "2", `"`+code+`-mangosteen"`),
			member(code, "3", another), record("vote", "4", `"`+code+`-salak"`))
		must(t, j.KeepSnapshot(ctx, room(code), journal.Snapshot{Version: "1", Seq: seqs[3], State: []byte(who)}))
		switch code {
		case "WHOLE1":
			must(t, j.SetAside(ctx, room(code), morning))
		case "PARTS1":
			must(t, j.SetAside(ctx, room(code), morning.Add(time.Hour), seqs[0], seqs[1]))
		default: // nothing was set aside
			must(t, j.Compact(ctx, room(code), []journal.Key{{Type: "member", ID: "1"}}))
			must(t, j.Scrub(ctx, room(code)))
		}
	}
	names := func() (list []string) {
		all, err := other.Owners(ctx, store.SetAsideKind)
		must(t, err)
		for _, x := range all {
			kind, name := store.SetAsideOf(x.Name)
			list = append(list, kind+" "+name+" "+x.Used.Format(time.TimeOnly))
		}
		return list
	}
	want := []string{"room PARTS1 10:00:00", "room WHOLE1 09:00:00"}
	if got := names(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Fatalf("the logs set aside are %q, want %q", got, want)
	}

	must(t, other.Drop(ctx, journal.Owner{Kind: journal.Learner, Name: who}))
	if got := names(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("afterwards, the logs set aside are %q, want %q", got, want)
	}
	wantIDs(t, j, room("PARTS1"), "3", "4")
	must(t, j.Drop(ctx, room("PARTS1")))
	if got := names(); len(got) != 1 || got[0] != want[1] {
		t.Errorf("after one was dropped, the logs set aside are %q, want 1 element, [0] = %q", got, want[1])
	}
	nc.Close()
	streamtest.Stop(s)
	for _, text := range []string{who, "WHOLE1-mangosteen", "PARTS1-mangosteen"} {
		if in := holding(t, dir, text); in != nil {
			t.Errorf("%s is still in %v, want nil", text, in)
		}
	}
	for _, text := range []string{another, "WHOLE1-salak", "HAPPY1-mangosteen"} {
		if holding(t, dir, text) == nil {
			t.Errorf("%s is not in any file", text)
		}
	}
}
