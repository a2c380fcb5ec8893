package checkpoint

// SmolLM3 (Bakouch et al. 2025) is a Llama in which every fourth layer has no
// rotary positions (Yang et al. 2025, "RoPE to NoPE and back again").
var _ = register(&architecture{
	name: "smollm3", modelType: "smollm3", class: "SmolLM3ForCausalLM", gguf: "smollm3",
	layer:     "model.layers.%d.",
	tensors:   llamaTensors,
	ggufOrder: neighboringPairs,

	readFolder: func(f *fields, c *Config) {
		readShape(f, c, defaults{context: 32_768, eps: 1e-6, tied: true, activation: "silu"})
		rope, turned, window := readRope(f, c.Context, 2_000_000), readTurnedLayers(f, c.Layers), 0
		if f.boolean("use_sliding_window", false) && f.has("sliding_window") {
			window = f.size("sliding_window", 0, maxWindow)
		}
		windows := readLayerTypes(f, c.Layers, window, func(l int) bool { return window > 0 && !turned(l) })
		c.everyLayer(f.err, func(l int) Attention {
			if !turned(l) {
				return Attention{Window: windows(l)}
			}
			return Attention{Rope: rope, Window: windows(l)}
		})
	},
	// GGUF does not have a key for the interval, which is always four in GGUF files.
	readGGUF: func(p *ggufPairs, c *Config) {
		p.shape(c)
		rope := p.rope(c)
		c.everyLayer(p.err, func(l int) Attention {
			if (l+1)%smollm3Interval == 0 {
				return Attention{}
			}
			return Attention{Rope: rope}
		})
	},
})

const smollm3Interval = 4

// readTurnedLayers reads which layers have rotary positions: those marked 1 in a list of ones and
// zeros or, if there is no list, all except every no_rope_layer_interval-th layer.
func readTurnedLayers(f *fields, layers int) (turned func(layer int) bool) {
	interval := f.size("no_rope_layer_interval", smollm3Interval, maxLayers)
	var list []int
	if !f.value("no_rope_layers", "a list of 0s and 1s", &list) {
		return func(l int) bool { return (l+1)%interval != 0 }
	}
	if len(list) < layers {
		f.fail("no_rope_layers has %d entries, but num_hidden_layers is %d", len(list), layers)
	}
	for l, v := range list {
		if v != 0 && v != 1 {
			f.fail("no_rope_layers[%d] is %d, want 0 or 1", l, v)
		}
	}
	return func(l int) bool { return list[l] == 1 }
}
