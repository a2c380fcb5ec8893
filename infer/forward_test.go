package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// sameBits reports whether two vectors are equal bit for bit.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// generate generates n tokens and returns the loop.
func generate(tb testing.TB, m *Model, prompt string, n int, s Settings) *Loop {
	tb.Helper()
	s.Stop.MaxTokens = n
	l, err := NewLoop(m, prompt, s)
	if err != nil {
		tb.Fatal(err)
	}
	finish(tb, l)
	return l
}

func pure(seed uint64) Settings {
	return Settings{Settings: sampling.Pure, Seed: seed, Stop: Stop{MaxTokens: 64}}
}

// TestCachedEqualsUncached: over 200 tokens, decoding with a cache gives the same logits, bit for
// bit, as running the whole text again. With VIZ_LONG=1, the whole text is run again at every
// token; otherwise, only at the first 24 tokens and at every tenth token after them.
// Promise: Results with the cache are the same as without it, bit for bit.
func TestCachedEqualsUncached(t *testing.T) {
	m := bundledModel(t)
	text := m.Encode("Once upon a time")
	cached := m.NewCache()
	z := logitsAfter(t, m, cached, text...)
	for n := 1; n <= 200; n++ {
		if n <= 24 || n%10 == 0 || os.Getenv("VIZ_LONG") == "1" {
			if got := logitsAfter(t, m, m.NewCache(), text...); !sameBits(got, z) {
				t.Fatalf("token %d: the logits with and without the cache differ", n)
			}
		}
		d := sampling.Decide(z, sampling.Pure)
		id := int(d.Order[d.Draw(sampling.U(11, n))])
		if m.EOS(id) { // the text must not end yet
			id = int(d.Order[1])
		}
		text = append(text, id)
		z = logitsAfter(t, m, cached, id)
	}
	// The positions that were not rerun are also the same: one pass over the whole text writes the
	// same values to its cache as 200 single steps.
	c := m.NewCache()
	if got := logitsAfter(t, m, c, text...); !sameBits(got, z) || c.Positions() != cached.Positions() {
		t.Fatalf(
			"one pass over all %d positions differs from %d positions step by step", c.Positions(), cached.Positions(),
		)
	}
	for b := range m.Config().Layers {
		for i := range c.Positions() {
			k, v := c.Column(b, i)
			key, value := cached.Column(b, i)
			if !sameBits(k, key) || !sameBits(v, value) {
				t.Fatalf("block %d, position %d: the keys or values differ", b, i)
			}
		}
	}
}

// TestChunkingDoesNotChangeTheResult: a text gives the same logits and the same cache whether it is
// read in one pass, token by token, or in chunks of any size.
func TestChunkingDoesNotChangeTheResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for name, m := range map[string]*Model{"bundled": bundledModel(t), "small": smallModel(t)} {
		ids := make([]int, 64)
		for i := range ids {
			ids[i] = rng.IntN(m.Config().Vocab)
		}
		whole := m.NewCache()
		want := logitsAfter(t, m, whole, ids...)
		for trial := range 8 {
			c, rest := m.NewCache(), ids
			var got []float32
			var sizes []int
			for len(rest) > 0 {
				n := 1 // the first trial reads token by token
				if trial > 0 {
					n += rng.IntN(min(len(rest), 40))
				}
				got, rest, sizes = logitsAfter(t, m, c, rest[:n]...), rest[n:], append(sizes, n)
			}
			if !sameBits(got, want) {
				t.Errorf("%s: in chunks of %v, the logits differ from one pass", name, sizes)
			}
			for b := range m.Config().Layers {
				if n := len(ids) * c.width; !sameBits(c.keys[b][:n], whole.keys[b][:n]) ||
					!sameBits(c.values[b][:n], whole.values[b][:n]) {
					t.Errorf("%s: in chunks of %v, the cache of block %d differs", name, sizes, b)
				}
			}
		}
	}
}

// TestTruncateThenContinue: after a cache is truncated to a position, reading continues as if the
// dropped positions had never been read.
func TestTruncateThenContinue(t *testing.T) {
	m := smallModel(t)
	ids := []int{endID, 72, 101, 108, 108, 111, 32, 119, 111, 114}
	for n := range len(ids) {
		c := m.NewCache()
		logitsAfter(t, m, c, ids...)
		logitsAfter(t, m, c, 1, 2, 3)
		c.Truncate(n)
		if c.Positions() != n {
			t.Fatalf("got %d positions after Truncate(%d), want %d", c.Positions(), n, n)
		}
		c.Truncate(n + 5) // nothing to drop
		got := logitsAfter(t, m, c, ids[n:]...)
		if want := logitsAfter(t, m, m.NewCache(), ids...); !sameBits(got, want) {
			t.Errorf("after truncating to %d positions, the logits differ from a fresh cache", n)
		}
	}
}

