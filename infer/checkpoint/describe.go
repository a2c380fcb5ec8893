package checkpoint

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Description holds the information in a model's files, even if the model cannot run. Fields are
// zero if the information is missing or could not be read. All strings come from the files, so
// escape them before printing.
type Description struct {
	Name         string // of the folder or the file
	Title        string // the model's own name for itself
	Format       string // as in [Checkpoint], or the kind of file if it is not a model
	Architecture string // as the files name it, such as "llama" or an unsupported one
	Files        []File // the files with weights
	Facts        []Fact // other GGUF metadata, by key
	Config       *Config
	Tensors      []Tensor // in the order of the files
	Vocabulary   Vocabulary
	Template     string   // the chat template, in Jinja
	Warnings     []string // as in [Checkpoint]

	templateTokens map[string]string // as in [Checkpoint]

	// Checkpoint is the opened model, or nil if the model cannot run. The caller must close it.
	Checkpoint *Checkpoint
}

// File is one file of a model.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Fact is a key of GGUF metadata and its value as text.
type Fact struct{ Key, Value string }

// Tensor describes one tensor as stored in a file.
type Tensor struct {
	Name  string `json:"name"`
	Type  string `json:"type"`  // the number format, such as "F32" or "Q4_K"
	Shape []int  `json:"shape"` // rows first
	Bytes int64  `json:"bytes"`
}

// Vocabulary describes a model's tokens.
type Vocabulary struct {
	Kind    string // of the tokenizer; "" if it cannot be read
	Tokens  int
	Special []SpecialToken // tokens that represent no text, by id
}

// SpecialToken is a token that represents no text.
type SpecialToken struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Describe returns the description of an opened model.
func (c *Checkpoint) Describe() *Description {
	d := &Description{
		Name: c.Config.Name, Format: c.Format, Architecture: c.Config.Architecture, Config: &c.Config, Checkpoint: c,
		Warnings: c.Warnings,
	}
	d.tokenizer(c.Tokenizer)
	d.weigh(c.weights, inFile(c.tensors))
	return d
}

// tokenizer records a tokenizer that was read without errors.
func (d *Description) tokenizer(t *tokenizer.Tokenizer) {
	d.Vocabulary = Vocabulary{Kind: t.Kind(), Tokens: t.Size()}
	for id := range t.Size() {
		if name, special := t.Special(id); special {
			d.Vocabulary.Special = append(d.Vocabulary.Special, SpecialToken{id, name})
		}
	}
}

// weigh records the files that contain weights, and their tensors.
func (d *Description) weigh(w *weights, tensors map[string]tensor) {
	if w == nil {
		return
	}
	for _, p := range w.parts {
		d.Files = append(d.Files, File{p.name, p.size})
	}
	for _, name := range slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		return cmp.Or(cmp.Compare(tensors[a].offset, tensors[b].offset), cmp.Compare(a, b))
	}) {
		t := tensors[name]
		d.Tensors = append(d.Tensors, Tensor{name, string(t.dtype), t.shape, t.bytes})
	}
}

// folderFormat is the value of Checkpoint.Format for a folder.
const folderFormat = "Hugging Face folder"

