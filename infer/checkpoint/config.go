package checkpoint

import (
	"slices"
)

// Config is the shape of a model and the token ids that begin and end its
// texts. Every tensor's shape follows from these numbers.
type Config struct {
	Name         string // name of the folder or file ("" if unknown)
	Architecture string // "llama", "gpt2" and so on: the names registered by the files arch_*.go

	Vocab   int // rows of the embedding; the tokenizer may use fewer
	Width   int // of the residual stream ("hidden size")
	Layers  int
	Heads   int // query heads
	KVHeads int // key/value heads; Heads is a multiple (grouped-query attention, Ainslie et al. 2023)
	HeadDim int // size of one head, an even number if heads are rotated; Heads × HeadDim may differ from Width
	FFN     int // inner width of the feed-forward block ("intermediate size")
	Context int // positions that can be computed faithfully, 1 to 1,048,576

	Block     Block
	Attention []Attention // by layer

	NormEps        float32 // added to the mean square in RMSNorm, or to the variance in LayerNorm
	QueryScalar    float64 // attention scores are divided by its square root; 0 means HeadDim
	EmbeddingScale float32 // factor for a token's row of the embedding; 0 if there is none
	TieEmbeddings  bool    // the output matrix is the embedding; a stored output matrix is ignored

	BOS int   // id of the token in front of every prompt, or -1 if the model was trained without one
	EOS []int // ids that end a text; nil if the files name none
}

// Attention describes how the attention of one layer uses positions.
type Attention struct {
	Rope   *Rope // how queries and keys are rotated; nil if they are not. Layers with equal rotations share it
	Window int   // number of positions that a token sees, including its own; 0 if it sees all earlier positions
}

// Window returns the size of the sliding window, and the number of layers that have it. Both are 0
// if every token sees all earlier tokens.
func (c Config) Window() (positions, layers int) {
	for _, a := range c.Attention {
		if a.Window > 0 {
			positions = a.Window
			layers++
		}
	}
	return positions, layers
}

// Ropes returns the distinct ways in which the layers rotate queries and keys.
func (c Config) Ropes() (all []*Rope) {
	for _, a := range c.Attention {
		if a.Rope != nil && !slices.Contains(all, a.Rope) {
			all = append(all, a.Rope)
		}
	}
	return all
}

// everyLayer sets how each layer uses positions. It does nothing if there was an error, since the
// number of layers may then be invalid.
func (c *Config) everyLayer(err error, of func(layer int) Attention) {
	if err != nil {
		return
	}
	c.Attention = make([]Attention, c.Layers)
	for l := range c.Attention {
		c.Attention[l] = of(l)
	}
}

// Upper bounds: several times the sizes of the largest published Llama, and small enough that a
// product of two of them does not overflow.
const (
	maxVocab   = 1 << 20
	maxWidth   = 1 << 16
	maxLayers  = 1 << 10
	maxHeads   = 1 << 10
	maxHeadDim = 1 << 10
	maxFFN     = 1 << 20
	maxContext = 1 << 20
	maxWindow  = 1 << 30
)

// File names in a Hugging Face model folder.
const (
	configFile          = "config.json"
	weightsFile         = "model.safetensors"
	tokenizerFile       = "tokenizer.json"
	tokenizerConfigFile = "tokenizer_config.json"
	generationFile      = "generation_config.json"
)

// parseConfig parses config.json and, if they are not nil, tokenizer_config.json and
// generation_config.json. Missing keys have Hugging Face's default values. Options that would
// change the architecture's plain forward pass are rejected with errors that name them. startSaid
// is true if the files specify whether to add a start token; otherwise, the tokenizer decides.
func parseConfig(configJSON, tokenizerConfigJSON, generationJSON []byte) (_ Config, startSaid bool, _ error) {
	c := parseFields(configFile, configJSON)
	tokens := parseFields(tokenizerConfigFile, tokenizerConfigJSON)
	generation := parseFields(generationFile, generationJSON)
	if err := collect(c.err, tokens.err, generation.err); err != nil {
		return Config{}, false, err
	}
	a := folderArchitecture(c)
	if a == nil {
		return Config{}, false, c.err // without a supported architecture, the meaning of the keys is unknown
	}
	config := Config{Architecture: a.name, Block: a.block}
	a.readFolder(c, &config)
	c.neutral()
	readTokenIDs(&config, c, tokens, generation)
	if err := collect(c.err, tokens.err, generation.err); err != nil {
		return Config{}, false, err
	}
	return config, tokens.has("add_bos_token"), nil
}

// defaults holds the values of missing keys of config.json. A size of 0 means that the key is
// required.
type defaults struct {
	context    int
	kvHeads    int // equalHeads: as many as there are query heads
	headDim    int // 0: the width divided by the number of heads
	eps        float64
	tied       bool
	activation string // the only supported activation; "" if the key has another name
}

