package tokenizer

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestEncodeSmall checks ids computed by hand with the rules of smallTree.
func TestEncodeSmall(t *testing.T) {
	tok := small(t, nil)
	tests := []struct {
		text string
		want []int
		why  string
	}{
		{"", []int{}, "no bytes, no tokens"},
		{"h", []int{'h'}, "one byte"},
		{"he", []int{256}, "h+e"},
		{"hello", []int{259}, "h+e (rank 0), l+l (1), he+ll (2), hell+o (3)"},
		{"hel", []int{256, 'l'}, "he and l have no rule"},
		{"helo", []int{256, 'l', 'o'}, "without ll there is no hell, hence no hello"},
		{"hello world", []int{259, 260, 261, 'l', 'd'}, "' world' is a piece of its own: Ġ+w (4), o+r (5)"},
		{"hellor", []int{259, 'r'}, "hell+o (rank 3) goes before o+r (rank 5)"},
		{"elor", []int{'e', 'l', 261}, "o+r, since no earlier rule uses the o"},
		{"aaa", []int{262, 'a'}, "two pairs a+a: the left one first"},
		{"baa", []int{'b', 262}, "a+a (rank 6) goes before b+a (rank 7), although that is further left"},
		{"ba", []int{263}, "b+a"},
		{"baaa", []int{'b', 262, 'a'}, "b a a a: a+a at 1, then aa has no rule with b or a"},
		{"aaaaa", []int{264, 'a'}, "aa aa a, then aa+aa (rank 8)"},
		{"aaaaaaa", []int{264, 262, 'a'}, "aa aa aa a: the left aa+aa first"},
		{"h e", []int{'h', ' ', 'e'}, "'h' and ' e' are two pieces"},
		{"\xff\x00", []int{0xff, 0}, "bytes that are not text"},
		{"é", []int{0xc3, 0xa9}, "two bytes without a rule"},
		{"<|end|>", []int{'<', '|', 'e', 'n', 'd', '|', '>'}, "plain text, not the special token 265"},
	}
	for _, tt := range tests {
		got := tok.Encode(tt.text)
		if !slices.Equal(got, tt.want) || got == nil {
			t.Errorf("Encode(%q) = %v, want %v: %s", tt.text, got, tt.want, tt.why)
		}
		if back := tok.Decode(got); back != tt.text {
			t.Errorf("Decode(Encode(%q)) = %q, want the text", tt.text, back)
		}
	}
}

// TestTokenTables checks the methods that describe individual tokens.
func TestTokenTables(t *testing.T) {
	tok := small(t, nil)
	if got := tok.Size(); got != 266 {
		t.Errorf("Size() = %d, want 266: 256 bytes, 9 merges, 1 special", got)
	}
	for id, want := range map[int]string{0: "\x00", ' ': " ", 0xad: "\xad", 0xff: "\xff", 259: "hello", 260: " w"} {
		if got := tok.Bytes(id); string(got) != want {
			t.Errorf("Bytes(%d) = %q, want %q", id, got, want)
		}
		if got, ok := tok.Lookup(want); !ok || got != id {
			t.Errorf("Lookup(%q) = %d, %v, want %d, true", want, got, ok, id)
		}
		if name, ok := tok.Special(id); ok {
			t.Errorf("Special(%d) = %q, true; want false for an ordinary token", id, name)
		}
	}
	for _, id := range []int{265, -1, 266, math.MaxInt, math.MinInt} {
		if got := tok.Bytes(id); got != nil {
			t.Errorf("Bytes(%d) = %q, want nil", id, got)
		}
	}
	for _, bytes := range []string{"", "<|end|>", "hel", "Ġw"} {
		if got, ok := tok.Lookup(bytes); ok {
			t.Errorf("Lookup(%q) = %d, true, want false", bytes, got)
		}
	}
	if name, ok := tok.Special(265); name != "<|end|>" || !ok {
		t.Errorf("Special(265) = %q, %v; want %q, true", name, ok, "<|end|>")
	}
	for _, id := range []int{-1, 266, math.MaxInt} {
		if name, ok := tok.Special(id); ok {
			t.Errorf("Special(%d) = %q, true, want false", id, name)
		}
	}
	if id, ok := tok.SpecialID("<|end|>"); id != 265 || !ok {
		t.Errorf("SpecialID(<|end|>) = %d, %v; want 265, true", id, ok)
	}
	if id, ok := tok.SpecialID("hello"); ok {
		t.Errorf("SpecialID(hello) = %d, true; want false for an ordinary token", id)
	}
	if got := tok.Decode([]int{265, 259, -7, 260, math.MaxInt, 0xc3}); got != "hello w\xc3" {
		t.Errorf("Decode omitted the wrong tokens: got %q, want %q", got, "hello w\xc3")
	}
	// A caller that appends to a token's bytes must not overwrite another token's bytes.
	for id := range tok.Size() {
		if got := tok.Bytes(id); len(got) != cap(got) {
			t.Errorf(
				"Bytes(%d) has capacity for %d bytes after its %d, want %d", id, cap(got)-len(got), len(got), cap(got),
			)
		}
	}
}

