package checkpoint

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// refusals lists invalid configurations, each with part of the expected message.
var refusals = []struct {
	name   string
	config []byte
	want   string
}{
	{"empty", []byte(``), "config.json: is not a JSON object"},
	{"list", []byte(`[]`), "config.json: is not a JSON object"},
	{"null", []byte(`null`), "config.json: is null"},
	{"nothing in it", []byte(`{}`), "neither model_type nor architectures is set"},
	{"deep", []byte(strings.Repeat(`{"a":`, 20_000)), "config.json: is not a JSON object"},
	{"other model", tiny.with("model_type", "gpt_neox").json(), `model_type is "gpt_neox"; the supported`},
	{
		"other head", tiny.with("architectures", []string{"LlamaForSequenceClassification"}).json(),
		`architectures lists "LlamaForSequenceClassification", want "LlamaForCausalLM"`,
	},
	{
		"architectures a string", tiny.with("architectures", "LlamaForCausalLM").json(),
		`architectures is "LlamaForCausalLM", want a list of strings`,
	},
	{"other activation", tiny.with("hidden_act", "gelu").json(), `hidden_act is "gelu", want "silu"`},
	{"attention bias", tiny.with("attention_bias", true).json(), "attention_bias is true"},
	{"mlp bias", tiny.with("mlp_bias", true).json(), "mlp_bias is true"},
	{"quantised", tiny.with("quantization_config", object{"bits": 4}).json(), "quantization_config is set"},
	{"rotary pairs that are neighbors", tiny.with("rope_interleaved", true).json(), "rope_interleaved is true"},
	{
		"rope scaling half said", tiny.with("rope_scaling", object{"rope_type": "llama3", "factor": 8}).json(),
		`config.json: rope_scaling: low_freq_factor is missing`,
	},
	{
		"rope scaling upside down",
		tiny.with(
			"rope_scaling", object{"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4},
		).json(),
		`config.json: rope_scaling: low_freq_factor 4 must be less than high_freq_factor 4`,
	},
	{
		"rope scaling that shrinks", tiny.with("rope_scaling", object{"type": "linear", "factor": 0.5}).json(),
		`config.json: rope_scaling: factor is 0.5, want 1 to`,
	},
	{
		"rope scaling without a factor", tiny.with("rope_scaling", object{"type": "linear"}).json(),
		`config.json: rope_scaling: factor is missing`,
	},
	{
		"other rope scaling", tiny.with("rope_scaling", object{"type": "dynamic", "factor": 2}).json(),
		`rope_type is "dynamic"`,
	},
	{
		"mistral without key heads",
		tiny.with("model_type", "mistral", "architectures", absent, "num_key_value_heads", absent).json(),
		"num_key_value_heads is missing",
	},
	{
		"mistral without a context",
		tiny.with("model_type", "mistral", "architectures", absent, "max_position_embeddings", absent).json(),
		"max_position_embeddings is missing",
	},
	{
		"mistral, empty window",
		tiny.with("model_type", "mistral", "architectures", absent, "sliding_window", 0).json(), "sliding_window is 0",
	},
	{"two architectures", tiny.with("model_type", "qwen2").json(), `architectures lists "LlamaForCausalLM"`},
	{
		"gpt2 without a width", object{"model_type": "gpt2", "vocab_size": 8, "n_layer": 1, "n_head": 1}.json(),
		"n_embd is missing",
	},
	{"gpt2, heads do not divide", gpt2.with("n_head", 3).json(), "n_embd 8 is not a multiple of n_head 3"},
	{
		"gpt2, other activation", gpt2.with("activation_function", "relu").json(),
		`activation_function is "relu"; "gelu_new", "gelu_pytorch_tanh" and "gelu" are supported`,
	},
	{"gpt2, unscaled attention", gpt2.with("scale_attn_weights", false).json(), "scale_attn_weights is false"},
	{
		"gpt2, scaled by layer", gpt2.with("scale_attn_by_inverse_layer_idx", true).json(),
		"scale_attn_by_inverse_layer_idx is true",
	},
	{"rope scaling without a type", tiny.with("rope_scaling", object{}).json(), `rope_type is ""`},
	{"rope scaling a number", tiny.with("rope_scaling", 2).json(), "rope_scaling is 2, want an object"},
	{
		"rope parameters", tiny.with("rope_parameters", object{"rope_type": "yarn", "rope_theta": 1e4}).json(),
		`config.json: rope_parameters: rope_type is "yarn"`,
	},
	{
		"partial rotary", tiny.with("partial_rotary_factor", 0.5).json(),
		"partial_rotary_factor is 0.5, want 1 to 1",
	},
	{"rope theta zero", tiny.with("rope_theta", 0).json(), "rope_theta is 0, want 1 to 1e+12"},
	{
		"rope theta infinite", bytes.Replace(tiny.json(), []byte("500000"), []byte("1e999"), 1),
		"rope_theta is 1e999, want a number",
	},
	{"no width", tiny.with("hidden_size", absent).json(), "hidden_size is missing"},
	{"width null", tiny.with("hidden_size", nil).json(), "hidden_size is missing"},
	{"width zero", tiny.with("hidden_size", 0).json(), "hidden_size is 0, want 1 to 65536"},
	{"width negative", tiny.with("hidden_size", -4).json(), "hidden_size is -4"},
	{"width fractional", tiny.with("hidden_size", 4.5).json(), "hidden_size is 4.5, want an integer"},
	{"width a string", tiny.with("hidden_size", "4").json(), `hidden_size is "4", want an integer`},
	{
		"width beyond int64", []byte(`{"model_type":"llama","vocab_size":8,"hidden_size":99999999999999999999}`),
		"hidden_size is 99999999999999999999, want an integer",
	},
	{"width absurd", tiny.with("hidden_size", 65537).json(), "hidden_size is 65537"},
	{"key in capitals", tiny.with("hidden_size", absent, "Hidden_Size", 4).json(), "hidden_size is missing"},
	{"vocabulary absurd", tiny.with("vocab_size", 1<<20+1).json(), "vocab_size is 1048577, want 1 to 1048576"},
	{"layers absurd", tiny.with("num_hidden_layers", 1_000_000).json(), "num_hidden_layers is 1000000, want 1 to 1024"},
	{"no heads", tiny.with("num_attention_heads", 0).json(), "num_attention_heads is 0"},
	{"no key heads", tiny.with("num_key_value_heads", 0).json(), "num_key_value_heads is 0"},
	{"no context", tiny.with("max_position_embeddings", 0).json(), "max_position_embeddings is 0, want 1 to 1048576"},
	{"context absurd", tiny.with("max_position_embeddings", 1<<20+1).json(), "max_position_embeddings is 1048577"},
	{
		"heads do not divide width", tiny.with("num_attention_heads", 3).json(),
		"hidden_size 4 is not a multiple of num_attention_heads 3",
	},
	{
		"key heads do not divide heads",
		tiny.with("num_attention_heads", 4, "num_key_value_heads", 3, "head_dim", 2).json(),
		"num_attention_heads 4 is not a multiple of num_key_value_heads 3",
	},
	{
		"more key heads than heads", tiny.with("num_key_value_heads", 4).json(),
		"num_attention_heads 2 is not a multiple of num_key_value_heads 4",
	},
	{"odd head size", tiny.with("head_dim", 3).json(), "head size 3 is odd"},
	{"odd head size by division", tiny.with("hidden_size", 6).json(), "head size 3 is odd"},
	{"head size absurd", tiny.with("hidden_size", 4096).json(), "is a head size of 2048; the limit is 1024"},
	{"norm eps zero", tiny.with("rms_norm_eps", 0).json(), "rms_norm_eps is 0"},
	{"norm eps lost in float32", tiny.with("rms_norm_eps", 1e-60).json(), "rms_norm_eps is 1e-60"},
	{"tie a number", tiny.with("tie_word_embeddings", 1).json(), "tie_word_embeddings is 1, want true or false"},
	{"end beyond vocabulary", tiny.with("eos_token_id", 4096).json(), "eos_token_id is 4096, want 0 to 4095"},
	{"end negative", tiny.with("eos_token_id", []int{2, -1}).json(), "eos_token_id is -1"},
	{
		"end a string", tiny.with("eos_token_id", "</s>").json(),
		`eos_token_id is "\u003c/s\u003e", want a token id or a list of them`,
	},
	{
		"very many ends", tiny.with("eos_token_id", slices.Repeat([]int{2}, 257)).json(),
		"eos_token_id has 257 ids; the limit is 256",
	},
	{"long value", tiny.with("hidden_size", strings.Repeat("é", 100)).json(), "…, want an integer"},
}

func TestRefusedConfigs(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := parseConfig(test.config, nil, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a message with %q", err, test.want)
			}
		})
	}
}

