package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// A .bin file of llama2.c consists of a header and float32 weights, little-endian. The matrices of
// one kind are stored together for all layers. The first layout begins with seven numbers and has
// no magic number; version 1 begins with "ak42" reversed and has a header of 256 bytes.
const (
	llama2cMagic  = 0x616b3432
	llama2cHeader = 256
	llama2cTokens = "tokenizer.bin"

	// Values that llama2.c assumes instead of storing them in its files.
	llama2cTheta = 10_000
	llama2cEps   = 1e-5
	llama2cBOS   = 1
	llama2cEOS   = 2

	maxPieceBytes = 256
)

// describeLlama2c describes the llama2.c model in a file, and its vocabulary. tokens is the name of
// the vocabulary's file.
func describeLlama2c(
	w *weights, vocabulary io.Reader, vocabularySize int64, file, tokens string,
) (*Description, error) {
	d := &Description{Name: strings.TrimSuffix(file, ".bin"), Format: "llama2.c", Architecture: "llama"}
	config, version, start, err := readLlama2cHeader(w, w.size)
	if err != nil {
		return d, within(file, err)
	}
	if version > 0 {
		d.Format = fmt.Sprintf("llama2.c version %d", version)
	}
	config.Name = d.Name
	d.Config = &config
	tensors, end := llama2cTensors(config, version, start)
	var faults error
	if end != w.size {
		faults = fmt.Errorf("%s: weights of this shape end at byte %d, but the file ends at byte %d", file, end, w.size)
	} else {
		d.weigh(w, inFile(tensors))
	}
	tok, err := readTokenizerBin(vocabulary, vocabularySize, config.Vocab)
	if err != nil {
		return d, collect(faults, fmt.Errorf("%s: %w", tokens, err))
	}
	d.tokenizer(tok)
	if faults == nil {
		d.Checkpoint = &Checkpoint{Config: config, Tokenizer: tok, Format: d.Format, tensors: tensors, weights: w}
	}
	return d, faults
}

// inFile returns the tensors by their names in the file.
func inFile(tensors map[string]tensor) map[string]tensor {
	named := make(map[string]tensor, len(tensors))
	for _, t := range tensors {
		named[t.name] = t
	}
	return named
}

// llama2cParts maps names of weights to their names in llama2.c's run.c.
var llama2cParts = map[string]string{
	"model.embed_tokens": "token_embedding_table", "input_layernorm": "rms_att_weight", "self_attn.q_proj": "wq",
	"self_attn.k_proj": "wk", "self_attn.v_proj": "wv", "self_attn.o_proj": "wo",
	"post_attention_layernorm": "rms_ffn_weight",
	"mlp.gate_proj":            "w1", "mlp.down_proj": "w2", "mlp.up_proj": "w3", "model.norm": "rms_final_weight",
	"lm_head": "wcls",
}

// readLlama2cHeader reads the model's shape and the offset of its weights.
func readLlama2cHeader(r io.ReaderAt, size int64) (c Config, version int, start int64, err error) {
	raw := make([]byte, min(size, llama2cHeader))
	if err := readFull(r, raw, 0); err != nil {
		return c, 0, 0, err
	}
	if len(raw) < 28 {
		return c, 0, 0, fmt.Errorf("file has %d bytes, too few for a header", size)
	}
	number := func(i int) int { return int(int32(binary.LittleEndian.Uint32(raw[4*i:]))) }
	first, shared := 0, true
	if start = 28; uint32(number(0)) == llama2cMagic {
		if version = number(1); version != 1 {
			return c, 0, 0, fmt.Errorf(
				"unsupported version %d of llama2.c's format; want version 0 or 1, both with float32 weights", version,
			)
		}
		if len(raw) < llama2cHeader {
			return c, 0, 0, fmt.Errorf("file has %d bytes, want at least %d for the header", size, llama2cHeader)
		}
		first, start, shared = 2, llama2cHeader, raw[4*9] != 0
	}
	vocab := number(first + 5)
	if version == 0 && vocab < 0 { // a negative size means that the output matrix is separate
		vocab, shared = -vocab, false
	}
	c = Config{
		Architecture: "llama", Width: number(first), FFN: number(first + 1), Layers: number(first +
			2), Heads: number(first + 3),
		KVHeads: number(first + 4), Vocab: vocab, Context: number(first + 6),
		NormEps: llama2cEps, TieEmbeddings: shared, BOS: llama2cBOS, EOS: []int{llama2cEOS, llama2cBOS},
	}
	for _, n := range []struct {
		name        string
		got, lowest int
		limit       int
	}{
		{"dim", c.Width, 1, maxWidth},
		{"hidden_dim", c.FFN, 1, maxFFN},
		{"n_layers", c.Layers, 1, maxLayers},
		{"n_heads", c.Heads, 1, maxHeads},
		{"n_kv_heads", c.KVHeads, 1, maxHeads},
		{"vocab_size", c.Vocab, 259, maxVocab}, // three special tokens and the bytes
		{"seq_len", c.Context, 1, maxContext},
	} {
		if n.got < n.lowest || n.got > n.limit {
			err = collect(err, fmt.Errorf("header: %s is %d, want %d to %d", n.name, n.got, n.lowest, n.limit))
		}
	}
	if err != nil {
		return c, 0, 0, err
	}
	c.HeadDim = c.Width / c.Heads
	switch {
	case c.Width%c.Heads != 0 || c.HeadDim%2 != 0 || c.HeadDim > maxHeadDim:
		err = fmt.Errorf(
			"header: dim %d / n_heads %d is not an even head size of at most %d", c.Width, c.Heads, maxHeadDim,
		)
	case c.Heads%c.KVHeads != 0:
		err = fmt.Errorf("header: n_heads %d is not a multiple of n_kv_heads %d", c.Heads, c.KVHeads)
	}
	rope := &Rope{Theta: llama2cTheta}
	c.everyLayer(err, func(int) Attention { return Attention{Rope: rope} })
	return c, version, start, err
}

