package infer

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestReleaseHoldsBackPossibleStops(t *testing.T) {
	for _, row := range []struct {
		name  string
		all   string
		fresh int // number of bytes of the newest token
		stops []string
		safe  int
		stop  string
	}{
		{"nothing held", "hello", 2, nil, 5, ""},
		{"no bytes at all", "", 0, []string{"x"}, 0, ""},
		{"first byte of two", "a\xc3", 1, nil, 1, ""},
		{"first byte of four", "a\xf0", 1, nil, 1, ""},
		{"two bytes of four", "a\xf0\x9f", 1, nil, 1, ""},
		{"three bytes of four", "a\xf0\x9f\x98", 1, nil, 1, ""},
		{"all four", "a\xf0\x9f\x98\x80", 1, nil, 5, ""},
		{"a byte that begins nothing", "a\x80", 1, nil, 2, ""},
		{"continuation bytes only", "\x80\x80\x80\x80", 1, nil, 4, ""},
		{"a beginning that was given up", "\xe2\x82A", 1, nil, 3, ""},
		{"a beginning after a broken one", "\xe2\x82\xe2", 1, nil, 2, ""},
		{"a byte that UTF-8 never has", "a\xff", 1, nil, 2, ""},
		{"beginning that can only be invalid", "a\xf0\x80", 1, nil, 3, ""},

		{"half a stop string", "hello Us", 2, []string{"User:"}, 6, ""},
		{"one byte of it", "hello U", 1, []string{"User:"}, 6, ""},
		{"all but one byte", "User", 1, []string{"User:"}, 0, ""},
		{"a false start", "hello Us ", 1, []string{"User:"}, 9, ""},
		{"the longest beginning counts", "xaa", 1, []string{"aab"}, 1, ""},
		{"complete", "hello User:", 1, []string{"User:"}, 6, "User:"},
		{"complete inside a token", "hello User: hi", 5, []string{"User:"}, 6, "User:"},
		{"the whole text", "User:", 1, []string{"User:"}, 0, "User:"},
		{"begins inside an older token", "ab\n\n", 1, []string{"b\n\n"}, 1, "b\n\n"},
		{"the earlier of two", "one two", 7, []string{"two", "one"}, 0, "one"},
		{"at one place, the first listed", "abc", 3, []string{"abc", "ab"}, 0, "abc"},
		{"at one place, the first listed, turned round", "abc", 3, []string{"ab", "abc"}, 0, "ab"},
		{"twice in one token", "xabab", 4, []string{"ab"}, 1, "ab"},
		{"held for the longer of two", "abc", 1, []string{"cd", "bcd"}, 1, ""},
		{"held for a character and a stop string", "a€\xe2", 1, []string{"€€"}, 1, ""},
		{"half a character of a stop string", "a\xe2\x82", 1, []string{"€"}, 1, ""},
		{"complete long ago is complete no more", "abxyz", 1, []string{"ab"}, 5, ""},
		{"a token without bytes completes nothing", "xab", 0, []string{"ab"}, 3 - 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			safe, stop := release([]byte(row.all), row.fresh, row.stops)
			if safe != row.safe || stop != row.stop {
				t.Errorf(
					"release(%q, %d, %q) = %d, %q; want %d, %q", row.all, row.fresh, row.stops, safe, stop, row.safe,
					row.stop,
				)
			}
		})
	}
}

