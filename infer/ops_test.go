package infer

import (
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

// TestActivationsByHand: activations equal values computed by hand: Φ(1) = 0.8413447 and Φ(−2) =
// 0.0227501; the tanh form of GELU at 1 is ½·(1 + tanh(0.7978846·1.044715)) = 0.8411920; silu(1) =
// 1/(1 + e⁻¹) = 0.7310586.
func TestActivationsByHand(t *testing.T) {
	for _, row := range []struct {
		f       checkpoint.Activation
		x, want float64
	}{
		{checkpoint.GELU, 1, 0.8413447},
		{checkpoint.GELU, -2, -0.0455003},
		{checkpoint.GELU, 0, 0},
		{checkpoint.GELU, 30, 30},
		{checkpoint.GELUTanh, 1, 0.8411920},
		{checkpoint.GELUTanh, -2, -0.0454023},
		{checkpoint.GELUTanh, 0, 0},
		{checkpoint.GELUTanh, -30, 0},
		{checkpoint.SiLU, 1, 0.7310586},
		{checkpoint.SiLU, -1, -0.2689414},
		{checkpoint.SiLU, 0, 0},
	} {
		x := []float32{float32(row.x)}
		activate(row.f, x)
		if !(math.Abs(float64(x[0])-row.want) <= 1e-6) {
			t.Errorf("activation %d of %v is %v, want %v", row.f, row.x, x[0], row.want)
		}
		gate, up := []float32{float32(row.x)}, []float32{-3}
		activateGate(row.f, gate, up)
		if !(math.Abs(float64(gate[0])+3*row.want) <= 3e-6) {
			t.Errorf("activation %d of gate %v, times −3, is %v, want %v", row.f, row.x, gate[0], -3*row.want)
		}
	}
}

// TestNormalizationsByHand: a norm over heads of 2 values gives each head a mean square of 1
// (before the weights are applied), a norm over both heads together scales both by the same factor,
// and the zero value of normalization returns its input, not a copy.
func TestNormalizationsByHand(t *testing.T) {
	x := []float32{3, 4, 0, 10} // mean squares 12.5 and 50; 31.25 together
	dst := make([]float32, 4)
	for _, row := range []struct {
		name string
		norm normalization
		want []float64
	}{
		{
			"each head",
			normalization{weight: []float32{1, 2}},
			[]float64{3 / math.Sqrt(12.5), 8 / math.Sqrt(12.5), 0, 20 / math.Sqrt(50)},
		},
		{
			"all heads",
			normalization{weight: []float32{1, 2, 1, 1}},
			[]float64{3 / math.Sqrt(31.25), 8 / math.Sqrt(31.25), 0, 10 / math.Sqrt(31.25)},
		},
		{"LayerNorm", normalization{weight: []float32{1, 1}, bias: []float32{0, 5}}, []float64{-1, 6, -1, 6}},
		{"none", normalization{}, []float64{3, 4, 0, 10}},
	} {
		for i, v := range row.norm.of(dst, x) {
			if !(math.Abs(float64(v)-row.want[i]) <= 1e-5) {
				t.Errorf("%s: value %d is %v, want %v", row.name, i, v, row.want[i])
			}
		}
	}
	if got := (normalization{}).of(dst, x); &got[0] != &x[0] {
		t.Error("a zero normalization copies its input")
	}
}
