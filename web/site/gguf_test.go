package site_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// writeGGUF writes a Llama model with the given number of layers, random 16-bit weights (23 MB per
// layer) and a vocabulary of single bytes. If weights is false, the file has a hole in place of the
// weights, which uses no space on disk.
func writeGGUF(t *testing.T, path string, layers int, weights bool) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	b := &ggufWriter{w: bufio.NewWriterSize(f, 1<<20)}
	tensors := tensorsOf(layers)
	b.put([]byte("GGUF"), uint32(3), uint64(len(tensors)), uint64(11))
	b.text("general.architecture", "llama")
	for key, n := range map[string]int{
		"embedding_length": width, "block_count": layers, "attention.head_count": 16,
		"feed_forward_length": inner, "context_length": 512,
	} {
		b.name("llama." + key)
		b.put(uint32(4), uint32(n))
	}
	b.vocabulary()
	var at uint64
	for _, one := range tensors {
		b.name(one.name + ".weight")
		b.put(uint32(len(one.dims)))
		for _, n := range one.dims {
			b.put(uint64(n))
		}
		b.put(one.kind, at)
		at += one.bytes()
	}
	const step = 32
	b.put(make([]byte, (step-b.n%step)%step))
	head := b.n
	if weights {
		for _, one := range tensors {
			b.random(one)
		}
	}
	err = b.w.Flush()
	if err == nil {
		err = f.Truncate(int64(head + int(at)))
	}
	if closed := f.Close(); err != nil || closed != nil {
		t.Fatalf("writing the file: got %v, closing it %v; want nil for both", err, closed)
	}
}

const width, inner, bytesVocab = 1024, 2688, 3 + 256

// A ggufPart is a tensor; kind is 0 for 32-bit numbers and 1 for 16-bit ones.
type ggufPart struct {
	name string
	dims []int // the fastest-varying first
	kind uint32
}

func (p ggufPart) count() (n uint64) {
	n = 1
	for _, d := range p.dims {
		n *= uint64(d)
	}
	return n
}

func (p ggufPart) bytes() uint64 { return p.count() * uint64(4>>p.kind) } // each a multiple of 32

func tensorsOf(layers int) []ggufPart {
	list := []ggufPart{{"token_embd", []int{width, bytesVocab}, 1}, {"output_norm", []int{width}, 0}}
	for l := range layers {
		for _, p := range []ggufPart{
			{"attn_norm", []int{width}, 0},
			{"attn_q", []int{width, width}, 1},
			{"attn_k", []int{width, width}, 1},
			{"attn_v", []int{width, width}, 1},
			{"attn_output", []int{width, width}, 1},
			{"ffn_norm", []int{width}, 0},
			{"ffn_gate", []int{width, inner}, 1},
			{"ffn_up", []int{width, inner}, 1},
			{"ffn_down", []int{inner, width}, 1},
		} {
			p.name = fmt.Sprintf("blk.%d.%s", l, p.name)
			list = append(list, p)
		}
	}
	return list
}

// A ggufWriter writes numbers and strings in GGUF's encoding.
type ggufWriter struct {
	w *bufio.Writer
	n int // bytes so far
}

// Write counts the bytes. Its error can be ignored, because Flush returns it again.
func (b *ggufWriter) Write(p []byte) (int, error) {
	b.n += len(p)
	return b.w.Write(p)
}

func (b *ggufWriter) put(values ...any) {
	for _, v := range values {
		binary.Write(b, binary.LittleEndian, v)
	}
}

func (b *ggufWriter) name(s string) {
	b.put(uint64(len(s)))
	io.WriteString(b, s)
}

func (b *ggufWriter) text(key, value string) {
	b.name(key)
	b.put(uint32(8))
	b.name(value)
}

// vocabulary writes the smallest SentencePiece vocabulary: three special tokens and one token for
// each byte.
func (b *ggufWriter) vocabulary() {
	b.text("tokenizer.ggml.model", "llama")
	const list, texts, floats, whole = 9, 8, 6, 5
	b.name("tokenizer.ggml.tokens")
	b.put(uint32(list), uint32(texts), uint64(bytesVocab))
	for _, mark := range []string{"<unk>", "<s>", "</s>"} {
		b.name(mark)
	}
	for n := range 256 {
		b.name(fmt.Sprintf("<0x%02X>", n))
	}
	b.name("tokenizer.ggml.scores")
	b.put(uint32(list), uint32(floats), uint64(bytesVocab), make([]float32, bytesVocab))
	b.name("tokenizer.ggml.token_type")
	kinds := []int32{2, 3, 3}
	for range 256 {
		kinds = append(kinds, 6)
	}
	b.put(uint32(list), uint32(whole), uint64(bytesVocab), kinds)
	b.name("llama.attention.layer_norm_rms_epsilon")
	b.put(uint32(floats), float32(1e-5))
}

// random writes a tensor. A vector consists of ones; a matrix consists of random numbers
// with absolute values between 1/64 and 1/32.
func (b *ggufWriter) random(p ggufPart) {
	from := rand.New(rand.NewPCG(p.count(), uint64(len(p.name))))
	data := make([]byte, 0, p.bytes())
	for uint64(len(data)) < p.bytes() {
		if p.kind == 0 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(1))
			continue
		}
		const four = 0x0001_0001_0001_0001
		data = binary.LittleEndian.AppendUint64(data, from.Uint64()&(0x83ff*four)|0x2400*four)
	}
	b.Write(data)
}
