package infer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/cost"
)

// Texts written at the seats of a pool at the same time are what each would be
// alone, bit for bit: logits, counts and all.
func TestPooledTextsAreAsAlone(t *testing.T) {
	for name, m := range map[string]*Model{"small": smallModel(t), "bundled": bundledModel(t)} {
		pool, open := held(t, m, 2)
		texts := 20
		if name == "bundled" {
			texts = 6
		}
		var together sync.WaitGroup
		for i := range texts {
			together.Go(func() {
				prompt := strings.Repeat("ab ", 1+i) // some in one pass, some in several
				s := pure(uint64(i))
				s.Stop.MaxTokens = 20
				seat := pool.Seat()
				seat.Step(i%3 == 0)
				got, err := NewLoop(seat.Model(), prompt, s)
				if err != nil {
					t.Error(err)
					return
				}
				for err == nil {
					_, err = got.Advance(context.Background())
				}
				want, err := NewLoop(m, prompt, s)
				for err == nil {
					_, err = want.Advance(context.Background())
				}
				if !reflect.DeepEqual(untimed(got.Steps()), untimed(want.Steps())) {
					t.Errorf("%s, text %d: the steps differ from those alone", name, i)
				}
			})
		}
		waiting(pool, texts)
		open()
		together.Wait()
		pool.Close()
		if st := pool.Stats(); st.Served <= st.Rounds {
			t.Errorf("%s: %d jobs in %d rounds: nothing was run together", name, st.Served, st.Rounds)
		}
	}
}

// Speculation and replays go through a seat without knowing.
func TestEverythingRunsThroughASeat(t *testing.T) {
	m := smallModel(t)
	pool := NewPool(m, 2)
	defer pool.Close()
	s := pure(3)
	s.Stop.MaxTokens = 20
	want := newLoop(t, m, "Hello", s)
	finish(t, want)
	before := pool.Stats().Served
	got, err := Replay(context.Background(), pool.Seat().Model(), want.Log())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(untimed(got.Steps()), untimed(want.Steps())) {
		t.Error("a replay through a seat differs")
	}
	if n := pool.Stats().Served - before; n != 2*int64(len(want.Steps())) {
		t.Errorf("the pool served %d passes, want a forward pass and scores for each of %d steps", n, len(want.Steps()))
	}
	alone := newSpeculator(t, m, m, "Hello", s, 4)
	seated := newSpeculator(t, pool.Seat().Model(), m, "Hello", s, 4)
	if a, b := untimedSpec(t, speculate(t, alone)), untimedSpec(t, speculate(t, seated)); !slices.Equal(a, b) {
		t.Error("speculation through a seat differs")
	}
}

// 64 sessions play on two workers while 8 learners step as fast as they can:
// counted in rounds, nobody waits more than twice the fair share of 72 / 16 =
// 4.5 rounds, 9.
func TestSixtyFourPlayOnTwoWorkers(t *testing.T) {
	m := bundledModel(t)
	pool, open := held(t, m, 2)
	const playing, stepping, tokens = 64, 8, 8
	var players, steppers sync.WaitGroup
	stop := make(chan struct{})
	decode := func(seat *Seat, c *Cache, out, z []float32) bool {
		_, err := seat.ForwardTo(context.Background(), c, []int{c.Positions() % 256}, out)
		if err == nil {
			_, err = seat.LogitsTo(context.Background(), out, z)
		}
		if err != nil {
			t.Error(err)
		}
		return err == nil
	}
	counted := make([]int, stepping)
	for i := range playing + stepping {
		seat, c := pool.Seat(), m.NewCache()
		out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
		if i < playing {
			players.Go(func() {
				for range tokens {
					if !decode(seat, c, out, z) {
						return
					}
				}
			})
			continue
		}
		seat.Step(true)
		steppers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if !decode(seat, c, out, z) {
					return
				}
				counted[i-playing]++
				c.Truncate(0)
			}
		})
	}
	waiting(pool, playing+stepping)
	open()
	players.Wait()
	close(stop)
	steppers.Wait()
	pool.Close()
	st := pool.Stats()
	if st.Longest > 9 {
		t.Errorf("somebody waited %d rounds, twice the fair share is 9", st.Longest)
	}
	if st.Served < 2*st.Rounds {
		t.Errorf("%d passes in %d rounds: hardly anything was run together", st.Served, st.Rounds)
	}
	for i, n := range counted {
		if n < tokens {
			t.Errorf("stepping learner %d got %d tokens while who played got %d", i, n, tokens)
		}
	}
	t.Logf("%d rounds served %d passes, %.1f each; the longest wait was %d rounds, the mean %.2f",
		st.Rounds, st.Served, float64(st.Served)/float64(st.Rounds), st.Longest, float64(st.Waited)/float64(st.Served))
}

