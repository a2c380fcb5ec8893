package terms

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/languages"
)

func TestReadCatalog(t *testing.T) {
	c, err := ReadCatalog("# a note\nscores = From {min} to\n {max}, {n} in all.\n\nplain = a = b\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Segment{
		{Words: "From "},
		{Name: "min"},
		{Words: " to "},
		{Name: "max"},
		{Words: ", "},
		{Name: "n"},
		{Words: " in all."},
	}
	if got := c.Pieces("scores"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.Keys(), []string{"plain", "scores"}; !slices.Equal(got, want) {
		t.Errorf("got the keys %q, want %q", got, want)
	}
	if got, want := c.Pieces("plain"), []Segment{{Words: "a = b"}}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.Pieces("other"), []Segment{{Words: "other"}}; c.Has("other") || !slices.Equal(got, want) {
		t.Errorf("got %q for a missing text, want %q", got, want)
	}
	for _, file := range []string{"a = {open", "a = and {}", "a: b", "a = 1\na = 2", "two words = x"} {
		if _, err := ReadCatalog(file); err == nil {
			t.Errorf("ReadCatalog(%q): got no error, want one", file)
		}
	}
}

// TestLanguagesAreComplete checks that each language has every text that English has, with the same
// values.
func TestLanguagesAreComplete(t *testing.T) {
	for _, tag := range languages.Tags() {
		texts, err := Texts(tag)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ReadCatalog(texts)
		if err != nil {
			t.Fatalf("%s: %v", tag, err)
		}
		got, want := namesByText(c), namesByText(English.words)
		for text, names := range want {
			if other, ok := got[text]; !ok || !slices.Equal(other, names) {
				t.Errorf("%s: the text %s has the values %q, want %q", tag, text, other, names)
			}
		}
		for text := range got {
			if _, ok := want[text]; !ok {
				t.Errorf("%s: the text %s is not in English", tag, text)
			}
		}
	}
}

// namesByText returns the names of the values of each text. The plural variants of a text count as
// one text.
func namesByText(c Catalog) map[string][]string {
	all := map[string][]string{}
	for _, key := range c.Keys() {
		text := key
		for _, category := range []string{".zero", ".one", ".two", ".few", ".many", ".other"} {
			if base, ok := strings.CutSuffix(key, category); ok {
				text = base
			}
		}
		names := all[text]
		for _, p := range c.Pieces(key) {
			if p.Name != "" {
				names = append(names, p.Name)
			}
		}
		slices.Sort(names)
		all[text] = slices.Compact(names)
	}
	return all
}

// TestLanguageUsesItsTexts checks that the methods of a language use its texts.
func TestLanguageUsesItsTexts(t *testing.T) {
	texts, _ := Texts("en")
	other, err := ReadLanguage("x", strings.NewReplacer(
		"{n} ms", "{n} Msek", "= tokens", "= Tokens", "= Forward\n", "= Hin\n", "{n}rd", "{n}.",
		"= Top-k\n", "= Beste k\n",
		"must be", "muss sein:",
	).Replace(texts))
	if err != nil {
		t.Fatal(err)
	}
	knob, _ := other.Knob("top_k")
	for _, c := range []struct{ got, want string }{
		{other.Took(1840 * time.Microsecond), "1.8 Msek"},
		{other.Counted(2, "token"), "2 Tokens"},
		{other.Stage(1).Short, "Hin"},
		{other.Ordinal(23), "23."},
		{knob.Label, "Beste k"},
		{knob.Check(-1).(*RangeError).In(other), "Beste k is -1; it muss sein: 0 (off) or more."},
		{other.Stop("context").Name, "context window"},
		{other.Bytes(3072), "3,072 B"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestTextsByCount compares the variants that a count selects with CLDR's plural rules.
func TestTextsByCount(t *testing.T) {
	const texts = "votes.one = one vote\nvotes.few = {n} few\nvotes.many = {n} many\nvotes.other = {n} votes\n"
	english, err := Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tag  string
		n    int
		want string
	}{
		{"en", 1, "one vote"},
		{"en", 0, "0 votes"},
		{"en", 2, "2 votes"},
		{"en", 1234, "1,234 votes"},
		{"fr", 0, "one vote"},
		{"fr", 2, "2 votes"},
		{"pl", 1, "one vote"},
		{"pl", 3, "3 few"},
		{"pl", 5, "5 many"},
		{"pl", 22, "22 few"},
		{"ar", 2, "2 votes"}, // Arabic has a plural category for two, but the text has no variant for it
		{"ar", 3, "3 few"},
		{"ar", 11, "11 many"},
		{"ar", 100, "100 votes"},
		{"zh", 1, "1 votes"},
	} {
		l, err := ReadLanguage(c.tag, english+texts)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.T("votes", "who", "a class", "n", c.n); got != c.want {
			t.Errorf("%s: %d is %q, want %q", c.tag, c.n, got, c.want)
		}
	}
}
