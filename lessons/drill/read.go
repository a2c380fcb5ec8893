package drill

import (
	"math"
	"math/big"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Form is the kind of number that a cell accepts. It determines the accepted units and how exact an
// answer must be.
type Form int

// The forms.
const (
	Real        Form = iota // a plain number, such as e to the power of a logit
	Probability             // 0 to 1, or a percentage
	Count                   // integers: tokens, positions, multiply-adds
	Bytes                   // a number of bytes, with or without units
	Money                   // dollars
	Ratio                   // a factor
)

// Reading is one interpretation of a learner's input.
type Reading struct {
	Value  float64
	Ulp    float64 // one unit in the last typed place; 0 if the value has no last place, like 1/3
	Digits int     // number of significant digits typed; 0 if the value has no last place
	scaled bool    // whether a unit or a word such as 'million' was typed
	plain  bool    // only digits and a decimal point
	guess  bool    // a simple fraction such as 2/3
	typed  string  // the text, or "" if the number was typed plainly
	number string  // the number, formatted
	unit   string  // "bytes", "dollars" or ""
}

// Said describes the reading, such as "63.2% is 0.632". It is just the number if that was typed
// plainly.
func (r Reading) Said(l *terms.Language) string {
	number := r.number
	switch r.unit {
	case "bytes":
		number = l.T("drill.read.bytes", "n", number)
	case "dollars":
		number = l.T("drill.read.dollars", "n", number)
	}
	if r.typed == "" {
		return number
	}
	return l.T("drill.read.is", "typed", r.typed, "number", number)
}

// refuse politely explains why a text is not an answer.
func refuse(key string, with ...any) error { return terms.Refuse(terms.CodeFormat, key, with...) }

const (
	maxAnswer = 200  // bytes; no formula in these drills is longer
	maxValue  = 1e16 // far above any answer
	minValue  = 1e-12
)

// Read parses a number as people write it: with a decimal point or a decimal comma, with thousands
// separated by commas, points, spaces or apostrophes, and in the digits of any script; as
// arithmetic with +, −, ×, /, powers, roots and parentheses (2 × 32 × 128, e^4 / (e^4 + e^3),
// 5.4×10^-3); as a percentage; and with a unit or the word million. A name before an equals sign is
// ignored. If the text can be read in two ways ('1,024'), it returns both readings, starting with
// the more likely one for the form. The error is a *[terms.Refusal]; for blank text, Read returns
// no readings and no error.
func Read(text string, form Form) ([]Reading, error) {
	s, err := tidy(text, form)
	if err != nil || s == "" {
		return nil, err
	}
	var list []Reading
	for choice := range 2 {
		sc := &scan{s: s, form: form, choice: choice}
		r, err := sc.reading(strings.TrimSpace(text))
		if err != nil && choice == 0 {
			return nil, err
		}
		if err == nil {
			list = append(list, r)
		}
		if !sc.ambiguous {
			break
		}
	}
	return list, nil
}

// reading parses the whole text. typed is what the learner entered.
func (sc *scan) reading(typed string) (Reading, error) {
	t, err := sc.sum()
	if err != nil {
		return Reading{}, err
	}
	behind := strings.TrimSpace(sc.s)
	scale, unit, err := readUnit(behind, sc.form)
	if err != nil {
		return Reading{}, err
	}
	if sc.form != Money && t.dollars != 0 {
		return Reading{}, refuse("drill.refused.currency", "sign", "$")
	}
	if sc.form == Money && sc.dollar {
		unit = "dollars"
	}
	v := new(big.Rat).Mul(t.value, scale)
	value, _ := v.Float64()
	if math.Abs(value) > maxValue {
		return Reading{}, refuse("drill.refused.large")
	}
	if v.Sign() != 0 && math.Abs(value) < minValue {
		return Reading{}, refuse("drill.refused.small")
	}
	factor, _ := scale.Float64()
	r := Reading{
		Value: value, number: canonical(value, sc.form), scaled: factor != 1, plain: t.plain, unit: unit,
		guess: sc.divided && !t.inexact && t.value.Denom().Cmp(simple) < 0,
	}
	if t = t.written(); t.digits > 0 {
		r.Ulp, r.Digits = factor*math.Pow10(-t.decimals), t.digits
	}
	if typed != r.number && !(r.plain && behind == "" && unit == "") {
		r.typed = typed
	}
	return r, nil
}

// simple is the smallest denominator of a fraction that does not look like a guess.
var simple = big.NewInt(20)

// maxPlaces is the number of decimals that a computed value may have to count as a typed decimal.
const maxPlaces = 12

// written returns t as the decimal that it equals: 632/1000 is written as 0.632, with three decimals
// and three digits. A value that is not such a decimal is returned unchanged.
func (t term) written() term {
	if t.digits > 0 || t.inexact {
		return t
	}
	v := new(big.Rat).Set(t.value)
	for places := 0; places <= maxPlaces; places++ {
		if v.IsInt() {
			t.decimals = places
			t.digits = len(new(big.Int).Abs(v.Num()).String())
			break
		}
		v.Mul(v, ten(1))
	}
	return t
}