// TestByteAlphabet checks the byte alphabet at its boundaries.
func TestByteAlphabet(t *testing.T) {
	for b, want := range map[byte]rune{
		0x00: 'Ā', '\n': 'Ċ', ' ': 'Ġ', '!': '!', '~': '~', 0x7f: 'ġ',
		0xa0: 'ł', 0xa1: '¡', 0xac: '¬', 0xad: 'Ń', 0xae: '®', 0xff: 'ÿ',
	} {
		if got := spell([]byte{b}); got != string(want) {
			t.Errorf("byte 0x%02X is spelled %q, want %q", b, got, want)
		}
		if got, _, ok := appendSpelled(nil, string(want)); !ok || string(got) != string([]byte{b}) {
			t.Errorf("%q represents % X, %v, want %02X", want, got, ok, b)
		}
	}
	for _, r := range "\x00 \u00a0\u00adńſ\U0001F600" { // ń is U+0144, the first character past the alphabet
		if _, bad, ok := appendSpelled(nil, "a"+string(r)); ok || bad != r {
			t.Errorf("appendSpelled of a%c (%U) returns %U, %v, want %U, false", r, r, bad, ok, r)
		}
	}
}

// TestPrefixSpace checks add_prefix_space, which adds a space in front of a text that is not empty
// and does not begin with one.
func TestPrefixSpace(t *testing.T) {
	tok := small(t, func(f tree) { at(f, "pre_tokenizer")["add_prefix_space"] = true })
	for text, want := range map[string][]int{
		"":     {},
		"wor":  {260, 261},
		" wor": {260, 261},
		"\tw":  {' ', '\t', 'w'}, // the pieces are " ", "\t", "w"
	} {
		if got := tok.Encode(text); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestLongPiecesEncodeQuickly encodes single pieces of 20,000 to 200,000 bytes. A merge loop that
// searches the whole piece before each merge would take minutes here, more than the test's time
// limit.
func TestLongPiecesEncodeQuickly(t *testing.T) {
	tok := small(t, nil)
	// 20,000 times a becomes 10,000 times aa, then 5,000 times aaaa.
	got := tok.Encode(strings.Repeat("a", 20_000))
	if len(got) != 5_000 || slices.ContainsFunc(got, func(id int) bool { return id != 264 }) {
		t.Errorf("20,000 a's give %d tokens, want 5,000 times 264", len(got))
	}
	// hello, a, hello, a, ...: every second token is 259, the others are 97.
	got = tok.Encode(strings.Repeat("helloa", 30_000))
	for i, id := range got {
		if want := []int{259, 'a'}[i%2]; id != want {
			t.Fatalf("token %d of helloahelloa... is %d, want %d", i, id, want)
		}
	}
	if len(got) != 60_000 {
		t.Errorf("30,000 times helloa give %d tokens, want 60,000", len(got))
	}
	real := bundled(t)
	mixed := strings.Repeat("théΩ7 ~~\u3000'll\xff", 8_000)
	if back := real.Decode(real.Encode(mixed)); back != mixed {
		t.Error("a long mixed text does not round-trip")
	}
}

// TestConcurrentEncode encodes in several goroutines with one tokenizer; the race detector
// checks for shared state.
func TestConcurrentEncode(t *testing.T) {
	tok := bundled(t)
	const text = "The quick brown fox can't jump over 1,234 lazy dogs."
	want := tok.Encode(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := tok.Encode(text); !slices.Equal(got, want) || tok.Decode(got) != text {
					t.Errorf("Encode = %v, want %v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
