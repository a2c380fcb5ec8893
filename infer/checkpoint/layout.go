package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// slot is a tensor that the model needs.
type slot struct {
	name  string // as Hugging Face calls it, and as Float32 is asked for it
	shape []int
}

// layout lists the tensors of a model of this shape, in the order in which a
// forward pass meets them. A projection's rows are its outputs, its columns
// its inputs, whatever the file keeps.
func (c Config) layout() []slot {
	if c.Architecture == "gpt2" {
		return c.gpt2Layout()
	}
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	slots := []slot{{"model.embed_tokens.weight", []int{c.Vocab, c.Width}}}
	for layer := range c.Layers {
		add := func(name string, shape ...int) {
			slots = append(slots, slot{fmt.Sprintf("model.layers.%d.%s", layer, name), shape})
		}
		add("input_layernorm.weight", c.Width)
		add("self_attn.q_proj.weight", queries, c.Width)
		add("self_attn.k_proj.weight", keys, c.Width)
		add("self_attn.v_proj.weight", keys, c.Width)
		if c.QKVBias {
			add("self_attn.q_proj.bias", queries)
			add("self_attn.k_proj.bias", keys)
			add("self_attn.v_proj.bias", keys)
		}
		add("self_attn.o_proj.weight", c.Width, queries)
		add("post_attention_layernorm.weight", c.Width)
		add("mlp.gate_proj.weight", c.FFN, c.Width)
		add("mlp.up_proj.weight", c.FFN, c.Width)
		add("mlp.down_proj.weight", c.Width, c.FFN)
	}
	slots = append(slots, slot{"model.norm.weight", []int{c.Width}})
	if !c.TieEmbeddings {
		slots = append(slots, slot{outputName, []int{c.Vocab, c.Width}})
	}
	return slots
}

// gpt2Layout is layout for GPT-2: learned positions, a bias everywhere, and
// queries, keys and values in one matrix.
func (c Config) gpt2Layout() []slot {
	slots := []slot{{"wte.weight", []int{c.Vocab, c.Width}}, {"wpe.weight", []int{c.Context, c.Width}}}
	for layer := range c.Layers {
		add := func(name string, shape ...int) {
			at := fmt.Sprintf("h.%d.%s.", layer, name)
			slots = append(slots, slot{at + "weight", shape}, slot{at + "bias", shape[:1]})
		}
		add("ln_1", c.Width)
		add("attn.c_attn", 3*c.Width, c.Width)
		add("attn.c_proj", c.Width, c.Width)
		add("ln_2", c.Width)
		add("mlp.c_fc", c.FFN, c.Width)
		add("mlp.c_proj", c.Width, c.FFN)
	}
	slots = append(slots, slot{"ln_f.weight", []int{c.Width}}, slot{"ln_f.bias", []int{c.Width}})
	if !c.TieEmbeddings {
		slots = append(slots, slot{outputName, []int{c.Vocab, c.Width}})
	}
	return slots
}

// outputName is the output matrix. Tied models often store the copy.
const outputName = "lm_head.weight"

// A dialect is how one format names and keeps the tensors of a layout.
type dialect struct {
	name    func(canonical string) string // what the file calls it
	order   func(canonical string) order  // how the file arranges its values
	ignores func(name string) bool        // follows from the configuration; may be there
}

// arrange refuses a file that lacks tensors of the layout, has some of another
// shape, or holds some that the layout does not know: a bias or an extra layer
// that was passed over would give wrong numbers without a word. It returns the
// tensors of the layout under their canonical names, and the others under the
// file's.
func (d dialect) arrange(c Config, tensors map[string]tensor) (map[string]tensor, error) {
	spare := d.name(outputName)
	used := map[string]bool{}
	arranged := make(map[string]tensor, len(tensors))
	var faults error
	for _, s := range c.layout() {
		name := d.name(s.name)
		used[name] = true
		t, ok := tensors[name]
		if !ok {
			faults = collect(faults, missingTensor(name))
			continue
		}
		t.order = d.order(s.name)
		if want := t.order.stored(s.shape); !slices.Equal(t.shape, want) {
			faults = collect(faults, wrongShape(name, t.shape, want))
		}
		arranged[s.name] = t
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if used[name] {
			continue
		}
		if name != spare && !d.ignores(name) {
			faults = collect(faults, fmt.Errorf("holds tensor %s, which a %s of %d layers does not have", quote(name), c.Architecture, c.Layers))
		}
		arranged[name] = tensors[name]
	}
	if faults != nil {
		return nil, faults
	}
	return arranged, nil
}

// folderDialect is how Hugging Face keeps the tensors of an architecture.
func folderDialect(c Config, tensors map[string]tensor) dialect {
	d := dialect{
		name:  func(canonical string) string { return canonical },
		order: func(string) order { return order{} },
		// Older files store the rotary frequencies, which follow from rope_theta.
		ignores: func(name string) bool { return strings.HasSuffix(name, ".rotary_emb.inv_freq") },
	}
	if c.Architecture != "gpt2" {
		return d
	}
	// The class with the output prefixes the names of the one without.
	if _, ok := tensors["transformer.wte.weight"]; ok {
		d.name = func(canonical string) string {
			if canonical == outputName {
				return canonical
			}
			return "transformer." + canonical
		}
	}
	// GPT-2 was written with a layer that multiplies from the other side.
	d.order = func(canonical string) order {
		if strings.Contains(canonical, ".c_") && strings.HasSuffix(canonical, ".weight") {
			return order{transposed: true}
		}
		return order{}
	}
	// The causal mask is no weight; older files store it.
	d.ignores = func(name string) bool {
		return strings.HasSuffix(name, ".attn.bias") || strings.HasSuffix(name, ".attn.masked_bias")
	}
	return d
}

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
	for _, prefix := range []string{"model.layers.", "transformer.h.", "h.", "blk.", "layers."} {
		if tail, ok := strings.CutPrefix(name, prefix); ok {
			if n, rest, ok := strings.Cut(tail, "."); ok {
				return "layer " + n + ": ", rest
			}
		}
	}
	return "", name
}