const equalHeads = -1

// readShape reads the keys that Llama and its descendants have in common.
func readShape(f *fields, c *Config, d defaults) {
	c.Vocab = f.size("vocab_size", 0, maxVocab)
	c.Width = f.size("hidden_size", 0, maxWidth)
	c.Layers = f.size("num_hidden_layers", 0, maxLayers)
	c.Heads = f.size("num_attention_heads", 0, maxHeads)
	c.FFN = f.size("intermediate_size", 0, maxFFN)
	c.Context = f.size("max_position_embeddings", d.context, maxContext)
	c.NormEps = float32(f.number("rms_norm_eps", d.eps, 1e-30, 1))
	c.TieEmbeddings = f.boolean("tie_word_embeddings", d.tied)
	if act := f.text("hidden_act", d.activation); d.activation != "" && act != d.activation {
		f.fail("hidden_act is %s, want %s", quote(act), quote(d.activation))
	}
	if f.boolean("rope_interleaved", false) {
		f.fail("rope_interleaved is true; in this format, each rotary pair must combine the two halves of a head")
	}
	for _, bias := range []string{"attention_bias", "mlp_bias"} {
		if f.boolean(bias, false) {
			f.fail("%s is true; only qwen2's biases, on queries, keys and values, are supported", bias)
		}
	}
	readHeads(f, c, d)
}

// readHeads reads the numbers of heads and their size.
func readHeads(f *fields, c *Config, d defaults) {
	if f.err != nil {
		return // the divisions below need positive sizes
	}
	kvHeads := d.kvHeads
	if _, given := f.raw["num_key_value_heads"]; given || kvHeads == equalHeads {
		kvHeads = c.Heads // the default for null; a number overrides it
	}
	c.KVHeads = f.size("num_key_value_heads", kvHeads, maxHeads)
	if c.HeadDim = d.headDim; f.has("head_dim") || d.headDim > 0 {
		c.HeadDim = f.size("head_dim", d.headDim, maxHeadDim)
	} else if c.HeadDim = c.Width / c.Heads; c.Width%c.Heads != 0 {
		f.fail("hidden_size %d is not a multiple of num_attention_heads %d", c.Width, c.Heads)
	} else if c.HeadDim > maxHeadDim {
		f.fail(
			"hidden_size %d / num_attention_heads %d is a head size of %d; the limit is %d",
			c.Width, c.Heads, c.HeadDim, maxHeadDim,
		)
	}
	if f.err == nil && c.Heads%c.KVHeads != 0 {
		f.fail("num_attention_heads %d is not a multiple of num_key_value_heads %d", c.Heads, c.KVHeads)
	}
	if c.HeadDim%2 != 0 {
		f.fail("head size %d is odd; rotary embeddings require an even one", c.HeadDim)
	}
}

// readLayerTypes reads which layers have a sliding window of the given size (0 if there is none):
// the layers that layer_types lists or, if that key is missing, the layers for which absent returns
// true.
func readLayerTypes(f *fields, layers, window int, absent func(layer int) bool) (windows func(layer int) int) {
	sliding := absent
	var types []string
	if f.value("layer_types", "a list of strings", &types) {
		sliding = func(l int) bool { return types[l] == "sliding_attention" }
	}
	if f.err == nil && types != nil && len(types) != layers {
		f.fail("layer_types has %d entries, but num_hidden_layers is %d", len(types), layers)
	}
	for l, t := range types {
		if t != "full_attention" && t != "sliding_attention" {
			f.fail(`layer_types[%d] is %s; "full_attention" and "sliding_attention" are supported`, l, quote(t))
		}
		if t == "sliding_attention" && window == 0 {
			f.fail("layer_types[%d] is %s, but no sliding window is set", l, quote(t))
		}
	}
	return func(l int) int {
		if sliding(l) {
			return window
		}
		return 0
	}
}

// readTokenIDs reads the id that starts a prompt and the ids that end a text.
//
// bos_token_id alone does not mean that the model was trained with a start token: add_bos_token
// decides this or, without that key, the tokenizer's own description.
func readTokenIDs(config *Config, c, tokens, generation *fields) {
	config.BOS = -1
	if c.err != nil {
		return // the checks of ids need a valid vocabulary size
	}
	if tokens.boolean("add_bos_token", false) {
		ids := slices.Concat(c.ids("bos_token_id", config.Vocab), generation.ids("bos_token_id", config.Vocab))
		if len(ids) == 0 {
			tokens.fail("add_bos_token is true, but neither %s nor %s has a bos_token_id", configFile, generationFile)
			return
		}
		config.BOS = ids[0]
	}
	for _, id := range slices.Concat(
		generation.ids("eos_token_id", config.Vocab), c.ids("eos_token_id", config.Vocab),
	) {
		if !slices.Contains(config.EOS, id) {
			config.EOS = append(config.EOS, id)
		}
	}
}
