package session

import "testing"

func TestFindMatchKinds(t *testing.T) {
	for _, c := range []struct {
		token, text string
		want        int
	}{
		{"the", "the", fitsWhole},
		{" the", "the", fitsSpaced},
		{"The", "the", fitsUncased},
		{" The", "the", fitsUncased},
		{" there", "the", fitsBeginning},
		{"There", "the", fitsBeginning},
		{"other", "the", fitsInside},
		{"cat", "the", fitsNot},
		{"", "the", fitsNot},
		{"\n", "\n", fitsWhole},
	} {
		if got := fits(c.token, c.text); got != c.want {
			t.Errorf("the match of %q with %q is %d, want %d", c.token, c.text, got, c.want)
		}
	}
}