// TestTallyEqualsFormulas: the pass's tally equals the formulas of infer/cost, for every shape and
// after any number of cached positions.
func TestTallyEqualsFormulas(t *testing.T) {
	one := folder{smallmodel.Folder{Width: 12, Layers: 3, Heads: 3, KVHeads: 1, HeadDim: 6, FFN: 20, Context: 80}}
	for name, m := range map[string]*Model{
		"bundled": bundledModel(t), "small": smallModel(t), "one key/value head": one.model(t, one.Random(1)),
	} {
		shape := m.Shape()
		for _, prompt := range []int{1, 2, 19, 33, 60} {
			c := m.NewCache()
			pass := countedPass(t, m, c, make([]int, prompt))
			if want := shape.Pass(prompt); pass != want {
				t.Errorf("%s: a pass over %d positions tallied %+v, want the formula's %+v", name, prompt, pass, want)
			}
			for n := prompt + 1; n < prompt+4; n++ {
				if got, want := countedPass(t, m, c, []int{1}), shape.Step(n); got != want {
					t.Errorf("%s: attending to %d positions tallied %+v, want the formula's %+v", name, n, got, want)
				}
			}
		}
	}
}

func countedPass(t *testing.T, m *Model, c *Cache, tokens []int) cost.Parts {
	t.Helper()
	last, blocks, err := m.Forward(context.Background(), c, tokens)
	if err != nil {
		t.Fatal(err)
	}
	_, output, err := m.Logits(last)
	if err != nil {
		t.Fatal(err)
	}
	return blocks.Plus(output)
}

// TestWorkedExampleIsTallied compares the tally with a worked example: L 6, d 192, h 6, g 2, s 32,
// f 1024, V 4096 at n = 19. A = 192·6·32 + 2·192·2·32 + 6·32·192 + 3·192·1024 = 36,864 + 24,576 +
// 36,864 + 589,824 = 688,128. One step: 6·688,128 + 2·6·6·32·19 + 192·4096 = 4,128,768 + 43,776 +
// 786,432. One pass: 19·4,128,768 + 6·6·32·19·20 + 786,432 = 78,446,592 + 437,760 + 786,432.
func TestWorkedExampleIsTallied(t *testing.T) {
	m := bundledModel(t)
	if got := countedPass(t, m, m.NewCache(), make([]int, 19)); got.Total() != 79_670_784 {
		t.Errorf("a pass over 19 positions tallied %d multiply-adds (%+v), want 79,670,784", got.Total(), got)
	}
	c := m.NewCache()
	countedPass(t, m, c, make([]int, 18))
	want := cost.Parts{Projections: 6 * 98_304, FeedForward: 6 * 589_824, Attention: 43_776, Output: 786_432}
	if got := countedPass(t, m, c, []int{0}); got.Total() != 4_958_976 || got != want {
		t.Errorf("the 19th position alone tallied %+v = %d, want %+v = 4,958,976", got, got.Total(), want)
	}
}

// TestCacheBytesPerPosition: a cache takes 2 × layers × kvHeads × headDim × positions × 4 bytes.
// With 6 layers of 2 × 32 values, that is 3,072 bytes per position.
func TestCacheBytesPerPosition(t *testing.T) {
	m := bundledModel(t)
	c := m.NewCache()
	if c.Bytes() != 0 || c.Reserved() != 0 || c.Positions() != 0 {
		t.Errorf(
			"a new cache has %d bytes, %d reserved, %d positions; want 0, 0, 0", c.Bytes(), c.Reserved(), c.Positions(),
		)
	}
	grown := 0
	for n := 1; n <= 100; n++ {
		before := c.Reserved()
		if _, _, err := m.Forward(context.Background(), c, []int{1}); err != nil {
			t.Fatal(err)
		}
		if c.Reserved() != before {
			grown++
		}
		if want := int64(3072 * n); c.Bytes() != want || c.Reserved() < want || c.Reserved() > 2*want ||
			m.Shape().KVBytes(
				n, 4,
			) != want {
			t.Errorf(
				"%d positions: %d bytes, %d reserved; want %d and at most twice that", n, c.Bytes(), c.Reserved(), want,
			)
		}
	}
	if grown > 8 { // 1, 2, 4, ... 128
		t.Errorf("the cache was moved %d times while growing to 100 positions, want at most 8", grown)
	}
	c.Truncate(10)
	if c.Bytes() != 30_720 {
		t.Errorf("after truncating to 10 positions, the cache has %d bytes, want 30,720", c.Bytes())
	}
}

// TestReservedStaysWithinTheContext: at the end of the window, the cache reserves exactly as much
// as it needs.
func TestReservedStaysWithinTheContext(t *testing.T) {
	m := smallModel(t) // context 64, 2 layers, 2 × 4 values
	c := m.NewCache()
	logitsAfter(t, m, c, make([]int, 40)...)
	logitsAfter(t, m, c, make([]int, 24)...)
	if want := m.Shape().KVBytes(64, 4); c.Reserved() != want || c.Bytes() != want {
		t.Errorf("a full window takes %d bytes and reserves %d, want %d", c.Bytes(), c.Reserved(), want)
	}
}

