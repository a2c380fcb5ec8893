package checkpoint

// Qwen2 and Qwen2.5 (Yang et al. 2024) are Llamas with a bias on queries, keys and values. They may
// have a sliding window in their upper layers.
var _ = register(&architecture{
	name: "qwen2", modelType: "qwen2", class: "Qwen2ForCausalLM", gguf: "qwen2",
	layer: "model.layers.%d.",
	tensors: []tensorName{
		{Embedding, "model.embed_tokens", "token_embd", false},
		{AttentionNorm, "input_layernorm", "attn_norm", false},
		{Query, "self_attn.q_proj", "attn_q", true},
		{Key, "self_attn.k_proj", "attn_k", true},
		{Value, "self_attn.v_proj", "attn_v", true},
		{AttentionOut, "self_attn.o_proj", "attn_output", false},
		{FFNNorm, "post_attention_layernorm", "ffn_norm", false},
		{Gate, "mlp.gate_proj", "ffn_gate", false},
		{Up, "mlp.up_proj", "ffn_up", false},
		{Down, "mlp.down_proj", "ffn_down", false},
		{FinalNorm, "model.norm", "output_norm", false},
		{Output, "lm_head", "output", false},
	},
	folderIgnores: []string{".rotary_emb.inv_freq"},

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{eps: 1e-6, activation: "silu"})
		rope, windows := readRope(f, c.Context, 10_000), readUpperWindows(f, c.Layers)
		c.everyLayer(f.err, func(l int) Attention { return Attention{Rope: rope, Window: windows(l)} })
	},
	readGGUF: readQwenGGUF,
})

// readUpperWindows reads the sliding window of a Qwen. If the window is enabled, it applies to
// every layer from number max_window_layers on, unless layer_types specifies the layers.
func readUpperWindows(f *fields, layers int) (windows func(layer int) int) {
	window := 0
	if f.boolean("use_sliding_window", false) {
		window = f.size("sliding_window", 4096, maxWindow)
	}
	first := f.count("max_window_layers", 28, maxLayers)
	return readLayerTypes(f, layers, window, func(l int) bool { return window > 0 && l >= first })
}

// readQwenGGUF reads a Qwen's metadata, which does not specify which layers have the sliding
// window. So if there is a window, it also limits the context.
func readQwenGGUF(p *ggufPairs, c *Config) {
	p.shape(c)
	rope := p.rope(c)
	if window := p.window(); window > 0 {
		c.Context = min(c.Context, window)
	}
	c.everyLayer(p.err, func(int) Attention { return Attention{Rope: rope} })
}
