package checkpoint

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The configurations of published models, with the keys of config.json that determine the shape.
var (
	qwen3 = object{
		"architectures": []string{"Qwen3ForCausalLM"}, "model_type": "qwen3", "attention_bias": false,
		"bos_token_id": 151643,
		"eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072,
		"max_position_embeddings": 40960, "max_window_layers": 28, "num_attention_heads": 16, "num_hidden_layers": 28,
		"num_key_value_heads": 8, "rms_norm_eps": 1e-6, "rope_scaling": nil, "rope_theta": 1000000,
		"sliding_window":      nil,
		"tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936,
	}
	gemma3 = object{
		"architectures": []string{"Gemma3ForCausalLM"}, "model_type": "gemma3_text", "_sliding_window_pattern": 6,
		"attention_bias": false, "attn_logit_softcapping": nil, "bos_token_id": 2, "eos_token_id": 1,
		"final_logit_softcapping": nil, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 640,
		"intermediate_size": 2048,
		"layer_types": slices.Repeat(
			[]string{
				"sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
				"full_attention",
			},
			3,
		),
		"max_position_embeddings": 32768, "num_attention_heads": 4, "num_hidden_layers": 18, "num_key_value_heads": 1,
		"query_pre_attn_scalar": 256, "rms_norm_eps": 1e-6, "rope_local_base_freq": 10000.0, "rope_scaling": nil,
		"rope_theta": 1000000.0, "sliding_window": 512, "use_bidirectional_attention": false, "vocab_size": 262144,
	}
	smollm3 = object{
		"architectures": []string{"SmolLM3ForCausalLM"}, "model_type": "smollm3", "attention_bias": false,
		"bos_token_id": nil,
		"eos_token_id": 128012, "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 11008,
		"layer_types": slices.Repeat([]string{"full_attention"}, 36), "max_position_embeddings": 65536,
		"max_window_layers": 28,
		"mlp_bias":          false, "no_rope_layer_interval": 4, "no_rope_layers": slices.Repeat([]int{1, 1, 1, 0}, 9),
		"num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 4, "rms_norm_eps": 1e-6,
		"rope_scaling": nil, "rope_theta": 5000000.0, "sliding_window": nil, "use_sliding_window": false,
		"vocab_size": 128256,
	}
	olmo2 = object{
		"architectures": []string{"Olmo2ForCausalLM"}, "model_type": "olmo2", "attention_bias": false,
		"eos_token_id": 100257,
		"hidden_act":   "silu", "hidden_size": 2048, "intermediate_size": 8192, "max_position_embeddings": 4096,
		"num_attention_heads": 16, "num_hidden_layers": 16, "num_key_value_heads": 16, "rms_norm_eps": 1e-6,
		"rope_scaling": nil, "rope_theta": 500000, "tie_word_embeddings": false, "vocab_size": 100352,
	}
	mistral = object{
		"architectures": []string{"MistralForCausalLM"}, "model_type": "mistral", "bos_token_id": 1, "eos_token_id": 2,
		"hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768,
		"num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-5,
		"rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": false, "vocab_size": 32000,
	}
)

