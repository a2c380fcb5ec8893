package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// describe returns the file's description, with an open checkpoint if the model can run.
func (g *gguf) describe(w *weights, name string) (*Description, error) {
	d := g.summary(name)
	faults := collect(unreadable(g.tensors, readableGGUF), g.problems)
	if err := g.whole(); err != nil {
		return d, collect(err, faults)
	}
	config, err := g.config()
	config.Name = name
	var tensors map[string]tensor
	if faults = collect(faults, err); err == nil {
		d.Config = &config
		if factors, ok := g.tensors["rope_freqs.weight"]; ok {
			scaling, err := ropeFactors(w, factors, config.HeadDim/2)
			if err != nil {
				faults = collect(faults, fmt.Errorf("rope_freqs%w", err))
			}
			for _, rope := range config.Ropes() {
				rope.Scaling = scaling
			}
		}
		if !g.incomplete {
			tensors, err = ggufDialect(config).arrange(config, g.tensors)
			faults = collect(faults, err)
		}
	}
	tok, err := g.tokenizer(d.Architecture)
	if faults = collect(faults, err); err == nil {
		d.tokenizer(tok)
		if d.Config != nil && tok.Size() > config.Vocab {
			faults = collect(
				faults,
				fmt.Errorf(
					"tokenizer.ggml.tokens has %d tokens, but token_embd has rows for %d", tok.Size(), config.Vocab,
				),
			)
		}
	}
	if faults == nil {
		d.Checkpoint = &Checkpoint{
			Config: config, Tokenizer: tok, Format: d.Format, tensors: tensors, weights: w,
			Template: d.Template, TemplateTokens: g.templateTokens(tok),
		}
	}
	return d, faults
}

// whole rejects a file that is not a complete model, but only a part of a model or an accessory.
func (g *gguf) whole() error {
	p := &ggufPairs{g: g, prefix: "general."}
	switch kind := p.text("type", "model"); {
	case p.err != nil:
		return p.err
	case len(g.tensors) == 0:
		return errors.New("contains a vocabulary but no weights; such files are only for testing tokenizers")
	case kind != "model":
		return fmt.Errorf("general.type is %s; the file accompanies a model but is not one", quote(kind))
	}
	return nil
}

// ropeFactors reads the divisors of the rotary frequencies.
func ropeFactors(w *weights, t tensor, pairs int) (RopeScaling, error) {
	if !slices.Equal(t.shape, []int{pairs}) {
		return RopeScaling{}, fmt.Errorf(" has shape %v, want [%d]", t.shape, pairs)
	}
	factors, err := t.widen(w)
	if err != nil {
		return RopeScaling{}, err
	}
	for i, f := range factors {
		if !(f >= 1e-6 && f <= highFactor) {
			return RopeScaling{}, fmt.Errorf("[%d] is %v, want 1e-06 to %d", i, f, highFactor)
		}
	}
	return RopeScaling{Kind: "factors", Factors: factors}, nil
}

// config reads the model's shape from the metadata.
func (g *gguf) config() (Config, error) {
	p := &ggufPairs{g: g, prefix: "general."}
	a := ggufArchitecture(p)
	if a == nil {
		return Config{}, p.err // without a supported architecture, the meaning of the keys is unknown
	}
	p.prefix = a.gguf + "."
	c := Config{
		Architecture:  a.name,
		Width:         p.size("embedding_length", 0, maxWidth),
		Layers:        p.size("block_count", 0, maxLayers),
		Heads:         p.size("attention.head_count", 0, maxHeads),
		FFN:           p.size("feed_forward_length", 0, maxFFN),
		Context:       p.size("context_length", 0, maxContext),
		Block:         a.block,
		TieEmbeddings: true,
		BOS:           -1,
	}
	c.KVHeads = p.size("attention.head_count_kv", c.Heads, maxHeads)
	if _, ok := g.tensors["output.weight"]; ok {
		c.TieEmbeddings = false
	}
	embed, ok := g.tensors["token_embd.weight"]
	if ok && len(embed.shape) == 2 && embed.shape[0] <= maxVocab {
		c.Vocab = embed.shape[0]
	} else {
		p.fail("missing matrix token_embd.weight of at most %d rows", maxVocab)
	}
	if p.err != nil {
		return c, p.err
	}
	c.HeadDim = c.Width / c.Heads
	a.readGGUF(p, &c)
	p.neutral(&c)
	switch {
	case p.err != nil:
	case c.Width%c.Heads != 0 && !p.has("attention.key_length"):
		p.fail(
			"%[1]sembedding_length %[2]d is not a multiple of %[1]sattention.head_count %[3]d", p.prefix, c.Width,
			c.Heads,
		)
	case c.Heads%c.KVHeads != 0:
		p.fail(
			"%[1]sattention.head_count %[2]d is not a multiple of %[1]sattention.head_count_kv %[3]d", p.prefix,
			c.Heads, c.KVHeads,
		)
	case c.HeadDim < 1 || c.HeadDim > maxHeadDim || len(c.Ropes()) > 0 && c.HeadDim%2 != 0:
		p.fail(
			"%sattention.key_length is %d (set or derived); want an even number from 2 to %d", p.prefix, c.HeadDim,
			maxHeadDim,
		)
	}
	g.marks(p, &c)
	return c, p.err
}

