package cost

import "testing"

// tiny is the shape of the worked examples: L 6, d 192, h 6, g 2, s 32,
// f 512, V 4096.
var tiny = Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 512, Vocab: 4096}

func TestWorkedExamples(t *testing.T) {
	// L·A = 6·(192·192 + 2·192·64 + 192·192 + 3·192·512) = 2,359,296;
	// 2·6·6·32·19 = 43,776; 192·4096 = 786,432.
	if got := tiny.Step(19).Total(); got != 3_189_504 {
		t.Errorf("cached step at 19 positions: %d, want 3,189,504", got)
	}
	if got := tiny.Pass(19).Total(); got != 46_050_816 {
		t.Errorf("pass over 19 positions: %d, want 46,050,816", got)
	}
	p := tiny.Step(19)
	if p.Projections != 589_824 || p.FeedForward != 1_769_472 || p.Attention != 43_776 || p.Output != 786_432 {
		t.Errorf(
			"parts of the step: got %+v, want Projections = 589_824, FeedForward = 1_769_472, Attention = "+
				"43_776, Output = 786_432",
			p,
		)
	}
}

func TestStepsOnACacheAddUpToOnePass(t *testing.T) {
	// Running positions one by one with a growing cache takes as many operations in the blocks as
	// running them in one pass: nothing is counted twice.
	for _, n := range []int{1, 2, 7, 19, 512} {
		var sum Parts
		for i := range n {
			sum = sum.Plus(tiny.Blocks(i, 1))
		}
		if want := tiny.Blocks(0, n); sum != want {
			t.Errorf("%d single positions cost %+v, want the same as one pass: %+v", n, sum, want)
		}
		if split, want := tiny.Blocks(0, n/2).Plus(tiny.Blocks(n/2, n-n/2)), tiny.Blocks(0, n); split != want {
			t.Errorf("two chunks of %d cost %+v, want %+v", n, split, want)
		}
	}
}

func TestGenerateCountsPositions(t *testing.T) {
	// For 500 tokens after a prompt of 1,000, recomputing runs 624,750 positions through the
	// blocks, and using the cache runs 1,499. The cost of the projections is proportional to the
	// number of positions.
	cached, recomputed := tiny.Generate(1000, 500)
	per := int64(tiny.Layers) * tiny.Projections()
	if got := recomputed.Projections / per; got != 624_750 {
		t.Errorf("recomputed: %d positions, want 624,750", got)
	}
	if got := cached.Projections / per; got != 1_499 {
		t.Errorf("cached: %d positions, want 1,499", got)
	}
}

func TestAttentionShareOfRecomputation(t *testing.T) {
	// These are attention's shares of the cost of generating N tokens after one position without a
	// cache.
	for _, c := range []struct{ n, percent int64 }{{512, 14}, {4096, 57}} {
		_, r := tiny.Generate(1, int(c.n))
		if got := (100*r.Attention + r.Total()/2) / r.Total(); got != c.percent {
			t.Errorf("N = %d: attention is %d%% of recomputation, want %d%%", c.n, got, c.percent)
		}
	}
	// With a cache, attention costs as much as the constant part at about n = 1,365.
	s := tiny.Step(1365)
	constant := s.Projections + s.FeedForward + s.Output
	if s.Attention > constant || tiny.Step(1366).Attention < constant {
		t.Errorf(
			"got attention %d, constant part %d at n = 1365; want it less there, and more at 1366", s.Attention,
			constant,
		)
	}
}

func TestKVBytes(t *testing.T) {
	llama := Shape{Layers: 32, KVHeads: 32, HeadDim: 128}
	if got := llama.KVBytes(4096, 2); got != 2<<30 {
		t.Errorf("32 layers, 32 heads of 128, fp16, 4,096 tokens: %d bytes, want 2 GiB", got)
	}
	if got := llama.KVBytes(131072, 2); got != 64<<30 {
		t.Errorf("131,072 tokens: %d bytes, want 64 GiB", got)
	}
	if got := tiny.KVBytes(1, 4); got != 3072 {
		t.Errorf("one position of the small model: %d bytes, want 3,072", got)
	}
}

func TestParameters(t *testing.T) {
	if got := tiny.Parameters(true); got != 3_148_224 {
		t.Errorf("%d parameters, want 3,148,224", got)
	}
	// GPT-2 small without biases and positions: 12·(4·768² + 2·768·3072) + 25·768 + 768·50257.
	gpt2 := Shape{Layers: 12, Width: 768, Heads: 12, KVHeads: 12, HeadDim: 64, FFN: 3072, Vocab: 50257, FFNMatrices: 2}
	if got := gpt2.Projections() + gpt2.FeedForward(); got != 4*768*768+2*768*3072 {
		t.Errorf("GPT-2: got %d multiply-adds per layer and position, want 4*768*768+2*768*3072", got)
	}
}

// TestSlidingWindowCost: in 2 of 3 layers, a token sees at most 4 positions; h·s = 8.
func TestSlidingWindowCost(t *testing.T) {
	s := Shape{Layers: 3, Width: 8, Heads: 2, KVHeads: 1, HeadDim: 4, FFN: 16, Vocab: 10, Window: 4, WindowLayers: 2}
	for _, row := range []struct{ cached, m, attended int64 }{
		{0, 1, 3 * 1},               // one position sees itself in 3 layers
		{0, 4, 3 * (1 + 2 + 3 + 4)}, // the window has no effect yet
		{0, 6, (1 + 2 + 3 + 4 + 5 + 6) + 2*(1+2+3+4+4+4)}, // the last two see 4
		{2, 4, (3 + 4 + 5 + 6) + 2*(3+4+4+4)},
		{9, 1, 10 + 2*4},
		{9, 3, (10 + 11 + 12) + 2*(4+4+4)},
	} {
		if got := s.Blocks(int(row.cached), int(row.m)).Attention; got != 2*8*row.attended {
			t.Errorf("%d positions after %d: %d, want 16 × %d", row.m, row.cached, got, row.attended)
		}
	}
	// The sums are the same for positions run one by one, for all of them together, and for the
	// cached steps of a text.
	var sum Parts
	for i := range 9 {
		sum = sum.Plus(s.Blocks(i, 1))
	}
	if sum != s.Blocks(0, 9) {
		t.Errorf("9 single positions cost %+v, want the same as one pass: %+v", sum, s.Blocks(0, 9))
	}
	// A window that is never exceeded costs the same as no window.
	wide := s
	wide.Window = 100
	none := s
	none.Window, none.WindowLayers = 0, 0
	if wide.Pass(50) != none.Pass(50) {
		t.Errorf("a wide window costs %+v, want the cost without one, %+v", wide.Pass(50), none.Pass(50))
	}
}