func parse(t *testing.T, config object) Config {
	t.Helper()
	c, _, err := parseConfig(config.json(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPublishedModels: each published model has as many parameters as its published files, and its
// layers have the features of its architecture.
func TestPublishedModels(t *testing.T) {
	for name, test := range map[string]struct {
		config     object
		parameters int64
		headDim    int
		context    int
		window     int
		windowed   int // number of layers with the window
		still      int // number of layers without rotary positions
	}{
		"Qwen3-0.6B":      {qwen3, 596_049_920, 128, 40_960, 0, 0, 0},
		"gemma-3-270m":    {gemma3, 268_098_176, 256, 32_768, 512, 15, 0},
		"SmolLM3-3B":      {smollm3, 3_075_098_624, 128, 65_536, 0, 0, 9},
		"OLMo-2-0425-1B":  {olmo2, 1_484_916_736, 128, 4096, 0, 0, 0},
		"Mistral-7B-v0.1": {mistral, 7_241_732_096, 128, 32_768, 4096, 32, 0},
	} {
		c := parse(t, test.config)
		if n := (&Checkpoint{Config: c}).Parameters(); n != test.parameters {
			t.Errorf("%s: %d parameters, want %d", name, n, test.parameters)
		}
		window, windowed := c.Window()
		still := 0
		for _, a := range c.Attention {
			if a.Rope == nil {
				still++
			}
		}
		if c.HeadDim != test.headDim || c.Context != test.context || window != test.window ||
			windowed != test.windowed || still != test.still {
			t.Errorf(
				"%s: heads of size %d, %d positions, a window of %d in %d layers, %d without rotary positions", name,
				c.HeadDim, c.Context, window, windowed, still,
			)
		}
	}
}

// TestGemma3Config: Gemma 3 has a rotary base for each kind of layer, and scales the scores and the
// embedding. Without layer_types, every sixth layer is global. Newer files list the bases by layer
// type.
func TestGemma3Config(t *testing.T) {
	for name, config := range map[string]object{
		"as published":  gemma3,
		"by its period": gemma3.with("layer_types", absent),
		"as the 1B has it": gemma3.with(
			"layer_types", absent, "_sliding_window_pattern", absent, "sliding_window_pattern", 6,
		),
		"at its defaults": gemma3.with(
			"layer_types", absent, "_sliding_window_pattern", absent, "rope_theta", absent, "rope_local_base_freq",
			absent, "head_dim", absent, "query_pre_attn_scalar", absent, "hidden_activation", nil,
		),
		"by the type of base": gemma3.with(
			"rope_theta", absent, "rope_local_base_freq", absent, "rope_parameters",
			object{
				"sliding_attention": object{"rope_type": "default", "rope_theta": 10000.0},
				"full_attention":    object{"rope_theta": 1000000.0},
			},
		),
	} {
		c := parse(t, config)
		for l, a := range c.Attention {
			want := Attention{&Rope{Theta: 10_000}, 512}
			if l%6 == 5 {
				want = Attention{&Rope{Theta: 1_000_000}, 0}
			}
			if !reflect.DeepEqual(a, want) {
				t.Errorf("%s: layer %d has %+v %+v, want %+v", name, l, a, a.Rope, want)
			}
		}
		// √640
		if len(c.Ropes()) != 2 || c.QueryScalar != 256 || !(math.Abs(float64(c.EmbeddingScale)-25.29822) <= 1e-5) ||
			!c.TieEmbeddings || c.Block.Activation != GELUTanh {
			t.Errorf(
				"%s: got %+v; want len(Ropes()) = 2, QueryScalar = 256, EmbeddingScale ≈ 25.29822, "+
					"TieEmbeddings = true, Block.Activation = %d",
				name, c, GELUTanh,
			)
		}
	}
	// The larger models stretch only the global layers.
	c := parse(t, gemma3.with("rope_scaling", object{"rope_type": "linear", "factor": 8}))
	if local, global := c.Attention[0].Rope, c.Attention[5].Rope; local.Scaling.Kind != "" ||
		global.Scaling.Factor != 8 {
		t.Errorf(`local %+v, global %+v; want local.Scaling.Kind = "", global.Scaling.Factor = 8`, local, global)
	}
	c = parse(
		t,
		gemma3.with(
			"rope_parameters",
			object{
				"full_attention":    object{"rope_type": "linear", "factor": 8},
				"sliding_attention": object{"rope_type": "default"},
			},
		),
	)
	if local, global := c.Attention[0].Rope, c.Attention[5].Rope; local.Scaling.Kind != "" ||
		global.Scaling.Factor != 8 || local.Theta != 10_000 || global.Theta != 1_000_000 {
		t.Errorf(
			`local %+v, global %+v; want local.Scaling.Kind = "", global.Scaling.Factor = 8, local.Theta = `+
				"10_000, global.Theta = 1_000_000",
			local, global,
		)
	}
}

// TestSmolLM3Layers: in SmolLM3, the listed layers have rotary positions or, without a list, all
// except every interval-th layer. A window applies to the layers without rotary positions.
func TestSmolLM3Layers(t *testing.T) {
	for name, test := range map[string]struct {
		config object
		want   string // by layer: r has rotary positions, . does not; capitals have a window
	}{
		"listed": {
			smollm3.with(
				"num_hidden_layers", 6, "layer_types", absent, "no_rope_layers", []int{0, 1, 1, 0, 1, 1, 0, 0},
			),
			".rr.rr",
		},
		"every third": {
			smollm3.with(
				"num_hidden_layers", 6, "layer_types", absent, "no_rope_layers", nil, "no_rope_layer_interval", 3,
			),
			"rr.rr.",
		},
		"every fourth": {
			smollm3.with(
				"num_hidden_layers", 6, "layer_types", absent, "no_rope_layers", absent, "no_rope_layer_interval",
				absent,
			),
			"rrr.rr",
		},
		"with a window": {
			smollm3.with(
				"num_hidden_layers", 6, "layer_types", absent, "no_rope_layers", absent, "use_sliding_window", true,
				"sliding_window", 100,
			),
			"rrr:rr",
		},
		"window listed": {
			smollm3.with(
				"num_hidden_layers", 3, "layer_types",
				[]string{"sliding_attention", "full_attention", "full_attention"}, "no_rope_layers", absent,
				"use_sliding_window", true, "sliding_window", 100,
			),
			"Rrr",
		},
	} {
		got := ""
		for _, a := range parse(t, test.config).Attention {
			kind := map[[2]bool]string{{true, false}: "r", {true, true}: "R", {false, false}: ".", {false, true}: ":"}
			got += kind[[2]bool{a.Rope != nil, a.Window == 100}]
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestQwenWindows: if Qwen's window is enabled, it applies to layer max_window_layers and all
// layers after it.
func TestQwenWindows(t *testing.T) {
	for name, test := range map[string]struct {
		config object
		want   []int
	}{
		"off": {
			qwen3.with("num_hidden_layers", 3, "sliding_window", 9, "max_window_layers", 1), []int{0, 0, 0},
		},
		"on": {
			qwen3.with("num_hidden_layers", 3, "use_sliding_window", true, "sliding_window", 9, "max_window_layers", 1),
			[]int{0, 9, 9},
		},
		"above all": {
			qwen3.with("num_hidden_layers", 3, "use_sliding_window", true, "sliding_window", 9), []int{0, 0, 0},
		},
		"from the first": {
			qwen3.with("num_hidden_layers", 3, "use_sliding_window", true, "sliding_window", 9, "max_window_layers", 0),
			[]int{9, 9, 9},
		},
		"listed": {
			qwen3.with(
				"num_hidden_layers", 3, "use_sliding_window", true, "sliding_window", 9, "layer_types",
				[]string{"sliding_attention", "full_attention", "sliding_attention"},
			),
			[]int{9, 0, 9},
		},
	} {
		var got []int
		for _, a := range parse(t, test.config).Attention {
			got = append(got, a.Window)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestRopeParametersWithoutAType: rope_parameters without a type do not stretch positions.
func TestRopeParametersWithoutAType(t *testing.T) {
	for _, config := range []object{
		tiny.with("rope_theta", absent, "rope_parameters", object{"rope_theta": 1e6}),
		tiny.with("rope_theta", absent, "rope_parameters", object{"rope_theta": 1e6, "rope_type": nil}),
	} {
		if c := parse(t, config); !reflect.DeepEqual(c.Attention, alike(2, 1e6, 0)) {
			t.Errorf(
				"%s: got RoPE %+v, want the same in both layers: base 1e6, no scaling", config.json(),
				c.Attention[0].Rope,
			)
		}
	}
}

// TestGPT2Activations checks that both forms of GELU are accepted for GPT-2.
func TestGPT2Activations(t *testing.T) {
	for name, want := range map[string]Activation{"gelu_new": GELUTanh, "gelu_pytorch_tanh": GELUTanh, "gelu": GELU} {
		if got := parse(t, gpt2.with("activation_function", name)).Block.Activation; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestCausalMasksAreNotWeights: the causal masks of older GPT-2 files are not weights: they are not
// counted as parameters or bytes, and their type is not listed.
func TestCausalMasksAreNotWeights(t *testing.T) {
	c, err := OpenPath(modelsFolder + "/gpt2-gelu")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := 2 * c.Parameters(); c.Bytes() != want || !slices.Equal(c.Types(), []string{"BF16"}) {
		t.Errorf("%d bytes of %v, want %d of BF16", c.Bytes(), c.Types(), want)
	}
	for name := range c.tensors {
		if strings.Contains(name, "masked") || strings.HasSuffix(name, ".attn.bias") {
			t.Errorf("%s is among the weights", name)
		}
	}
}

// TestUnsupportedModelErrorListsArchitectures: a message that rejects a model lists every supported
// architecture, in order.
func TestUnsupportedModelErrorListsArchitectures(t *testing.T) {
	got := runs(func(a *architecture) string { return a.gguf })
	names := strings.Split(strings.NewReplacer("the supported architectures are ", "", " and ", ", ").
		Replace(got), ", ")
	// GGUF has no name for Mistral.
	if len(names) != len(architectures)-1 || !slices.IsSorted(names) || slices.Contains(names, "") ||
		!slices.Contains(names, "qwen3") {
		t.Errorf("got architectures %q, want %d sorted names, qwen3 among them", got, len(architectures)-1)
	}
}
