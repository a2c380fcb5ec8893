package tokenizer

import "unicode/utf8"

// A tokenizer.json is JSON, so it cannot contain arbitrary bytes. GPT-2's alphabet spells each byte
// as one printable character: the printable characters of Latin-1 represent themselves, and the
// other 68 bytes, in order, are spelled U+0100 and up. A space is Ġ (U+0120), and a line feed is Ċ
// (U+010A).

// alphabetSize is one more than the highest character in the alphabet: 256 plus the number of bytes
// (68) that do not represent themselves.
const alphabetSize = 256 + 68

var (
	byteToRune [256]rune
	runeToByte [alphabetSize]int16 // -1 if the character is not in the alphabet
)

func init() {
	for i := range runeToByte {
		runeToByte[i] = -1
	}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !standsForItself(b) {
			r = next
			next++
		}
		byteToRune[b] = r
		runeToByte[r] = int16(b)
	}
}

// standsForItself reports whether byte b is a visible character in Latin-1, as opposed to a control
// character, a space or the soft hyphen (0xAD).
func standsForItself(b int) bool {
	return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xFF && b != 0xAD
}

// appendSpelled appends the bytes that spelling represents. If a character is not in the alphabet,
// it returns that character and false.
func appendSpelled(dst []byte, spelling string) (_ []byte, bad rune, ok bool) {
	for _, r := range spelling {
		if r >= alphabetSize || runeToByte[r] < 0 {
			return dst, r, false
		}
		dst = append(dst, byte(runeToByte[r]))
	}
	return dst, 0, true
}

// spell is the inverse of appendSpelled: it spells bytes as a tokenizer.json does.
func spell(bytes []byte) string {
	spelled := make([]byte, 0, 2*len(bytes))
	for _, b := range bytes {
		spelled = utf8.AppendRune(spelled, byteToRune[b])
	}
	return string(spelled)
}