// gate is a context that lets the first call of Err pass (the seat's own) and
// holds up the worker at the second until it is opened.
type gate struct {
	context.Context
	calls   int
	reached chan struct{}
	open    chan struct{}
}

func newGate() *gate {
	return &gate{context.Background(), 0, make(chan struct{}), make(chan struct{})}
}

func (g *gate) Err() error {
	if g.calls++; g.calls == 2 {
		close(g.reached)
		<-g.open
	}
	return nil
}

// held makes a pool whose workers are all busy until open is called.
func held(t *testing.T, m *Model, workers int) (pool *Pool, open func()) {
	t.Helper()
	pool = NewPool(m, workers)
	var busy sync.WaitGroup
	var gates []*gate
	for range workers {
		g := newGate()
		busy.Go(func() {
			if _, err := pool.Seat().ForwardTo(g, m.NewCache(), []int{1}, make([]float32, m.config.Width)); err != nil {
				t.Error(err)
			}
		})
		<-g.reached
		gates = append(gates, g)
	}
	return pool, func() {
		for _, g := range gates {
			close(g.open)
		}
		busy.Wait()
	}
}

// waiting blocks until so many jobs wait.
func waiting(pool *Pool, n int) {
	for {
		pool.mu.Lock()
		have := pool.queue.len()
		pool.mu.Unlock()
		if have >= n {
			return
		}
		runtime.Gosched()
	}
}

// Whoever waits for its turn and does not want it any more goes at once; the
// worker is busy all the while.
func TestWaitingIsCancelledAtOnce(t *testing.T) {
	m := smallModel(t)
	pool, open := held(t, m, 1)
	seat, c := pool.Seat(), m.NewCache()
	logitsAfter(t, m, c, 1, 2, 3)
	for range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error)
		go func() {
			_, err := seat.ForwardTo(ctx, c, []int{4}, make([]float32, m.config.Width))
			result <- err
		}()
		waiting(pool, 1)
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) || c.Positions() != 3 {
			t.Fatalf("%v with %d positions", err, c.Positions())
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := seat.LogitsTo(ended, make([]float32, m.config.Width), make([]float32, m.config.Vocab)); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	open()
	out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
	if _, err := seat.ForwardTo(context.Background(), c, []int{4}, out); err != nil {
		t.Fatal(err)
	}
	if _, err := seat.LogitsTo(context.Background(), out, z); err != nil {
		t.Fatal(err)
	}
	if want := logitsAfter(t, m, m.NewCache(), 1, 2, 3, 4); !sameBits(z, want) {
		t.Error("afterwards the seat goes on differently")
	}
	pool.Close()
}

// Waiting for a turn is no part of what a pass took.
func TestWaitingIsNotCounted(t *testing.T) {
	m := smallModel(t)
	pool, open := held(t, m, 1)
	seat := pool.Seat()
	l := newLoop(t, seat.Model(), "Hello", pure(1))
	const wait = 20 * time.Millisecond
	start := time.Now()
	done := make(chan error)
	go func() {
		_, err := l.Advance(context.Background())
		done <- err
	}()
	waiting(pool, 1)
	time.Sleep(wait)
	open()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	total, took := time.Since(start), l.Steps()[0].Took[KindForward]
	if seat.Waited() < wait || took <= 0 || took > total-wait {
		t.Errorf("the pass took %v of %v and waited %v, at least %v", took, total, seat.Waited(), wait)
	}
	pool.Close()
}

