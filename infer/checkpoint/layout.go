package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// slot is a tensor that the model needs.
type slot struct {
	name  string
	shape []int
}

// layout lists the tensors of a Llama of this shape, in the order in which a
// forward pass meets them. A projection's rows are its outputs, its columns
// its inputs.
func (c Config) layout() []slot {
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	slots := []slot{{"model.embed_tokens.weight", []int{c.Vocab, c.Width}}}
	for layer := range c.Layers {
		add := func(name string, shape ...int) {
			slots = append(slots, slot{fmt.Sprintf("%s%d.%s.weight", layerPrefix, layer, name), shape})
		}
		add("input_layernorm", c.Width)
		add("self_attn.q_proj", queries, c.Width)
		add("self_attn.k_proj", keys, c.Width)
		add("self_attn.v_proj", keys, c.Width)
		add("self_attn.o_proj", c.Width, queries)
		add("post_attention_layernorm", c.Width)
		add("mlp.gate_proj", c.FFN, c.Width)
		add("mlp.up_proj", c.FFN, c.Width)
		add("mlp.down_proj", c.Width, c.FFN)
	}
	slots = append(slots, slot{"model.norm.weight", []int{c.Width}})
	if !c.TieEmbeddings {
		slots = append(slots, slot{"lm_head.weight", []int{c.Vocab, c.Width}})
	}
	return slots
}

// checkTensors refuses a file that lacks a tensor of the layout, has one of
// another shape, or holds one that the layout does not know: a bias or an
// extra layer that was passed over would give wrong numbers without a word.
func checkTensors(c Config, tensors map[string]tensor) error {
	known := map[string]bool{"lm_head.weight": true} // tied models often store the copy
	for _, s := range c.layout() {
		known[s.name] = true
		t, ok := tensors[s.name]
		if !ok {
			return missingTensor(s.name)
		}
		if !slices.Equal(t.shape, s.shape) {
			return wrongShape(s.name, t.shape, s.shape)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		// Older files store the rotary frequencies, which follow from rope_theta.
		if !known[name] && !strings.HasSuffix(name, ".rotary_emb.inv_freq") {
			return fmt.Errorf("holds tensor %s, which a llama of %d layers does not have", quote(name), c.Layers)
		}
	}
	return nil
}

const layerPrefix = "model.layers."

func missingTensor(name string) error {
	layer, rest := locate(name)
	return fmt.Errorf("%smissing %s", layer, rest)
}

func wrongShape(name string, got, want []int) error {
	layer, rest := locate(name)
	return fmt.Errorf("%s%s has shape %v, want %v", layer, strings.TrimSuffix(rest, ".weight"), got, want)
}

// locate splits "model.layers.3.mlp.up_proj.weight" into "layer 3: " and
// "mlp.up_proj.weight"; the first part of any other name is empty.
func locate(name string) (layer, rest string) {
	if tail, ok := strings.CutPrefix(name, layerPrefix); ok {
		if n, rest, ok := strings.Cut(tail, "."); ok {
			return "layer " + n + ": ", rest
		}
	}
	return "", name
}
