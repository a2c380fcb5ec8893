package checkpoint

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// object is a JSON object under construction. The value nil becomes null, and absent removes the
// key.
type object map[string]any

type absentKey struct{}

var absent absentKey

// with returns a copy of o with the given key-value pairs set.
func (o object) with(pairs ...any) object {
	o = maps.Clone(o)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == absent {
			delete(o, pairs[i].(string))
		} else {
			o[pairs[i].(string)] = pairs[i+1]
		}
	}
	return o
}

func (o object) json() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // a test used a value that JSON cannot represent
	}
	return text
}

// tiny is the config.json of a model with two layers, as a recent library writes it: with null keys
// and keys that are ignored.
var tiny = object{
	"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "hidden_act": "silu",
	"vocab_size": 4096, "hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 2,
	"num_key_value_heads": 1, "intermediate_size": 3, "max_position_embeddings": 64,
	"rms_norm_eps": 1e-5, "rope_theta": 500000.0, "rope_scaling": nil, "head_dim": nil,
	"attention_bias": false, "mlp_bias": false, "tie_word_embeddings": true,
	"bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "bfloat16", "use_cache": true,
}

// gpt2 is the config.json of a GPT-2 with one layer.
var gpt2 = object{
	"architectures": []string{"GPT2LMHeadModel"}, "model_type": "gpt2", "activation_function": "gelu_new",
	"vocab_size": 300, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16, "n_ctx": 16, "n_inner": nil,
	"layer_norm_epsilon": 1e-5, "bos_token_id": 299, "eos_token_id": 299,
}

// alike returns the attention of layers that share one rotary base and one
// window.
func alike(layers int, theta float64, window int) []Attention {
	return slices.Repeat([]Attention{{&Rope{Theta: theta}, window}}, layers)
}

func TestParseConfig(t *testing.T) {
	want := Config{
		Architecture: "llama", Vocab: 4096, Width: 4, Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 2, FFN: 3,
		Context: 64, NormEps: 1e-5, Attention: alike(2, 500_000, 0), TieEmbeddings: true, BOS: -1, EOS: []int{2},
	}
	but := func(change func(*Config)) Config {
		c := want
		c.Attention = alike(2, 500_000, 0)
		change(&c)
		return c
	}
	tests := []struct {
		name               string
		config             object
		tokens, generation object // nil: no such file
		want               Config
	}{
		{"as written", tiny, nil, nil, want},
		{
			"left out at their defaults",
			tiny.with("architectures", absent, "hidden_act", absent, "attention_bias", absent,
				"num_key_value_heads", absent, "max_position_embeddings", absent, "rms_norm_eps", absent,
				"rope_theta", absent, "tie_word_embeddings", absent, "eos_token_id", absent), nil, nil,
			but(func(c *Config) {
				c.KVHeads, c.Context, c.NormEps, c.TieEmbeddings, c.EOS = 2, 2048, 1e-6, false, nil
				c.Attention = alike(2, 10_000, 0)
			}),
		},
		{"head size of its own", tiny.with("head_dim", 16), nil, nil, but(func(c *Config) { c.HeadDim = 16 })},
		{
			"rope_parameters",
			tiny.with("rope_theta", absent, "rope_parameters", object{"rope_type": "default", "rope_theta": 1e6}), nil,
			nil,
			but(func(c *Config) { c.Attention = alike(2, 1e6, 0) }),
		},
		{"rope_scaling that does not scale", tiny.with("rope_scaling", object{"type": "default"}), nil, nil, want},
		{
			"linear scaling", tiny.with("rope_scaling", object{"type": "linear", "factor": 4}), nil, nil,
			but(func(c *Config) { c.Attention[0].Rope.Scaling = RopeScaling{Kind: "linear", Factor: 4} }),
		},
		{
			"Llama 3's scaling", tiny.with(
				"rope_scaling",
				object{
					"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
					"original_max_position_embeddings": 32,
				},
			), nil, nil,
			but(func(c *Config) {
				c.Attention[0].Rope.Scaling = RopeScaling{
					Kind: "llama3", Factor: 8, LowFreq: 1, HighFreq: 4, OriginalContext: 32,
				}
			}),
		},
		{
			"mistral, no window",
			tiny.with("model_type", "mistral", "architectures", []string{"MistralForCausalLM"}, "sliding_window", nil),
			nil, nil,
			but(func(c *Config) { c.Architecture = "mistral" }),
		},
		{
			"mistral, a window", tiny.with("model_type", "mistral", "architectures", absent, "sliding_window", 40), nil,
			nil,
			but(func(c *Config) { c.Architecture, c.Attention = "mistral", alike(2, 500_000, 40) }),
		},
		{
			"mistral, a window that nobody wrote down", tiny.with("model_type", "mistral", "architectures", absent),
			nil, nil,
			but(func(c *Config) { c.Architecture, c.Attention = "mistral", alike(2, 500_000, 4096) }),
		},
		{
			"qwen2, its window switched off",
			tiny.with(
				"model_type", "qwen2", "architectures", []string{"Qwen2ForCausalLM"}, "use_sliding_window", false,
				"sliding_window", 32,
			),
			nil, nil,
			but(func(c *Config) { c.Architecture = "qwen2" }),
		},
		{
			"architecture by its class alone",
			tiny.with(
				"model_type", absent, "architectures", []string{"Qwen2ForCausalLM"}, "use_sliding_window", true,
				"sliding_window", 32, "max_window_layers", 1,
			),
			nil, nil,
			but(func(c *Config) { c.Architecture, c.Attention[1].Window = "qwen2", 32 }),
		},
		{
			"gpt2", gpt2, nil, nil,
			Config{
				Architecture: "gpt2", Vocab: 300, Width: 8, Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 4, FFN: 32,
				Block: Block{LayerNorm: true, Activation: GELUTanh}, Attention: make([]Attention, 1),
				Context: 16, NormEps: 1e-5, TieEmbeddings: true, BOS: -1, EOS: []int{299},
			},
		},
		{
			"longest context", tiny.with("max_position_embeddings", 1<<20), nil, nil,
			but(func(c *Config) { c.Context = 1 << 20 }),
		},
		{"start token", tiny, object{"add_bos_token": true}, nil, but(func(c *Config) { c.BOS = 1 })},
		{
			"start token 0", tiny.with("bos_token_id", 0),
			object{"add_bos_token": true},
			nil,
			but(func(c *Config) { c.BOS = 0 }),
		},
		{
			"start token named by generation_config", tiny.with("bos_token_id", nil),
			object{"add_bos_token": true},
			object{"bos_token_id": 7},
			but(func(c *Config) { c.BOS = 7; c.EOS = []int{2} }),
		},
		{"no start token", tiny, object{"add_bos_token": false, "bos_token": "<s>"}, nil, want},
		{"start token not spoken of", tiny, object{"bos_token": "<s>"}, object{"bos_token_id": 1}, want},
		{
			"several ends", tiny.with("eos_token_id", []int{2, 5}), nil,
			object{"eos_token_id": []int{9, 2}},
			but(func(c *Config) { c.EOS = []int{9, 2, 5} }),
		},
		{"ends agree", tiny, nil, object{"eos_token_id": 2}, want},
		{
			"end from generation_config alone", tiny.with("eos_token_id", nil), nil,
			object{"eos_token_id": 4095},
			but(func(c *Config) { c.EOS = []int{4095} }),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var tokens, generation []byte
			if test.tokens != nil {
				tokens = test.tokens.json()
			}
			if test.generation != nil {
				generation = test.generation.json()
			}
			got, _, err := parseConfig(test.config.json(), tokens, generation)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}
