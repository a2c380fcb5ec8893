package checkpoint

import (
	"maps"
	"slices"
	"strings"
)

// Config is the shape of a model and the token ids that begin and end its
// texts. Multiplied out, these numbers give every tensor's shape.
type Config struct {
	Name         string // folder- or file-given name ("" if unknown)
	Architecture string // "llama", "mistral", "qwen2" or "gpt2"

	Vocab   int // rows of the embedding; the tokenizer may use fewer
	Width   int // of the residual stream ("hidden size")
	Layers  int
	Heads   int // query heads
	KVHeads int // key/value heads; Heads is a multiple (grouped-query attention, Ainslie et al. 2023)
	HeadDim int // size of one head, even; Heads × HeadDim may differ from Width
	FFN     int // inner width of the feed-forward block ("intermediate size")
	Context int // positions that can be computed faithfully, 1 to 1,048,576
	Window  int // positions that a sliding window lets a token see; 0 or at least Context, so that it never cuts

	NormEps       float32     // added to the mean square in RMSNorm, to the variance in LayerNorm
	RopeTheta     float64     // base of the rotary frequencies (Su et al. 2021); 0 for gpt2, which learns its positions
	RopeScaling   RopeScaling // how they are stretched; zero where they are not
	QKVBias       bool        // queries, keys and values have a bias of their own (Qwen2)
	TieEmbeddings bool        // the output matrix is the embedding; a stored lm_head.weight is not used

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

// runs says what can be computed, for the messages that refuse the rest.
const runs = "this program runs llama, mistral, qwen2 and gpt2"

// heads names the class that each architecture's config.json must name: the
// one whose output is a score for every token.
var heads = map[string]string{
	"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM", "gpt2": "GPT2LMHeadModel",
}

// parseConfig reads config.json and, where not nil, tokenizer_config.json and
// generation_config.json. Keys that Hugging Face leaves out at their default
// take that default. Whatever would make the forward pass another one than
// the architecture's plain one is refused by name. startSaid reports whether
// the files say if a start token goes in front; where they are silent, the
// tokenizer decides.
func parseConfig(configJSON, tokenizerConfigJSON, generationJSON []byte) (_ Config, startSaid bool, _ error) {
	c := parseFields(configFile, configJSON)
	tokens := parseFields(tokenizerConfigFile, tokenizerConfigJSON)
	generation := parseFields(generationFile, generationJSON)
	if err := collect(c.err, tokens.err, generation.err); err != nil {
		return Config{}, false, err
	}
	config := Config{Architecture: architecture(c)}
	if heads[config.Architecture] == "" {
		return Config{}, false, c.err // what its keys mean is not known
	}
	if config.Architecture == "gpt2" {
		readGPT2(c, &config)
	} else {
		readLlama(c, &config)
	}
	readTokenIDs(&config, c, tokens, generation)
	if err := collect(c.err, tokens.err, generation.err); err != nil {
		return Config{}, false, err
	}
	return config, tokens.has("add_bos_token"), nil
}

// architecture finds out which of the known architectures a config.json is of
// and refuses all others.
func architecture(c *fields) string {
	model, classes := c.text("model_type", ""), c.texts("architectures")
	if model == "" && len(classes) == 0 {
		c.fail("neither model_type nor architectures is given; %s", runs)
	}
	if model == "" {
		for name, class := range heads {
			if len(classes) > 0 && classes[0] == class {
				model = name
			}
		}
	} else if heads[model] == "" {
		c.fail("model_type is %s; %s", quote(model), runs)
		classes = nil // that says it all
	}
	for _, class := range classes {
		if class != heads[model] {
			c.fail("architectures names %s; %s (%s)", quote(class), runs, strings.Join(slices.Sorted(maps.Values(heads)), ", "))
		}
	}
	if c.has("quantization_config") {
		c.fail("quantization_config is set; quantised weights are not supported")
	}
	return model
}

// readLlama reads the shape of a Llama or one of its close kin.
func readLlama(c *fields, config *Config) {
	config.Vocab = c.size("vocab_size", 0, maxVocab)
	config.Width = c.size("hidden_size", 0, maxWidth)
	config.Layers = c.size("num_hidden_layers", 0, maxLayers)
	config.Heads = c.size("num_attention_heads", 0, maxHeads)
	config.FFN = c.size("intermediate_size", 0, maxFFN)
	config.Context = c.size("max_position_embeddings", map[string]int{"llama": 2048}[config.Architecture], maxContext)
	config.NormEps = float32(c.number("rms_norm_eps", 1e-6, 1e-30, 1))
	config.RopeTheta, config.RopeScaling = rope(c, config.Context)
	config.QKVBias = config.Architecture == "qwen2"
	config.TieEmbeddings = c.boolean("tie_word_embeddings", false)
	if act := c.text("hidden_act", "silu"); act != "silu" {
		c.fail(`hidden_act is %s, want "silu"`, quote(act))
	}
	if c.boolean("rope_interleaved", false) {
		c.fail("rope_interleaved is true; only pairs of the halves of a head are supported in this format")
	}
	for _, bias := range []string{"attention_bias", "mlp_bias"} {
		if c.boolean(bias, false) {
			c.fail("%s is true; only qwen2's biases, on queries, keys and values, are supported", bias)
		}
	}
	readWindow(c, config)
	readHeads(c, config)
}

// readWindow reads how far back a token may look. Up to the window's length a
// window and full attention are the same, beyond it they are not, so the
// context ends there.
func readWindow(c *fields, config *Config) {
	window := 0
	switch config.Architecture {
	case "mistral":
		if _, given := c.raw["sliding_window"]; !given {
			window = 4096 // what the key's absence has always meant
		} else if c.has("sliding_window") {
			window = c.size("sliding_window", 0, 1<<30)
		}
	case "qwen2":
		if c.boolean("use_sliding_window", false) {
			window = c.size("sliding_window", 4096, 1<<30)
		}
	}
	config.limit(window)
}

// limit ends the context where a sliding window of that many positions, if
// any, would begin to cut.
func (c *Config) limit(window int) {
	if c.Window = window; window > 0 {
		c.Context = min(c.Context, window)
	}
}

// readHeads reads how the width is divided among the heads.
func readHeads(c *fields, config *Config) {
	if c.err != nil {
		return // the divisions below need positive sizes
	}
	fallback := config.Heads
	if _, given := c.raw["num_key_value_heads"]; !given && config.Architecture != "llama" {
		fallback = 0 // the default of these is a number that no shape follows from
	}
	config.KVHeads = c.size("num_key_value_heads", fallback, maxHeads)
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
// front: add_bos_token says so, or else the tokenizer's own description.
func readTokenIDs(config *Config, c, tokens, generation *fields) {
	config.BOS = -1
	if c.err != nil {
		return // ids are compared with a size that must be right
	}
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