// A job that is let go in the middle of a round, before any block, leaves its
// cache as it was and the others with the numbers that they have alone.
func TestLettingGoDisturbsNobody(t *testing.T) {
	m := smallModel(t)
	d := m.config.Width
	lengths := []int{1, 5, 1, 3, 40}
	for gone := range lengths {
		rounds := 1
		if lengths[gone] == 40 { // 22 of its tokens find a place in the first round
			rounds = 2
		}
		for blocks := range rounds * m.config.Layers {
			b := &batch{model: m, s: newScratch(m.config)}
			want := make([][]float32, len(lengths))
			for i, n := range lengths {
				tokens := make([]int, n)
				for k := range tokens {
					tokens[k] = (i*50 + k*7) % 256
				}
				alone, c := m.NewCache(), m.NewCache()
				logitsAfter(t, m, alone, 9, i)
				logitsAfter(t, m, c, 9, i)
				rows := min(n, 30)
				vectors := make([]float32, rows*d)
				if _, err := m.ForwardTo(context.Background(), alone, tokens, vectors); err != nil {
					t.Fatal(err)
				}
				j := &job{ctx: context.Background(), cache: c, start: 2, tokens: tokens, out: make([]float32, rows*d)}
				if i == gone {
					j.ctx = &lateContext{context.Background(), blocks}
				}
				b.jobs, want[i] = append(b.jobs, j), vectors
			}
			outs := make([][]float32, len(lengths))
			for i, j := range b.jobs {
				outs[i] = j.out
			}
			for range 3 { // the long one needs more than a round
				b.run()
			}
			for i, j := range b.jobs {
				switch {
				case !j.over:
					t.Errorf("job %d is not over", i)
				case i == gone:
					if !errors.Is(j.err, context.Canceled) || j.cache.Positions() != 2 {
						t.Errorf("let go after %d blocks: %v, %d positions", blocks, j.err, j.cache.Positions())
					}
				default:
					shape := m.Shape().Blocks(2, lengths[i])
					if !sameBits(outs[i], want[i]) || j.err != nil || j.tally != shape {
						t.Errorf("job %d let go after %d blocks: job %d has %v and %+v, want %+v", gone, blocks, i, j.err, j.tally, shape)
					}
				}
			}
		}
	}
}

// A prompt takes the places that are left, and never one of a token's.
func TestPlacesAreDealt(t *testing.T) {
	m := smallModel(t)
	for _, row := range []struct{ tokens, want []int }{
		{[]int{60}, []int{32}},
		{[]int{1, 60}, []int{1, 31}},
		{[]int{60, 1, 60}, []int{21, 1, 10}}, // 32/3 = 10 each; 11 are left, for the first
		{[]int{3, 1, 2}, []int{3, 1, 2}},
		{slices.Repeat([]int{60}, 16), slices.Repeat([]int{2}, 16)},
	} {
		b := &batch{model: m, s: newScratch(m.config)}
		for _, n := range row.tokens {
			b.jobs = append(b.jobs, &job{cache: m.NewCache(), tokens: make([]int, n)})
		}
		b.deal()
		var got []int
		at := 0
		for _, j := range b.reads {
			if j.from != at {
				t.Errorf("%v: a job begins at place %d, want %d", row.tokens, j.from, at)
			}
			at += j.n
			got = append(got, j.n)
		}
		if !slices.Equal(got, row.want) || len(b.s.places) != at {
			t.Errorf("%v tokens get %v places, want %v", row.tokens, got, row.want)
		}
	}
}

// More vectors than a pass has places, of several jobs, get the scores that
// they get alone.
func TestManyScoresTogether(t *testing.T) {
	m := smallModel(t)
	d, v := m.config.Width, m.config.Vocab
	b := &batch{model: m, s: newScratch(m.config)}
	var want [][]float32
	for i, n := range []int{1, 20, 17, 40, 1} {
		last, z := make([]float32, n*d), make([]float32, n*v)
		for k := range last {
			last[k] = float32((k*31+i*17)%100) / 50
		}
		alone := make([]float32, n*v)
		if _, err := m.LogitsTo(context.Background(), last, alone); err != nil {
			t.Fatal(err)
		}
		b.jobs, want = append(b.jobs, &job{ctx: context.Background(), last: last, z: z}), append(want, alone)
	}
	b.run()
	for i, j := range b.jobs {
		if n := int64(len(j.last)); !j.over || j.err != nil || !sameBits(j.z, want[i]) || j.tally != (cost.Parts{Output: n * int64(v)}) {
			t.Errorf("job %d: %v, %+v", i, j.err, j.tally)
		}
	}
}

// A panic reaches the one who caused it; those in the same round do not notice.
func TestAPanicStaysWithItsSeat(t *testing.T) {
	m := smallModel(t)
	f := smallFolder
	f.layers = 1
	shallower := f.model(t, f.random(1)) // its caches lack a block
	pool, open := held(t, m, 1)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			c := m.NewCache()
			if i == 1 {
				c = shallower.NewCache()
			}
			defer func() {
				if v := recover(); (v != nil) != (i == 1) {
					t.Errorf("seat %d: panic %v", i, v)
				}
			}()
			out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
			seat := pool.Seat()
			if _, err := seat.ForwardTo(context.Background(), c, []int{i}, out); err != nil {
				t.Error(err)
			}
			if _, err := seat.LogitsTo(context.Background(), out, z); err != nil {
				t.Error(err)
			}
			if want := logitsAfter(t, m, m.NewCache(), i); !sameBits(z, want) {
				t.Errorf("seat %d has other numbers than alone", i)
			}
		})
	}
	waiting(pool, 3)
	open()
	all.Wait()
	pool.Close()
}

