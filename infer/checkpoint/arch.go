package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An architecture is defined in one file, arch_NAME.go. The file registers a description: the
// model's name, the keys of its config.json and its GGUF metadata, the names of its tensors in both
// formats, and what its blocks compute. The readers use this description to find the weights.
// Package infer's forward pass omits every part that the tensor list lacks, such as a gate or a
// norm after the attention.
type architecture struct {
	name      string // Config.Architecture
	modelType string // model_type of config.json
	class     string // listed under architectures in config.json: the class that outputs a score for every token
	gguf      string // general.architecture; "" if GGUF has no separate name for it

	// kin maps similar but unsupported model types to the reasons why they are not supported.
	kin map[string]string

	layer   string       // the prefix of a layer's tensors in a folder: "model.layers.%d."
	tensors []tensorName // in the order in which a forward pass uses them
	block   Block

	// folderPrefix may precede every name except the output matrix's. It is set if the model's
	// class wraps another class that has all tensors but the output matrix.
	folderPrefix string
	// folderOrder and ggufOrder return the order in which a format stores a tensor's values. They
	// are nil if the format uses the layout's order.
	folderOrder, ggufOrder func(Config, Role) order
	// Name suffixes of other tensors, which are ignored because their values follow from the
	// configuration.
	folderIgnores, ggufIgnores []string

	// readFolder reads config.json; readGGUF reads the metadata keys that the
	// architectures do not share.
	readFolder func(*fields, *Config)
	readGGUF   func(*ggufPairs, *Config)
}

// architectures holds all supported architectures, by Config.Architecture.
var architectures = map[string]*architecture{}

func register(a *architecture) *architecture {
	architectures[a.name] = a
	return a
}

// Block describes properties of an architecture's blocks that its tensors do not show. The zero
// value describes a Llama.
type Block struct {
	LayerNorm  bool       // LayerNorm (Ba et al. 2016) instead of RMSNorm (Zhang and Sennrich 2019)
	Activation Activation // of the feed-forward layer
	WideQKNorm bool       // queries and keys are normalized over all heads together, not per head
}

// Activation is the function between the matrices of a feed-forward layer.
type Activation int

// The activations. If there is a gate, the activation is applied to its output, which is then
// multiplied by the other matrix's output (Shazeer 2020).
const (
	SiLU     Activation = iota // x / (1 + e^−x)
	GELUTanh                   // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), GPT-2's form of GELU
	GELU                       // x·Φ(x), with the error function (Hendrycks and Gimpel 2016)
)

// Role is a tensor's role in a model.
type Role int

// The roles, with the shapes of their weights. All but the first two and the
// last two exist once per layer.
const (
	Embedding         Role = iota // [vocab, width]
	Positions                     // [context, width], learned vectors that are added to the embedding
	AttentionNorm                 // [width], before the attention
	Query                         // [heads·headDim, width]
	Key                           // [kvHeads·headDim, width]
	Value                         // [kvHeads·headDim, width]
	QueryKeyValue                 // [3·width, width], all three in one matrix
	QueryNorm                     // [headDim]; [heads·headDim] with WideQKNorm
	KeyNorm                       // [headDim]; [kvHeads·headDim] with WideQKNorm
	AttentionOut                  // [width, heads·headDim]
	AttentionPostNorm             // [width], after the attention, before it is added to the stream
	FFNNorm                       // [width], before the feed-forward layer
	Gate                          // [ffn, width]
	Up                            // [ffn, width]
	Down                          // [width, ffn]
	FFNPostNorm                   // [width], after the feed-forward layer
	FinalNorm                     // [width]
	Output                        // [vocab, width]
)

// ofLayers reports whether every layer has the part.
func (p Role) ofLayers() bool { return p > Positions && p < FinalNorm }

// tensorName holds a part's names in both formats, without the layer's prefix and the suffix
// ".weight" or ".bias".
type tensorName struct {
	part         Role
	folder, gguf string
	bias         bool // whether there is a bias besides the weight
}

// shape returns the shape of a part's weight: rows are outputs, and columns are inputs. A bias has
// only the first dimension.
func (c Config) shape(p Role) []int {
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	wide := architectures[c.Architecture].block.WideQKNorm
	switch p {
	case Embedding, Output:
		return []int{c.Vocab, c.Width}
	case Positions:
		return []int{c.Context, c.Width}
	case Query:
		return []int{queries, c.Width}
	case Key, Value:
		return []int{keys, c.Width}
	case QueryKeyValue:
		return []int{3 * c.Width, c.Width}
	case QueryNorm:
		return []int{map[bool]int{false: c.HeadDim, true: queries}[wide]}
	case KeyNorm:
		return []int{map[bool]int{false: c.HeadDim, true: keys}[wide]}
	case AttentionOut:
		return []int{c.Width, queries}
	case Gate, Up:
		return []int{c.FFN, c.Width}
	case Down:
		return []int{c.Width, c.FFN}
	}
	return []int{c.Width} // norms of the stream
}