// llama2cTensors returns the tensors, the first of which starts at byte `at`, and the end of the
// last tensor.
func llama2cTensors(c Config, version int, at int64) (tensors map[string]tensor, end int64) {
	tensors = map[string]tensor{}
	shapes := map[string][]int{}
	for _, s := range c.layout() {
		shapes[s.name] = s.shape
	}
	one := func(name string, interleaved int) {
		t := tensor{dtype: dtypeF32, shape: shapes[name], offset: at, bytes: 4, order: order{interleaved: interleaved}}
		layer, part := locate(strings.TrimSuffix(name, ".weight"))
		if t.name = llama2cParts[part]; layer != "" {
			t.name = "layers." + strings.TrimSuffix(strings.TrimPrefix(layer, "layer "), ": ") + "." + t.name
		}
		for _, n := range t.shape {
			t.bytes *= int64(n)
		}
		at += t.bytes
		tensors[name] = t
	}
	each := func(part string, interleaved int) {
		for layer := range c.Layers {
			one(fmt.Sprintf("model.layers.%d.%s.weight", layer, part), interleaved)
		}
	}
	if version == 0 {
		one("model.embed_tokens.weight", 0)
		each("input_layernorm", 0)
	} else {
		each("input_layernorm", 0)
		each("post_attention_layernorm", 0)
		one("model.norm.weight", 0)
		one("model.embed_tokens.weight", 0)
	}
	each("self_attn.q_proj", c.Heads)
	each("self_attn.k_proj", c.KVHeads)
	each("self_attn.v_proj", 0)
	each("self_attn.o_proj", 0)
	if version == 0 {
		each("post_attention_layernorm", 0)
	}
	each("mlp.gate_proj", 0)
	each("mlp.down_proj", 0)
	each("mlp.up_proj", 0)
	if version == 0 {
		one("model.norm.weight", 0)
		at += 4 * int64(c.Context) * int64(c.HeadDim) // rotary tables, which follow from the shape
	}
	if !c.TieEmbeddings {
		one(c.output().name, 0)
	}
	return tensors, at
}

// readTokenizerBin reads a llama2.c vocabulary of n tokens: the length of the longest token, then
// the score, the length and the bytes of each token. The number of tokens is stored in the model's
// file, not in this file.
func readTokenizerBin(r io.Reader, size int64, n int) (*tokenizer.Tokenizer, error) {
	in := bufio.NewReader(r)
	at := int64(0)
	next := func(dst []byte) error {
		m, err := io.ReadFull(in, dst)
		at += int64(m)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("unexpected end of file at byte %d", at)
		}
		return err
	}
	var head [8]byte
	if err := next(head[:4]); err != nil {
		return nil, err
	}
	claimed, longest := int32(binary.LittleEndian.Uint32(head[:])), int32(0)
	if least := 4 + 8*int64(n); size < least {
		return nil, fmt.Errorf("has %d bytes, but %d tokens take at least %d", size, n, least)
	}
	list := tokenizer.List{Tokens: make([]string, n), Marks: make([]tokenizer.Mark, n)}
	scores := make([]float32, n)
	piece := make([]byte, maxPieceBytes)
	for id := range n {
		if err := next(head[:]); err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
		scores[id] = math.Float32frombits(binary.LittleEndian.Uint32(head[:]))
		length := int32(binary.LittleEndian.Uint32(head[4:]))
		if length < 0 || length > maxPieceBytes {
			return nil, fmt.Errorf("token %d has length %d, want 0 to %d", id, length, maxPieceBytes)
		}
		if err := next(piece[:length]); err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
		list.Tokens[id] = string(piece[:length])
		longest = max(longest, length)
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("unexpected data at byte %d, after the model's %d tokens", at, n)
	}
	if claimed != longest { // run.c allocates its buffers with this size
		return nil, fmt.Errorf("max_token_length is %d, but the longest token has %d bytes", claimed, longest)
	}
	for id, name := range []string{"<unk>", "<s>", "</s>"} { // the file does not mark them as special
		list.Tokens[id], list.Marks[id] = name, tokenizer.Special
	}
	return tokenizer.NewSentencePiece(list, scores, true)
}
