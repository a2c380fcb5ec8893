package checkpoint

import (
	"slices"
	"testing"
)

// malformedArchitectures lists invalid configurations of the newer architectures, each with part of
// the expected message.
var malformedArchitectures = []struct {
	name   string
	config object
	want   string
}{
	{
		"qwen3, a mixture of experts", qwen3.with("model_type", "qwen3_moe"),
		`model_type is "qwen3_moe", a mixture of experts, which is not supported; the supported architectures are`,
	},
	{"qwen3, key heads left out", qwen3.with("num_key_value_heads", absent), "num_key_value_heads is missing"},
	{"qwen3, odd heads", qwen3.with("head_dim", 127), "head size 127 is odd"},
	{
		"qwen3, another class", qwen3.with("architectures", []string{"Qwen3ForSequenceClassification"}),
		`architectures lists "Qwen3ForSequenceClassification", want "Qwen3ForCausalLM"`,
	},
	{"qwen3, biases", qwen3.with("attention_bias", true), "attention_bias is true"},
	{
		"qwen3, yarn",
		qwen3.with("rope_scaling", object{"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}),
		`rope_scaling: rope_type is "yarn"`,
	},
	{"qwen3, half a layer", qwen3.with("max_window_layers", 1.5), "max_window_layers is 1.5, want an integer"},
	{"qwen3, layers below none", qwen3.with("max_window_layers", -1), "max_window_layers is -1, want 0 to 1024"},
	{
		"qwen3, an empty window", qwen3.with("use_sliding_window", true, "sliding_window", 0),
		"sliding_window is 0, want 1 to",
	},
	{
		"qwen3, a window for nobody", qwen3.with("layer_types", slices.Repeat([]string{"sliding_attention"}, 28)),
		`layer_types[0] is "sliding_attention", but no sliding window is set`,
	},
	{
		"gemma3, with pictures",
		gemma3.with("model_type", "gemma3", "architectures", []string{"Gemma3ForConditionalGeneration"}),
		"which also reads images; only Gemma 3's text-only checkpoints run",
	},
	{"gemma3, both ways", gemma3.with("use_bidirectional_attention", true), "use_bidirectional_attention is true"},
	{
		"gemma3, capped scores", gemma3.with("attn_logit_softcapping", 50.0),
		"attn_logit_softcapping is set, which is not supported",
	},
	{
		"gemma3, capped logits", gemma3.with("final_logit_softcapping", 30.0),
		"final_logit_softcapping is set, which is not supported",
	},
	{
		"gemma3, another activation", gemma3.with("hidden_activation", "gelu"),
		`hidden_activation is "gelu", want "gelu_pytorch_tanh"`,
	},
	{
		"gemma3, layers left out", gemma3.with("layer_types", []string{"full_attention"}),
		"layer_types has 1 entries, but num_hidden_layers is 18",
	},
	{"gemma3, no layers", gemma3.with("layer_types", []string{}), "layer_types has 0 entries, but num_hidden_layers"},
	{
		"gemma3, another kind of layer", gemma3.with("layer_types", slices.Repeat([]string{"chunked_attention"}, 18)),
		`layer_types[0] is "chunked_attention"; "full_attention" and "sliding_attention" are supported`,
	},
	{
		"gemma3, layer types a text", gemma3.with("layer_types", "sliding_attention"),
		`layer_types is "sliding_attention", want a list of strings`,
	},
	{"gemma3, period zero", gemma3.with("_sliding_window_pattern", 0), "_sliding_window_pattern is 0, want 1 to 1024"},
	{
		"gemma3, scalar zero", gemma3.with("query_pre_attn_scalar", 0),
		"query_pre_attn_scalar is 0, want 0.001 to",
	},
	{
		"gemma3, scalar a text", gemma3.with("query_pre_attn_scalar", "256"),
		`query_pre_attn_scalar is "256", want a number`,
	},
	{
		"gemma3, base below one", gemma3.with("rope_local_base_freq", 0.5),
		"rope_local_base_freq is 0.5, want 1 to",
	},
	{
		"gemma3, local layers stretched oddly",
		gemma3.with("rope_parameters", object{"sliding_attention": object{"rope_type": "yarn"}}),
		`config.json: rope_parameters: sliding_attention: rope_type is "yarn"`,
	},
	{
		"gemma3, bases not by type", gemma3.with("rope_parameters", []int{1}),
		"config.json: rope_parameters is [1], want an object",
	},
	{
		"gemma3, base by type a number", gemma3.with("rope_parameters", object{"full_attention": 7}),
		"config.json: rope_parameters: full_attention is 7, want an object",
	},
	{
		"smollm3, a list too short", smollm3.with("no_rope_layers", []int{1, 1, 1}),
		"no_rope_layers has 3 entries, but num_hidden_layers is 36",
	},
	{
		"smollm3, a list of other numbers", smollm3.with("no_rope_layers", slices.Repeat([]int{1, 2}, 18)),
		"no_rope_layers[1] is 2, want 0 or 1",
	},
	{
		"smollm3, a list of texts", smollm3.with("no_rope_layers", []string{"1"}),
		`no_rope_layers is ["1"], want a list of 0s and 1s`,
	},
	{
		"smollm3, interval zero", smollm3.with("no_rope_layer_interval", 0),
		"no_rope_layer_interval is 0, want 1 to 1024",
	},
	{"smollm3, biases", smollm3.with("mlp_bias", true), "mlp_bias is true"},
	{
		"olmo2, a later one", olmo2.with("model_type", "olmo3"),
		`model_type is "olmo3", which has a sliding window in most of its layers`,
	},
	{"olmo2, another activation", olmo2.with("hidden_act", "gelu"), `hidden_act is "gelu", want "silu"`},
	{
		"olmo2, heads do not divide", olmo2.with("num_attention_heads", 15),
		"hidden_size 2048 is not a multiple of num_attention_heads 15",
	},
	{
		"mistral, a window beyond all", mistral.with("sliding_window", 1<<31),
		"sliding_window is 2147483648, want 1 to 1073741824",
	},
	{
		"mistral, a window a text", mistral.with("sliding_window", "4096"),
		`sliding_window is "4096", want an integer`,
	},
	{
		"rope parameters, a factor for nothing", tiny.with("rope_parameters", object{"rope_theta": 1e4, "factor": 4}),
		"config.json: rope_parameters: factor is set, but rope_type is not",
	},
	{
		"layers absurd with layer types", gemma3.with("num_hidden_layers", 1<<40),
		"num_hidden_layers is 1099511627776, want 1 to 1024",
	},
}

func TestMalformedArchitectures(t *testing.T) {
	for _, test := range malformedArchitectures {
		text := test.config.json()
		refuse(t, len(text), test.name, "config.json: ", test.want, func() error {
			_, _, err := parseConfig(text, nil, nil)
			reasons := Reasons(err)
			slices.Sort(reasons)
			if len(slices.Compact(slices.Clone(reasons))) != len(reasons) {
				t.Errorf(
					"%s: a reason is listed twice: got %q, want len(slices.Compact(slices.Clone(reasons))) = %d",
					test.name, reasons, len(reasons),
				)
			}
			return err
		})
	}
}