// shape reads the keys that Llama and its descendants share but GPT-2 lacks.
func (p *ggufPairs) shape(c *Config) {
	p.epsilon(c, "attention.layer_norm_rms_epsilon")
	c.HeadDim = p.size("attention.key_length", c.HeadDim, maxHeadDim)
	if n := p.size("attention.value_length", c.HeadDim, maxHeadDim); n != c.HeadDim {
		p.fail(
			"%[1]sattention.value_length is %[2]d, but %[1]sattention.key_length is %[3]d; they must be equal",
			p.prefix, n, c.HeadDim,
		)
	}
	if n := p.number("expert_count", 0, 0, 1<<20); n != 0 {
		p.fail("%sexpert_count is %v; mixtures of experts are not supported", p.prefix, n)
	}
}

// epsilon reads the number that the norms add. As in llama.cpp, there is no default.
func (p *ggufPairs) epsilon(c *Config, key string) {
	if !p.has(key) {
		p.fail("%s%s is missing", p.prefix, key)
	}
	c.NormEps = float32(p.number(key, 1e-5, 1e-30, 1))
}

// rope reads how queries and keys are rotated. A factor without a type means linear stretching. The
// factor's key was originally named scale_linear. A factor of 0 means no stretching.
func (p *ggufPairs) rope(c *Config) *Rope {
	r := &Rope{Theta: p.number("rope.freq_base", 10_000, lowTheta, highTheta)}
	if n := p.size("rope.dimension_count", c.HeadDim, maxHeadDim); n != c.HeadDim {
		p.fail(
			"%srope.dimension_count is %d, but the head size is %d; partial rotation is not supported", p.prefix, n,
			c.HeadDim,
		)
	}
	key := "rope.scaling.factor"
	if !p.has(key) {
		key = "rope.scale_linear"
	}
	switch kind := p.text("rope.scaling.type", "linear"); kind {
	case "none":
	case "linear":
		if !p.positive(key, highFactor) {
			break
		}
		if factor := p.number(key, 1, lowFactor, highFactor); factor != 1 {
			r.Scaling = RopeScaling{Kind: kind, Factor: factor}
		}
	default:
		p.fail(`%srope.scaling.type is %s; "none" and "linear" are supported`, p.prefix, quote(kind))
	}
	return r
}

// window reads the length of the sliding window, which is 0 if there is no window.
func (p *ggufPairs) window() int {
	const key = "attention.sliding_window"
	if !p.positive(key, maxWindow) {
		return 0
	}
	return p.size(key, 0, maxWindow)
}

// marks reads the tokens that begin and end a text.
func (g *gguf) marks(p *ggufPairs, c *Config) {
	p.prefix = "tokenizer.ggml."
	sentencePiece := p.text("model", "") == "llama"
	id := func(key string) int {
		absent := -1
		if sentencePiece { // older files omit SentencePiece's fixed ids
			absent = map[string]int{"bos_token_id": 1, "eos_token_id": 2, "eot_token_id": -1}[key]
		}
		return int(p.number(key, float64(absent), 0, float64(c.Vocab-1)))
	}
	llama3 := slices.Contains([]string{"llama-bpe", "llama3", "llama-v3"}, p.text("pre", ""))
	if bos := id("bos_token_id"); p.boolean("add_bos_token", sentencePiece || llama3) {
		if c.BOS = bos; bos < 0 {
			p.fail("every text must begin with the start token, but %sbos_token_id is missing", p.prefix)
		}
	}
	for _, key := range []string{"eos_token_id", "eot_token_id"} {
		if eos := id(key); eos >= 0 && !slices.Contains(c.EOS, eos) {
			c.EOS = append(c.EOS, eos)
		}
	}
}

