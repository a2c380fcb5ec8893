package files

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Of encodes text in UTF-16 with a byte order mark.
func utf16Of(text string, order binary.AppendByteOrder) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

// TestTextIsDecoded: UTF-8 and UTF-16 give the same text without the byte order mark, with any line
// ends. Errors name any other encoding, and report the position of invalid bytes.
// Promise: Text files can be UTF-8 or UTF-16 with any line ends; other encodings are
// refused by name.
func TestTextIsDecoded(t *testing.T) {
	const text = "Où?\r\n😀 日本\ufeff\n"
	for name, data := range map[string]string{
		"UTF-8":                text,
		"UTF-8 with a mark":    "\xef\xbb\xbf" + text,
		"UTF-16 little-endian": utf16Of(text, binary.LittleEndian),
		"UTF-16 big-endian":    utf16Of(text, binary.BigEndian),
	} {
		if got, err := Text([]byte(data)); err != nil || got != text {
			t.Errorf("%s: got %q, %v; want %q, <nil>", name, got, err, text)
		}
	}
	for _, same := range []string{"", "a", "\x00", "a\x00b\x00c", "\x00\x00\x00\x00"} {
		if got, err := Text([]byte(same)); err != nil || got != same {
			t.Errorf("%q: got %q, %v; want it unchanged", same, got, err)
		}
	}
	for _, bad := range []struct{ data, want string }{
		{"\xff\xfea\x00\x00\x00", ""}, // UTF-16: a and NUL
		{"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"},
		{"\x00\x00\xfe\xff\x00\x00\x00a", "UTF-32"},
		{"H\x00i\x00!\x00", "UTF-16 without a byte order mark"},
		{"\x00H\x00i\x00!", "UTF-16 without a byte order mark"},
		{"\xff\xfea\x00b", "ends in the middle of a character, after 3 bytes"},
		{"\xff\xfea\x00\x00\xd8", "not valid UTF-16 at byte 4"},           // half a pair at the end
		{"\xff\xfe\x00\xd8a\x00", "not valid UTF-16 at byte 2"},           // half a pair, then a letter
		{"\xff\xfe\x00\xdc\x00\xd8", "not valid UTF-16 at byte 2"},        // a pair in the wrong order
		{"caf\xe9", "not valid UTF-8 at byte 3"},                          // Latin-1
		{"\xef\xbb\xbfa\xffb", "not valid UTF-8 at byte 4"},               // the position includes the byte order mark
		{"\ufffda\xed\xa0\x80", "not valid UTF-8 at byte 4"},              // a surrogate in UTF-8
		{strings.Repeat("é", 50) + "\xc3", "not valid UTF-8 at byte 100"}, // half a character at the end
	} {
		_, err := Text([]byte(bad.data))
		if got := ""; err != nil {
			got = err.Error()
			if bad.want == "" || !strings.Contains(got, bad.want) {
				t.Errorf("%q: got %q, want an error containing %q", bad.data, got, bad.want)
			}
		} else if bad.want != "" {
			t.Errorf("%q: got no error, want one containing %q", bad.data, bad.want)
		}
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(utf16Of("hi", binary.LittleEndian)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadText(path, 6); err != nil || got != "hi" {
		t.Errorf("from a file: got %q, %v; want %q, <nil>", got, err, "hi")
	}
	if _, err := ReadText(path, 5); err == nil {
		t.Error("a file of 6 bytes with a limit of 5: got no error, want one")
	}
}
