package checkpoint

// OLMo 2 (Team OLMo 2025) is a Llama with different norms: they come after the attention and the
// feed-forward layer instead of before them, and queries and keys are normalized over all heads
// together.
var _ = register(&architecture{
	name: "olmo2", modelType: "olmo2", class: "Olmo2ForCausalLM", gguf: "olmo2",
	kin:   map[string]string{"olmo3": "which has a sliding window in most of its layers and is not supported"},
	layer: "model.layers.%d.",
	block: Block{WideQKNorm: true},
	tensors: []tensorName{
		{Embedding, "model.embed_tokens", "token_embd", false},
		{Query, "self_attn.q_proj", "attn_q", false},
		{Key, "self_attn.k_proj", "attn_k", false},
		{Value, "self_attn.v_proj", "attn_v", false},
		{QueryNorm, "self_attn.q_norm", "attn_q_norm", false},
		{KeyNorm, "self_attn.k_norm", "attn_k_norm", false},
		{AttentionOut, "self_attn.o_proj", "attn_output", false},
		{AttentionPostNorm, "post_attention_layernorm", "post_attention_norm", false},
		{Gate, "mlp.gate_proj", "ffn_gate", false},
		{Up, "mlp.up_proj", "ffn_up", false},
		{Down, "mlp.down_proj", "ffn_down", false},
		{FFNPostNorm, "post_feedforward_layernorm", "post_ffw_norm", false},
		{FinalNorm, "model.norm", "output_norm", false},
		{Output, "lm_head", "output", false},
	},

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{context: 2048, kvHeads: equalHeads, eps: 1e-5, activation: "silu"})
		rope := readRope(f, c.Context, 10_000)
		c.everyLayer(f.err, func(int) Attention { return Attention{Rope: rope} })
	},
	// Converters also use this name for OLMo 3 models, which have sliding windows.
	readGGUF: func(p *ggufPairs, c *Config) {
		p.shape(c)
		rope := p.rope(c)
		if window := p.window(); window > 0 {
			p.fail("olmo2.attention.sliding_window is %d; OLMo 3, which has one, is not supported", window)
		}
		c.everyLayer(p.err, func(int) Attention { return Attention{Rope: rope} })
	},
})
