package class

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// alphabet leaves out what is taken for something else on a screen far away (0
// and O, 1, I and L, 2 and Z, 5 and S, 8 and B) and vowels, so that no code is
// a word. 22 signs to the power of six are 113 million codes.
const alphabet = "34679CDFGHJKMNPQRTVWXY"

// CodeLength is how many characters a code has.
const CodeLength = 6

// newCode returns a random code.
func newCode() string {
	const fair = 256 - 256%len(alphabet) // bytes from here on would favour the first signs
	var code []byte
	var b [1]byte
	for len(code) < CodeLength {
		rand.Read(b[:]) // never fails
		if int(b[0]) < fair {
			code = append(code, alphabet[int(b[0])%len(alphabet)])
		}
	}
	return string(code)
}

// NormalCode is a code as the hub knows it, of what someone typed: "k7q-4mx"
// is K7Q4MX. Something too long to be one is cut.
func NormalCode(typed string) string {
	var b strings.Builder
	for _, r := range typed {
		if b.Len() > CodeLength {
			break
		}
		if !unicode.IsSpace(r) && r != '-' && r != '·' {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// IsCode reports whether a text is a code as the hub writes it, of a room or of
// none.
func IsCode(text string) bool {
	return len(text) == CodeLength && strings.Trim(text, alphabet) == ""
}

// ShownCode is a code as people read it: "K7Q 4MX".
func ShownCode(code string) string {
	if len(code) != CodeLength {
		return code
	}
	return code[:CodeLength/2] + " " + code[CodeLength/2:]
}

// Secret makes its bearer the instructor of a room: 128 random bits.
type Secret [16]byte

func newSecret() (s Secret) {
	rand.Read(s[:]) // never fails
	return s
}

// String is the secret as 22 characters that an address can carry.
func (s Secret) String() string { return base64.RawURLEncoding.EncodeToString(s[:]) }

// ParseSecret is the inverse of [Secret.String]. What is not a secret gives one
// that fits no room.
func ParseSecret(text string) (s Secret) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(s) {
		return Secret{}
	}
	return Secret(b)
}

// hash is what is kept of a secret. It is random, so a fast hash does.
func (s Secret) hash() [sha256.Size]byte { return sha256.Sum256(s[:]) }

// fits reports, in a time that does not depend on them, whether a secret is the
// one that was hashed.
func (s Secret) fits(hash [sha256.Size]byte) bool {
	own := s.hash()
	return subtle.ConstantTimeCompare(own[:], hash[:]) == 1
}

// Longest names, in characters.
const (
	MaxNick  = 24
	MaxTitle = 80
)

// oneLine makes typed text fit for a line: without signs that cannot be seen
// or that turn the direction of what follows, single spaces between words.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

func cleanNick(typed string) (string, error) {
	nick := oneLine(typed)
	if n := utf8.RuneCountInString(nick); n > MaxNick {
		return "", terms.Refuse(CodeNick, "This nickname has %d characters; it must have at most %d.", n, MaxNick)
	}
	return nick, nil
}

func cleanTitle(typed string) (string, error) {
	title := oneLine(typed)
	if n := utf8.RuneCountInString(title); n > MaxTitle {
		return "", terms.Refuse(CodeTitle, "The title has %d characters; it must have at most %d.", n, MaxTitle)
	}
	return cmp.Or(title, "Class"), nil
}
