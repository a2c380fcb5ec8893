package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// slot is a tensor that the model needs.
type slot struct {
	name  string // its name in Hugging Face folders and for Float32
	gguf  string // its name in GGUF
	part  Role
	bias  bool // whether it is the part's bias instead of its weight
	shape []int
}

// layout lists the tensors of a model of this shape, in the order in which a forward pass uses
// them. The rows of a projection are its outputs and the columns are its inputs, regardless of the
// order in the file.
func (c Config) layout() []slot {
	a := architectures[c.Architecture]
	var slots []slot
	add := func(t tensorName, layer int) {
		s := a.slot(t, layer, false)
		s.shape = c.shape(t.part)
		slots = append(slots, s)
		if t.bias {
			b := a.slot(t, layer, true)
			b.shape = s.shape[:1]
			slots = append(slots, b)
		}
	}
	each := func(belongs func(Role) bool, layer int) {
		for _, t := range a.tensors {
			if belongs(t.part) {
				add(t, layer)
			}
		}
	}
	each(func(p Role) bool { return p < AttentionNorm }, 0)
	for layer := range c.Layers {
		each(Role.ofLayers, layer)
	}
	each(func(p Role) bool { return p == FinalNorm || p == Output && !c.TieEmbeddings }, 0)
	return slots
}

// A dialect describes how a format names and stores the tensors of a layout.
type dialect struct {
	name    func(slot) string // the name of a tensor in the file
	order   func(Config, Role) order
	ignores []string // suffixes of optional tensors that follow from the configuration
}

// arrange returns the tensors of the layout by their canonical names. It rejects a file that lacks
// a tensor of the layout, has a tensor with the wrong shape, or has a tensor that is not in the
// layout, since ignoring a bias or an extra layer would silently produce wrong numbers. If the
// model's output matrix is tied but the file stores a copy anyway, arrange returns the copy under
// its name in the file.
func (d dialect) arrange(c Config, tensors map[string]tensor) (map[string]tensor, error) {
	used := map[string]bool{}
	arranged := make(map[string]tensor, len(tensors))
	var faults error
	for _, s := range c.layout() {
		name := d.name(s)
		used[name] = true
		t, ok := tensors[name]
		if !ok {
			faults = collect(faults, missingTensor(name))
			continue
		}
		if d.order != nil && !s.bias {
			t.order = d.order(c, s.part)
		}
		if want := t.order.stored(s.shape); !slices.Equal(t.shape, want) {
			faults = collect(faults, wrongShape(name, t.shape, want))
		}
		arranged[s.name] = t
	}
	spare := d.name(c.output())
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		follows := slices.ContainsFunc(d.ignores, func(ending string) bool { return strings.HasSuffix(name, ending) })
		switch {
		case used[name] || follows:
		case name == spare: // tied models often store a copy
			arranged[name] = tensors[name]
		default:
			faults = collect(
				faults,
				fmt.Errorf("unexpected tensor %s for %s with %d layers", quote(name), c.Architecture, c.Layers),
			)
		}
	}
	if faults != nil {
		return nil, faults
	}
	return arranged, nil
}

// output returns the slot of the output matrix.
func (c Config) output() slot {
	a := architectures[c.Architecture]
	last := a.tensors[len(a.tensors)-1]
	return a.slot(last, 0, false)
}

// folderDialect returns the dialect in which Hugging Face stores the tensors of an architecture.
func folderDialect(c Config, tensors map[string]tensor) dialect {
	a := architectures[c.Architecture]
	prefix := a.folderPrefix
	if _, ok := tensors[prefix+a.slot(a.tensors[0], 0, false).name]; !ok {
		prefix = ""
	}
	name := func(s slot) string {
		if s.part == Output {
			return s.name
		}
		return prefix + s.name
	}
	return dialect{name, a.folderOrder, a.folderIgnores}
}

// ggufDialect returns the dialect in which llama.cpp stores the tensors of an architecture.
func ggufDialect(c Config) dialect {
	a := architectures[c.Architecture]
	return dialect{func(s slot) string { return s.gguf }, a.ggufOrder, a.ggufIgnores}
}

func missingTensor(name string) error {
	layer, rest := locate(name)
	return fmt.Errorf("%smissing %s", layer, rest)
}

func wrongShape(name string, got, want []int) error {
	layer, rest := locate(name)
	return fmt.Errorf("%s%s has shape %v, want %v", layer, strings.TrimSuffix(rest, ".weight"), got, want)
}

// locate splits "model.layers.3.mlp.up_proj.weight" into "layer 3: " and "mlp.up_proj.weight". For
// any other name, layer is empty.
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
