package lab

import (
	"runtime"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

const gib = 1 << 30

// TestMemoryCalculatorByHand checks the figures of the lesson's 32-layer example and others
// calculated by hand.
func TestMemoryCalculatorByHand(t *testing.T) {
	for _, c := range []struct {
		changed terms.Values
		bytes   float64 // the size of the cache
		users   int64
	}{
		// 2·32·32·128·4096·2 bytes = 2 GiB; (24 − 12.55) / 2 = 5 whole texts.
		{terms.Values{"batch": "1", "preset": "example-32", "positions": "4096"}, 2 * gib, 5},
		{terms.Values{"batch": "1", "preset": "example-32", "positions": "131072"}, 64 * gib, 0},
		// 8 KV heads for 32 heads take a quarter of 2 GiB; 11.45 / 0.5 = 22 whole texts.
		{terms.Values{"batch": "1", "preset": "example-32", "kv_heads": "8"}, gib / 2, 22},
		// 2·80·8·128·4096·2 = 1.25 GiB. 137.95e9 bytes of weights are 128.48 GiB, and (160 −
		// 128.48) / 1.25 = 25 whole texts.
		{terms.Values{"batch": "1", "preset": "llama-2-70b", "memory": "160"}, 1.25 * gib, 25},
		// 2·12·12·64·1024·4 = 72 MiB for each of the four texts. Alongside weights of 2 bytes each,
		// (25,769,803,776 − 248,879,616) / 75,497,472 = 338.03 fit.
		{terms.Values{"preset": "gpt-2", "positions": "1024", "precision": "fp32", "batch": "4"}, 4 * 72 << 20, 338},
		// Half a byte per value gives 0.5 GiB; the weights do not fit into one GiB.
		{terms.Values{"batch": "1", "preset": "llama-2-7b", "precision": "int4", "memory": "1"}, gib / 2, 0},
	} {
		m, _ := result[*Memory](t, "memory", c.changed)
		if m.Bytes != c.bytes || m.Users != c.users {
			t.Errorf("%v: %v bytes and %d users, want %v and %d", c.changed, m.Bytes, m.Users, c.bytes, c.users)
		}
		now := 0
		for _, x := range m.Variants {
			if x.Now {
				now++
				if x.Users != m.Users || x.Bytes != m.Bytes {
					t.Errorf(
						"%v: %s has %v bytes, the model %v; want x.Users = %d, x.Bytes = %v", c.changed, x.Name,
						x.Bytes, m.Bytes, m.Users, m.Bytes,
					)
				}
			}
			if x.Saving != float64(m.Model.Heads)/float64(x.KVHeads) || m.Variants[0].Bytes != x.Bytes*x.Saving {
				t.Errorf(
					"%v: %s saves %v; want x.Saving = %v, m.Variants[0].Bytes = %v", c.changed, x.Name, x.Saving,
					float64(m.Model.Heads)/float64(x.KVHeads), x.Bytes*x.Saving,
				)
			}
		}
		if now != 1 || m.Variants[0].Name != "MHA" || m.Variants[len(m.Variants)-1].Name != "MQA" {
			t.Errorf(
				"%v: variants %+v; want now = 1, m.Variants[0].Name = %q, m.Variants[len(m.Variants)-1].Name = %q",
				c.changed, m.Variants, "MHA", "MQA",
			)
		}
	}
	m, _ := result[*Memory](t, "memory", terms.Values{"batch": "1", "preset": "example-32", "positions": "131072"})
	// 64 GiB is about five times the 12.55 GiB of weights.
	if times := m.Bytes / m.WeightBytes; !near(times, 5.1, 0.05) {
		t.Errorf("the cache is %v times the weights, want about 5.1", times)
	}
	if !near(m.Overtakes, m.WeightBytes/(512<<10), 1e-6) {
		t.Errorf("overtakes at %v, want about %v", m.Overtakes, m.WeightBytes/(512<<10))
	}
}

func TestPublishedParameters(t *testing.T) {
	want := map[string]int64{
		// 2·32000·4096 + 32·(4·4096² + 3·4096·11008 + 2·4096) + 4096
		"llama-2-7b": 6_738_415_616,
		// 2·32000·8192 + 80·(2·8192² + 2·8192·1024 + 3·8192·28672 + 2·8192) + 8192
		"llama-2-70b": 68_976_648_192,
		// 2·32000·4096 + 32·(2·4096² + 2·4096·1024 + 3·4096·14336 + 2·4096) + 4096
		"mistral-7b": 7_241_732_096,
		// 50257·768 + 1024·768 + 12·(4·768² + 2·768·3072 + 9·768 + 3072 + 4·768) + 2·768: each
		// block's biases are 3 + 1 + 1 widths and 3072, and its norms are 4 widths
		"gpt-2": 50257*768 + 1024*768 + 12*(12*768*768+13*768) + 2*768,
	}
	for _, m := range published {
		if n, listed := want[m.Key]; listed && n != m.Parameters {
			t.Errorf("%s has %d parameters, want %d", m.Key, m.Parameters, n)
		}
	}
}

func TestMemoryListsContextWindows(t *testing.T) {
	m, _ := result[*Memory](t, "memory", terms.Values{"batch": "1", "preset": "mistral-7b"})
	want := map[string][2]int{
		"GPT-2": {1024, 2019}, "GPT-3": {2048, 2020}, "GPT-4": {8192, 2023}, "Claude 3": {200_000, 2024},
		"Gemini 1.5 Pro": {1_000_000, 2024},
	}
	for _, w := range m.Windows {
		if x, listed := want[w.Name]; (!w.Loaded && !listed) || listed && (x != [2]int{
			w.Tokens, w.Year,
		} || w.Source.IsZero()) {
			t.Errorf("got window %+v, want the tokens, year and source of %v, or the loaded window", w, want)
		}
		if w.Bytes != 128<<10*float64(w.Tokens) { // 2·32·8·128·2 bytes per token
			t.Errorf("%s: got %v bytes, want %v", w.Name, w.Bytes, 128<<10*float64(w.Tokens))
		}
	}
	if len(m.Windows) != 6 || !m.Windows[0].Loaded || m.Windows[0].Tokens != models(t).Target.Config().Context {
		t.Errorf(
			"got windows %+v, want 6, the first one the loaded model's with %d tokens", m.Windows,
			models(t).Target.Config().Context,
		)
	}
}

// TestEngineMemoryEqualsFormula: at every step, the number of bytes that the engine reports equals
// the result of the formula.
func TestEngineMemoryEqualsFormula(t *testing.T) {
	m, _ := result[*Memory](t, "memory", terms.Values{"tokens": "60"})
	shape := models(t).Target.Shape()
	if !m.Engine.Agree || len(m.Engine.Steps) == 0 {
		t.Fatalf("agree %v after %d steps; want true, not 0", m.Engine.Agree, len(m.Engine.Steps))
	}
	room := 0
	for i, s := range m.Engine.Steps {
		if s.Positions != m.Engine.Prompt+i || s.Used != shape.KVBytes(s.Positions, 4) || s.Room < s.Positions ||
			s.Room < room || s.Reserved != shape.KVBytes(s.Room, 4) {
			t.Errorf(
				"step %d: got %+v, want %d positions, with the formula's bytes for the used and the reserved ones",
				s.Step, s, m.Engine.Prompt+i,
			)
		}
		room = s.Room
	}
	for _, c := range [][4]int{{8, 8, 512, 8}, {8, 9, 512, 16}, {400, 401, 512, 512}, {1, 40, 512, 40}} {
		if got := roomAfter(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("room %d, %d positions of %d: %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}

// TestReservedIsAllocated: the memory that a cache reports as reserved is actually
// allocated.
func TestReservedIsAllocated(t *testing.T) {
	m := models(t).Target
	const texts, positions = 24, 150
	read := func(c *infer.Cache) {
		for i := range positions {
			if _, _, err := m.Forward(t.Context(), c, []int{i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	read(m.NewCache()) // allocates scratch memory
	held := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc)
	}
	before := held()
	caches := make([]*infer.Cache, texts)
	reserved := 0.0
	for i := range caches {
		caches[i] = m.NewCache()
		read(caches[i])
		reserved += float64(caches[i].Reserved())
	}
	got := held() - before
	runtime.KeepAlive(caches)
	// The caches have doubled their capacity to 256 to hold 150 positions.
	if want := texts * float64(m.Shape().KVBytes(256, 4)); reserved != want {
		t.Errorf("%v bytes reserved, want %v", reserved, want)
	}
	if !near(got/reserved, 1, 0.03) {
		t.Errorf("got %v bytes reserved, %v allocated; want about the same", reserved, got)
	}
}
