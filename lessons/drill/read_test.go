package drill

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

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
		"--5":                     "does not contain a number",
		"<script>1</script>":      "does not contain a number",
		"1/2/3":                   "does not fit",
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
		"NaN", "1e999",
		"-0", "1/0", "０．５", "1 234 567,8", "''1", "1,,2", "%", "e5", "1e", "1e+", "^2", "3^", "-2^3", "+5", "=≈~", "…",
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