func TestRefusedTokenConfigs(t *testing.T) {
	tests := []struct {
		name                       string
		config, tokens, generation object
		want                       string
	}{
		{
			"no id to start with", tiny.with("bos_token_id", nil),
			object{"add_bos_token": true},
			nil,
			"tokenizer_config.json: add_bos_token is true, but neither config.json nor " +
				"generation_config.json has a bos_token_id",
		},
		{
			"start beyond vocabulary", tiny.with("bos_token_id", 4096),
			object{"add_bos_token": true},
			nil,
			"config.json: bos_token_id is 4096, want 0 to 4095",
		},
		{
			"flag a string", tiny,
			object{"add_bos_token": "yes"},
			nil,
			`tokenizer_config.json: add_bos_token is "yes", want true or false`,
		},
		{
			"end beyond vocabulary", tiny, nil,
			object{"eos_token_id": []int{1, 5000}},
			"generation_config.json: eos_token_id is 5000",
		},
	}
	for _, test := range tests {
		_, _, err := parseConfig(test.config.json(), test.tokens.json(), test.generation.json())
		if test.tokens == nil {
			_, _, err = parseConfig(test.config.json(), nil, test.generation.json())
		} else if test.generation == nil {
			_, _, err = parseConfig(test.config.json(), test.tokens.json(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want a message with %q", test.name, err, test.want)
		}
	}
}
