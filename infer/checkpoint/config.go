package checkpoint

import (
	"cmp"
	"slices"
)

// Config is the shape of a Llama model and the token ids that begin and end
// its texts. Multiplied out, these numbers give every tensor's shape.
type Config struct {
	Name         string // folder- or file-given name ("" if unknown)
	Architecture string // "llama"

	Vocab   int // rows of the embedding; the tokenizer may use fewer
	Width   int // of the residual stream ("hidden size")
	Layers  int
	Heads   int // query heads
	KVHeads int // key/value heads; Heads is a multiple (grouped-query attention, Ainslie et al. 2023)
	HeadDim int // size of one head, even; Heads × HeadDim may differ from Width
	FFN     int // inner width of the feed-forward block ("intermediate size")
	Context int // positions the model was trained for, 1 to 1,048,576

	NormEps       float32 // added to the mean square in RMSNorm
	RopeTheta     float64 // base of the rotary frequencies (Su et al. 2021)
	TieEmbeddings bool    // the output matrix is the embedding; a stored lm_head.weight is not used

	BOS int   // id in front of every prompt, -1 when the model was not trained with one
	EOS []int // ids that end a text; nil when none is named
}

// Sane upper bounds: several times the largest published Llama, and small
// enough that no product of two of them overflows.
const (
	maxVocab   = 1 << 20
	maxWidth   = 1 << 16
	maxLayers  = 1 << 10
	maxHeads   = 1 << 10
	maxHeadDim = 1 << 10
	maxFFN     = 1 << 20
	maxContext = 1 << 20
)

// File names in a Hugging Face model folder.
const (
	configFile          = "config.json"
	weightsFile         = "model.safetensors"
	tokenizerFile       = "tokenizer.json"
	tokenizerConfigFile = "tokenizer_config.json"
	generationFile      = "generation_config.json"
)

// parseConfig reads config.json and, where not nil, tokenizer_config.json and
// generation_config.json. Keys that Hugging Face leaves out at their default
// take that default. Whatever would make the forward pass another one than
// plain Llama (a bias, a stretched rotary embedding, quantised weights) is
// refused by name.
func parseConfig(configJSON, tokenizerConfigJSON, generationJSON []byte) (Config, error) {
	c := parseFields(configFile, configJSON)
	tokens := parseFields(tokenizerConfigFile, tokenizerConfigJSON)
	generation := parseFields(generationFile, generationJSON)
	if err := cmp.Or(c.err, tokens.err, generation.err); err != nil {
		return Config{}, err
	}
	checkArchitecture(c)
	config := Config{
		Architecture:  "llama",
		Vocab:         c.size("vocab_size", 0, maxVocab),
		Width:         c.size("hidden_size", 0, maxWidth),
		Layers:        c.size("num_hidden_layers", 0, maxLayers),
		Heads:         c.size("num_attention_heads", 0, maxHeads),
		FFN:           c.size("intermediate_size", 0, maxFFN),
		Context:       c.size("max_position_embeddings", 2048, maxContext),
		NormEps:       float32(c.number("rms_norm_eps", 1e-6, 1e-30, 1)),
		RopeTheta:     ropeTheta(c),
		TieEmbeddings: c.boolean("tie_word_embeddings", false),
	}
	readHeads(c, &config)
	readTokenIDs(&config, c, tokens, generation)
	if err := cmp.Or(c.err, tokens.err, generation.err); err != nil {
		return Config{}, err
	}
	return config, nil
}

// checkArchitecture refuses every model that is not a plain Llama.
func checkArchitecture(c *fields) {
	const supported = `this program runs "llama" (LlamaForCausalLM)`
	model, architectures := c.text("model_type", ""), c.texts("architectures")
	if model == "" && len(architectures) == 0 {
		c.fail("neither model_type nor architectures is given; %s", supported)
	}
	if model != "" && model != "llama" {
		c.fail("model_type is %s; %s", quote(model), supported)
	}
	for _, a := range architectures {
		if a != "LlamaForCausalLM" {
			c.fail("architectures names %s; %s", quote(a), supported)
		}
	}
	if act := c.text("hidden_act", "silu"); act != "silu" {
		c.fail(`hidden_act is %s, want "silu"`, quote(act))
	}
	for _, bias := range []string{"attention_bias", "mlp_bias"} {
		if c.boolean(bias, false) {
			c.fail("%s is true; projections with a bias are not supported", bias)
		}
	}
	if c.has("quantization_config") {
		c.fail("quantization_config is set; quantised weights are not supported")
	}
}

// ropeTheta reads the rotary base, which newer files keep in rope_parameters,
// and refuses any scaling of the rotary embedding.
func ropeTheta(c *fields) float64 {
	const low, high = 1, 1e12
	theta := c.number("rope_theta", 10_000, low, high)
	c.number("partial_rotary_factor", 1, 1, 1)
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		if !c.has(key) {
			continue
		}
		rope := c.object(key)
		kind := rope.text("rope_type", rope.text("type", ""))
		if kind != "default" {
			rope.fail(`rope_type is %s; only "default", without scaling, is supported`, quote(kind))
		}
		theta = rope.number("rope_theta", theta, low, high)
		rope.number("partial_rotary_factor", 1, 1, 1)
		c.adopt(rope.err)
	}
	return theta
}

// readHeads reads how the width is divided among the heads.
func readHeads(c *fields, config *Config) {
	if c.err != nil {
		return // the divisions below need positive sizes
	}
	config.KVHeads = c.size("num_key_value_heads", config.Heads, maxHeads)
	if c.has("head_dim") {
		config.HeadDim = c.size("head_dim", 0, maxHeadDim)
	} else if config.HeadDim = config.Width / config.Heads; config.Width%config.Heads != 0 {
		c.fail("hidden_size %d is not a multiple of num_attention_heads %d", config.Width, config.Heads)
	} else if config.HeadDim > maxHeadDim {
		c.fail("hidden_size %d over %d heads gives a head size of %d, the limit is %d", config.Width, config.Heads, config.HeadDim, maxHeadDim)
	}
	if c.err == nil && config.Heads%config.KVHeads != 0 {
		c.fail("num_attention_heads %d is not a multiple of num_key_value_heads %d", config.Heads, config.KVHeads)
	}
	if config.HeadDim%2 != 0 {
		c.fail("head size %d is odd; rotary embedding turns pairs", config.HeadDim)
	}
}

// readTokenIDs reads which id starts a prompt and which ids end a text.
//
// bos_token_id alone does not mean that the model was trained with it in
// front: add_bos_token says so.
func readTokenIDs(config *Config, c, tokens, generation *fields) {
	config.BOS = -1
	if tokens.boolean("add_bos_token", false) {
		ids := slices.Concat(c.ids("bos_token_id", config.Vocab), generation.ids("bos_token_id", config.Vocab))
		if len(ids) == 0 {
			tokens.fail("add_bos_token is true, but neither %s nor %s has a bos_token_id", configFile, generationFile)
			return
		}
		config.BOS = ids[0]
	}
	for _, id := range slices.Concat(generation.ids("eos_token_id", config.Vocab), c.ids("eos_token_id", config.Vocab)) {
		if !slices.Contains(config.EOS, id) {
			config.EOS = append(config.EOS, id)
		}
	}
}
