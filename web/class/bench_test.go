package class

import (
	"context"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/store"
)

// BenchmarkVotes has five hundred members vote at the same time, each three
// times: the time of one such storm, until the last vote is kept on the disk.
func BenchmarkVotes(b *testing.B) {
	m := testmodel.Target(b)
	course, err := wholeCourse()
	if err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	h, err := NewHub(ctx, Config{DB: db, Course: course, Driver: &realDriver{model: m}})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(ctx)
	r, secret, err := h.Create(ctx, teacher, Options{})
	if err != nil {
		b.Fatal(err)
	}
	const members = 500
	for id := range members {
		if _, err := r.Join(ctx, learner(id), ""); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		v, err := r.Present(ctx, teacher, secret, AskQuestion{ID: "q-order"})
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		for id := range members {
			for range 3 {
				wg.Go(func() {
					if _, err := r.Vote(ctx, learner(id), Ballot{Poll: v.Poll.ID, Choice: "a", N: 1}); err != nil {
						b.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if v, err := r.Present(ctx, teacher, secret, Close{}); err != nil || v.Poll.Votes != members {
			b.Fatalf("%d votes count, %v", v.Poll.Votes, err)
		}
	}
	b.ReportMetric(3*members*float64(b.N)/b.Elapsed().Seconds(), "votes/s")
}
