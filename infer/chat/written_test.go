package chat_test

import (
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/chat"
)

func TestWrittenTokens(t *testing.T) {
	t.Parallel()
	const source = `{{ '<bos>' }}{% if '</think>' in message %}{% set c = c.split('<end>')[-1] %}{% endif %}` +
		"<|user|>  {{ c }}{% if x == '<same>' %}[INST]{% endif %}{% if c.startswith(\"<tool>\") %}<tool>{% endif %}"
	names := []string{
		"<|user|>", "[INST]", "<bos>", "</think>", "<end>", "<same>", "<tool>", "<absent>", "  ", "x", "<]",
	}
	if got, want := chat.Written(source, names), []string{"<bos>", "<|user|>", "[INST]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
