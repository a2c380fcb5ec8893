package drill

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestReadAcceptsNotations: the notations that people type are parsed correctly.
func TestReadAcceptsNotations(t *testing.T) {
	for _, row := range []struct {
		text string
		form Form
		want float64
		said string
	}{
		{"0.632", Probability, 0.632, "0.632"},
		{" 0.6320 ", Probability, 0.632, "0.632"},
		{"0,632", Probability, 0.632, "0,632 is 0.632"},
		{".632", Probability, 0.632, "0.632"},
		{",632", Probability, 0.632, ",632 is 0.632"},
		{"63.2%", Probability, 0.632, "63.2% is 0.632"},
		{"63,2 %", Probability, 0.632, "63,2 % is 0.632"},
		{"63.2 percent", Probability, 0.632, "63.2 percent is 0.632"},
		{"1/3", Probability, 1. / 3, "1/3 is 0.333333"},
		{"20.086 / 86.440", Probability, 20.086 / 86.44, "20.086 / 86.440 is 0.232369"},
		{"= 0.5", Probability, 0.5, "0.5"},
		{"≈0.5", Probability, 0.5, "0.5"},
		{"6.32e-1", Probability, 0.632, "6.32e-1 is 0.632"},
		{"6.32×10^-1", Probability, 0.632, "6.32×10^-1 is 0.632"},
		{"0.632", Probability, 0.632, "0.632"},
		{"−1.5", Real, -1.5, "-1.5"},
		{"54.598", Real, 54.598, "54.598"},
		{"1,234.5", Real, 1234.5, "1,234.5 is 1234.5"},
		{"1.234,5", Real, 1234.5, "1.234,5 is 1234.5"},
		{"2,147,483,648", Bytes, 1 << 31, "2,147,483,648"},
		{"2.147.483.648", Bytes, 1 << 31, "2.147.483.648 is 2,147,483,648"},
		{"2 147 483 648", Bytes, 1 << 31, "2 147 483 648 is 2,147,483,648"},
		{"2'147'483'648", Bytes, 1 << 31, "2'147'483'648 is 2,147,483,648"},
		{"2_147_483_648", Bytes, 1 << 31, "2_147_483_648 is 2,147,483,648"},
		{"2,14,74,83,648", Bytes, 1 << 31, "2,14,74,83,648 is 2,147,483,648"},
		{"2147483648", Bytes, 1 << 31, "2,147,483,648"},
		{"2 GiB", Bytes, 1 << 31, "2 GiB is 2,147,483,648 bytes"},
		{"2gib", Bytes, 1 << 31, "2gib is 2,147,483,648 bytes"},
		{"2 GB", Bytes, 2e9, "2 GB is 2,000,000,000 bytes"},
		{"512 KiB", Bytes, 512 << 10, "512 KiB is 524,288 bytes"},
		{"8192 bytes", Bytes, 8192, "8192 bytes is 8,192 bytes"},
		{"2^31", Bytes, 1 << 31, "2^31 is 2,147,483,648"},
		{"2**31 bytes", Bytes, 1 << 31, "2**31 bytes is 2,147,483,648 bytes"},
		{"3.19 million", Count, 3.19e6, "3.19 million is 3,190,000"},
		{"1,024", Count, 1024, "1,024"},
		{"417 times", Ratio, 417, "417 times is 417"},
		{"417×", Ratio, 417, "417× is 417"},
		{"3,36", Ratio, 3.36, "3,36 is 3.36"},
		{"$0.0105", Money, 0.0105, "$0.0105 is 0.0105 dollars"},
		{"1.05 cents", Money, 0.0105, "1.05 cents is 0.0105 dollars"},
	} {
		got, err := Read(row.text, row.form)
		if err != nil || len(got) == 0 {
			t.Errorf("Read(%q) = %v, %v; want at least one element, <nil>", row.text, got, err)
			continue
		}
		if !(math.Abs(got[0].Value-row.want) <= 1e-12*max(1, row.want)) || got[0].Said(terms.English) != row.said {
			said := got[0].Said(terms.English)
			t.Errorf("Read(%q) = %v, %q; want %v, %q", row.text, got[0].Value, said, row.want, row.said)
		}
	}
}

// TestReadGivesBothReadings: a comma before three digits can be either separator, and Read returns
// both readings. For a count, the reading with a thousands separator comes first; for other
// numbers, the reading with a decimal comma comes first.
func TestReadGivesBothReadings(t *testing.T) {
	for _, row := range []struct {
		text string
		form Form
		want []float64
	}{
		{"20,086", Real, []float64{20.086, 20086}},
		{"20.086", Real, []float64{20.086, 20086}},
		{"4,096", Count, []float64{4096, 4.096}},
		{"4.096", Count, []float64{4.096, 4096}},
		{"0,632", Probability, []float64{0.632}}, // a group of thousands never begins with 0
		{"12,34", Count, []float64{12.34}},
		{"1234,567", Count, []float64{1234.567}},
	} {
		got, err := Read(row.text, row.form)
		if err != nil || len(got) != len(row.want) {
			t.Errorf("Read(%q) = %v, %v; want %v", row.text, got, err, row.want)
			continue
		}
		for i := range got {
			if !(math.Abs(got[i].Value-row.want[i]) <= 1e-9) {
				t.Errorf("Read(%q)[%d] = %v, want %v", row.text, i, got[i].Value, row.want[i])
			}
		}
	}
}

