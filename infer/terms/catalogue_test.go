package terms

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadCatalog(t *testing.T) {
	c, err := ReadCatalog("# a note\nscores = From {min} to\n {max}, {n} in all.\n\nplain = a = b\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Text("scores", "max", "9", "min", "1"); got != "From 1 to 9,  in all." {
		t.Errorf("got %q, want %q", got, "From 1 to 9,  in all.")
	}
	if got := c.Text("plain"); got != "a = b" || !slices.Equal(c.Keys(), []string{"plain", "scores"}) {
		t.Errorf("got %q of %q; want %q, %q", got, c.Keys(), "a = b", []string{"plain", "scores"})
	}
	if c.Has("other") || c.Text("other") != "other" {
		t.Errorf("got %q for a missing text", c.Text("other"))
	}
	for _, file := range []string{"a = {open", "a = and {}", "a: b", "a = 1\na = 2", "two words = x"} {
		if _, err := ReadCatalog(file); err == nil {
			t.Errorf("ReadCatalog(%q): got no error, want one", file)
		}
	}
}

// TestLanguagesAreComplete checks that each language has all texts and that the methods of Language
// use these texts.
func TestLanguagesAreComplete(t *testing.T) {
	list, err := os.ReadDir("words")
	if err != nil || len(list) == 0 {
		t.Fatalf("languages: got %v, %v; want at least one, <nil>", list, err)
	}
	for _, f := range list {
		tag := strings.TrimSuffix(f.Name(), ".txt")
		texts, err := Texts(tag)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ReadCatalog(texts)
		if err != nil {
			t.Fatalf("%s: %v", tag, err)
		}
		if got, want := c.Keys(), English.words.Keys(); !slices.Equal(got, want) {
			t.Errorf("%s has %d texts, want the %d of English", tag, len(got), len(want))
		}
	}
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
		{other.Counted(2, "sheep"), "2 sheeps"}, // not in the texts
		{other.Stage(1).Short, "Hin"},
		{other.Ordinal(23), "23."},
		{knob.Label, "Beste k"},
		{other.Sentence(knob.Check(-1).(*RangeError)), "Beste k is -1; it muss sein: 0 (off) or more."},
		{other.Stop("context").Name, "context window"},
		{other.Bytes(3072), "3,072 B"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
