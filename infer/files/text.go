package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ReadText is like [Read], and decodes the text with [Text].
func ReadText(path string, limit int64) (string, error) {
	data, err := Read(path, limit)
	if err != nil {
		return "", err
	}
	return Text(data)
}

// Byte order marks. The UTF-32 mark begins with the UTF-16 mark.
var (
	markUTF8    = []byte("\xef\xbb\xbf")
	marksUTF32  = [2][]byte{[]byte("\xff\xfe\x00\x00"), []byte("\x00\x00\xfe\xff")}
	markUTF16LE = []byte("\xff\xfe")
	markUTF16BE = []byte("\xfe\xff")
)

// Text decodes the contents of a text file written by another program: UTF-8, with or without a
// byte order mark, or UTF-16 with one, as PowerShell 5.1 writes it. The mark is removed; otherwise,
// the text is unchanged. Errors name the encoding if it can be recognized. Otherwise, they are of
// type [*UTF8Error].
func Text(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, marksUTF32[0]), bytes.HasPrefix(data, marksUTF32[1]):
		return "", errors.New("is UTF-32 text, which is not supported; save it as UTF-8")
	case bytes.HasPrefix(data, markUTF16LE):
		return wide(data[len(markUTF16LE):], binary.LittleEndian)
	case bytes.HasPrefix(data, markUTF16BE):
		return wide(data[len(markUTF16BE):], binary.BigEndian)
	case looksWide(data):
		return "", errors.New(
			"seems to be UTF-16 without a byte order mark, which is not supported: save it as UTF-8",
		)
	}
	plain := bytes.TrimPrefix(data, markUTF8)
	if at := invalid(plain); at < len(plain) {
		return "", &UTF8Error{len(data) - len(plain) + at}
	}
	return string(plain), nil
}

// UTF8Error reports that the byte at offset At is not part of valid UTF-8.
type UTF8Error struct{ At int }

func (e *UTF8Error) Error() string { return fmt.Sprintf("is not valid UTF-8 at byte %d", e.At) }

// invalid returns the offset at which data stops being valid UTF-8, or len(data).
func invalid(data []byte) int {
	if utf8.Valid(data) {
		return len(data)
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}

// wide decodes the UTF-16 data that follows a byte order mark.
func wide(data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", fmt.Errorf("is UTF-16 text that ends in the middle of a character, after %d bytes", len(data))
	}
	text := make([]byte, 0, len(data)/2)
	for at := 0; at < len(data); at += 2 {
		r := rune(order.Uint16(data[at:]))
		if utf16.IsSurrogate(r) {
			second := rune(utf8.RuneError)
			if at+4 <= len(data) {
				second = rune(order.Uint16(data[at+2:]))
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				return "", fmt.Errorf("is not valid UTF-16 at byte %d", len(markUTF16LE)+at)
			}
			at += 2
		}
		text = utf8.AppendRune(text, r)
	}
	return string(text), nil
}

// looksWide reports whether every other byte at the start is NUL, as in UTF-16 text in any Western
// language.
func looksWide(data []byte) bool {
	head := data[:min(len(data), 64)]
	if len(head) < 4 || len(data)%2 != 0 {
		return false
	}
	zeros := [2]int{}
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	return zeros[0] == 0 && zeros[1] == len(head)/2 || zeros[1] == 0 && zeros[0] == len(head)/2
}