// tokenizer returns the tokenizer that the metadata describes.
func (g *gguf) tokenizer(arch string) (*tokenizer.Tokenizer, error) {
	p := &ggufPairs{g: g, prefix: "tokenizer.ggml."}
	kind := p.text("model", "")
	tokens, _ := g.pairs["tokenizer.ggml.tokens"].([]string)
	scores, _ := g.pairs["tokenizer.ggml.scores"].([]float32)
	merges, _ := g.pairs["tokenizer.ggml.merges"].([]string)
	marks, err := g.tokenMarks(len(tokens))
	if err = cmp.Or(p.err, err); err != nil {
		return nil, err
	}
	list := tokenizer.List{Tokens: tokens, Marks: marks}
	switch kind {
	case "llama":
		return tokenizer.NewSentencePiece(list, scores, p.boolean("add_space_prefix", true))
	case "gpt2":
		pre := p.text("pre", "")
		if pre == "" && arch == "gpt2" {
			pre = "gpt-2" // files from before the key existed, when this was the only pattern
		}
		switch {
		case p.err != nil:
			return nil, p.err
		case pre == "":
			return nil, errors.New("missing tokenizer.ggml.pre, which determines how the tokenizer splits " +
				"text; convert the model again with a newer llama.cpp")
		}
		return tokenizer.NewByteLevel(list, merges, pre)
	case "":
		return nil, errors.New("tokenizer.ggml.model is missing")
	}
	return nil, fmt.Errorf(
		`tokenizer.ggml.model is %s; "llama" (SentencePiece BPE) and "gpt2" (byte-level BPE) are supported`,
		quote(kind),
	)
}

// ggufControl is the type of tokens that represent no text.
const ggufControl = 3

// tokenMarks reads tokenizer.ggml.token_type: 1 normal, 2 unknown, 3 control,
// 4 defined by the user, 5 unused, 6 a byte.
func (g *gguf) tokenMarks(n int) ([]tokenizer.Mark, error) {
	types, ok := g.pairs["tokenizer.ggml.token_type"].([]float32)
	if !ok {
		return nil, nil
	}
	if len(types) != n {
		return nil, fmt.Errorf(
			"tokenizer.ggml.token_type has %d entries, but tokenizer.ggml.tokens has %d", len(types), n,
		)
	}
	marks := make([]tokenizer.Mark, n)
	for i, t := range types {
		switch t {
		case 1, 6:
		case 2, ggufControl, 5:
			marks[i] = tokenizer.Special
		case 4:
			marks[i] = tokenizer.Added
		default:
			return nil, fmt.Errorf("tokenizer.ggml.token_type[%d] is %v, want 1 to 6", i, t)
		}
	}
	return marks, nil
}

// ggufPairs reads typed values from the metadata, as fields does from JSON.
type ggufPairs struct {
	g      *gguf
	prefix string
	err    error
}

func (p *ggufPairs) has(key string) bool { _, ok := p.g.pairs[p.prefix+key]; return ok }

// positive reports whether a key's value is a number above 0 and at most high. A value of 0 is
// treated like a missing key. Other numbers are errors.
func (p *ggufPairs) positive(key string, high float64) bool {
	x := p.number(key, 0, 0, high)
	return x > 0 && x <= high
}

func (p *ggufPairs) fail(format string, args ...any) {
	p.err = collect(p.err, fmt.Errorf(format, args...))
}

func ggufValue[T any](p *ggufPairs, key, want string, absent T) T {
	value, ok := p.g.pairs[p.prefix+key]
	if !ok {
		return absent
	}
	v, ok := value.(T)
	if !ok {
		p.fail("%s%s is not %s", p.prefix, key, want)
		return absent
	}
	return v
}

func (p *ggufPairs) text(key, absent string) string { return ggufValue(p, key, "a string", absent) }

func (p *ggufPairs) boolean(key string, absent bool) bool {
	return ggufValue(p, key, "true or false", absent)
}

// number reads a number from low to high. The default, absent, may be outside that range.
func (p *ggufPairs) number(key string, absent, low, high float64) float64 {
	x := ggufValue(p, key, "a number", absent)
	if p.has(key) && !(x >= low && x <= high) {
		p.fail("%s%s is %v, want %v to %v", p.prefix, key, x, low, high)
	}
	return x
}

// size reads a whole number from 1 to limit. absent is the default; if it is 0, the key is
// required. For an unreadable value, size returns 1, so divisions by it are safe.
func (p *ggufPairs) size(key string, absent, limit int) int {
	if !p.has(key) && absent == 0 {
		p.fail("%s%s is missing", p.prefix, key)
	}
	x := p.number(key, float64(absent), 1, float64(limit))
	if !(x >= 1 && x <= float64(limit)) {
		return 1
	}
	if x != float64(int(x)) {
		p.fail("%s%s is %v, want an integer", p.prefix, key, x)
	}
	return int(x)
}
