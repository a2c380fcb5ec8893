package class

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// alphabet has no characters that are easily confused from a distance (0 and O, 1, I and L, 2 and
// Z, 5 and S, 8 and B) and no vowels, so that codes never spell words. With its 22 characters,
// there are 113 million codes of length six.
const alphabet = "34679CDFGHJKMNPQRTVWXY"

// CodeLength is the number of characters of a code.
const CodeLength = 6

// NewCode returns a random code.
func NewCode() string {
	const fair = 256 - 256%len(alphabet) // larger bytes would bias the first characters
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

// NormalCode converts typed text to the form in which the hub stores codes: "k7q-4mx"
// becomes K7Q4MX. Text that is too long for a code is truncated.
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

// IsCode reports whether text has the form of a code. It does not check whether such a room
// exists.
func IsCode(text string) bool {
	return len(text) == CodeLength && strings.Trim(text, alphabet) == ""
}

// ShownCode formats a code for people: "K7Q 4MX".
func ShownCode(code string) string {
	if len(code) != CodeLength {
		return code
	}
	return code[:CodeLength/2] + " " + code[CodeLength/2:]
}

// Secret is the secret of a room, 128 random bits. Anyone who has it is the room's instructor.
type Secret [16]byte

// NewSecret returns a random secret.
func NewSecret() (s Secret) {
	rand.Read(s[:]) // never fails
	return s
}

// String returns the secret as 22 URL-safe characters.
func (s Secret) String() string { return base64.RawURLEncoding.EncodeToString(s[:]) }

// ParseSecret is the inverse of [Secret.String]. If the text is malformed, ParseSecret returns a
// secret that does not match any room.
func ParseSecret(text string) (s Secret) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(s) {
		return Secret{}
	}
	return Secret(b)
}

// Hash returns the hash of the secret. Only the hash is stored. The secret is random, so a fast
// hash is enough.
func (s Secret) Hash() [sha256.Size]byte { return sha256.Sum256(s[:]) }

// Fits reports, in constant time, whether the secret has the given hash.
func (s Secret) Fits(hash [sha256.Size]byte) bool {
	own := s.Hash()
	return subtle.ConstantTimeCompare(own[:], hash[:]) == 1
}

// Maximum lengths of names, in characters.
const (
	MaxNick  = 24
	MaxTitle = 80
)

// OneLine cleans up typed text for display on one line: it removes invisible characters and
// those that change the text direction, and replaces each run of spaces with a single space.
func OneLine(text string) string { return oneLine(text, "") }

// oneLine is like [OneLine], but it does not remove the characters in keep.
func oneLine(text, keep string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(keep, r):
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// CleanNick cleans up a typed nickname. It returns a [*terms.Refusal] with [CodeNick] if the
// nickname is too long.
func CleanNick(typed string) (string, error) {
	nick := OneLine(typed)
	if n := utf8.RuneCountInString(nick); n > MaxNick {
		return "", terms.Refuse(CodeNick, "class.refused.nick", "n", n, "most", MaxNick)
	}
	return nick, nil
}

// CleanTitle cleans up the typed title of a class. The title of a class without one is [Untitled].
// It returns a [*terms.Refusal] with [CodeTitle] if the title is too long.
func CleanTitle(typed string) (string, error) {
	title := OneLine(typed)
	if n := utf8.RuneCountInString(title); n > MaxTitle {
		return "", terms.Refuse(CodeTitle, "class.refused.title", "n", n, "most", MaxTitle)
	}
	return cmp.Or(title, Untitled), nil
}

// Quoted quotes user input in a message.
func Quoted(s string) string { return strconv.Quote(short(s)) }

// short shortens user input that is quoted in a message.
func short(s string) string {
	s = OneLine(s)
	if r := []rune(s); len(r) > 32 {
		return string(r[:32]) + "…"
	}
	return s
}
