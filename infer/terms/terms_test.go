package terms

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// Promise: A tiny probability is shown as less than 0.0001, never as 0.
func TestProb(t *testing.T) {
	for _, c := range []struct {
		p           float64
		long, short string
	}{
		{0, "0.0000", "0.00"},
		{1e-300, "<0.0001", "<0.01"},
		{0.0000499999, "<0.0001", "<0.01"},
		{0.00005, "0.0001", "<0.01"},
		{0.0049, "0.0049", "<0.01"},
		{0.005, "0.0050", "0.01"}, // 0.005 as a float64 is a little above 0.005
		{0.86426, "0.8643", "0.86"},
		{0.9949, "0.9949", "0.99"},
		{0.995, "0.9950", ">0.99"},
		{0.99994, "0.9999", ">0.99"},
		{0.99995, ">0.9999", ">0.99"},
		{0.999999, ">0.9999", ">0.99"},
		{1 - 1e-12, "1.0000", "1.00"}, // rounding of a sum of 4,096 float64
		{1, "1.0000", "1.00"},
	} {
		if got := Prob(c.p); got != c.long {
			t.Errorf("Prob(%v) = %q, want %q", c.p, got, c.long)
		}
		if got := ProbShort(c.p); got != c.short {
			t.Errorf("ProbShort(%v) = %q, want %q", c.p, got, c.short)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{
		{13.404, 2, "13.40"},
		{-7.5618, 2, "−7.56"},
		{-0.001, 2, "0.00"}, // no sign on a zero
		{-0.006, 2, "−0.01"},
		{1234567.891, 1, "1.23e6"},
		{-1234, 0, "−1,234"},
		{999.96, 1, "1,000.0"},
		{999_999, 2, "999,999.00"},
		{1e6, 2, "1.00e6"},
		{1.34e301, 2, "1.34e301"},
		{-1.34e301, 2, "−1.34e301"},
		{math.Inf(1), 2, "∞"},
		{math.Inf(-1), 2, "−∞"},
	} {
		if got := Decimals(c.x, c.n); got != c.want {
			t.Errorf("Decimals(%v, %d) = %q, want %q", c.x, c.n, got, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1,000"},
		{Count(4096), "4,096"},
		{Count(int64(1234567890)), "1,234,567,890"},
		{Count(-1234), "−1,234"},
		{Bytes(0), "0 B"},
		{Bytes(3072), "3,072 B"},
		{Bytes(9999), "9,999 B"},
		{Bytes(10_000), "9.8 KiB"},              // 10000/1024 = 9.7656
		{Bytes(58_368), "57.0 KiB"},             // 19 × 3072
		{Bytes(1_572_864), "1.5 MiB"},           // 512 × 3072
		{Bytes(2 << 30), "2.0 GiB"},             // 2³¹ bytes
		{English.MultAdds(9_999), "9,999"},      // exact
		{English.MultAdds(10_000), "0.01 M"},    //
		{English.MultAdds(786_432), "0.79 M"},   // 192 × 4096
		{English.MultAdds(3_189_504), "3.19 M"}, // one cached step at n = 19
		{English.MultAdds(46_050_816), "46.05 M"},
		{English.MultAdds(1_234_000_000), "1.23 G"},
		{English.Took(1500 * time.Nanosecond), "1.5 µs"},
		{English.Took(42 * time.Microsecond), "42 µs"},
		{English.Took(420 * time.Microsecond), "0.42 ms"},
		{English.Took(1840 * time.Microsecond), "1.8 ms"},
		{English.Took(21_600 * time.Microsecond), "21.6 ms"},
		{English.Took(123 * time.Millisecond), "123 ms"},
		{English.Took(1500 * time.Millisecond), "1.5 s"},
		{Times(46_050_816, 3_189_504), "14.4×"}, // 14.438
		{Times(417, 1), "417×"},
		{Times(1, 0), "–"},
		{English.Ordinal(1), "1st"},
		{English.Ordinal(2), "2nd"},
		{English.Ordinal(3), "3rd"},
		{English.Ordinal(11), "11th"},
		{English.Ordinal(12), "12th"},
		{English.Ordinal(13), "13th"},
		{English.Ordinal(21), "21st"},
		{English.Ordinal(111), "111th"},
		{English.Ordinal(1002), "1,002nd"},
		{Setting(0.7), "0.70"},
		{Setting(2), "2.00"},
		{Setting(0.125), "0.125"},
		{Setting(1e-300), "1e-300"},
		{Setting(0.0001), "0.0001"},
		{Setting(0.00005), "5e-5"},
		{Setting(2e6), "2e6"},
		{Setting(0), "0.00"},
		{Counted(1, "token"), "1 token"},
		{Counted(4096, "token"), "4,096 tokens"},
		{Percent(0.7361), "74%"},
		{Percent(0.0041), "<1%"},
		{Is("p", 0.64), "p = 0.6400"},
		{Is("p", 0.00001), "p <0.0001"},
		{BytesShort(2 << 30), "2 GiB"},
		{BytesShort(1536), "1,536 B"},
		{BytesShort(64.0 * (1 << 40)), "64 TiB"},
		{Bytes(3.5 * (1 << 50)), "3.5 PiB"},
		{BytesFull(512), "512 B"},
		{BytesFull(2 << 30), "2 GiB"},
		{BytesFull(13_475_513_139), "12.55 GiB"},
		{BytesFull(100 << 10), "100 KiB"},
		{BytesFull(4_429_185_024), "4.13 GiB"}, // 4.125, and people round up
		{Percent(0), "0%"},
		{Percent(0.996), ">99%"},
		{Percent(2.0 / 3), "67%"},
		{Percent(1), "100%"},
		{Percent(1 - 1e-12), "100%"}, // rounding of a sum of 4,096 float64
		{Percent(2.5), "250%"},
		{PercentTo(0.33584, 1), "33.6%"},
		{English.OfHundred(0.001), "fewer than 1"},
		{English.OfHundred(0.28), "28"},
		{English.OfHundred(0.999), "more than 99"},
		{English.OfHundred(1), "100"},
		{CountedAs(2, "branch", "branches"), "2 branches"},
		{English.HowOften(1), "once"},
		{English.HowOften(2), "twice"},
		{English.HowOften(1200), "1,200 times"},
		{Grouped(1234567.891, 1), "1,234,567.9"},
		{Thousands("-123"), "-123"},
		{Thousands("-1234.5678"), "-1,234.5678"},
		{Thousands("123456"), "123,456"},
		{Thousands(""), ""},
		{Capital("élan"), "Élan"},
		{Capital(""), ""},
		{StageAt(7).Name, "Cache grows"},
		{StageKeys()[Stages-1], "cache"},
		{English.Stop("max_tokens").Done, "max tokens reached"},
		{English.Stop("").Why, ""},
		{Plain(math.Copysign(0, -1)), "0"},
		{Plain(1e6), "1000000"},
		{Plain(0.1), "0.1"},
		{Measured(1204), "1,204"},
		{Measured(123.44), "123.4"},
		{Measured(-12.345), "−12.35"},
		{Measured(0.12344), "0.1234"},
		{Measured(0.000345), "0.000345"},
		{Measured(-2.5e-6), "−0.00000250"},
		{Measured(2.5e-7), "2.50e-7"},
		{Measured(3_189_504.3), "3,189,504"},
		{Measured(math.Inf(1)), "∞"},
		{Measured(0), "0"},
		{English.Wait(20 * time.Second), "1 min"},
		{English.Wait(10 * time.Minute), "10 min"},
		{English.Wait(23 * time.Hour), "23 hours"},
		{English.Wait(24 * time.Hour), "1 day"},
		{English.Wait(90 * 24 * time.Hour), "3.0 months"}, // 90 / 30.44 = 2.957
		{English.Wait(3 * 24 * time.Hour), "3 days"},
		{English.Wait(73 * 24 * time.Hour), "2.4 months"},
		{English.Wait(800 * 24 * time.Hour), "2.2 years"},
		{Dollars(0), "$0"},
		{Dollars(-0.5), "−$0.50"},
		{Dollars(1234.996), "$1,235.00"},
		{Dollars(0.000025), "$0.000025"},
		{Dollars(0.03), "$0.03"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestCellDefusesFormulas: a text that begins like a formula, after any white space, is marked as
// text. Everything else is unchanged.
// Promise: No text in an exported table can run as a formula in a spreadsheet.
func TestCellDefusesFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-0.5": "'-0.5", "-x": "'-x", "-": "'-", "-Inf": "'-Inf", "@SUM(A1)": "'@SUM(A1)",
		" =1": "' =1", "\t=1": "'\t=1", "\ta": "'\ta", "\r": "'\r", "\n=1": "'\n=1", "\x00=1": "'\x00=1",
		"\u200b=1": "'\u200b=1", "\ufeff@a": "'\ufeff@a", "％x": "％x", "＝1": "'＝1",
		"'s": "'s", "plain": "plain", " the": " the", "a=1": "a=1", "a\tb": "a\tb", "1": "1", "": "",
	} {
		if got := safeCell(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}

// TestSheetForms: texts are marked, numbers remain numbers, and each form has the separators,
// quotes and line ends that its programs expect. Control characters become escapes.
func TestSheetForms(t *testing.T) {
	for form, want := range map[SheetForm]string{
		SheetPipe: "'=a,-1,-2,-0.5,0.1,1e-07,,true\n\"a \"\"b\"\", c\",'-1,\"two\nlines\"\n" +
			"x;'=1,\"y,=1\",\\u001b[2J\\u000d,z;'-1\n",
		SheetFile: "\ufeff'=a,-1,-2,-0.5,0.1,1e-07,,true\r\n\"a \"\"b\"\", c\",'-1,\"two\r\nlines\"\r\n" +
			"x;'=1,\"y,=1\",\\u001b[2J\\u000d,z;'-1\r\n",
		SheetComma: "\ufeff'=a;-1;-2;-0,5;0,1;1e-07;;true\r\n\"a \"\"b\"\", c\";'-1;\"two\r\nlines\"\r\n" +
			"\"x;=1\";y,'=1;\\u001b[2J\\u000d;\"z;-1\"\r\n",
	} {
		var b strings.Builder
		s := NewSheet(&b, form)
		s.Row("=a", -1, int64(-2), -0.5, float32(0.1), 1e-7, nil, true)
		s.Row(`a "b", c`, "-1", "two\r\nlines")
		s.Row("x;=1", "y,=1", "\x1b[2J\r", "z;-1") // these would be formulas if columns were split at other separators
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("form %d: got %q, want %q", form, b.String(), want)
		}
	}
	for decimal, want := range map[string]SheetForm{"": SheetFile, "point": SheetFile, "comma": SheetComma} {
		if got := SheetFormOf(decimal); got != want {
			t.Errorf("decimal=%s: got form %d, want %d", decimal, got, want)
		}
	}
	s := NewSheet(failing{}, SheetFile)
	s.Row(strings.Repeat("long", 10_000))
	if s.Row("short"); s.Flush() == nil {
		t.Error("a failed write is not reported")
	}
}

// failing is a writer whose Write always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
