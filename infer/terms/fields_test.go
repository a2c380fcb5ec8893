package terms

import "testing"

func TestUnpairedSurrogatesAreDetected(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"cmd":"start","prompt":"plain"}`:       false,
		`{"prompt":"\ud83d\ude00"}`:              false, // 😀
		`{"prompt":"\ud800"}`:                    true,
		`{"prompt":"\ud83dx"}`:                   true,
		`{"prompt":"\ude00"}`:                    true,
		`{"prompt":"\udc00"}`:                    true, // first and last low surrogate
		`{"prompt":"\udfff"}`:                    true,
		`{"prompt":"\ud800\udc00"}`:              false,
		`{"prompt":"\udbff\udfff"}`:              false,
		`{"prompt":"\udbff"}`:                    true,
		`{"prompt":"\ud83d\ud83d\ude00"}`:        true,
		`{"prompt":"\\ud800 is only text"}`:      false,
		`{"prompt":"ends in a backslash \\"}`:    false,
		`{"prompt":"\u00e9 \uD83D\uDE00 \n ok"}`: false,
	} {
		if got := HalfCharacter([]byte(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
