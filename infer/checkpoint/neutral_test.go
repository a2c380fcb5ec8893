package checkpoint

import (
	"strings"
	"testing"
)

// truthPair returns a pair whose value is true or false.
func truthPair(key string, v bool) ggufPair {
	return ggufPair{key, 7, []byte{map[bool]byte{false: 0, true: 1}[v]}}
}

// TestKeysThatChangeTheResultAreRefused: a key that no architecture here supports is rejected by
// name, in both formats and for every architecture, unless its value changes nothing.
// Promise: A model that needs something unsupported is refused, and the message names the setting.
func TestKeysThatChangeTheResultAreRefused(t *testing.T) {
	for _, arch := range []string{"llama", "qwen3", "gemma3", "smollm3", "olmo2"} {
		for _, test := range []struct {
			neutral, other ggufPair
			want           string
		}{
			{
				truthPair("attention.causal", true), truthPair("attention.causal", false),
				"attention.causal is false; only true is supported",
			},
			{
				floatPair("attention.clamp_kqv", 0), floatPair("attention.clamp_kqv", 8),
				"attention.clamp_kqv is 8; only 0 is supported",
			},
			{
				floatPair("logit_scale", 1), floatPair("logit_scale", 0.25),
				"logit_scale is 0.25; only 0 is supported",
			},
			{
				floatPair("rope.scaling.attn_factor", 1), textPair("rope.scaling.attn_factor", "2"),
				`rope.scaling.attn_factor is "2"; only 0 is supported`,
			},
			{
				wholePair("attention.key_length_swa", 2), wholePair("attention.key_length_swa", 4),
				"attention.key_length_swa is 4, but the head size is 2; they must be equal",
			},
			{
				floatPair("attention.max_alibi_bias", 0),
				ggufPair{"attention.max_alibi_bias", ggufArray, join(u32(5), u64(1), u32(2))},
				"attention.max_alibi_bias is a list or a long string; only 0 is supported",
			},
		} {
			m := smallGGUFOf(arch)
			test.neutral.key = arch + "." + test.neutral.key
			m.set(test.neutral)
			openSmall(t, m)
			test.other.key = arch + "." + test.other.key
			m.set(test.other)
			want := arch + "." + test.want
			if _, err := openGGUF(fileWeights(m.bytes()), "m"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error containing %q", err, want)
			}
		}
	}
	for _, base := range []object{tiny, gpt2, qwen3, gemma3, smollm3, olmo2, mistral} {
		for _, test := range []struct {
			key            string
			neutral, other any
			want           string
		}{
			{"is_causal", true, false, "is_causal is false; only true is supported"},
			{"residual_multiplier", 1, 0.22, "residual_multiplier is 0.22; only 1 is supported"},
			{"num_local_experts", 0, 8, "num_local_experts is 8; only 0 is supported"},
			{"clip_qkv", nil, 8, "clip_qkv is set, which is not supported"},
			{"use_parallel_residual", nil, "yes", `use_parallel_residual is "yes"; only false is supported`},
			{"is_encoder_decoder", false, []bool{false}, "is_encoder_decoder is [false]; only false is supported"},
		} {
			if _, _, err := parseConfig(base.with(test.key, test.neutral).json(), nil, nil); err != nil {
				t.Errorf("%v with %s %v: got %v, want <nil>", base["model_type"], test.key, test.neutral, err)
			}
			_, _, err := parseConfig(base.with(test.key, test.other).json(), nil, nil)
			if err == nil || !strings.Contains(err.Error(), "config.json: "+test.want) {
				t.Errorf("%v: got %v, want an error containing %q", base["model_type"], err, test.want)
			}
		}
	}
}

// TestGGUFNeedsEpsilon: a file that lacks the epsilon of its norms is rejected, as in llama.cpp.
// GPT-2 has its own key.
func TestGGUFNeedsEpsilon(t *testing.T) {
	for _, arch := range []string{"llama", "qwen3", "gemma3", "smollm3", "olmo2"} {
		m, key := smallGGUFOf(arch), arch+".attention.layer_norm_rms_epsilon"
		m.unset(key)
		_, err := openGGUF(fileWeights(m.bytes()), "m")
		if err == nil || !strings.Contains(err.Error(), key+" is missing") {
			t.Errorf("%s: got %v, want an error containing %q", arch, err, key+" is missing")
		}
	}
	g := &gguf{pairs: map[string]any{}}
	p := &ggufPairs{g: g, prefix: "gpt2."}
	architectures["gpt2"].readGGUF(p, &Config{})
	if want := "gpt2.attention.layer_norm_epsilon is missing"; p.err == nil || p.err.Error() != want {
		t.Errorf("gpt2: got %v, want %q", p.err, want)
	}
}
