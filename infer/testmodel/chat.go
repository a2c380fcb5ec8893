package testmodel

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

// ChatTemplate is the template of [Chat], kept short because the model's context has only 64
// tokens. Messages end with the end-of-turn token.
const ChatTemplate = "{% for m in messages %}{{ m.role[0] }}:{{ m.content | trim }}<|im_end|>{% endfor %}" +
	"{% if add_generation_prompt %}a:{% endif %}"

// Chat loads a small random model with a chat template. folder is the path of
// testdata/models/qwen3.
func Chat(t testing.TB, folder, template string) *infer.Model {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "chat_template.jinja"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.OpenPath(copied)
	if err != nil {
		t.Fatal(err)
	}
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}