// TestReadExplainsRefusals: input that is not an answer is refused with a
// sentence that explains what to do.
func TestReadExplainsRefusals(t *testing.T) {
	for text, part := range map[string]string{
		"hello":                   "does not contain a number",
		"the":                     "does not contain a number",
		"NaN":                     "Infinity",
		"-inf":                    "Infinity",
		"∞":                       "Infinity",
		"infinity":                "Infinity",
		"1/0":                     "divide by 0",
		"1e999":                   "power of ten",
		"1e-999":                  "power of ten",
		"9e30":                    "far larger",
		"9e-30":                   "far smaller",
		"999999999999999999999":   "far larger",
		"2^999":                   "power",
		"1.2.3":                   "not grouped",
		"1,2,3":                   "not grouped",
		"12 3":                    "does not fit",
		"0.5 apples":              "does not fit",
		"5 GiB":                   "does not fit", // in a probability cell
		".":                       "does not contain a number",
		"--5":                     `"-5" is not a number`,
		"<script>1</script>":      `"<script>1</script>" is not a number`,
		"2 * ":                    "does not fit",
		"1 +":                     "ends too early",
		"(1 + 2":                  "closing parenthesis",
		"1 + 2)":                  "does not fit",
		"0^-1":                    "divide by 0",
		"1/(2-2)":                 "divide by 0",
		"√(-1)":                   "power",
		"2^2^2^2^2^2":             "power",
		"((((9^64)^64)^64)^64)":   "power",
		"1/9^30":                  "far smaller",
		"10^20*10^20*10^20":       "far larger",
		"€0.5":                    `without "€"`,
		"$0.5":                    `without "$"`, // in a probability cell
		"p = x":                   "does not contain a number",
		"\xff\xfe1":               "not valid text",
		strings.Repeat("1", 1000): "too long",
	} {
		got, err := Read(text, Probability)
		var refused *terms.Refusal
		if !errors.As(err, &refused) {
			t.Errorf("Read(%.30q) = %v, %v; want a refusal", text, got, err)
			continue
		}
		if !strings.Contains(refused.Message, part) || !strings.HasSuffix(refused.Message, ".") {
			t.Errorf("Read(%.30q) is refused with %q, want it to contain %q", text, refused.Message, part)
		}
	}
	for _, text := range []string{"", "  ", "\t", "="} {
		if got, err := Read(text, Count); len(got) != 0 || err != nil {
			t.Errorf("Read(%q) = %v, %v; want nothing", text, got, err)
		}
	}
}

// TestReadComputesArithmetic: an answer may be typed as the formula that gives it. Powers bind more
// tightly than signs, and products more tightly than sums.
func TestReadComputesArithmetic(t *testing.T) {
	for _, row := range []struct {
		text string
		want float64
	}{
		{"2 × 32 × 128", 8192},
		{"2*32*128", 8192},
		{"2·32·128", 8192},
		{"2 x 32 x 128", 8192},
		{"1 + 2 × 3", 7},
		{"(1 + 2) × 3", 9},
		{"[1 + 2] × 3", 9},
		{"3(1 + 2)", 9},
		{"7 − 2 − 1", 4},
		{"12/3/2", 2},
		{"1/2/4", 0.125},
		{"−2^2", -4},
		{"2^-2", 0.25},
		{"2^3^2", 512},
		{"4^0.5", 2},
		{"10 - -2", 12},
		{"(1-0.8^5)/0.2", 3.3616}, // 1 − 0.32768 = 0.67232, × 5
		{"(1−0,8^5)/0,2", 3.3616},
		{"2½", 2.5},
		{"½", 0.5},
		{"3/4 + ¼", 1},
		{"√16", 4},
		{"5/√4", 2.5},
		{"sqrt(9)", 3},
		{"1/2*10^3", 500},
		{"5.4*10^-3", 0.0054},
		{"50%*2", 1},
		{"0.25*100%", 0.25},
		{"1000 × 3 / 10^6", 0.003},
		{"2^3*10^2", 800},
		{"2^-3*10^3", 125},
		{"exp(4)/exp(3)", math.E},
		{"2e^0", 2},
		{"(-1)^99999", -1},
		{"12/8 = 1.5", 1.5},
		{"1.5 =", 1.5},
		{"p(the) ≈ 1.5", 1.5},
		{"p: 1.5", 1.5},
		{"1.5...", 1.5},
		{"1.5。", 1.5},
	} {
		got, err := Read(row.text, Real)
		if err != nil || len(got) == 0 || !(math.Abs(got[0].Value-row.want) <= 1e-12) {
			t.Errorf("Read(%q) = %v, %v; want %v", row.text, got, err, row.want)
		}
	}
}

