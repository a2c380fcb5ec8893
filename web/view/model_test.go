package view

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

// The page says it where the weights are not the model's own.
func TestModelLineTellsOfInt8(t *testing.T) {
	for quant, want := range map[infer.Quant]bool{infer.QuantNone: false, infer.QuantInt8: true} {
		c, err := bundled.Target()
		if err != nil {
			t.Fatal(err)
		}
		m, err := infer.LoadQuantized(c, quant)
		if err != nil {
			t.Fatal(err)
		}
		if got := modelLine(m); strings.Contains(got, "int8") != want {
			t.Errorf("%s: the page says %q", quant, got)
		}
	}
}

func TestActivationsByArchitecture(t *testing.T) {
	if got := activations(
		checkpoint.Config{Architecture: "gpt2", Block: checkpoint.Block{Activation: checkpoint.GELUTanh}},
	); got != "activations: gelu(up)" {
		t.Error(got)
	}
	if got := activations(checkpoint.Config{Architecture: "qwen2"}); got != "activations: silu(gate) × up" {
		t.Error(got)
	}
	if got := activations(
		checkpoint.Config{Architecture: "gemma3", Block: checkpoint.Block{Activation: checkpoint.GELUTanh}},
	); got != "activations: gelu(gate) × up" {
		t.Error(got)
	}
}
