package infer

import (
	"bytes"
	"fmt"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// CheckPair returns nil if draft can propose tokens for target, and otherwise an error that
// explains why it cannot. Every token must mean the same in both models.
func CheckPair(target, draft *Model) error {
	a, b := target.config, draft.config
	no := func(format string, args ...any) error {
		return fmt.Errorf("%s cannot draft for %s: %s", draft.Name(), target.Name(), fmt.Sprintf(format, args...))
	}
	switch {
	case a.Vocab != b.Vocab:
		return no("its vocabulary has %d tokens, not %d", b.Vocab, a.Vocab)
	case a.BOS != b.BOS:
		return no("its start token is %d, not %d (-1 means none)", b.BOS, a.BOS)
	}
	if target.tok == draft.tok {
		return nil
	}
	for id := range a.Vocab {
		if !sameToken(target.tok, draft.tok, id) {
			return no("its token %d is %q, not %q", id, draft.Token(id).Text, target.Token(id).Text)
		}
		if target.EOS(id) != draft.EOS(id) {
			return no("the two disagree on whether token %d, %q, ends a text", id, target.Token(id).Text)
		}
	}
	return nil
}

// sameToken reports whether a token means the same in two vocabularies.
func sameToken(a, b *tokenizer.Tokenizer, id int) bool {
	name, special := a.Special(id)
	other, alsoSpecial := b.Special(id)
	return special == alsoSpecial && name == other && bytes.Equal(a.Bytes(id), b.Bytes(id))
}
