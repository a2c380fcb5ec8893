package checkpoint

// readGPT2 reads the shape of a GPT-2 (Radford et al. 2019), whose keys have
// names of their own.
func readGPT2(c *fields, config *Config) {
	config.Vocab = c.size("vocab_size", 0, maxVocab)
	config.Width = c.size("n_embd", 0, maxWidth)
	config.Layers = c.size("n_layer", 0, maxLayers)
	config.Heads = c.size("n_head", 0, maxHeads)
	config.KVHeads = config.Heads
	config.FFN = c.size("n_inner", 4*config.Width, maxFFN)
	config.Context = c.size("n_positions", c.size("n_ctx", 1024, maxContext), maxContext)
	config.NormEps = float32(c.number("layer_norm_epsilon", 1e-5, 1e-30, 1))
	config.TieEmbeddings = c.boolean("tie_word_embeddings", true)
	// The two names are one function: x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
	switch act := c.text("activation_function", "gelu_new"); act {
	case "gelu_new", "gelu_pytorch_tanh":
	default:
		c.fail(`activation_function is %s, want "gelu_new"`, quote(act))
	}
	if !c.boolean("scale_attn_weights", true) {
		c.fail("scale_attn_weights is false; attention without its scale is not supported")
	}
	for _, key := range []string{"scale_attn_by_inverse_layer_idx", "add_cross_attention"} {
		if c.boolean(key, false) {
			c.fail("%s is true, which is not supported", key)
		}
	}
	if c.err != nil {
		return // the division below needs positive sizes
	}
	if config.HeadDim = config.Width / config.Heads; config.Width%config.Heads != 0 {
		c.fail("n_embd %d is not a multiple of n_head %d", config.Width, config.Heads)
	} else if config.HeadDim > maxHeadDim {
		c.fail("n_embd %d over %d heads gives a head size of %d, the limit is %d", config.Width, config.Heads, config.HeadDim, maxHeadDim)
	}
}