// describeFolder reads the model folder at the root of fsys. The error lists all reasons why the
// model cannot run.
func describeFolder(fsys fs.FS, name string) (d *Description, err error) {
	d = &Description{Name: name, Format: folderFormat, Warnings: folderWarnings(fsys)}
	var hashed [2][]byte // config.json and tokenizer.json
	var config Config
	var startSaid bool
	configJSON, faults := readFile(fsys, configFile, maxConfigBytes)
	tokenizerConfig, unread := readOptional(fsys, tokenizerConfigFile, maxTokenizerConfigBytes)
	if hashed[0] = configJSON; faults == nil {
		d.named(configJSON)
		if faults = unread; faults == nil {
			config, startSaid, faults = readConfig(fsys, configJSON, tokenizerConfig)
		}
	}
	if config.Name = name; faults == nil {
		d.Config = &config
	}
	w, tensors, place, err := openTensors(fsys)
	faults = collect(faults, err)
	defer func() {
		if d.Checkpoint == nil && w != nil {
			err = collect(err, w.Close())
		}
	}()
	d.weigh(w, tensors)
	var arranged map[string]tensor
	if d.Config != nil && tensors != nil {
		if arranged, err = folderDialect(config, tensors).arrange(config, tensors); err != nil {
			faults = collect(faults, within(place, err))
		}
	}
	tokenizerJSON, err := readFile(fsys, tokenizerFile, maxTokenizerBytes)
	faults = collect(faults, err)
	var tok *tokenizer.Tokenizer
	if hashed[1] = tokenizerJSON; err == nil {
		tok, err = d.folderTokenizer(tokenizerJSON)
		faults = collect(faults, err)
	}
	if tok != nil && d.Config != nil {
		size := tok.Size()
		if tok, err = tok.Within(config.Vocab); err != nil {
			faults = collect(faults, fmt.Errorf("%s has %d tokens, but vocab_size in %s is only %d: %w",
				tokenizerFile, size, configFile, config.Vocab, err))
		} else {
			d.tokenizer(tok)
		}
	}
	d.Template, d.templateTokens = folderTemplate(fsys, tokenizerConfig)
	if faults != nil {
		return d, faults
	}
	if id, ok := tok.Start(); ok && !startSaid {
		config.BOS = id
	}
	hash := newHash()
	hash.text(configFile, hashed[0])
	if err := hash.weights(w); err != nil {
		return d, err
	}
	hash.text(tokenizerFile, hashed[1])
	d.Checkpoint = &Checkpoint{
		Config: config, Tokenizer: tok, Format: folderFormat, Hash: hash.sum(), tensors: arranged, weights: w,
		Template: d.Template, TemplateTokens: d.templateTokens, Warnings: d.Warnings,
	}
	return d, nil
}

// named records the model's names in config.json, even if the model is not supported.
func (d *Description) named(configJSON []byte) {
	f := parseFields(configFile, configJSON)
	d.Architecture, d.Title = f.text("model_type", ""), f.text("_name_or_path", "")
	if classes := f.texts("architectures"); d.Architecture == "" && len(classes) > 0 {
		d.Architecture = classes[0]
	}
}

// folderTokenizer reads a tokenizer.json. If the tokenizer cannot be used, folderTokenizer at least
// records the special tokens.
func (d *Description) folderTokenizer(text []byte) (*tokenizer.Tokenizer, error) {
	tok, special, err := tokenizer.Describe(text)
	if err == nil {
		d.tokenizer(tok)
		return tok, nil
	}
	for _, id := range slices.Sorted(maps.Keys(special)) {
		d.Vocabulary.Special = append(d.Vocabulary.Special, SpecialToken{int(id), special[id]})
	}
	return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
}

// ggufKinds maps the numbers that llama.cpp uses in general.file_type to the names of quantization
// types.
var ggufKinds = map[float64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
	13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
	21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
	29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}

// summary returns a description from the header of a GGUF file.
func (g *gguf) summary(name string) *Description {
	d := &Description{Name: name, Format: fmt.Sprintf("GGUF version %d", g.version)}
	text := func(key string) string { s, _ := g.pairs[key].(string); return s }
	d.Title, d.Architecture, d.Template = text("general.name"), text("general.architecture"), text(templateKey)
	for _, key := range slices.Sorted(maps.Keys(g.pairs)) {
		if !strings.HasPrefix(key, "general.") && !strings.HasPrefix(key, "quantize.") {
			continue
		}
		switch v := g.pairs[key].(type) {
		case float64:
			value := strconv.FormatFloat(v, 'f', -1, 64)
			if kind := ggufKinds[v]; key == "general.file_type" && kind != "" {
				value += " (" + kind + ")"
			}
			d.Facts = append(d.Facts, Fact{key, value})
		case string:
			d.Facts = append(d.Facts, Fact{key, v})
		}
	}
	tokens, _ := g.pairs["tokenizer.ggml.tokens"].([]string)
	types, _ := g.pairs["tokenizer.ggml.token_type"].([]float32)
	d.Vocabulary.Tokens = len(tokens)
	for id, t := range types[:min(len(types), len(tokens))] {
		if t == ggufControl {
			d.Vocabulary.Special = append(d.Vocabulary.Special, SpecialToken{id, tokens[id]})
		}
	}
	return d
}
