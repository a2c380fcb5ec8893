package checkpoint

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// smallGGUFOf returns a model like smallGGUF's, but of the given architecture, with heads of size 2
// and one layer.
func smallGGUFOf(arch string) *ggufModel {
	m := smallGGUF()
	m.set(textPair("general.architecture", arch))
	for i := range m.pairs {
		if rest, ok := strings.CutPrefix(m.pairs[i].key, "llama."); ok {
			m.pairs[i].key = arch + "." + rest
		}
	}
	switch arch {
	case "qwen3":
		m.norm("blk.0.attn_q_norm", 2)
		m.norm("blk.0.attn_k_norm", 2)
	case "gemma3":
		m.norm("blk.0.attn_q_norm", 2)
		m.norm("blk.0.attn_k_norm", 2)
		m.norm("blk.0.post_attention_norm", 4)
		m.norm("blk.0.post_ffw_norm", 4)
	case "olmo2":
		m.tensors = slices.DeleteFunc(m.tensors, func(t ggufTensor) bool {
			return t.name == "blk.0.attn_norm.weight" || t.name == "blk.0.ffn_norm.weight"
		})
		m.norm("blk.0.attn_q_norm", 4)
		m.norm("blk.0.attn_k_norm", 4)
		m.norm("blk.0.post_attention_norm", 4)
		m.norm("blk.0.post_ffw_norm", 4)
	}
	return m
}

// norm adds the weights of a norm: a vector of n zeros.
func (m *ggufModel) norm(name string, n uint64) {
	m.tensors = append(m.tensors, ggufTensor{name + ".weight", []uint64{n}, 0, uint64(len(m.data))})
	m.data = append(m.data, make([]byte, (4*n+31)/32*32)...)
}

// drop removes a tensor.
func (m *ggufModel) drop(name string) {
	m.tensors = slices.DeleteFunc(m.tensors, func(t ggufTensor) bool { return t.name == name+".weight" })
	last := m.tensors[len(m.tensors)-1]
	bytes := uint64(4)
	for _, d := range last.dims {
		bytes *= d
	}
	m.data = m.data[:last.offset+(bytes+31)/32*32] // drops the tensor's bytes, if it was the last one
}

func openSmall(t *testing.T, m *ggufModel) Config {
	t.Helper()
	c, err := openGGUF(fileWeights(m.bytes()), "m")
	if err != nil {
		t.Fatal(err)
	}
	return c.Config
}

