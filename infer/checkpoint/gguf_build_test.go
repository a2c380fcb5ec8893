package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// ggufPair is a metadata pair under construction: a key, the number of its type
// and the bytes of its value.
type ggufPair struct {
	key   string
	kind  uint32
	value []byte
}

func u32(n ...uint32) (b []byte) {
	for _, n := range n {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

func u64(n ...uint64) (b []byte) {
	for _, n := range n {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func ggufText(s string) []byte { return append(u64(uint64(len(s))), s...) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func textPair(key, value string) ggufPair     { return ggufPair{key, ggufString, ggufText(value)} }
func wholePair(key string, n uint32) ggufPair { return ggufPair{key, 4, u32(n)} }
func floatPair(key string, x float32) ggufPair {
	return ggufPair{key, 6, u32(math.Float32bits(x))}
}

func textsPair(key string, list []string) ggufPair {
	b := join(u32(ggufString), u64(uint64(len(list))))
	for _, s := range list {
		b = append(b, ggufText(s)...)
	}
	return ggufPair{key, ggufArray, b}
}

func floatsPair(key string, list []float32) ggufPair {
	b := join(u32(6), u64(uint64(len(list))))
	for _, x := range list {
		b = append(b, u32(math.Float32bits(x))...)
	}
	return ggufPair{key, ggufArray, b}
}

// ggufTensor is a tensor under construction. The fastest-varying dimension comes first in dims.
type ggufTensor struct {
	name   string
	dims   []uint64
	kind   uint32
	offset uint64
}

// A ggufModel is a GGUF file under construction.
type ggufModel struct {
	version        uint32
	pairs          []ggufPair
	tensors        []ggufTensor
	data           []byte
	pairsClaimed   uint64 // 0 for the actual number of pairs
	tensorsClaimed uint64
}

func (m ggufModel) bytes() []byte {
	pairs, tensors := uint64(len(m.pairs)), uint64(len(m.tensors))
	if m.pairsClaimed > 0 {
		pairs = m.pairsClaimed
	}
	if m.tensorsClaimed > 0 {
		tensors = m.tensorsClaimed
	}
	b := join([]byte(ggufMagic), u32(m.version), u64(tensors, pairs))
	for _, p := range m.pairs {
		b = join(b, ggufText(p.key), u32(p.kind), p.value)
	}
	for _, t := range m.tensors {
		b = join(b, ggufText(t.name), u32(uint32(len(t.dims))), u64(t.dims...), u32(t.kind), u64(t.offset))
	}
	return join(b, make([]byte, (32-len(b)%32)%32), m.data)
}

// smallTokens returns the smallest SentencePiece vocabulary: three special tokens and the 256
// bytes.
func smallTokens() (tokens []string, scores []float32) {
	tokens = []string{"<unk>", "<s>", "</s>"}
	for b := range 256 {
		tokens = append(tokens, fmt.Sprintf("<0x%02X>", b))
	}
	return tokens, make([]float32, len(tokens))
}

// smallGGUF returns a valid model with one block and matrices of zeros.
func smallGGUF() *ggufModel {
	tokens, scores := smallTokens()
	types := join(u32(5), u64(259), u32(2, 3, 3))
	for range 256 {
		types = append(types, u32(6)...)
	}
	m := &ggufModel{version: 3, pairs: []ggufPair{
		textPair("general.architecture", "llama"),
		wholePair("llama.embedding_length", 4),
		wholePair("llama.block_count", 1),
		wholePair("llama.attention.head_count", 2),
		wholePair("llama.feed_forward_length", 3),
		wholePair("llama.context_length", 8),
		floatPair("llama.attention.layer_norm_rms_epsilon", 1e-5),
		textPair("tokenizer.ggml.model", "llama"),
		textsPair("tokenizer.ggml.tokens", tokens),
		floatsPair("tokenizer.ggml.scores", scores),
		{"tokenizer.ggml.token_type", ggufArray, types},
	}}
	for _, t := range []struct {
		name string
		dims []uint64
	}{
		{"token_embd", []uint64{4, 259}},
		{"blk.0.attn_norm", []uint64{4}},
		{"blk.0.attn_q", []uint64{4, 4}},
		{"blk.0.attn_k", []uint64{4, 4}},
		{"blk.0.attn_v", []uint64{4, 4}},
		{"blk.0.attn_output", []uint64{4, 4}},
		{"blk.0.ffn_norm", []uint64{4}},
		{"blk.0.ffn_gate", []uint64{4, 3}},
		{"blk.0.ffn_up", []uint64{4, 3}},
		{"blk.0.ffn_down", []uint64{3, 4}},
		{"output_norm", []uint64{4}},
	} {
		n := 4
		for _, d := range t.dims {
			n *= int(d)
		}
		m.tensors = append(m.tensors, ggufTensor{t.name + ".weight", t.dims, 0, uint64(len(m.data))})
		m.data = append(m.data, make([]byte, (n+31)/32*32)...)
	}
	return m
}

// unset removes a pair.
func (m *ggufModel) unset(key string) {
	m.pairs = slices.DeleteFunc(m.pairs, func(p ggufPair) bool { return p.key == key })
}

// set replaces or adds a pair.
func (m *ggufModel) set(p ggufPair) {
	for i := range m.pairs {
		if m.pairs[i].key == p.key {
			m.pairs[i] = p
			return
		}
	}
	m.pairs = append(m.pairs, p)
}
