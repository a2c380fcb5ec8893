package terms

import "testing"

func TestRightToLeft(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "Paris 42 (x)": false, "日本語": false, "Ελλάδα": false, "мир": false, "\u202e": false, "“ü”": false,
		"שלום": true, "a ב": true, "مرحبا": true, "٧": true, "ܫܠܡܐ": true, "ﷺ": true, "𞤀": true, "𐤀": true,
	} {
		if got := RightToLeft(text); got != want {
			t.Errorf("RightToLeft(%+q) = %t, want %t", text, got, want)
		}
	}
}

// TestIsolatedTextsTurnNothing: a text within a sentence is isolated if necessary, and never
// contains a mark that could end the isolation or change the direction of the text that follows.
func TestIsolatedTextsTurnNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Paris":                      "Paris",
		"שלום 42":                    "\u2068שלום 42\u2069",
		"a\u202eb":                   "ab",
		"\u2066א\u2069\u202e\u202cב": "\u2068אב\u2069",
	} {
		if got := Isolated(text); got != want {
			t.Errorf("Isolated(%+q) = %+q, want %+q", text, got, want)
		}
	}
}