// TestSpacesAtEnd: SpacesAtEnd counts the spaces at the end of a text that would belong to the
// first token of the next word. It returns 0 if the vocabulary has no such words, or if a line
// break ends the prompt.
func TestSpacesAtEnd(t *testing.T) {
	m := bundledModel(t)
	long := strings.Repeat("é", endBytes) // the part that SpacesAtEnd examines begins inside a character
	for prompt, want := range map[string]int{
		"The capital of France is ": 1, "is  ": 2, "one.\n ": 1, long + "x ": 1, "is " + strings.Repeat(" ", 300): 301,
		"": 0, " ": 0, "is": 0, "is\n": 0, "is \n": 0, "is\t": 0, "is\u00a0": 0, "a b": 0, " is": 0,
	} {
		if got := m.SpacesAtEnd(prompt); got != want {
			t.Errorf("%.40q: got %d, want %d", prompt, got, want)
		}
	}
	for name, want := range map[string]int{"tinyllama": 1, "gemma3": 1, "qwen3": 1} {
		if got := openModel(t, name).SpacesAtEnd("the "); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	if got := smallModel(t).SpacesAtEnd("ab "); got != 0 { // all tokens are single bytes, except for a few pairs
		t.Errorf("a vocabulary without words that begin with a space: got %d, want 0", got)
	}
}

func TestValidTextReplacesInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"héllo €😀":         "héllo €😀",
		"\xff":             "\uFFFD",
		"a\xe2\x82b":       "a\uFFFD\uFFFDb",
		"\xf0\x9f\x98":     "\uFFFD\uFFFD\uFFFD",
		"\x00":             "\x00",
		"\uFFFD":           "\uFFFD",
		"\xed\xa0\x80":     "\uFFFD\uFFFD\uFFFD", // a surrogate is not a character
		"\xf4\x90\x80\x80": "\uFFFD\uFFFD\uFFFD\uFFFD",
	} {
		if got := ValidText([]byte(in)); got != want {
			t.Errorf("ValidText(%q) = %q, want %q", in, got, want)
		}
	}
}

// write runs a loop and makes it choose the given tokens instead of the tokens that it draws. It
// stops when the loop stops, and returns the number of generated tokens.
func write(tb testing.TB, l *Loop, ids ...int) int {
	tb.Helper()
	for i, id := range ids {
		if l.BetweenTurns() && l.Stopped() != StopNone {
			return i
		}
		runTo(tb, l, len(l.steps)+1, KindSample)
		s := l.open()
		s.Chosen = id
		l.put(s)
		next(tb, l)
		next(tb, l)
	}
	return len(ids)
}

// spell returns the ids of the model's tokens that have the given bytes.
func spell(tb testing.TB, m *Model, pieces ...string) (ids []int) {
	tb.Helper()
	for _, p := range pieces {
		id, ok := m.tok.Lookup(p)
		if !ok {
			tb.Fatalf("no token %q", p)
		}
		ids = append(ids, id)
	}
	return ids
}

func stopAt(maxTokens int, strings ...string) Settings {
	s := pure(1)
	s.Stop = Stop{MaxTokens: maxTokens, Strings: strings}
	return s
}