// TestColumnIsACopy: changing a column that Column returned does not change the cache.
func TestColumnIsACopy(t *testing.T) {
	m := smallModel(t)
	c := m.NewCache()
	logitsAfter(t, m, c, 1, 2, 3)
	k, v := c.Column(1, 2)
	if len(k) != 8 || len(v) != 8 {
		t.Fatalf("a column has %d and %d values, want 2 heads of 4 each", len(k), len(v))
	}
	want := slices.Clone(k)
	clear(k)
	clear(v)
	if again, _ := c.Column(1, 2); !sameBits(again, want) {
		t.Error("writing to a column changed the cache")
	}
	// The columns of two texts that differ in their third token differ from
	// there on.
	other := m.NewCache()
	logitsAfter(t, m, other, 1, 2, 9)
	for position, want := range []bool{true, true, false} {
		a, _ := c.Column(1, position)
		b, _ := other.Column(1, position)
		if sameBits(a, b) != want {
			t.Errorf("position %d: same column = %v, want %v", position, !want, want)
		}
	}
}

func TestForwardRefusesBadInput(t *testing.T) {
	m := smallModel(t)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, row := range []struct {
		name   string
		ctx    context.Context
		tokens []int
		want   string
	}{
		{"window full", context.Background(), make([]int, 62), "65 positions exceed the model's context of 64"},
		{
			"id too high", context.Background(),
			[]int{1, m.Config().Vocab},
			fmt.Sprintf("token %d is outside the vocabulary of %d tokens", m.Config().Vocab, m.Config().Vocab),
		},
		{"id negative", context.Background(), []int{-1}, "token -1 is outside the vocabulary"},
		{"canceled", canceled, []int{1}, "context canceled"},
		{"canceled, several chunks", canceled, make([]int, 50), "context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := m.NewCache()
			logitsAfter(t, m, c, 1, 2, 3)
			last, _, err := m.Forward(row.ctx, c, row.tokens)
			if last != nil || err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, %v; want an error with %q", last, err, row.want)
			}
			if c.Positions() != 3 {
				t.Fatalf("got %d positions after the error, want the 3 from before", c.Positions())
			}
			if got, want := logitsAfter(t, m, c, 4), logitsAfter(t, m, m.NewCache(), 1, 2, 3, 4); !sameBits(got, want) {
				t.Error("after the error, the cache continues differently")
			}
		})
	}
}

// lateContext is a context that ends after a given number of calls to Err, so a pass is interrupted
// between two of its blocks.
type lateContext struct {
	context.Context
	left int
}

func (c *lateContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedPassChangesNothing: a pass interrupted at any block of any chunk
// leaves the cache unchanged.
func TestInterruptedPassChangesNothing(t *testing.T) {
	m := smallModel(t)
	ids := make([]int, 50) // 2 chunks of 2 blocks
	want := logitsAfter(t, m, m.NewCache(), append([]int{7}, ids...)...)
	for left := range 4 {
		c := m.NewCache()
		logitsAfter(t, m, c, 7)
		if _, _, err := m.Forward(&lateContext{context.Background(), left}, c, ids); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d blocks: got error %v, want %v", left, err, context.Canceled)
		}
		if c.Positions() != 1 {
			t.Fatalf("interrupted after %d blocks: %d positions, want 1", left, c.Positions())
		}
		if got := logitsAfter(t, m, c, ids...); !sameBits(got, want) {
			t.Errorf("interrupted after %d blocks, the cache continues differently", left)
		}
	}
}

// TestLogitsRefuseInfinity: weights that overflow float32 give an error, not a row of NaN.
func TestLogitsRefuseInfinity(t *testing.T) {
	f := folder{smallmodel.Folder{Width: 4, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, FFN: 2, Context: 8}}
	w := f.Random(1)
	for i := range w["lm_head.weight"] {
		w["lm_head.weight"][i] = math.MaxFloat32
	}
	m := f.model(t, w)
	last, _, err := m.Forward(context.Background(), m.NewCache(), []int{5})
	if err != nil {
		t.Fatal(err)
	}
	z, _, err := m.Logits([]float32{last[0], last[0], last[0], last[0]})
	if z != nil || err == nil || !strings.Contains(err.Error(), "token 0") {
		t.Errorf("%v, %v; want an error that names token 0", z, err)
	}
	clear(w["lm_head.weight"][:3*4]) // gives three tokens the score 0
	z, _, err = f.model(t, w).Logits([]float32{last[0], last[0], last[0], last[0]})
	if z != nil || err == nil || !strings.Contains(err.Error(), "token 3") {
		t.Errorf("%v, %v; want an error that names token 3", z, err)
	}
}