// Has reports whether the model's architecture has the given part.
func (c Config) Has(p Role) bool {
	return slices.ContainsFunc(architectures[c.Architecture].tensors, func(t tensorName) bool { return t.part == p })
}

// Weight returns the weight of a part in the given layer (0 for parts that exist only once), like
// [Checkpoint.Float32], or nil if the architecture has no such part.
func (c *Checkpoint) Weight(p Role, layer int, shape ...int) ([]float32, error) {
	return c.part(p, layer, false, shape)
}

// Bias is like Weight, but returns the part's bias, which has n values.
func (c *Checkpoint) Bias(p Role, layer, n int) ([]float32, error) {
	return c.part(p, layer, true, []int{n})
}

func (c *Checkpoint) part(p Role, layer int, bias bool, shape []int) ([]float32, error) {
	name := c.named(p, layer, bias)
	if name == "" {
		return nil, nil
	}
	return c.Float32(name, shape...)
}

// named returns the layout's name for a part's weight or bias, or "" if the architecture has none.
func (c *Checkpoint) named(p Role, layer int, bias bool) string {
	a := architectures[c.Config.Architecture]
	for _, t := range a.tensors {
		if t.part == p && (t.bias || !bias) {
			return a.slot(t, layer, bias).name
		}
	}
	return ""
}

// slot returns a slot with a tensor's names in both formats, but without its shape.
func (a *architecture) slot(t tensorName, layer int, bias bool) slot {
	s := slot{name: t.folder, gguf: t.gguf, part: t.part, bias: bias}
	if t.part.ofLayers() {
		s.name, s.gguf = fmt.Sprintf(a.layer, layer)+s.name, fmt.Sprintf("blk.%d.", layer)+s.gguf
	}
	ending := ".weight"
	if bias {
		ending = ".bias"
	}
	s.name, s.gguf = s.name+ending, s.gguf+ending
	return s
}

// runs lists the supported architectures, for messages about unsupported ones.
func runs(called func(*architecture) string) string {
	return "the supported architectures are " + listing(called)
}

// Architectures lists the supported architectures: "gemma3", "gpt2", "llama".
func Architectures() []string { return names(func(a *architecture) string { return a.name }) }

func names(called func(*architecture) string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(architectures)) {
		if n := called(architectures[name]); n != "" {
			list = append(list, n)
		}
	}
	return list
}

func listing(called func(*architecture) string) string {
	list := names(called)
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// folderArchitecture returns the architecture of a config.json. For an unsupported architecture, it
// returns nil and reports the error to f. It also reports other problems with the description, but
// still returns the architecture.
func folderArchitecture(f *fields) *architecture {
	model, classes := f.text("model_type", ""), f.texts("architectures")
	can := runs(func(a *architecture) string { return a.modelType })
	var found *architecture
	why := ""
	for _, a := range architectures {
		if a.modelType == model || model == "" && len(classes) > 0 && a.class == classes[0] {
			found = a
		}
		why += a.kin[model]
	}
	switch {
	case f.err != nil:
	case model == "" && len(classes) == 0:
		f.fail("neither model_type nor architectures is set; %s", can)
	case why != "":
		f.fail("model_type is %s, %s; %s", quote(model), why, can)
	case found == nil && model != "":
		f.fail("model_type is %s; %s", quote(model), can)
	case found == nil:
		f.fail("architectures lists %s; %s", quote(classes[0]), can)
	}
	for _, class := range classes {
		if found != nil && class != found.class {
			f.fail("architectures lists %s, want %s", quote(class), quote(found.class))
		}
	}
	if f.has("quantization_config") {
		f.fail("quantization_config is set; quantized weights are not supported")
	}
	return found
}

// ggufArchitecture is like folderArchitecture, for general.architecture. If it returns nil, it has
// reported the error to p.
func ggufArchitecture(p *ggufPairs) *architecture {
	name := p.text("architecture", "")
	if name == "" {
		if p.err == nil {
			p.fail("general.architecture is missing")
		}
		return nil
	}
	for _, a := range architectures {
		if a.gguf == name {
			return a
		}
	}
	p.fail(
		"general.architecture is %s; in GGUF files, %s",
		quote(name), runs(func(a *architecture) string { return a.gguf }),
	)
	return nil
}

// neighboringPairs is the order in which llama.cpp stores a Llama's query and key matrices: the two
// rows of a rotary pair are adjacent.
func neighboringPairs(c Config, p Role) order {
	switch p {
	case Query:
		return order{interleaved: c.Heads}
	case Key:
		return order{interleaved: c.KVHeads}
	}
	return order{}
}
