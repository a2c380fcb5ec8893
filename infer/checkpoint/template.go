package checkpoint

import (
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Names of files with a chat template.
const (
	templateFile     = "chat_template.jinja"
	templateFileJSON = "chat_template.json"
)

// folderTemplate finds the chat template of a folder: in a file of its own, as
// newer models have it, or in tokenizer_config.json, alone or as the one named
// "default" of several. An unreadable one counts as none, since running a model
// needs no template.
func folderTemplate(fsys fs.FS) string {
	if text, err := readOptional(fsys, templateFile, maxTemplateBytes); err == nil && text != nil {
		return string(text)
	}
	for _, name := range []string{templateFileJSON, tokenizerConfigFile} {
		text, err := readOptional(fsys, name, maxTokenizerConfigBytes)
		if err != nil || text == nil {
			continue
		}
		f := parseFields(name, text)
		if raw := f.raw["chat_template"]; strings.HasPrefix(string(raw), "[") {
			var several []struct{ Name, Template string }
			f.value("chat_template", "a list of templates", &several)
			for _, t := range several {
				if t.Name == "default" || len(several) == 1 {
					return t.Template
				}
			}
		} else if text := f.text("chat_template", ""); text != "" {
			return text
		}
	}
	return ""
}

// templateNames are the special tokens that a template may name, as tokenizer_config.json
// calls them, and the keys of their ids in GGUF.
var templateNames = map[string]string{
	"bos_token": "bos_token_id", "eos_token": "eos_token_id", "unk_token": "unknown_token_id",
	"pad_token": "padding_token_id",
}

// folderTokens reads those of a folder: each a text, or an object with one.
func folderTokens(fsys fs.FS) map[string]string {
	text, err := readOptional(fsys, tokenizerConfigFile, maxTokenizerConfigBytes)
	if err != nil || text == nil {
		return nil
	}
	tokens, f := map[string]string{}, parseFields(tokenizerConfigFile, text)
	for name := range templateNames {
		var added struct{ Content string }
		raw := f.raw[name]
		if json.Unmarshal(raw, &added.Content) != nil {
			_ = json.Unmarshal(raw, &added) // neither is none
		}
		if added.Content != "" {
			tokens[name] = added.Content
		}
	}
	return tokens
}

// templateTokens reads those of a GGUF file.
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