// TestGGUFRopeScaling: a GGUF file can stretch rotary positions. The stretching is linear unless
// its type is "none", and the factor is read from the current key or from the key's original name.
// A factor of 0 means no stretching.
func TestGGUFRopeScaling(t *testing.T) {
	const kind, factor, first = "llama.rope.scaling.type", "llama.rope.scaling.factor", "llama.rope.scale_linear"
	for name, test := range map[string]struct {
		pairs []ggufPair
		want  RopeScaling
	}{
		"nothing": {nil, RopeScaling{}},
		"type and factor": {
			[]ggufPair{textPair(kind, "linear"), floatPair(factor, 4)}, RopeScaling{Kind: "linear", Factor: 4},
		},
		"a factor alone": {[]ggufPair{floatPair(factor, 4)}, RopeScaling{Kind: "linear", Factor: 4}},
		"the first name": {[]ggufPair{floatPair(first, 2)}, RopeScaling{Kind: "linear", Factor: 2}},
		"both names": {
			[]ggufPair{floatPair(factor, 4), floatPair(first, 2)}, RopeScaling{Kind: "linear", Factor: 4},
		},
		"type and the first name": {
			[]ggufPair{textPair(kind, "linear"), floatPair(first, 2)}, RopeScaling{Kind: "linear", Factor: 2},
		},
		"none with a factor": {[]ggufPair{textPair(kind, "none"), floatPair(factor, 4)}, RopeScaling{}},
		"a type alone":       {[]ggufPair{textPair(kind, "linear")}, RopeScaling{}},
		"a factor of 0":      {[]ggufPair{floatPair(factor, 0), floatPair(first, 2)}, RopeScaling{}},
		"a factor of 1":      {[]ggufPair{floatPair(first, 1)}, RopeScaling{}},
	} {
		m := smallGGUF()
		for _, p := range test.pairs {
			m.set(p)
		}
		if got := openSmall(t, m).Attention[0].Rope; !reflect.DeepEqual(got, &Rope{10_000, test.want}) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestGGUFAttention: the metadata of a GGUF file determines the layers' windows and which layers
// have a different rotary base.
func TestGGUFAttention(t *testing.T) {
	for name, test := range map[string]struct {
		arch  string
		pairs []ggufPair
		want  Attention
		limit int // positions
	}{
		"llama": {"llama", nil, Attention{&Rope{Theta: 10_000}, 0}, 8},
		"llama with a window": {
			"llama", []ggufPair{wholePair("llama.attention.sliding_window", 5)}, Attention{&Rope{Theta: 10_000}, 5}, 8,
		},
		"llama with none": {
			"llama", []ggufPair{wholePair("llama.attention.sliding_window", 0)}, Attention{&Rope{Theta: 10_000}, 0}, 8,
		},
		"qwen3 ends where it cuts": {
			"qwen3", []ggufPair{wholePair("qwen3.attention.sliding_window", 5)}, Attention{&Rope{Theta: 10_000}, 0}, 5,
		},
		"olmo2": {
			"olmo2", []ggufPair{floatPair("olmo2.rope.freq_base", 500_000)}, Attention{&Rope{Theta: 500_000}, 0}, 8,
		},
		"smollm3": {"smollm3", nil, Attention{&Rope{Theta: 10_000}, 0}, 8},
		"gemma3, local": {
			"gemma3",
			[]ggufPair{wholePair("gemma3.attention.sliding_window", 5), floatPair("gemma3.rope.freq_base", 1e6)},
			Attention{&Rope{Theta: 10_000}, 5},
			8,
		},
		"gemma3, its local base": {
			"gemma3",
			[]ggufPair{wholePair("gemma3.attention.sliding_window", 5), floatPair("gemma3.rope.freq_base_swa", 20_000)},
			Attention{&Rope{Theta: 20_000}, 5},
			8,
		},
		"gemma3, every layer global": {
			"gemma3",
			[]ggufPair{
				wholePair("gemma3.attention.sliding_window", 5), floatPair("gemma3.rope.freq_base", 1e6),
				wholePair("gemma3.attention.sliding_window_pattern", 1),
			},
			Attention{&Rope{Theta: 1e6}, 0},
			8,
		},
		"gemma3 without a window": {
			"gemma3", []ggufPair{floatPair("gemma3.rope.freq_base", 1e6)}, Attention{&Rope{Theta: 1e6}, 0}, 8,
		},
	} {
		m := smallGGUFOf(test.arch)
		for _, p := range test.pairs {
			m.set(p)
		}
		c := openSmall(t, m)
		if !reflect.DeepEqual(c.Attention[0], test.want) || c.Context != test.limit || c.Architecture != test.arch {
			t.Errorf(
				"%s: got %s, %+v %+v, %d positions; want %s, %+v, %d", name, c.Architecture, c.Attention[0],
				c.Attention[0].Rope, c.Context, test.arch, test.want, test.limit,
			)
		}
	}
}

// malformedArchitecturesGGUF lists malformed GGUF files of the newer architectures, each with part
// of the expected message.
var malformedArchitecturesGGUF = []struct {
	name, arch string
	change     func(*ggufModel)
	want       string
}{
	{
		"no query norm", "qwen3", func(m *ggufModel) { m.drop("blk.0.attn_q_norm") },
		"layer 0: missing attn_q_norm.weight",
	},
	{
		"query norm over all heads", "qwen3",
		func(m *ggufModel) { m.drop("blk.0.attn_q_norm"); m.norm("blk.0.attn_q_norm", 4) },
		"layer 0: attn_q_norm has shape [4], want [2]",
	},
	{
		"query norm in a llama", "llama", func(m *ggufModel) { m.norm("blk.0.attn_q_norm", 2) },
		`unexpected tensor "blk.0.attn_q_norm.weight" for llama with 1 layers`,
	},
	{
		"rope factors in a qwen3", "qwen3", func(m *ggufModel) { m.norm("rope_freqs", 1) },
		"rope_freqs[0] is 0, want",
	},
	{
		"query norm of one head", "olmo2",
		func(m *ggufModel) { m.drop("blk.0.attn_q_norm"); m.norm("blk.0.attn_q_norm", 2) },
		"layer 0: attn_q_norm has shape [2], want [4]",
	},
	{
		"a norm before the attention", "olmo2", func(m *ggufModel) { m.norm("blk.0.attn_norm", 4) },
		`unexpected tensor "blk.0.attn_norm.weight" for olmo2 with 1 layers`,
	},
	{
		"no norm behind the attention", "olmo2", func(m *ggufModel) { m.drop("blk.0.post_attention_norm") },
		"layer 0: missing post_attention_norm.weight",
	},
	{
		"an OLMo 3", "olmo2", func(m *ggufModel) { m.set(wholePair("olmo2.attention.sliding_window", 4)) },
		"olmo2.attention.sliding_window is 4; OLMo 3, which has one, is not supported",
	},
	{
		"no norm behind the feed-forward layer", "gemma3", func(m *ggufModel) { m.drop("blk.0.post_ffw_norm") },
		"layer 0: missing post_ffw_norm.weight",
	},
	{
		"period zero", "gemma3", func(m *ggufModel) { m.set(wholePair("gemma3.attention.sliding_window_pattern", 0)) },
		"gemma3.attention.sliding_window_pattern is 0, want 1 to 1024",
	},
	{"period a list", "gemma3", func(m *ggufModel) {
		m.set(ggufPair{"gemma3.attention.sliding_window_pattern", ggufArray, join(u32(7), u64(1), []byte{1})})
	}, "gemma3.attention.sliding_window_pattern is not a number"},
	{
		"capped logits", "gemma3", func(m *ggufModel) { m.set(floatPair("gemma3.final_logit_softcapping", 30)) },
		"gemma3.final_logit_softcapping is 30; only 0 is supported",
	},
	{
		"local base zero", "gemma3", func(m *ggufModel) { m.set(floatPair("gemma3.rope.freq_base_swa", 0)) },
		"gemma3.rope.freq_base_swa is 0, want 1 to",
	},
	{"key heads by layer", "smollm3", func(m *ggufModel) {
		m.set(ggufPair{"smollm3.attention.head_count_kv", ggufArray, join(u32(5), u64(1), u32(2))})
	}, "smollm3.attention.head_count_kv is not a number"},
	{
		"a bias", "smollm3",
		func(m *ggufModel) { m.norm("blk.0.attn_q", 4); m.tensors[len(m.tensors)-1].name = "blk.0.attn_q.bias" },
		`unexpected tensor "blk.0.attn_q.bias"`,
	},
	{
		"window of a half", "llama", func(m *ggufModel) { m.set(floatPair("llama.attention.sliding_window", 1.5)) },
		"llama.attention.sliding_window is 1.5, want an integer",
	},
	{
		"window below zero", "llama", func(m *ggufModel) { m.set(floatPair("llama.attention.sliding_window", -1)) },
		"llama.attention.sliding_window is -1, want 0 to",
	},
	{
		"factor that shrinks", "llama", func(m *ggufModel) { m.set(floatPair("llama.rope.scale_linear", 0.5)) },
		"llama.rope.scale_linear is 0.5, want 1 to",
	},
	{
		"factor below zero", "llama", func(m *ggufModel) { m.set(floatPair("llama.rope.scaling.factor", -4)) },
		"llama.rope.scaling.factor is -4, want 0 to",
	},
	{
		"factor a text", "llama", func(m *ggufModel) { m.set(textPair("llama.rope.scaling.factor", "4")) },
		"llama.rope.scaling.factor is not a number",
	},
	{
		"a window in some layers", "llama", func(m *ggufModel) {
			m.set(wholePair("llama.attention.sliding_window", 4))
			m.set(wholePair("llama.attention.sliding_window_pattern", 2))
		}, "llama.attention.sliding_window_pattern is set; a Llama model with a sliding window must use it",
	},
	{
		"a mixture of experts", "qwen3", func(m *ggufModel) { m.set(textPair("general.architecture", "qwen3moe")) },
		`general.architecture is "qwen3moe"; in GGUF files, the supported architectures are `,
	},
}

func TestMalformedArchitecturesGGUF(t *testing.T) {
	for _, arch := range []string{"llama", "qwen3", "gemma3", "smollm3", "olmo2"} {
		openSmall(t, smallGGUFOf(arch))
	}
	for _, test := range malformedArchitecturesGGUF {
		m := smallGGUFOf(test.arch)
		test.change(m)
		data := m.bytes()
		refuse(
			t, len(data), test.name, "m.gguf: ", test.want,
			func() error { return openMemory("m.gguf", map[string][]byte{"m.gguf": data}) },
		)
	}
}