// TestReadAcceptsDigitsOfAllScripts: the digits of every script are read, with the Arabic decimal and
// thousands separators. Unicode encodes each script's digits one after the other, starting at 0.
func TestReadAcceptsDigitsOfAllScripts(t *testing.T) {
	for text, want := range map[string]float64{
		"٠٫٦٣٢": 0.632, "0٫632": 0.632, "۰٫۶۳۲": 0.632,
		"०.६३२": 0.632, "০.৬৩২": 0.632, "๐.๖๓๒": 0.632, "０．６３２": 0.632,
		"𝟎.𝟔𝟑𝟐": 0.632, "𝟶.𝟼𝟹𝟸": 0.632, "٦٣٫٢٪": 0.632, "١٬٢٣٤٫٥": 1234.5,
	} {
		if got, err := Read(text, Real); err != nil || len(got) == 0 || got[0].Value != want {
			t.Errorf("Read(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	scripts, run := 0, 0
	for r := range rune(unicode.MaxRune) {
		if !unicode.Is(unicode.Nd, r) {
			run = 0
			continue
		}
		if got, err := Read("1"+string(r), Count); err != nil || got[0].Value != float64(10+run%10) {
			t.Errorf("Read(1%c) = %v, %v; want %d", r, got, err, 10+run%10)
		}
		if run++; run%10 == 0 {
			scripts++
		}
	}
	if scripts < 60 {
		t.Errorf("got the digits of %d scripts, want at least 60", scripts)
	}
}

// TestReadRoundTrip: a value in any usual notation is parsed back unchanged.
func TestReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1e15).Draw(t, "count")
		for _, text := range []string{
			terms.Thousands(itoa(n)), itoa(n), strings.ReplaceAll(terms.Thousands(itoa(n)), ",", " "),
			strings.ReplaceAll(terms.Thousands(itoa(n)), ",", "'"),
		} {
			got, err := Read(text, Count)
			if err != nil || got[0].Value != float64(n) {
				t.Fatalf("Read(%q) = %v, %v; want %d", text, got, err, n)
			}
		}
		p := roundTo(rapid.Float64Range(0, 1).Draw(t, "p"), 4)
		for _, text := range []string{
			Probability.show(p), strings.Replace(Probability.show(p), ".", ",", 1),
			canonical(roundTo(100*p, 2), Real) + "%",
		} {
			got, err := Read(text, Probability)
			if err != nil || !(math.Abs(got[0].Value-p) <= 1e-9) {
				t.Fatalf("Read(%q) = %v, %v; want %v", text, got, err, p)
			}
		}
	})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// FuzzRead: Read never panics; for any input, it returns readings, nothing, or a refusal. Values
// are finite and bounded, and parsing a reading's description gives the same value.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"0,632", ".632", "63.2%", "1/3", "2,147,483,648", "2 GiB", "2 GB", "$0.01", "1.05 cents", "2^31", "5,4·10^-3",
		"NaN", "1e999", "(1-0.8^5)/0.2", "e^4 / (e^4+e^3)", "√2", "2½", "٠٫٦٣٢", "p = 1", "2 x 3", "2(3)",
		"((9^64)^64)^64",
		"-0", "1/0", "０．５", "1 234 567,8", "''1", "1,,2", "%", "e5", "1e", "1e+", "^2", "3^", "-2^3", "+5",
		"=≈~", "…",
		"1/3%", "1%/3",
	} {
		for form := range Ratio + 1 {
			f.Add(text, int(form))
		}
	}
	f.Fuzz(func(t *testing.T, text string, form int) {
		form &= 0xff
		form %= int(Ratio) + 1
		list, err := Read(text, Form(form))
		if err != nil {
			var refused *terms.Refusal
			if !errors.As(err, &refused) || refused.Message == "" || len(list) > 0 {
				t.Fatalf(
					"Read(%q) = %v, %v; want an error of type *terms.Refusal, refused.Message not empty, 0 elements",
					text, list, err,
				)
			}
			return
		}
		for _, r := range list {
			if math.IsNaN(r.Value) || math.Abs(r.Value) > maxValue || r.Ulp < 0 || r.Said(terms.English) == "" {
				t.Fatalf("Read(%q) = %+v, want a finite, bounded value with a description", text, r)
			}
			whole := r.Said(terms.English)
			said := strings.TrimPrefix(whole[strings.LastIndex(whole, " is ")+1:], "is ")
			back, err := Read(said, Form(form))
			same := func(x Reading) bool { return math.Abs(x.Value-r.Value) <= 1e-6+1e-6*math.Abs(r.Value) }
			if Form(form) != Probability && len(said) < maxAnswer && (err != nil || !slices.ContainsFunc(back, same)) {
				t.Fatalf("Read(%q) describes %q, parsed as %v, %v; want the same value", text, whole, back, err)
			}
		}
	})
}