// TestReleasedTextStepByStep checks the text that each step releases, the text that it holds back,
// and the end of the run.
func TestReleasedTextStepByStep(t *testing.T) {
	m := smallModel(t)
	for _, row := range []struct {
		name     string
		settings Settings
		tokens   []string // "" is the end of text
		released []string // by each step
		held     []string // after each step
		stop     StopReason
		str      string
	}{
		{
			"an emoji from four byte tokens", stopAt(9),
			[]string{"a", "\xf0", "\x9f", "\x98", "\x80", "b"},
			[]string{"a", "", "", "", "😀", "b"},
			[]string{"", "\xf0", "\xf0\x9f", "\xf0\x9f\x98", "", ""},
			StopNone, "",
		},
		{
			"a token that ends one character and has another", stopAt(9),
			[]string{"\xe2\x82", "\xac!", "é"},
			[]string{"", "€!", "é"},
			[]string{"\xe2\x82", "", ""},
			StopNone, "",
		},
		{
			"a character that is given up becomes one mark a byte", stopAt(9),
			[]string{"\xe2\x82", "a", "\x80"},
			[]string{"", "\uFFFD\uFFFDa", "\uFFFD"},
			[]string{"\xe2\x82", "", ""},
			StopNone, "",
		},
		{
			"a character cut off by the end of the text is not shown", stopAt(9),
			[]string{"a", "\xf0", ""},
			[]string{"a", "", ""},
			[]string{"", "\xf0", "\xf0"},
			StopEOS, "",
		},
		{
			"a stop string over several tokens", stopAt(9, "User:"),
			[]string{"a", "User", ": ", "b"},
			[]string{"a", "", ""},
			[]string{"", "User", "User: "},
			StopString, "User:",
		},
		{
			"a stop string that begins inside a token", stopAt(9, "ba"),
			[]string{"ab", "a"},
			[]string{"a", ""},
			[]string{"b", "ba"},
			StopString, "ba",
		},
		{
			"a stop string inside one token", stopAt(9, "b"),
			[]string{"a", "abc"},
			[]string{"a", "a"},
			[]string{"", "bc"},
			StopString, "b",
		},
		{
			"of two stop strings the one that begins first", stopAt(9, "c", "ab"),
			[]string{"b", "abc"},
			[]string{"b", ""},
			[]string{"", "abc"},
			StopString, "ab",
		},
		{
			"of two stop strings the one that is complete first", stopAt(9, "abc", "b"),
			[]string{"a", "b"},
			[]string{"", "a"},
			[]string{"a", "b"},
			StopString, "b",
		},
		{
			"held for a stop string that does not come", stopAt(9, "User:"),
			[]string{"User", "s", "é"},
			[]string{"", "Users", "é"},
			[]string{"User", "", ""},
			StopNone, "",
		},
		{
			"held text is released at the last token", stopAt(2, "User:"),
			[]string{"a", "User"},
			[]string{"a", "User"},
			[]string{"", ""},
			StopMaxTokens, "",
		},
		{
			"held text is released at the end of the text", stopAt(9, "User:"),
			[]string{"User", ""},
			[]string{"", "User"},
			[]string{"User", ""},
			StopEOS, "",
		},
		{
			"a stop string at the last allowed token is a stop string", stopAt(2, "User:"),
			[]string{"User", ": "},
			[]string{"", ""},
			[]string{"User", "User: "},
			StopString, "User:",
		},
		{
			"the end of the text at the last allowed token is the end of the text", stopAt(2),
			[]string{"a", ""},
			[]string{"a", ""},
			[]string{"", ""},
			StopEOS, "",
		},
		{
			"a stop string of characters beyond ASCII", stopAt(9, "€!"),
			[]string{"a", "\xe2\x82", "\xac!"},
			[]string{"a", "", ""},
			[]string{"", "\xe2\x82", "€!"},
			StopString, "€!",
		},
		{
			"broken bytes before a stop string stay", stopAt(9, "ab"),
			[]string{"\xe2\x82", "ab"},
			[]string{"", "\uFFFD\uFFFD"},
			[]string{"\xe2\x82", "ab"},
			StopString, "ab",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLoop(t, m, "x", row.settings)
			ids := make([]int, len(row.tokens))
			for i, piece := range row.tokens {
				if ids[i] = endID; piece != "" {
					ids[i] = spell(t, m, piece)[0]
				}
			}
			if n := write(t, l, ids...); n != len(row.released) {
				t.Fatalf("got %d tokens, want %d", n, len(row.released))
			}
			for i, s := range l.Steps() {
				if s.Text != row.released[i] || string(s.Held) != row.held[i] {
					t.Errorf(
						"step %d released %q and holds %q, want %q and %q", i+1, s.Text, s.Held, row.released[i],
						row.held[i],
					)
				}
				if i < len(l.Steps())-1 && s.Stop != StopNone {
					t.Errorf("step %d stopped: got %q, want only the last step to stop", i+1, s.Stop)
				}
			}
			if s := l.steps[len(l.steps)-1]; s.Stop != row.stop || s.StopString != row.str || l.Stopped() != row.stop {
				t.Errorf("stopped by %q %q (%q), want %q %q", s.Stop, s.StopString, l.Stopped(), row.stop, row.str)
			}
		})
	}
}

// TestEmojiIsReleasedWhole: if the four bytes of an emoji are chosen one by one, the emoji is
// released only as a whole.
func TestEmojiIsReleasedWhole(t *testing.T) {
	m := chain(t, nil, 'x', 0xf0, 0x9f, 0x98, 0x80)
	l := generate(t, m, "x", 9, Settings{Settings: pure(1).Settings})
	if got := textOf(l); got != "😀" || l.Stopped() != StopEOS || len(l.Steps()) != 5 {
		t.Errorf("%d steps generated %q, stopped by %q; want 5, 😀 and eos", len(l.Steps()), got, l.Stopped())
	}
}

