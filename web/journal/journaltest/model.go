package journaltest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/web/journal"
)

// naive is the simplest possible journal, to which the adapters are compared.
type naive struct {
	logs map[journal.Owner][]journal.Record
	used map[journal.Owner]int64
	snap map[journal.Owner]string
}

func (n *naive) append(b journal.Batch) (added []bool) {
	if len(n.logs[b.Owner]) == 0 && len(b.Records) == 0 && n.used[b.Owner] == 0 {
		return nil
	}
	n.used[b.Owner] = max(n.used[b.Owner], b.At.UnixMilli())
	for _, r := range b.Records {
		known := slices.ContainsFunc(n.logs[b.Owner], func(x journal.Record) bool { return x.Key() == r.Key() })
		added = append(added, !known)
		if !known {
			n.logs[b.Owner] = append(n.logs[b.Owner], r)
		}
	}
	return added
}

// testRandomOperations checks that an adapter returns the same results as the naive journal after
// random sequences of operations.
func testRandomOperations(t *testing.T, j journal.Journal) {
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		n := naive{map[journal.Owner][]journal.Record{}, map[journal.Owner]int64{}, map[journal.Owner]string{}}
		a, b := fmt.Sprint("a", runs), fmt.Sprint("b", runs)
		owners := []journal.Owner{owner(journal.Learner, a), owner(journal.Learner, b), owner(journal.Room, a)}
		someone := rapid.SampledFrom(owners)
		keys := rapid.Custom(func(rt *rapid.T) journal.Key {
			kind := rapid.SampledFrom([]string{"vote", "name"}).Draw(rt, "type")
			return key(kind, fmt.Sprint(rapid.IntRange(1, 6).Draw(rt, "id")))
		})
		for range rapid.IntRange(1, 25).Draw(rt, "operations") {
			o := someone.Draw(rt, "owner")
			things := []string{"append", "append", "append", "compact", "drop", "snapshot"}
			switch rapid.SampledFrom(things).Draw(rt, "what") {
			case "append":
				at := morning.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(rt, "at")) * time.Millisecond)
				var list []journal.Record
				for range rapid.IntRange(0, 4).Draw(rt, "records") {
					k := keys.Draw(rt, "key")
					list = append(list, record(k.Type, k.ID, fmt.Sprintf("%q", rapid.String().Draw(rt, "data"))))
				}
				want := n.append(journal.Batch{Owner: o, At: at, Records: list})
				for i, place := range put(rt, j, o, at, list...) {
					if (place > 0) != want[i] {
						rt.Fatalf(
							"record %d: got sequence number %d (0 means not added), want added = %v; records: %v", i,
							place, want[i], list,
						)
					}
				}
			case "compact":
				gone := rapid.SliceOfN(keys, 0, 5).Draw(rt, "gone")
				must(rt, j.Compact(ctx, o, gone))
				n.logs[o] = slices.DeleteFunc(
					n.logs[o], func(r journal.Record) bool { return slices.Contains(gone, r.Key()) })
				delete(n.snap, o)
			case "drop":
				must(rt, j.Drop(ctx, o))
				delete(n.logs, o)
				delete(n.used, o)
				delete(n.snap, o)
			case "snapshot":
				list := read(rt, j, o, 0)
				if len(list) > 0 {
					n.snap[o] = fmt.Sprint(len(list))
					must(rt, j.KeepSnapshot(ctx, o, snapshot("v1", list[len(list)-1].Seq, n.snap[o])))
				}
			}
			n.compareLog(rt, j, o)
		}
		n.compare(rt, j, owners)
	})
}

// compareLog compares a log's snapshot and its records, both from the beginning and after a random
// record.
func (n *naive) compareLog(rt *rapid.T, j journal.Journal, o journal.Owner) (size int64) {
	list := read(rt, j, o, 0)
	if got, want := texts(list), texts(n.logs[o]); !slices.Equal(got, want) {
		rt.Fatalf("the log of %v is\n%q, want\n%q", o, got, want)
	}
	for i, r := range list {
		size += r.Size()
		if i > 0 && r.Seq <= list[i-1].Seq {
			rt.Fatalf("got sequence number %d after %d, want a larger one", r.Seq, list[i-1].Seq)
		}
	}
	if len(list) > 0 {
		i := rapid.IntRange(0, len(list)-1).Draw(rt, "from")
		if rest := read(rt, j, o, list[i].Seq); len(rest) != len(list)-i-1 {
			rt.Fatalf("got %d records after record %d of %d, want %d", len(rest), i+1, len(list), len(list)-i-1)
		}
	}
	if s, err := j.Snapshot(ctx, o); err != nil || string(s.State) != n.snap[o] {
		rt.Fatalf("Snapshot(%v) = %+v, %v; want state %q, <nil>", o, s, err, n.snap[o])
	}
	return size
}

// compare compares the results of all read operations.
func (n *naive) compare(rt *rapid.T, j journal.Journal, owners []journal.Owner) {
	all := map[journal.Owner]journal.Info{}
	for _, kind := range []string{journal.Learner, journal.Room} {
		list, err := j.Owners(ctx, kind)
		must(rt, err)
		for _, i := range list {
			all[i.Owner] = i
		}
	}
	for _, o := range owners {
		size := n.compareLog(rt, j, o)
		info, known := all[o]
		used, want := n.used[o]
		same := info.Used.UnixMilli() == used && info.Records == len(n.logs[o]) && info.Bytes == size
		if known != want || known && !same {
			rt.Fatalf("owner %v: got %+v, %v; want %d records, %d bytes, used at %d, %v",
				o, info, known, len(n.logs[o]), size, used, want)
		}
	}
}
