package class

import (
	"strings"
	"testing"
)

func TestNewCodesAreReadable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		code := NewCode()
		if len(code) != CodeLength || strings.Trim(code, alphabet) != "" {
			t.Fatalf("got code %q, want %d letters of the alphabet", code, CodeLength)
		}
		seen[code] = true
		if got := NormalCode(" " + strings.ToLower(ShownCode(code)) + "\n"); got != code {
			t.Errorf("typed as shown, %q is read as %q", code, got)
		}
	}
	if len(seen) < 990 { // among a thousand codes, two are equal with a probability of 1/200: 1000²/2 / 22⁶
		t.Errorf("only %d of 1000 codes are different", len(seen))
	}
	if strings.ContainsAny(alphabet, "01258AEIOULSZB") {
		t.Error("the alphabet has ambiguous characters or vowels")
	}
	for typed, want := range map[string]string{
		"k7q-4mx": "K7Q4MX", "k7·q4mx": "K7Q4MX", "": "", strings.Repeat("x", 1000): "XXXXXXX",
	} {
		if got := NormalCode(typed); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

func TestSecretRoundTrip(t *testing.T) {
	t.Parallel()
	s := NewSecret()
	if back := ParseSecret(s.String()); back != s || len(s.String()) != 22 || !s.Fits(s.Hash()) {
		t.Errorf("ParseSecret(%s) = %s, want the same 22 characters", s, back)
	}
	other := s
	other[15] ^= 1
	for _, text := range []string{"", "x", s.String() + "A", s.String()[:21], other.String(), strings.Repeat("=", 22)} {
		if ParseSecret(text).Fits(s.Hash()) {
			t.Errorf("the secret %q is accepted, want it refused", text)
		}
	}
}
