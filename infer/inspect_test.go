package infer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// TestInspectionMatchesTheRun compares an inspection with the values that the run itself stored:
// the cached keys and values, and the logits. They must be equal bit for bit, since a page shows
// them side by side.
func TestInspectionMatchesTheRun(t *testing.T) {
	c, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	loop, err := NewLoop(m, "Once upon a time there was a", DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	for range 5*7 + 2 { // five turns, then the sixth up to its logits stage
		if _, err := loop.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	columns := loop.Cache().Positions()
	for _, step := range loop.Steps() {
		pos := step.Positions() - 1
		in, err := m.Inspect(context.Background(), loop.Cache(), step.Input[len(step.Input)-1], pos)
		if err != nil {
			t.Fatal(err)
		}
		for l, b := range in.Blocks {
			key, value := loop.Cache().Column(l, pos)
			if !slices.Equal(b.Key, key) || !slices.Equal(b.Value, value) {
				t.Fatalf("step %d, block %d: the key or value differs from the cached one", step.N, l+1)
			}
			if len(b.Attention) != 6 {
				t.Fatalf("block %d: %d heads, want 6", l+1, len(b.Attention))
			}
			for h, w := range b.Attention {
				var sum float64
				for _, a := range w {
					sum += float64(a)
				}
				if len(w) != pos+1 || !(math.Abs(sum-1) <= 1e-5) {
					t.Errorf(
						"block %d, head %d: %d weights that sum to %v, want %d and 1", l+1, h+1, len(w), sum, pos+1,
					)
				}
			}
			checkMixes(t, loop.Cache(), l, &b)
			if l > 0 && b.NormIn != in.Blocks[l-1].NormOut {
				t.Errorf(
					"block %d begins with norm %v, the one before ended with %v", l+1, b.NormIn, in.Blocks[l-1].NormOut,
				)
			}
		}
		if in.Blocks[0].NormIn != in.Embedding {
			t.Errorf("block 1 begins with norm %v, want the embedding's norm %v", in.Blocks[0].NormIn, in.Embedding)
		}
		p, _, _ := sampling.Softmax(step.Logits, 1)
		for i, says := range in.Blocks[5].Says {
			if id := int(sampling.Rank(step.Logits)[i]); says.Token.ID != id || says.P != p[id] {
				t.Errorf(
					"step %d: the last block predicts %q %v, the logits %q %v; want says.Token.ID = %d, says.P = %v",
					step.N, says.Token.Text, says.P, m.Token(id).Text, p[id], id, p[id],
				)
			}
		}
	}
	if loop.Cache().Positions() != columns {
		t.Errorf("the inspection changed the cache from %d columns to %d", columns, loop.Cache().Positions())
	}
}

// checkMixes adds up every head's weights times the cached values, in a different order and with
// higher precision than the pass, and compares the terms with the cache.
func checkMixes(t *testing.T, c *Cache, l int, b *BlockView) {
	t.Helper()
	const size, group = 32, 3 // the bundled model's values
	for h, mix := range b.Mixes {
		value := func(at int) []float32 {
			_, values := c.Column(l, at)
			return values[h/group*size : (h/group+1)*size]
		}
		sum := make([]float64, size)
		for at, w := range b.Attention[h] {
			for i, x := range value(at) {
				sum[i] += float64(w) * float64(x)
			}
		}
		for i, x := range mix.Sum {
			if math.Abs(sum[i]-float64(x)) > 1e-5 {
				t.Fatalf("block %d, head %d: output %d is %v, want %v", l+1, h+1, i+1, x, sum[i])
			}
		}
		order := sampling.Rank(b.Attention[h])
		if want := min(MixTerms, len(order)); len(mix.Terms) != want {
			t.Fatalf("block %d, head %d: %d terms, want %d", l+1, h+1, len(mix.Terms), want)
		}
		for i, term := range mix.Terms {
			if term.Position != int(order[i]) || !slices.Equal(term.Value, value(term.Position)) {
				t.Errorf("block %d, head %d: term %d is not the value at position %d", l+1, h+1, i+1, order[i])
			}
		}
	}
	if len(b.Mixes) != len(b.Attention) {
		t.Errorf("block %d: %d heads have an output, want %d", l+1, len(b.Mixes), len(b.Attention))
	}
}

// TestInspectionMatchesTheWatch: the norms of an inspection are the norms of the streams that a watched
// pass keeps. Between a block's halves, the stream is the block's output without the vector of the
// feed-forward layer.
func TestInspectionMatchesTheWatch(t *testing.T) {
	m := smallModel(t)
	ids := m.Encode("Hello there")
	w, err := m.Watch(context.Background(), ids, false)
	if err != nil {
		t.Fatal(err)
	}
	last, d := len(ids)-1, m.config.Width
	in, err := m.Inspect(context.Background(), w.cache, ids[last], last)
	if err != nil {
		t.Fatal(err)
	}
	for l, b := range in.Blocks {
		mid := slices.Clone(w.stream[l+1][last*d:])
		for i, x := range w.fed[l][last*d:] {
			mid[i] -= x
		}
		for name, pair := range map[string][2]float64{
			"before the block":   {b.NormIn, norm(w.stream[l][last*d:])},
			"between its halves": {b.NormMid, norm(mid)},
			"after the block":    {b.NormOut, norm(w.stream[l+1][last*d:])},
		} {
			if got, want := pair[0], pair[1]; !(math.Abs(got-want) <= 1e-4*want) {
				t.Errorf("block %d: the norm %s is %v, want %v", l+1, name, got, want)
			}
		}
	}
}
