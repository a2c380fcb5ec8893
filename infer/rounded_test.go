package infer

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
)

// TestRoundedCopyEqualsLoadedInt8: a copy rounded to int8 equals the model loaded as int8, bit for
// bit; one rounded to Q4_0 has at most 16 distinct values among 32 neighbors; and the original does
// not change.
func TestRoundedCopyEqualsLoadedInt8(t *testing.T) {
	c, err := bundled.Draft()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadQuantized(c, QuantInt8)
	if err != nil {
		t.Fatal(err)
	}
	ids := m.Encode("Once upon a time")
	last := func(m *Model) []float32 {
		v, _, err := m.Forward(context.Background(), m.NewCache(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := last(m)
	int8, err := m.Rounded(QuantInt8)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(last(int8), last(loaded)) || int8.Hash() != loaded.Hash() || int8.Quant() != QuantInt8 {
		t.Error("rounding to int8 and loading as int8 differ")
	}
	q4, err := m.Rounded(QuantQ4)
	if err != nil {
		t.Fatal(err)
	}
	own, rounded := m.BlockMatrices()[0], q4.BlockMatrices()[0]
	a, b := make([]float32, own.Cols), make([]float32, own.Cols)
	own.Row(a, 5)
	rounded.Row(b, 5)
	for at := 0; at < len(a); at += 32 {
		levels, most := map[float32]bool{}, 0.0
		for i := at; i < at+32; i++ {
			levels[b[i]] = true
			most = max(most, math.Abs(float64(a[i])))
		}
		for i := at; i < at+32; i++ {
			// Levels are 2·most/16 apart, and there is no level at the top of the range, so the
			// largest values may be off by a whole level.
			if off := math.Abs(float64(a[i] - b[i])); off > most/8*1.001 || len(levels) > 16 {
				t.Errorf(
					"weight %d of %v became %v, %d levels; want off at most %v, len(levels) at most 16", i, a[i], b[i],
					len(levels), most/8*1.001,
				)
			}
		}
	}
	if slices.Equal(last(q4), before) || !slices.Equal(last(m), before) || q4.Hash() == m.Hash() {
		t.Error("Rounded returned the model itself or changed it")
	}
	if _, err := int8.Rounded(QuantQ4); err == nil || !strings.Contains(err.Error(), "already rounded to int8") {
		t.Errorf("twice: got error %v, want an error containing %q", err, "already rounded to int8")
	}
	narrow := openModel(t, "gpt2-f32.gguf") // width 24
	if _, err := narrow.Rounded(QuantQ4); err == nil || !strings.Contains(
		err.Error(), "block 0: a row has 24 values, but Q4_0 requires a multiple of 32",
	) {
		t.Errorf(
			"rows of 24: got error %v, want an error containing %q", err,
			"block 0: a row has 24 values, but Q4_0 requires a multiple of 32",
		)
	}
}
