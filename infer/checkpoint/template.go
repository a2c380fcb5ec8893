package checkpoint

import (
	"bytes"
	"encoding/json"
	"io/fs"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Names of files that may contain a chat template.
const (
	templateFile     = "chat_template.jinja"
	templateFileJSON = "chat_template.json"
)

// folderTemplate finds the chat template of a folder: in a separate file, as in newer models, or in
// tokenizer_config.json, which contains either a single template or several, one of them named
// "default". It also returns the special tokens that the template may refer to. If a template
// cannot be read, it counts as missing, since a model can run without one.
func folderTemplate(fsys fs.FS, tokenizerConfig []byte) (template string, tokens map[string]string) {
	config := parseFields(tokenizerConfigFile, tokenizerConfig)
	if tokenizerConfig != nil {
		tokens = folderTokens(config)
	}
	if text, err := readOptional(fsys, templateFile, maxTemplateBytes); err == nil && text != nil {
		return string(text), tokens
	}
	alone, err := readOptional(fsys, templateFileJSON, maxConfigBytes+maxTemplateBytes)
	if err != nil {
		alone = nil
	}
	for _, f := range []*fields{parseFields(templateFileJSON, alone), config} {
		if template := f.template(); template != "" {
			return template, tokens
		}
	}
	return "", tokens
}

// template returns the chat template in a description, or "" if there is none.
func (f *fields) template() string {
	raw := f.raw["chat_template"]
	if !bytes.HasPrefix(raw, []byte("[")) {
		return f.text("chat_template", "")
	}
	var first string
	dec, n := json.NewDecoder(bytes.NewReader(raw)), 0
	for _, err := dec.Token(); err == nil && dec.More() && n < maxTemplates; n++ {
		var t struct{ Name, Template string }
		if err = dec.Decode(&t); err != nil {
			return ""
		}
		if t.Name == "default" {
			return t.Template
		}
		if n == 0 {
			first = t.Template
		}
	}
	if n == 1 {
		return first
	}
	return ""
}

// maxTemplates is the maximum length of a list of chat templates. Published models have two or
// three.
const maxTemplates = 64

// templateNames maps the special tokens that a template may refer to, by their names in
// tokenizer_config.json, to the keys of their ids in GGUF.
var templateNames = map[string]string{
	"bos_token": "bos_token_id", "eos_token": "eos_token_id", "unk_token": "unknown_token_id",
	"pad_token": "padding_token_id",
}

// folderTokens reads the template's special tokens from a folder. Each is a string or an object
// that contains one.
func folderTokens(f *fields) map[string]string {
	tokens := map[string]string{}
	for name := range templateNames {
		var added struct{ Content string }
		raw := f.raw[name]
		if json.Unmarshal(raw, &added.Content) != nil {
			_ = json.Unmarshal(raw, &added) // leaves "" if raw is neither
		}
		if added.Content != "" {
			tokens[name] = added.Content
		}
	}
	return tokens
}

// templateTokens reads the template's special tokens from a GGUF file.
func (g *gguf) templateTokens(t *tokenizer.Tokenizer) map[string]string {
	tokens := map[string]string{}
	for name, key := range templateNames {
		if id, ok := g.pairs["tokenizer.ggml."+key].(float64); ok && id >= 0 && id < float64(t.Size()) {
			if special, ok := t.Special(int(id)); ok {
				tokens[name] = special
			}
		}
	}
	return tokens
}
