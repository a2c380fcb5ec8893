package checkpoint

// Llama (Touvron et al. 2023), versions 1 to 3, and models of the same form:
// TinyLlama, SmolLM, SmolLM2.
var _ = register(&architecture{
	name: "llama", modelType: "llama", class: "LlamaForCausalLM", gguf: "llama",
	layer:   "model.layers.%d.",
	tensors: llamaTensors,

	ggufOrder: neighboringPairs,
	// Older files also store the rotary frequencies, which follow from the base.
	folderIgnores: []string{".rotary_emb.inv_freq"},
	ggufIgnores:   []string{"rope_freqs.weight"}, // read by openGGUF

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{context: 2048, kvHeads: equalHeads, eps: 1e-6, activation: "silu"})
		rope := readRope(f, c.Context, 10_000)
		c.everyLayer(f.err, func(int) Attention { return Attention{Rope: rope} })
	},
	// Converters also label Mistral models as Llamas, and Mistral models may have a window.
	readGGUF: func(p *ggufPairs, c *Config) {
		p.shape(c)
		rope, window := p.rope(c), p.window()
		for _, key := range []string{"attention.sliding_window_pattern", "rope.freq_base_swa"} {
			if window > 0 && p.has(key) {
				p.fail("%s%s is set; a Llama model with a sliding window must use it in every layer", p.prefix, key)
			}
		}
		c.everyLayer(p.err, func(int) Attention { return Attention{Rope: rope, Window: window} })
	},
})

var llamaTensors = []tensorName{
	{Embedding, "model.embed_tokens", "token_embd", false},
	{AttentionNorm, "input_layernorm", "attn_norm", false},
	{Query, "self_attn.q_proj", "attn_q", false},
	{Key, "self_attn.k_proj", "attn_k", false},
	{Value, "self_attn.v_proj", "attn_v", false},
	{AttentionOut, "self_attn.o_proj", "attn_output", false},
	{FFNNorm, "post_attention_layernorm", "ffn_norm", false},
	{Gate, "mlp.gate_proj", "ffn_gate", false},
	{Up, "mlp.up_proj", "ffn_up", false},
	{Down, "mlp.down_proj", "ffn_down", false},
	{FinalNorm, "model.norm", "output_norm", false},
	{Output, "lm_head", "output", false},
}
