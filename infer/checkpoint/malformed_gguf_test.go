package checkpoint

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// malformedGGUF lists malformed GGUF files, each with part of the expected message.
var malformedGGUF = []struct {
	name   string
	change func(*ggufModel)
	want   string
}{
	{"version 1", func(m *ggufModel) { m.version = 1 }, "byte 8: unsupported version 1"},
	{
		"big-endian", func(m *ggufModel) { m.version = 3 << 24 },
		"unsupported version 50331648; want little-endian version 2 or 3",
	},
	{
		"tensors beyond the file", func(m *ggufModel) { m.tensorsClaimed = 1 << 60 },
		"byte 16: 1152921504606846976 elements of at least 24 bytes, but only",
	},
	{
		"pairs beyond the file", func(m *ggufModel) { m.pairsClaimed = 1 << 63 },
		"byte 24: 9223372036854775808 elements of at least 12 bytes",
	},
	{"one pair too many", func(m *ggufModel) { m.pairsClaimed = 12 }, "but only"},
	{"one tensor too many", func(m *ggufModel) { m.tensorsClaimed = 12 }, "tensor "},
	{
		"key twice", func(m *ggufModel) { m.pairs = append(m.pairs, m.pairs[0]) },
		`key "general.architecture" appears twice`,
	},
	{
		"long key", func(m *ggufModel) { m.set(textPair(strings.Repeat("k", 257), "")) },
		"string of 257 bytes; the limit is 256",
	},
	{"unknown type", func(m *ggufModel) { m.set(ggufPair{"x", 13, nil}) }, `key "x": byte`},
	{
		"text beyond the file", func(m *ggufModel) { m.set(ggufPair{"x", ggufString, u64(1 << 40)}) },
		"length 1099511627776, but only",
	},
	{
		"array beyond the file", func(m *ggufModel) { m.set(ggufPair{"x", ggufArray, join(u32(0), u64(1<<62))}) },
		"length 4611686018427387904",
	},
	{"array of arrays of arrays", func(m *ggufModel) {
		nest := func(inner []byte) []byte { return join(u32(ggufArray), u64(1), inner) }
		m.set(ggufPair{"x", ggufArray, nest(nest(nest(nest(nest(join(u32(0), u64(0)))))))})
	}, "more than 4 deep"},
	{
		"array of an unknown type", func(m *ggufModel) { m.set(ggufPair{"x", ggufArray, join(u32(77), u64(0))}) },
		"array of unknown type 77",
	},
	{"no architecture", func(m *ggufModel) { m.pairs = m.pairs[1:] }, "general.architecture is missing"},
	{
		"other architecture", func(m *ggufModel) { m.set(textPair("general.architecture", "mamba")) },
		`general.architecture is "mamba"; in GGUF files, the supported architectures are`,
	},
	{
		"architecture a number", func(m *ggufModel) { m.set(wholePair("general.architecture", 1)) },
		"general.architecture is not a string",
	},
	{
		"no width", func(m *ggufModel) { m.set(textPair("llama.embedding_length", "4")) },
		"llama.embedding_length is not a number",
	},
	{
		"width zero", func(m *ggufModel) { m.set(wholePair("llama.embedding_length", 0)) },
		"llama.embedding_length is 0, want 1 to 65536",
	},
	{
		"width of a half", func(m *ggufModel) { m.set(floatPair("llama.embedding_length", 4.5)) },
		"llama.embedding_length is 4.5, want an integer",
	},
	{
		"width NaN", func(m *ggufModel) { m.set(floatPair("llama.embedding_length", float32(math.NaN()))) },
		"llama.embedding_length is NaN",
	},
	{
		"layers absurd", func(m *ggufModel) { m.set(wholePair("llama.block_count", 1<<31)) },
		"llama.block_count is 2.147483648e+09",
	},
	{
		"heads do not divide", func(m *ggufModel) { m.set(wholePair("llama.attention.head_count", 3)) },
		"llama.embedding_length 4 is not a multiple of llama.attention.head_count 3",
	},
	{
		"odd heads", func(m *ggufModel) { m.set(wholePair("llama.attention.head_count", 4)) },
		"llama.attention.key_length is 1 (set or derived); want an even number",
	},
	{
		"key heads do not divide", func(m *ggufModel) { m.set(wholePair("llama.attention.head_count_kv", 3)) },
		"is not a multiple of llama.attention.head_count_kv 3",
	},
	{
		"part of a head turns", func(m *ggufModel) { m.set(wholePair("llama.rope.dimension_count", 1)) },
		"llama.rope.dimension_count is 1, but the head size is 2",
	},
	{
		"values of another size", func(m *ggufModel) { m.set(wholePair("llama.attention.value_length", 4)) },
		"llama.attention.value_length is 4, but llama.attention.key_length is 2",
	},
	{
		"experts", func(m *ggufModel) { m.set(wholePair("llama.expert_count", 8)) },
		"llama.expert_count is 8; mixtures of experts",
	},
	{
		"yarn", func(m *ggufModel) { m.set(textPair("llama.rope.scaling.type", "yarn")) },
		`llama.rope.scaling.type is "yarn"`,
	},
	{
		"no tokenizer", func(m *ggufModel) { m.set(textPair("tokenizer.ggml.model", "")) },
		"tokenizer.ggml.model is missing",
	},
	{
		"other tokenizer", func(m *ggufModel) { m.set(textPair("tokenizer.ggml.model", "t5")) },
		`tokenizer.ggml.model is "t5"`,
	},
	{"other split", func(m *ggufModel) {
		m.set(textPair("tokenizer.ggml.model", "gpt2"))
		m.set(textPair("tokenizer.ggml.pre", "tekken"))
	}, `unknown split pattern "tekken"`},
	{
		"no split", func(m *ggufModel) { m.set(textPair("tokenizer.ggml.model", "gpt2")) },
		"missing tokenizer.ggml.pre, which determines how the tokenizer splits text",
	},
	{
		"fewer scores", func(m *ggufModel) { m.set(floatsPair("tokenizer.ggml.scores", []float32{1})) },
		"got 259 tokens, but 1 scores",
	},
	{"score NaN", func(m *ggufModel) {
		scores := make([]float32, 259)
		scores[7] = float32(math.NaN())
		m.set(floatsPair("tokenizer.ggml.scores", scores))
	}, "token 7: the score is NaN"},
	{"token twice", func(m *ggufModel) {
		tokens, _ := smallTokens()
		tokens[100] = tokens[99]
		m.set(textsPair("tokenizer.ggml.tokens", tokens))
	}, "duplicate token <0x60>"},
	{"empty token", func(m *ggufModel) {
		tokens, _ := smallTokens()
		tokens[9] = ""
		m.set(textsPair("tokenizer.ggml.tokens", tokens))
	}, "token 9: the token with id 9 is empty"},
	{"types too few", func(m *ggufModel) {
		m.set(ggufPair{"tokenizer.ggml.token_type", ggufArray, join(u32(5), u64(1), u32(1))})
	}, "token_type has 1 entries, but tokenizer.ggml.tokens has 259"},
	{
		"start beyond the vocabulary", func(m *ggufModel) { m.set(wholePair("tokenizer.ggml.bos_token_id", 259)) },
		"bos_token_id is 259, want 0 to 258",
	},
	{
		"tokens beyond the embedding", func(m *ggufModel) { m.tensors[0].dims[1] = 258 },
		"tokenizer.ggml.tokens has 259 tokens, but token_embd has rows for 258",
	},
	{
		"tensor twice", func(m *ggufModel) { m.tensors = append(m.tensors, m.tensors[3]) },
		`tensor "blk.0.attn_k.weight" appears twice`,
	},
	{"tensor missing", func(m *ggufModel) {
		m.tensors = m.tensors[:len(m.tensors)-1]
		m.data = m.data[:len(m.data)-32] // the removed tensor had four numbers, padded
	}, "missing output_norm.weight"},
	{
		"bytes behind the last tensor", func(m *ggufModel) { m.data = append(m.data, "hidden"...) },
		"unexpected data after the last tensor (bytes 11552 to 11558)",
	},
	{
		"zeros behind the last tensor", func(m *ggufModel) { m.data = append(m.data, make([]byte, 32)...) },
		"unexpected data after the last tensor (bytes 11552 to 11584)",
	},
	{
		"padding that is not zero", func(m *ggufModel) { m.data[len(m.data)-1] = 1 },
		"nonzero padding at byte 11551, after the last tensor",
	},
	{
		"tensor unknown", func(m *ggufModel) { m.tensors[1].name = "blk.0.attn_q.bias" },
		"layer 0: missing attn_norm.weight",
	},
	{"tensor left over", func(m *ggufModel) {
		m.tensors = append(m.tensors, ggufTensor{"blk.1.attn_q.weight", []uint64{1}, 0, uint64(len(m.data))})
		m.data = append(m.data, 0, 0, 0, 0)
	}, `unexpected tensor "blk.1.attn_q.weight" for llama with 1 layers`},
	{
		"transposed", func(m *ggufModel) { m.tensors[9].dims = []uint64{4, 3} },
		"layer 0: ffn_down has shape [3 4], want [4 3]",
	},
	{"no dimensions", func(m *ggufModel) { m.tensors[2].dims = nil }, `tensor "blk.0.attn_q.weight" has 0 dimensions`},
	{"nine dimensions", func(m *ggufModel) { m.tensors[2].dims = make([]uint64, 9) }, "has 9 dimensions, want 1 to 8"},
	{"dimension zero", func(m *ggufModel) { m.tensors[2].dims = []uint64{4, 0} }, "has a dimension of 0"},
	{
		"dimensions that overflow", func(m *ggufModel) { m.tensors[2].dims = []uint64{1 << 31, 1 << 31, 1 << 31} },
		"more than the file can hold",
	},
	{
		"type that cannot be read", func(m *ggufModel) { m.tensors[2].kind = 39 },
		`tensor "blk.0.attn_q.weight" has type MXFP4; supported types are F32, F16, BF16, Q8_0, Q6_K`,
	},
	{"type of one bit", func(m *ggufModel) { m.tensors[2].kind = 41 }, `"blk.0.attn_q.weight" has type Q1_0`},
	{"type given up", func(m *ggufModel) { m.tensors[2].kind = 4 }, `"blk.0.attn_q.weight" has type number 4`},
	{
		"two of one type", func(m *ggufModel) { m.tensors[2].kind, m.tensors[3].kind = 10, 10 },
		`"blk.0.attn_k.weight" has type Q2_K (and so does one more); supported types are F32`,
	},
	{
		"three of one type",
		func(m *ggufModel) { m.tensors[2].kind, m.tensors[3].kind, m.tensors[4].kind = 19, 19, 19 },
		"has type IQ1_S (and so do 2 more); supported types are F32",
	},
	{"whole numbers", func(m *ggufModel) { m.tensors[1].kind = 26 }, `"blk.0.attn_norm.weight" has type I32`},
	{
		"rows that are no K-quants", func(m *ggufModel) { m.tensors[2].kind = 12 },
		"has rows of 4 values, but Q4_K requires a multiple of 256",
	},
	{
		"rows that are no Q6_K", func(m *ggufModel) { m.tensors[0].kind = 14 },
		`tensor "token_embd.weight" has rows of 4 values, but Q6_K requires a multiple of 256`,
	},
	{
		"rows that are no Q5_1", func(m *ggufModel) { m.tensors[2].kind = 7 },
		"has rows of 4 values, but Q5_1 requires a multiple of 32",
	},
	{"a vocabulary alone", func(m *ggufModel) { m.tensors, m.data = nil, nil }, "contains a vocabulary but no weights"},
	{
		"what sees pictures", func(m *ggufModel) { m.set(textPair("general.type", "mmproj")) },
		`general.type is "mmproj"; the file accompanies a model`,
	},
	{"an adapter", func(m *ggufModel) { m.set(textPair("general.type", "adapter")) }, `general.type is "adapter"`},
	{"type a number", func(m *ggufModel) { m.set(wholePair("general.type", 1)) }, "general.type is not a string"},
	{"name a number", func(m *ggufModel) { m.set(wholePair("general.name", 1)); m.version = 4 }, "version 4"},
	{
		"template beyond the file", func(m *ggufModel) { m.set(ggufPair{templateKey, ggufString, u64(1 << 19)}) },
		`key "tokenizer.chat_template": byte`,
	},
	{
		"cut short", func(m *ggufModel) { m.data = m.data[:100] },
		"11 tensors extend beyond its end, so the file is truncated",
	},
	{
		"offset beyond any file", func(m *ggufModel) { m.tensors[2].offset = 1<<63 + 32 },
		"begins at byte 9223372036854775840, beyond the end of the file at byte",
	},
	{"alignment a half", func(m *ggufModel) { m.set(floatPair("general.alignment", 0.5)) }, "general.alignment is 0.5"},
	{
		"alignment NaN", func(m *ggufModel) { m.set(floatPair("general.alignment", float32(math.NaN()))) },
		"general.alignment is NaN",
	},
	{"type unknown", func(m *ggufModel) { m.tensors[2].kind = 99 }, "has type number 99"},
	{
		"rows that are not blocks", func(m *ggufModel) { m.tensors[2].kind = 8 },
		"has rows of 4 values, but Q8_0 requires a multiple of 32",
	},
	{
		"tensor beyond the file", func(m *ggufModel) { m.tensors[2].offset = 1 << 50 },
		"begins at byte 1125899906849472, beyond the end of the file at byte 11552",
	},
	{
		"tensor across the end", func(m *ggufModel) { m.data = m.data[:len(m.data)-32] },
		`tensor "output_norm.weight" ends at byte`,
	},
	{"tensors overlap", func(m *ggufModel) { m.tensors[3].offset = m.tensors[2].offset }, "overlap"},
	{"tensor not aligned", func(m *ggufModel) { m.tensors[3].offset += 4 }, "want a multiple of 32"},
	{"alignment zero", func(m *ggufModel) { m.set(wholePair("general.alignment", 0)) }, "general.alignment is 0"},
	{"rope factors of another size", func(m *ggufModel) {
		m.tensors = append(m.tensors, ggufTensor{"rope_freqs.weight", []uint64{3}, 0, uint64(len(m.data))})
		m.data = append(m.data, make([]byte, 12)...)
	}, "rope_freqs has shape [3], want [1]"},
	{"rope factors of an unknown type", func(m *ggufModel) {
		m.tensors = append(m.tensors, ggufTensor{"rope_freqs.weight", []uint64{1}, 77, uint64(len(m.data))})
		m.data = append(m.data, u32(0)...)
	}, `tensor "rope_freqs.weight" has type number 77`},
	{"rope factor zero", func(m *ggufModel) {
		m.tensors = append(m.tensors, ggufTensor{"rope_freqs.weight", []uint64{1}, 0, uint64(len(m.data))})
		m.data = append(m.data, make([]byte, 4)...)
	}, "rope_freqs[0] is 0, want"},
}

