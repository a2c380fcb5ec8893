package web

import "testing"

func TestHalfCharacter(t *testing.T) {
	for text, want := range map[string]bool{
		`{"cmd":"start","prompt":"plain"}`:       false,
		`{"prompt":"\ud83d\ude00"}`:              false, // 😀
		`{"prompt":"\ud800"}`:                    true,
		`{"prompt":"\ud83dx"}`:                   true,
		`{"prompt":"\ude00"}`:                    true,
		`{"prompt":"\ud83d\ud83d\ude00"}`:        true,
		`{"prompt":"\\ud800 is only text"}`:      false,
		`{"prompt":"ends in a backslash \\"}`:    false,
		`{"prompt":"\u00e9 \uD83D\uDE00 \n ok"}`: false,
	} {
		if got := halfCharacter([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
