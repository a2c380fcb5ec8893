package room

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// BenchmarkVotes measures how long it takes to save the votes of five hundred members who
// vote at the same time, three times each.
func BenchmarkVotes(b *testing.B) {
	m := testmodel.Target(b)
	course, err := classtest.Course()
	if err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	h, err := NewHub(ctx, Config{
		Logs: journal.For(db), Secrets: db, Course: course,
		Driver: &classtest.Driver{Model: m},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	r, secret, err := h.Create(ctx, classtest.Caller(classtest.Instructor), class.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const members = 500
	for id := range members {
		if _, err := r.Join(ctx, classtest.Caller(classtest.Learner(id)), ""); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		v, err := classtest.Execute(ctx, r, classtest.Instructor, secret, class.AskQuestion{ID: "q-order"})
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		for id := range members {
			for range 3 {
				wg.Go(func() {
					if _, err := r.Vote(ctx, classtest.Learner(id),
						class.Ballot{Poll: v.Poll.ID, Choice: "a", N: 1}); err != nil {
						b.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if v, err := classtest.Execute(ctx, r, classtest.Instructor, secret, class.Close{}); err != nil ||
			v.Poll.Votes != members {
			b.Fatalf("%d votes count, %v; want %d, <nil>", v.Poll.Votes, err, members)
		}
	}
	b.ReportMetric(3*members*float64(b.N)/b.Elapsed().Seconds(), "votes/s")
}

// BenchmarkRestore measures the start of a hub with a room of five hundred members and
// twenty thousand votes, with and without the snapshot that the previous server left.
func BenchmarkRestore(b *testing.B) {
	db, err := store.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	logs, ctx := journal.For(db), context.Background()
	const code, members, asked = "346979", 500, 40
	c := &core{cfg: &Config{Logs: logs, Secrets: db}, code: code, begun: time.Now(), used: time.Now()}
	c.host = single{&Hub{cfg: *c.cfg}}
	c.empty()
	if err := errors.Join(db.KeepSecret(ctx, code, c.secret[:]), c.create()); err != nil {
		b.Fatal(err)
	}
	var all []records.Entry
	for id := range members {
		all = append(all, c.memberEntry(member{Member: class.Member{ID: id + 1}, Learner: classtest.Learner(id)}))
	}
	for n := range asked {
		p := polls.Poll{ID: n + 1, Kind: class.Number, Phase: class.Open, Round: 1}
		all = append(all, c.book.Entry(records.TypePoll, records.Subject(records.TypePoll, n+1), p))
		for id := range members {
			all = append(all, records.VoteEntry(polls.Round{Poll: n + 1, N: 1}, id+1,
				polls.Vote{Choice: "0.25", Sure: 0.5, N: 1}))
		}
	}
	if err := c.keep(all); err != nil {
		b.Fatal(err)
	}
	for _, snapshot := range []bool{false, true} {
		b.Run(map[bool]string{false: "log", true: "snapshot"}[snapshot], func(b *testing.B) {
			if snapshot {
				list, err := restore(ctx, c.cfg)
				if err == nil {
					err = list.rooms[0].snapshot()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if list, err := restore(ctx, c.cfg); err != nil || len(list.rooms[0].votes) != asked {
					b.Fatalf("%d rooms, %v; want no error, len(list.rooms[0].votes) = %d", len(list.rooms), err, asked)
				}
			}
		})
	}
}