// openMemory opens a file in memory.
func openMemory(name string, files map[string][]byte) error {
	folder := fstest.MapFS{}
	for n, data := range files {
		folder[n] = &fstest.MapFile{Data: data}
	}
	d, err := Files{}.describeFile(folder, name)
	if err == nil {
		err = d.Checkpoint.Close()
	}
	return err
}

// folderWords matches keys and files of a Hugging Face folder, which errors for other
// formats must not mention.
var folderWords = regexp.MustCompile(`model\.(vocab|merges)|added_tokens|tokenizer\.json|config\.json|hidden_size|` +
	`num_\w+|rope_(theta|scaling|parameters)|\.safetensors`)

// refuse checks that opening a file fails with a message that begins with prefix and contains want,
// and allocates no more than the file's size plus 64 MiB. Errors for GGUF and llama2.c files must
// not mention a folder's keys.
func refuse(t *testing.T, size int, what, prefix, want string, open func() error) {
	t.Helper()
	var err error
	if got := allocated(func() { err = open() }); got > uint64(size)+64<<20 {
		t.Errorf("%s: allocated %d bytes for a file of %d; want at most %d", what, got, size, uint64(size)+64<<20)
	}
	if err == nil || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %s…%s", what, err, prefix, want)
		return
	}
	for _, reason := range Reasons(err) {
		other := strings.HasPrefix(reason, "m.gguf: ") || strings.HasPrefix(reason, "m.bin: ") ||
			strings.HasPrefix(reason, llama2cTokens+": ")
		if word := folderWords.FindString(reason); other && word != "" {
			t.Errorf("%s: got %s, a word for folders, in %q, want none", what, word, reason)
		}
	}
}

