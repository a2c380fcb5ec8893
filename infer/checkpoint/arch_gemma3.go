package checkpoint

import "math"

// Gemma 3 (Gemma Team 2025), text only, has five sliding-window layers for each global layer, with
// different rotary bases; norms before and after both the attention and the feed-forward layer, and
// for queries and keys; a GELU gate; and an embedding scaled by the square root of the width.
var _ = register(&architecture{
	name: "gemma3", modelType: "gemma3_text", class: "Gemma3ForCausalLM", gguf: "gemma3",
	kin:   map[string]string{"gemma3": "which also reads images; only Gemma 3's text-only checkpoints run"},
	layer: "model.layers.%d.",
	block: Block{Activation: GELUTanh},
	tensors: []tensorName{
		{Embedding, "model.embed_tokens", "token_embd", false},
		{AttentionNorm, "input_layernorm", "attn_norm", false},
		{Query, "self_attn.q_proj", "attn_q", false},
		{Key, "self_attn.k_proj", "attn_k", false},
		{Value, "self_attn.v_proj", "attn_v", false},
		{QueryNorm, "self_attn.q_norm", "attn_q_norm", false},
		{KeyNorm, "self_attn.k_norm", "attn_k_norm", false},
		{AttentionOut, "self_attn.o_proj", "attn_output", false},
		{AttentionPostNorm, "post_attention_layernorm", "post_attention_norm", false},
		{FFNNorm, "pre_feedforward_layernorm", "ffn_norm", false},
		{Gate, "mlp.gate_proj", "ffn_gate", false},
		{Up, "mlp.up_proj", "ffn_up", false},
		{Down, "mlp.down_proj", "ffn_down", false},
		{FFNPostNorm, "post_feedforward_layernorm", "post_ffw_norm", false},
		{FinalNorm, "model.norm", "output_norm", false},
		{Output, "lm_head", "output", false},
	},
	// A folder stores each norm weight minus one; GGUF stores the weight itself.
	folderOrder: func(_ Config, p Role) order {
		switch p {
		case AttentionNorm, QueryNorm, KeyNorm, AttentionPostNorm, FFNNorm, FFNPostNorm, FinalNorm:
			return order{lessOne: true}
		}
		return order{}
	},
	readFolder: readGemma3,
	readGGUF:   readGemma3GGUF,
})

// By default, every sixth layer is global. The other layers use this rotary base.
const (
	gemma3Period     = 6
	gemma3LocalTheta = 10_000
)

func readGemma3(f *fields, c *Config) {
	readShape(f, c, defaults{context: 131_072, headDim: 256, eps: 1e-6, tied: true})
	if act := f.text("hidden_activation", "gelu_pytorch_tanh"); act != "gelu_pytorch_tanh" {
		f.fail(`hidden_activation is %s, want "gelu_pytorch_tanh"`, quote(act))
	}
	global, local := readGemma3Ropes(f, c.Context)
	window := f.size("sliding_window", 4096, maxWindow)
	period := f.size("sliding_window_pattern", f.size("_sliding_window_pattern", gemma3Period, maxLayers), maxLayers)
	windows := readLayerTypes(f, c.Layers, window, func(l int) bool { return (l+1)%period != 0 })
	c.QueryScalar = f.number("query_pre_attn_scalar", 256, 1e-3, 1e6)
	c.EmbeddingScale = float32(math.Sqrt(float64(c.Width)))
	c.everyLayer(f.err, func(l int) Attention {
		if w := windows(l); w > 0 {
			return Attention{Rope: local, Window: w}
		}
		return Attention{Rope: global}
	})
}

// readGemma3Ropes reads the rotary settings of the global layers and of the others. In newer files,
// rope_parameters contains both, by layer type.
func readGemma3Ropes(f *fields, context int) (global, local *Rope) {
	const globalTheta = 1_000_000
	local = &Rope{Theta: f.number("rope_local_base_freq", gemma3LocalTheta, lowTheta, highTheta)}
	byType := f.object("rope_parameters")
	if f.has("rope_parameters") && byType.broken { // readRope would report the problem again
		return local, local
	}
	if !byType.has("full_attention") && !byType.has("sliding_attention") {
		return readRope(f, context, globalTheta), local
	}
	global = &Rope{Theta: f.number("rope_theta", globalTheta, lowTheta, highTheta)}
	for _, of := range []struct {
		layers string
		rope   *Rope
	}{{"full_attention", global}, {"sliding_attention", local}} {
		o := byType.object(of.layers)
		of.rope.read(o, context, "default")
		byType.adopt(o.err)
	}
	f.adopt(byType.err)
	return global, local
}

func readGemma3GGUF(p *ggufPairs, c *Config) {
	p.shape(c)
	global, window := p.rope(c), p.window()
	local := &Rope{Theta: p.number("rope.freq_base_swa", gemma3LocalTheta, lowTheta, highTheta)}
	period := p.size("attention.sliding_window_pattern", gemma3Period, maxLayers)
	// The metadata does not contain the scale of the attention scores. The largest published model,
	// which has 62 layers, computes the scale from its width divided by its number of heads; the
	// others use the head size.
	if c.Layers == 62 {
		c.QueryScalar = float64(c.Width / c.Heads)
	}
	c.EmbeddingScale = float32(math.Sqrt(float64(c.Width)))
	c.everyLayer(p.err, func(l int) Attention {
		if window > 0 && (l+1)%period != 0 {
			return Attention{Rope: local, Window: window}
		}
		return Attention{Rope: global}
	})
}
