package stream

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// BenchmarkAppend measures concurrent appends of single records to the separate logs of several
// learners, on one node that confirms an append once it has been written to disk.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			j := open(b, dial(b, streamtest.Node(b, b.TempDir())), Config{})
			put(b, j, ada, record("answer", "0", "{}"))
			b.ResetTimer()
			var wg sync.WaitGroup
			var next atomic.Int64
			for w := range writers {
				wg.Go(func() {
					o := journal.Owner{Kind: journal.Learner, Name: fmt.Sprint("w", w)}
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						put(b, j, o, record("answer", fmt.Sprint(i), `{"kind":"quiz","item":"softmax-1","credit":1}`))
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkDrop measures deleting and overwriting a log of 300 messages in streams that also
// contain other logs.
func BenchmarkDrop(b *testing.B) {
	j := open(b, dial(b, streamtest.Node(b, b.TempDir())), Config{})
	data := fmt.Sprintf(`{"detail":"%0500d"}`, 0)
	for i := range 20_000 {
		o := journal.Owner{Kind: journal.Learner, Name: fmt.Sprint("other", i%500)}
		put(b, j, o, record("answer", fmt.Sprint(i), data))
	}
	for range b.N {
		b.StopTimer()
		for i := range 300 {
			put(b, j, ada, record("answer", fmt.Sprint(i), data))
		}
		b.StartTimer()
		must(b, j.Drop(ctx, ada))
	}
}

// BenchmarkFirstRead measures how long a server takes to read a log of 300 messages that it
// does not have in memory.
func BenchmarkFirstRead(b *testing.B) {
	nc := dial(b, streamtest.Node(b, b.TempDir()))
	j := open(b, nc, Config{})
	for i := range 300 {
		put(b, j, ada, record("answer", fmt.Sprint(i), fmt.Sprintf(`{"detail":"%0200d"}`, 0)))
	}
	for b.Loop() {
		other := open(b, nc, j.cfg)
		if n := len(ids(b, other, ada)); n != 300 {
			b.Fatalf("len(ids(b, other, ada)) = %d, want 300", n)
		}
	}
}