// Promise: A damaged model file is refused, and the message describes the problem and its position.
func TestMalformedGGUF(t *testing.T) {
	if err := openMemory("m.gguf", map[string][]byte{"m.gguf": smallGGUF().bytes()}); err != nil {
		t.Fatalf("the valid file: %v", err)
	}
	for _, test := range malformedGGUF {
		m := smallGGUF()
		test.change(m)
		data := m.bytes()
		refuse(
			t, len(data), test.name, "m.gguf: ", test.want,
			func() error { return openMemory("m.gguf", map[string][]byte{"m.gguf": data}) },
		)
	}
}

// TestGGUFPadding: the last tensor may be padded fully, like the tensors before it, or partly, or
// not at all, because programs that write such files differ.
func TestGGUFPadding(t *testing.T) {
	whole := smallGGUF().bytes()
	for cut := range 17 { // the last tensor has 16 bytes, padded to 32
		if err := openMemory("m.gguf", map[string][]byte{"m.gguf": whole[:len(whole)-cut]}); err != nil {
			t.Errorf("%d bytes of padding: %v", 16-cut, err)
		}
	}
	aligned := smallGGUF()
	aligned.set(wholePair("general.alignment", 8))
	if err := openMemory("m.gguf", map[string][]byte{"m.gguf": aligned.bytes()}); err == nil ||
		!strings.Contains(err.Error(), "after the last tensor") {
		t.Errorf(
			"more padding than the file's own alignment: got error %v, want an error containing %q", err,
			"after the last tensor",
		)
	}
}

// TestTruncatedGGUF: a truncated file of any length is rejected, and the error names the file.
func TestTruncatedGGUF(t *testing.T) {
	data := smallGGUF().bytes()
	for n := range len(data) {
		if n%7 != 0 && n > 300 {
			continue
		}
		if err := openMemory("m.gguf", map[string][]byte{"m.gguf": data[:n]}); n < len(data)-16 &&
			(err == nil || !strings.HasPrefix(err.Error(), "m.gguf: ")) {
			t.Errorf("%d of %d bytes: got %v, want an error that begins with m.gguf", n, len(data), err)
		}
	}
}
