package stage

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

func TestActivationsByArchitecture(t *testing.T) {
	if got := English.activations(
		checkpoint.Config{Architecture: "gpt2", Block: checkpoint.Block{Activation: checkpoint.GELUTanh}},
	); got != "activations: gelu(up)" {
		t.Errorf("got %q, want %q", got, "activations: gelu(up)")
	}
	if got := English.activations(checkpoint.Config{Architecture: "qwen2"}); got != "activations: silu(gate) × up" {
		t.Errorf("got %q, want %q", got, "activations: silu(gate) × up")
	}
	if got := English.activations(
		checkpoint.Config{Architecture: "gemma3", Block: checkpoint.Block{Activation: checkpoint.GELUTanh}},
	); got != "activations: gelu(gate) × up" {
		t.Errorf("got %q, want %q", got, "activations: gelu(gate) × up")
	}
}