// TestTextIsReleasedOnce: released text is final. If a stop string is set or a limit is raised
// after a part of the text has been shown, that part must not be shown twice.
func TestTextIsReleasedOnce(t *testing.T) {
	m := smallModel(t)
	t.Run("limit raised", func(t *testing.T) {
		l := newLoop(t, m, "x", stopAt(2, "User:"))
		write(t, l, spell(t, m, "a", "User")...) // shown, since the limit was reached
		if err := l.Set(stopAt(9, "User:")); err != nil {
			t.Fatal(err)
		}
		write(t, l, spell(t, m, "s", "!")...)
		if got := textOf(l); got != "aUsers!" {
			t.Errorf("the text is %q, want aUsers!", got)
		}
	})
	t.Run("stop string set late", func(t *testing.T) {
		l := newLoop(t, m, "x", stopAt(9))
		write(t, l, spell(t, m, "a")...)
		if err := l.Set(stopAt(9, "abc")); err != nil {
			t.Fatal(err)
		}
		write(t, l, spell(t, m, "b", "é")...)
		if got := textOf(l); got != "abé" {
			t.Errorf("the text is %q, want abé", got)
		}
	})
	t.Run("stop string taken away", func(t *testing.T) {
		l := newLoop(t, m, "x", stopAt(9))
		write(t, l, spell(t, m, "a")...)
		if err := l.Set(stopAt(9, "ab")); err != nil {
			t.Fatal(err)
		}
		write(t, l, spell(t, m, "b")...)
		if l.Stopped() != StopString {
			t.Fatalf("stopped by %q, want the string ab", l.Stopped())
		}
		if err := l.Set(stopAt(9)); err != nil {
			t.Fatal(err)
		}
		write(t, l, spell(t, m, "é")...)
		if got := textOf(l); got != "abé" {
			t.Errorf("the text is %q, want abé", got)
		}
	})
}

// naiveText decodes tokens one by one and searches the whole text each time. It returns the bytes
// that may be shown at the end, and the stop string that ended the text.
func naiveText(m *Model, ids []int, stops []string) (shown []byte, stop string) {
	var all []byte
	for _, id := range ids {
		all = append(all, m.tok.Bytes(id)...)
		first := -1
		for _, s := range stops {
			if at := bytes.Index(all, []byte(s)); at >= 0 && (first < 0 || at < first) {
				first, stop = at, s
			}
		}
		if first >= 0 {
			return all[:first], stop
		}
	}
	for n := 1; n <= min(3, len(all)); n++ { // an unfinished character is omitted
		if tail := all[len(all)-n:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			return all[:len(all)-n], ""
		}
	}
	return all, ""
}

// TestReleaseProperties: for any tokens and stop strings, the texts released by the steps add up to
// the text before the first stop string; no stop string is ever shown; and at every step, the shown
// text and the held text add up to the whole text.
func TestReleaseProperties(t *testing.T) {
	m := smallModel(t)
	pieces := rapid.OneOf(
		rapid.SampledFrom(spell(t, m, "a", "b", "c", "ab", "ba", "aa", "abc", "é", "😀", "\xe2\x82", "\xac!")),
		rapid.SampledFrom(spell(t, m, "\xf0", "\x9f", "\x98", "\x80", "\xc3", "\xa9", "\xff")),
	)
	stopString := rapid.StringOfN(rapid.RuneFrom([]rune("abcé😀€!")), 1, 4, -1)
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(pieces, 1, 12).Draw(rt, "tokens")
		stops := rapid.SliceOfN(stopString, 0, 3).Draw(rt, "stops")
		l := newLoop(t, m, "x", stopAt(len(ids), stops...))
		write(t, l, ids...)

		want, stop := naiveText(m, ids, stops)
		text := textOf(l)
		if text != ValidText(want) {
			rt.Fatalf("the steps released %q, want %q as the whole text", text, ValidText(want))
		}
		if last := l.steps[len(l.steps)-1]; last.StopString != stop || (last.Stop == StopString) != (stop != "") {
			rt.Fatalf("stopped by %q %q, want the string %q", last.Stop, last.StopString, stop)
		}
		for _, s := range stops {
			if strings.Contains(text, s) {
				rt.Fatalf("the text %q holds the stop string %q", text, s)
			}
		}
		var shown string
		var all []byte
		for i, s := range l.steps {
			shown += s.Text
			all = append(all, m.tok.Bytes(ids[i])...)
			if utf8.Valid(all[:len(all)-len(s.Held)]) && shown+string(s.Held) != string(all) {
				rt.Fatalf("step %d: %q shown and %q held do not add up to %q", i+1, shown, s.Held, all)
			}
		}
	})
}