// A closed pool refuses who waits and who comes; what is running is finished.
func TestClosedPoolRefuses(t *testing.T) {
	m := smallModel(t)
	pool, open := held(t, m, 1)
	results := make(chan error, 3)
	for range 3 {
		c := m.NewCache()
		go func() {
			_, err := pool.Seat().ForwardTo(context.Background(), c, []int{1}, make([]float32, m.config.Width))
			results <- err
		}()
	}
	waiting(pool, 3)
	closed := make(chan struct{})
	go func() { pool.Close(); close(closed) }()
	for range 3 {
		if err := <-results; !errors.Is(err, ErrPoolClosed) {
			t.Errorf("who waited got %v", err)
		}
	}
	open()
	<-closed
	if _, err := pool.Seat().LogitsTo(context.Background(), make([]float32, m.config.Width), make([]float32, m.config.Vocab)); !errors.Is(err, ErrPoolClosed) {
		t.Errorf("who came later got %v", err)
	}
	pool.Close() // a second time changes nothing
}

// A seat says what is wrong with a pass as the model does.
func TestSeatRefuses(t *testing.T) {
	m := smallModel(t)
	pool := NewPool(m, 1)
	defer pool.Close()
	through := pool.Seat().Model()
	if _, _, err := through.Forward(context.Background(), m.NewCache(), make([]int, 65)); err == nil || !strings.Contains(err.Error(), "65 positions do not fit") {
		t.Errorf("%v", err)
	}
	f := folder{width: 4, layers: 1, heads: 1, kvHeads: 1, headDim: 2, ffn: 2, context: 8}
	w := f.random(1)
	for i := range w["lm_head.weight"] {
		w["lm_head.weight"][i] = 3e38
	}
	broken := NewPool(f.model(t, w), 1)
	defer broken.Close()
	if _, _, err := broken.Seat().Model().Logits([]float32{1, 1, 1, 1}); err == nil || !strings.Contains(err.Error(), "token 0") {
		t.Errorf("%v, want an error that names token 0", err)
	}
}

// Once caches have room, decoding allocates nothing: not directly, not at a
// seat, not with several seats in a round.
func TestDecodingAllocatesNothing(t *testing.T) {
	m := smallModel(t)
	pool := NewPool(m, 1)
	defer pool.Close()
	seat := pool.Seat()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := m.NewCache()
	logitsAfter(t, m, c, make([]int, 20)...)
	out, z, tokens := make([]float32, m.config.Width), make([]float32, m.config.Vocab), []int{7}
	ways := map[string]*Model{"directly": m, "at a seat": seat.Model()}
	if !poolsKeep() {
		delete(ways, "directly") // the race detector has sync.Pool lose things on purpose
	}
	for name, through := range ways {
		n := testing.AllocsPerRun(200, func() {
			c.Truncate(10)
			for range 5 {
				if _, err := through.ForwardTo(ctx, c, tokens, out); err != nil {
					t.Fatal(err)
				}
				if _, err := through.LogitsTo(ctx, out, z); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations for 5 tokens", name, n)
		}
	}
	b := &batch{model: m, s: newScratch(m.config)}
	for range 4 {
		c := m.NewCache()
		c.reserve(20)
		b.jobs = append(b.jobs, &job{ctx: ctx, cache: c, out: out}, &job{ctx: ctx, last: out, z: z})
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, j := range b.jobs {
			if j.over = false; j.cache != nil {
				j.cache.Truncate(0)
				j.tokens, j.out = tokens, out
			}
		}
		b.run()
	}); n != 0 {
		t.Errorf("%v allocations a round of 8 jobs", n)
	}
}

// poolsKeep reports whether a sync.Pool gives back what was put in, as it does
// but under the race detector.
func poolsKeep() bool {
	var p sync.Pool
	for range 100 {
		p.Put(new(int))
		if p.Get() == nil {
			return false
		}
	}
	return true
}

// BenchmarkPool decodes at n seats at the same time, on one worker, and tells
// the tokens of all of them a second.
func BenchmarkPool(b *testing.B) {
	m := bundledModel(b)
	for _, n := range []int{1, 2, 4, 8, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pool := NewPool(m, 1)
			defer pool.Close()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					seat, c := pool.Seat(), m.NewCache()
					out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
					for range b.N {
						if c.Positions() == 64 {
							c.Truncate(0)
						}
						if _, err := seat.ForwardTo(context.Background(), c, []int{1}, out); err != nil {
							b.Error(err)
							return
						}
						if _, err := seat.LogitsTo(context.Background(), out, z); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
