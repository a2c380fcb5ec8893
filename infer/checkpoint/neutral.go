package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Some keys change a model's computation in a way that this program does not support for any
// architecture. Ignoring them would produce text that is almost right, so they are rejected with an
// error that names the key, unless they have one of the values below, which change nothing.

// folderNeutral lists such keys of config.json. A key that is null is always neutral.
var folderNeutral = map[string][]any{
	"attention_multiplier":        nil,
	"attn_logit_softcapping":      nil,
	"clip_qkv":                    nil,
	"embedding_multiplier":        {1.0},
	"final_logit_softcapping":     nil,
	"is_causal":                   {true},
	"is_encoder_decoder":          {false},
	"logit_scale":                 {1.0},
	"logits_scaling":              {1.0},
	"num_experts":                 {0.0},
	"num_local_experts":           {0.0},
	"residual_multiplier":         {1.0},
	"use_bidirectional_attention": {false},
	"use_parallel_residual":       {false},
}

// ggufNeutral lists such keys of GGUF metadata, without the architecture's name. A factor of 0
// means that the model does not use the factor.
var ggufNeutral = map[string][]any{
	"attention.causal":                 {true},
	"attention.clamp_kqv":              {0.0},
	"attention.max_alibi_bias":         {0.0},
	"attention.output_scale":           {0.0, 1.0},
	"attention.scale":                  {0.0},
	"attention.shared_kv_layers":       {0.0},
	"attention.temperature_scale":      {0.0},
	"attn_logit_softcapping":           {0.0},
	"embedding_scale":                  {0.0, 1.0},
	"final_logit_softcapping":          {0.0},
	"logit_scale":                      {0.0, 1.0},
	"residual_scale":                   {0.0, 1.0},
	"rope.dimension_sections":          nil,
	"rope.scaling.alpha":               {0.0, 1.0},
	"rope.scaling.attn_factor":         {0.0, 1.0},
	"rope.scaling.yarn_attn_factor":    {0.0, 1.0},
	"rope.scaling.yarn_ext_factor":     {-1.0, 0.0},
	"rope.scaling.yarn_log_multiplier": {0.0},
	"swin_norm":                        {false},
	"use_parallel_residual":            {false},
}

// neutral rejects keys that would change the computation.
func (f *fields) neutral() {
	for _, key := range slices.Sorted(maps.Keys(folderNeutral)) {
		if !f.has(key) {
			continue
		}
		var v any
		if err := json.Unmarshal(f.raw[key], &v); err != nil {
			f.fail("%s: %v", key, err)
		} else if want := folderNeutral[key]; want == nil {
			f.fail("%s is set, which is not supported", key)
		} else if !neutral(v, want) {
			f.fail("%s is %s; only %v is supported", key, shorten(f.raw[key]), want[0])
		}
	}
}

// neutral rejects keys that would change the computation.
func (p *ggufPairs) neutral(c *Config) {
	for _, key := range slices.Sorted(maps.Keys(ggufNeutral)) {
		want := ggufNeutral[key]
		switch v := p.g.pairs[p.prefix+key]; {
		case !p.has(key):
		case want == nil:
			p.fail("%s%s is set, which is not supported", p.prefix, key)
		case !neutral(v, want):
			p.fail("%s%s is %s; only %v is supported", p.prefix, key, shown(v), want[0])
		}
	}
	// Layers with a window may have their own head sizes.
	for _, key := range []string{"attention.key_length_swa", "attention.value_length_swa", "rope.dimension_count_swa"} {
		if n := p.number(key, float64(c.HeadDim), 0, maxHeadDim); n != float64(c.HeadDim) {
			p.fail("%s%s is %v, but the head size is %d; they must be equal", p.prefix, key, n, c.HeadDim)
		}
	}
}

// neutral reports whether a value is in want, the list of a key's values that change nothing.
func neutral(v any, want []any) bool {
	switch v.(type) {
	case bool, float64:
		return slices.Contains(want, v)
	}
	return false // lists are not comparable
}

// shown formats a metadata value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil, []string, []float32:
		return "a list or a long string"
	case string:
		return quote(v)
	default:
		return fmt.Sprint(v)
	}
}
