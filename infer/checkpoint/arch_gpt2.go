package checkpoint

// GPT-2 (Radford et al. 2019): positions are learned vectors that are added to the embedding once;
// LayerNorm replaces RMSNorm; every product has a bias; queries, keys and values share one matrix;
// and the feed-forward layer has two matrices with a GELU between them and no gate.
var _ = register(&architecture{
	name: "gpt2", modelType: "gpt2", class: "GPT2LMHeadModel", gguf: "gpt2",
	layer: "h.%d.", folderPrefix: "transformer.",
	block: Block{LayerNorm: true, Activation: GELUTanh},
	tensors: []tensorName{
		{Embedding, "wte", "token_embd", false},
		{Positions, "wpe", "position_embd", false},
		{AttentionNorm, "ln_1", "attn_norm", true},
		{QueryKeyValue, "attn.c_attn", "attn_qkv", true},
		{AttentionOut, "attn.c_proj", "attn_output", true},
		{FFNNorm, "ln_2", "ffn_norm", true},
		{Up, "mlp.c_fc", "ffn_up", true},
		{Down, "mlp.c_proj", "ffn_down", true},
		{FinalNorm, "ln_f", "output_norm", true},
		{Output, "lm_head", "output", false},
	},
	// GPT-2's layers multiply the vector by the matrix rather than the matrix by the vector, so its
	// matrices are transposed.
	folderOrder: func(_ Config, p Role) order {
		switch p {
		case QueryKeyValue, AttentionOut, Up, Down:
			return order{transposed: true}
		}
		return order{}
	},
	// The causal mask is not a weight, but older files store it.
	folderIgnores: []string{".attn.bias", ".attn.masked_bias"},

	readFolder: readGPT2,
	readGGUF: func(p *ggufPairs, c *Config) {
		p.epsilon(c, "attention.layer_norm_epsilon")
		c.KVHeads = c.Heads
		c.everyLayer(p.err, func(int) Attention { return Attention{} })
	},
})

// readGPT2 reads config.json, whose keys differ from other models' keys.
func readGPT2(f *fields, c *Config) {
	c.Vocab = f.size("vocab_size", 0, maxVocab)
	c.Width = f.size("n_embd", 0, maxWidth)
	c.Layers = f.size("n_layer", 0, maxLayers)
	c.Heads = f.size("n_head", 0, maxHeads)
	c.KVHeads = c.Heads
	c.FFN = f.size("n_inner", 4*c.Width, maxFFN)
	c.Context = f.size("n_positions", f.size("n_ctx", 1024, maxContext), maxContext)
	c.NormEps = float32(f.number("layer_norm_epsilon", 1e-5, 1e-30, 1))
	c.TieEmbeddings = f.boolean("tie_word_embeddings", true)
	switch act := f.text("activation_function", "gelu_new"); act {
	case "gelu_new", "gelu_pytorch_tanh": // two names for the same function
	case "gelu":
		c.Block.Activation = GELU
	default:
		f.fail(`activation_function is %s; "gelu_new", "gelu_pytorch_tanh" and "gelu" are supported`, quote(act))
	}
	if !f.boolean("scale_attn_weights", true) {
		f.fail("scale_attn_weights is false; attention without its scale is not supported")
	}
	for _, key := range []string{"scale_attn_by_inverse_layer_idx", "add_cross_attention"} {
		if f.boolean(key, false) {
			f.fail("%s is true, which is not supported", key)
		}
	}
	if f.err != nil {
		return // the division below needs positive sizes
	}
	if c.HeadDim = c.Width / c.Heads; c.Width%c.Heads != 0 {
		f.fail("n_embd %d is not a multiple of n_head %d", c.Width, c.Heads)
	} else if c.HeadDim > maxHeadDim {
		f.fail(
			"n_embd %d / n_head %d is a head size of %d; the limit is %d", c.Width, c.Heads, c.HeadDim, maxHeadDim,
		)
	}
	c.everyLayer(f.err, func(int) Attention { return Attention{} })
}
