package checkpoint

// The dense models of Qwen3 (Yang et al. 2025) are Llamas with an independent head size. Queries
// and keys are normalized head by head before they are rotated.
var _ = register(&architecture{
	name: "qwen3", modelType: "qwen3", class: "Qwen3ForCausalLM", gguf: "qwen3",
	kin:   map[string]string{"qwen3_moe": "a mixture of experts, which is not supported"},
	layer: "model.layers.%d.",
	tensors: []tensorName{
		{Embedding, "model.embed_tokens", "token_embd", false},
		{AttentionNorm, "input_layernorm", "attn_norm", false},
		{Query, "self_attn.q_proj", "attn_q", false},
		{Key, "self_attn.k_proj", "attn_k", false},
		{Value, "self_attn.v_proj", "attn_v", false},
		{QueryNorm, "self_attn.q_norm", "attn_q_norm", false},
		{KeyNorm, "self_attn.k_norm", "attn_k_norm", false},
		{AttentionOut, "self_attn.o_proj", "attn_output", false},
		{FFNNorm, "post_attention_layernorm", "ffn_norm", false},
		{Gate, "mlp.gate_proj", "ffn_gate", false},
		{Up, "mlp.up_proj", "ffn_up", false},
		{Down, "mlp.down_proj", "ffn_down", false},
		{FinalNorm, "model.norm", "output_norm", false},
		{Output, "lm_head", "output", false},
	},

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{context: 32_768, headDim: 128, eps: 1e-6, activation: "silu"})
		rope, windows := readRope(f, c.Context, 10_000), readUpperWindows(f, c.Layers)
		c.everyLayer(f.err, func(l int) Attention { return Attention{Rope: rope, Window: windows(l)} })
	},
	readGGUF: readQwenGGUF,
})
