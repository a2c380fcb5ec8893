package infer

import (
	"errors"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestPromptsThatTheVocabularyCannotSpell: loops and checks reject a prompt that the
// vocabulary cannot spell, and the error gives the position of the byte without a token. They
// accept any other prompt.
func TestPromptsThatTheVocabularyCannotSpell(t *testing.T) {
	f := smallFolder
	f.Lacks = "\x03\xff"
	m := f.model(t, f.Random(7))
	const want = `prompt is not supported by this model, whose vocabulary has no token for byte 0x03 of "\x03" ` +
		`(U+0003) at line 2, character 4; it must be text without that character`
	const prompt = "Once\nabc\x03"
	_, loop := NewLoop(m, prompt, DefaultSettings())
	for name, err := range map[string]error{"loop": loop, "check": m.CheckText(prompt)} {
		var r *terms.RangeError
		if !errors.As(err, &r) || r.Field != "prompt" || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := NewLoop(m, "Once\nabc", DefaultSettings()); err != nil {
		t.Error(err)
	}
}
