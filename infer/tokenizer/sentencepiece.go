package tokenizer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SentencePiece (Kudo and Richardson 2018) does not split a text into pieces. A space is written as
// ▁ (U+2581). Usually, a space is added in front of a text, so a word is the same token at the
// start of a text as inside it (Gemma does not add a space). Merging starts from characters. A
// character outside the vocabulary is replaced with its UTF-8 bytes, for which there are 256
// tokens, spelled <0x00> to <0xFF>.

// metaspace is the character that represents a space.
const metaspace = "▁"

// A prefix specifies when a space is added in front of a text.
type prefix uint8

const (
	prefixNone    prefix = iota
	prefixAlways         // in front of every nonempty text, and after added tokens
	prefixMissing        // likewise, unless there is already a space
	prefixFirst          // in front of a text that does not begin with a space or an added token
)

// readSentencePiece reads both forms of SentencePiece's pipeline: with normalizers that insert ▁
// (Llama 2, Gemma 3), or with the Metaspace pre-tokenizer.
func (t *Tokenizer) readSentencePiece(p pipeline) error {
	t.characters = true
	replaces := false
	for _, s := range p.normalizer {
		switch {
		case s.Type == "Prepend" && s.Prepend == metaspace && !replaces:
			t.prefix = prefixAlways
		case s.Type == "Replace" && s.Pattern.String == " " && s.Content == metaspace:
			replaces = true
		case s.Type == "Prepend" || s.Type == "Replace":
			return fmt.Errorf(`%s: want an optional Prepend of %[2]s, then Replace " " with %[2]s`, s.at, metaspace)
		default:
			return s.refuse("Prepend and Replace")
		}
	}
	for _, s := range p.preTokenizer {
		if replaces && s.Type == "Split" && s.Pattern.String == " " {
			continue // Gemma has this step; no space is left to split at
		}
		if err := t.readMetaspace(s, replaces); err != nil {
			return err
		}
	}
	if !replaces && !t.metaspace {
		return fmt.Errorf("normalizer: no step replaces spaces with %s", metaspace)
	}
	return checkSentencePieceDecoder(p.decoder)
}

// readMetaspace reads the Metaspace pre-tokenizer. replaced reports whether the normalizer
// has replaced the spaces.
func (t *Tokenizer) readMetaspace(s step, replaced bool) error {
	switch {
	case s.Type != "Metaspace":
		return s.refuse("Metaspace, or none")
	case s.Replacement != metaspace || s.Split == nil || *s.Split:
		return fmt.Errorf("%s: replacement must be %s and split must be false", s.at, metaspace)
	case replaced || t.metaspace || t.prefix != prefixNone:
		return fmt.Errorf("%s: an earlier step already adds %s", s.at, metaspace)
	}
	t.metaspace = true
	switch s.PrependScheme {
	case "always":
		t.prefix = prefixMissing
	case "first":
		t.prefix = prefixFirst
	case "never":
	default:
		return fmt.Errorf("%s: prepend_scheme %s is not supported; want always, first or never",
			s.at, quote(s.PrependScheme))
	}
	return nil
}

// checkSentencePieceDecoder rejects a decoder that does more than reverse the pipeline.
func checkSentencePieceDecoder(list []step) error {
	bytes := false
	for _, s := range list {
		switch s.Type {
		case "Replace":
			if s.Pattern.String != metaspace || s.Content != " " {
				return fmt.Errorf("%s: must replace %s with a space", s.at, metaspace)
			}
		case "ByteFallback":
			bytes = true
		case "Fuse", "Metaspace":
		case "Strip":
			if s.Content != " " || s.Start > 1 || s.Stop != 0 {
				return fmt.Errorf("%s: must strip at most one space, and only from the start", s.at)
			}
		default:
			return s.refuse("Replace, ByteFallback, Fuse and Strip")
		}
	}
	if !bytes {
		return errors.New("decoder: ByteFallback is missing")
	}
	return nil
}

// withoutPrefix removes the space that was added in front of a text.
func (t *Tokenizer) withoutPrefix(text []byte) []byte {
	if t.characters && t.prefix != prefixNone && len(text) > 0 && text[0] == ' ' {
		return text[1:]
	}
	return text
}

// appendPlain appends the bytes that a spelling represents in SentencePiece.
func appendPlain(dst []byte, spelling string) []byte {
	if b, ok := fallbackByte(spelling); ok {
		return append(dst, b)
	}
	for {
		before, after, found := strings.Cut(spelling, metaspace)
		dst = append(dst, before...)
		if !found {
			return dst
		}
		dst = append(dst, ' ')
		spelling = after
	}
}

// fallbackByte parses <0x00> to <0xFF>.
func fallbackByte(spelling string) (byte, bool) {
	if len(spelling) != len("<0x00>") || !strings.HasPrefix(spelling, "<0x") || spelling[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(spelling[3:5], 16, 8)
	return byte(b), err == nil && spelling[3:5] == strings.ToUpper(spelling[3:5])
}
