package tokenizer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// checkEncode checks properties of any text that the vocabulary can spell: the joined bytes of the
// tokens are the text, no token is special, and Lookup finds each token by its bytes, unless it is
// an added token.
func checkEncode(tb interface{ Fatalf(string, ...any) }, tok *Tokenizer, text string) {
	if tok.Check(text) != nil {
		tok.Encode(text) // skips some bytes
		return
	}
	ids := tok.Encode(text)
	var joined strings.Builder
	for _, id := range ids {
		if name, ok := tok.Special(id); ok {
			tb.Fatalf("Encode(%q) has the special token %s, want none", text, name)
		}
		bytes := string(tok.Bytes(id))
		if added, ok := tok.added[bytes]; ok && int(added) == id {
			joined.WriteString(bytes)
			continue
		}
		if got, ok := tok.Lookup(bytes); !ok || got != id {
			tb.Fatalf("Lookup(%q) = %d, %v, want %d", bytes, got, ok, id)
		}
		joined.WriteString(bytes)
	}
	if joined.String() != text {
		tb.Fatalf("the tokens of %q have the bytes %q, want the text", text, joined.String())
	}
	if got := tok.Decode(ids); got != text {
		tb.Fatalf("Decode(Encode(%q)) = %q, want the text", text, got)
	}
}

// texts generates strings that are hard to split and to merge: a mix of pieces of text, characters
// of any script, names of special tokens and raw bytes.
func texts() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", "  ", "\n", "\t", "\u0085", "\u3000", "'", "'s", "'LL", "hello", " the", "aaaa", "1", "é", "e\u0301",
			"👩‍👩‍👧", "<|endoftext|>", "<|end|>", "\xff", "\xe2\x80", "日",
		}),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "") })
}

// TestRoundTrip runs checkEncode on generated texts, with both tokenizers.
func TestRoundTrip(t *testing.T) {
	for name, tok := range map[string]*Tokenizer{"small": small(t, nil), "bundled": bundled(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkEncode(t, tok, texts().Draw(t, "text")) })
		})
	}
}

// slowMerge implements byte-pair encoding by its definition: search the piece for the pair with the
// lowest rank (the leftmost if ranks are equal), join it, and repeat.
func slowMerge(tok *Tokenizer, piece string) []int {
	var ids []int32
	for _, b := range []byte(piece) {
		ids = append(ids, tok.byteIDs[b])
	}
	for {
		best, at := merge{rank: noRank}, 0
		for i := 1; i < len(ids); i++ {
			m, ok := tok.merges.get(pair{ids[i-1], ids[i]})
			if ok && (best.rank == noRank || m.rank < best.rank) {
				best, at = m, i
			}
		}
		if best.rank == noRank {
			break
		}
		ids[at-1] = best.id
		ids = append(ids[:at], ids[at+1:]...)
	}
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

// TestMergeOrder compares the merger's results with slowMerge's, both on generated texts and on
// texts over an alphabet so small that rules overlap everywhere.
func TestMergeOrder(t *testing.T) {
	dense := small(t, func(f tree) { // many overlapping rules for a and b, some with a lower rank than their parts
		vocab := at(f, "model", "vocab")
		merges := []any{}
		for _, m := range strings.Fields("aab+b aa+b a+a b+a ab+ab a+b ba+a b+b abab+a aa+aa bb+a") {
			left, right, _ := strings.Cut(m, "+")
			merges = append(merges, []any{left, right})
			if _, ok := vocab[left+right]; !ok {
				vocab[left+right] = 266 + len(merges)
			}
		}
		at(f, "model")["merges"] = merges
	})
	real := bundled(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab]{1,60}`).Draw(t, "word")
		other := rapid.StringMatching(`[a-e' ]{1,30}`).Draw(t, "other") + texts().Draw(t, "text")
		for _, c := range []struct {
			tok  *Tokenizer
			text string
		}{{dense, word}, {real, word}, {real, other}} {
			for _, piece := range split(c.text) {
				var m merger
				got, _ := m.appendPiece(nil, c.tok, piece)
				want := slowMerge(c.tok, piece)
				if len(got) != len(want) {
					t.Fatalf("%q gives %v, want %v", piece, got, want)
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%q gives %v, want %v", piece, got, want)
					}
				}
			}
		}
	})
}

// FuzzEncode runs checkEncode on any bytes.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{
		"", " ", "hello world", "a  b\n\n c\t", "I'll DON'T 's", "1²½", "日本 e\u0301 👩‍👩‍👧", "<|endoftext|>",
		"\u0085\u00a0\u2003\u3000 x", "\xff\xe2\x80 \xc3", strings.Repeat("a", 500),
	} {
		f.Add(text)
	}
	tok := bundled(f)
	f.Fuzz(func(t *testing.T, text string) {
		checkEncode(t, tok, text)
		for _, piece := range split(text) { // the pattern never cuts inside a character
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("%q is cut inside a character: %q, want whole characters", text, piece)
			}
		}
	})
}

// swallows reports whether any added token swallows the blanks next to it.
func swallows(tok *Tokenizer) bool {
	for _, m := range []matcher{tok.raw, tok.normal} {
		for _, match := range m.tokens {
			if match.lstrip || match.rstrip {
				return true
			}
		}
	}
	return false
}

// FuzzParse checks that Parse never panics, and that a tokenizer that Parse accepts can encode.
func FuzzParse(f *testing.F) {
	good := string(encodeTree(f, smallTree()))
	f.Add([]byte(good))
	for _, change := range [][2]string{
		{`["h","e"]`, `"h e"`},
		{`["h","e"]`, `["h"]`},
		{`"hello":259`, `"hello":1000`},
		{`"hello":259`, `"hello":-1`},
		{`"normalizer":null`, `"normalizer":{"type":"NFC"}`},
		{`"add_prefix_space":false`, `"add_prefix_space":true`},
		{`"id":265`, `"id":256`},
	} {
		f.Add([]byte(strings.Replace(good, change[0], change[1], 1)))
	}
	f.Add(
		[]byte(
			`{"pre_tokenizer":{"type":"ByteLevel"},"decoder":{"type":"ByteLevel"},"model":{"vocab":{"a":0},` +
				`"merges":[]}}`,
		),
	)
	f.Add([]byte(`{"model":{"vocab":{"a":1e9},"merges":["",[],[[]],null]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse(data)
		if err != nil {
			if tok != nil || !strings.HasPrefix(err.Error(), "tokenizer: ") {
				t.Fatalf("Parse returns %v with the error %q; want nil, and the prefix %q", tok, err, "tokenizer: ")
			}
			return
		}
		if !tok.addPrefixSpace && !swallows(tok) {
			checkEncode(t, tok, "hello world\xff 1 aaa<|end|>")
		}
		for id := range tok.Size() {
			if name, ok := tok.Special(id); ok {
				if got, ok := tok.SpecialID(name); !ok || got != id || tok.Bytes(id) != nil {
					t.Fatalf(
						"special token %d: SpecialID(%q) = %d, %v, Bytes %q; want %d, true, nil", id, name, got, ok,
						tok.Bytes(id), id,
					)
				}
			}
		}
	})
}
