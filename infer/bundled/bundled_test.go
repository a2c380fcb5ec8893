package bundled

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
)

// Promise: The model that comes with the program has five million parameters.
func TestTargetParameters(t *testing.T) {
	c, err := Target()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	// The embedding, which is also the output matrix, has 4096×192 = 786,432 parameters. Each of
	// six layers has two norms of 192, q and o of 192×192, k and v of 64×192, and gate, up and down
	// of 192×1,024: 384 + 73,728 + 24,576 + 589,824 = 688,512. The last norm has 192.
	const want = 4096*192 + 6*688_512 + 192
	if got := c.Parameters(); got != want || want != 4_917_696 {
		t.Errorf("Parameters() = %d, want %d", got, want)
	}
	if got := c.Bytes(); got != 2*want { // all bfloat16
		t.Errorf("Bytes() = %d, want %d", got, 2*want)
	}
	if c.Config.Name != "tiny-5M" {
		t.Errorf("name %q, want tiny-5M", c.Config.Name)
	}
	if c.Config.BOS != 0 || !slices.Equal(c.Config.EOS, []int{0}) {
		t.Errorf("BOS %d, EOS %v, want 0, [0]", c.Config.BOS, c.Config.EOS)
	}
	if got := c.Tokenizer.Size(); got != c.Config.Vocab {
		t.Errorf("tokenizer has %d tokens, want %d", got, c.Config.Vocab)
	}
	norm, err := c.Float32("model.norm.weight", c.Config.Width)
	if err != nil {
		t.Fatal(err)
	}
	if len(norm) != 192 || slices.Max(norm) <= 0 {
		t.Errorf("last norm has %d values up to %v, want 192 with some above 0", len(norm), slices.Max(norm))
	}
}

// TestDraftSharesTheVocabulary: the draft has the same tokens with the same ids as the target, and
// a context that is at least as long.
func TestDraftSharesTheVocabulary(t *testing.T) {
	target, err := Target()
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	draft, err := Draft()
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Close()

	if draft.Config.Vocab != target.Config.Vocab || draft.Config.Context < target.Config.Context {
		t.Errorf(
			"draft has %d tokens and context %d, want the target's %d and at least %d", draft.Config.Vocab,
			draft.Config.Context, target.Config.Vocab, target.Config.Context,
		)
	}
	for id := range target.Config.Vocab {
		if a, b := target.Tokenizer.Bytes(id), draft.Tokenizer.Bytes(id); string(a) != string(b) {
			t.Fatalf("token %d is %q to the target and %q to the draft; want %q", id, a, b, string(b))
		}
	}
	if draft.Parameters() != 819_648 {
		t.Errorf("the draft has %d parameters, want 819,648", draft.Parameters())
	}
	step := func(c *checkpoint.Checkpoint, n int) int64 {
		g := c.Config
		return cost.Shape{
			Layers: g.Layers, Width: g.Width, Heads: g.Heads, KVHeads: g.KVHeads, HeadDim: g.HeadDim, FFN: g.FFN,
			Vocab: g.Vocab,
		}.Step(n).Total()
	}
	for _, n := range []int{1, 100, 512} {
		if d, whole := step(draft, n), step(target, n); 8*d > whole {
			t.Errorf(
				"with %d positions, a step of the draft takes %d multiply-adds, more than an eighth of the target's %d",
				n, d, whole,
			)
		}
	}
}
