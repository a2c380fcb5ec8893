package checkpoint

// Mistral (Jiang et al. 2023) is a Llama that may have a sliding window: 4,096 positions in the
// first version. Later versions have no window. GGUF calls it a Llama.
var _ = register(&architecture{
	name: "mistral", modelType: "mistral", class: "MistralForCausalLM",
	layer:         "model.layers.%d.",
	tensors:       llamaTensors,
	folderIgnores: []string{".rotary_emb.inv_freq"},

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{eps: 1e-6, activation: "silu"})
		rope := readRope(f, c.Context, 10_000)
		window := 4096 // the default if the key is missing
		if _, given := f.raw["sliding_window"]; given {
			window = 0
		}
		if f.has("sliding_window") {
			window = f.size("sliding_window", 0, maxWindow)
		}
		c.everyLayer(f.err, func(int) Attention { return Attention{Rope: rope, Window: window} })
	},
})
