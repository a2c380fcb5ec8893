package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// number grades a number cell.
type number struct {
	form  Form
	want  []float64 // right values: the exact one, then those that result from rounding intermediate results
	slips []slip    // results of known mistakes, from most to least specific
	note  string    // shown with a right answer
}

// slip is a known mistake with its result for the problem's numbers.
type slip struct {
	mistake Mistake
	value   float64
	title   string
	why     string
	credit  float64
}

// exactness describes how close an answer must be: within the tolerance that near returns, or equal
// to the value correctly rounded to a number of places or significant digits.
type exactness struct {
	places, digits int
}

func (f Form) exactness() exactness {
	switch f {
	case Probability:
		return exactness{places: 3, digits: 99}
	case Money:
		return exactness{places: 4, digits: 4}
	case Count, Bytes, Ratio:
		return exactness{places: 99, digits: 3}
	}
	return exactness{places: 3, digits: 4}
}

// near returns the tolerance for an answer whose right value is v, however the answer is written.
func (f Form) near(v float64) float64 {
	const slack = 1e-9 // for binary fractions: 0.1 + 0.2
	switch a := math.Abs(v); {
	case f == Probability:
		return 1e-4 + slack // four decimals; the last one may be off by one
	case f == Count || f == Bytes:
		return slack * max(1, a)
	case f == Money:
		return 1e-6 + slack
	case f == Ratio:
		return 1e-3*a + slack
	case a >= 1:
		return max(1e-3, 2e-5*a) + slack
	}
	return min(1e-4, 1e-3*max(math.Abs(v), 1e-3)) + slack
}

// rounds reports whether the reading equals v rounded to the reading's number of places.
func (r Reading) rounds(v float64) bool {
	return r.Ulp > 0 && math.Abs(r.Value-v) <= r.Ulp*(0.5+1e-9)
}

// is reports whether the reading is close enough to v.
func (r Reading) is(v float64, f Form) bool {
	if math.Abs(r.Value-v) <= f.near(v) {
		return true
	}
	if !r.rounds(v) || (f == Count || f == Bytes) && !r.scaled {
		return false // counts must be written out, unless they are in millions or GiB
	}
	e := f.exactness()
	fine := r.Ulp <= 1.0001*math.Pow10(-e.places)
	return fine && (f != Real || r.Digits >= 2) || r.Digits >= e.digits
}

func (n *number) right(r Reading) bool {
	return slices.ContainsFunc(n.want, func(v float64) bool { return r.is(v, n.form) })
}

// grade parses and grades the text.
func (n *number) grade(l *terms.Language, text string) Verdict {
	readings, err := Read(text, n.form)
	if refused, ok := terms.AsRefusal(err); ok {
		return Verdict{State: Refused, Title: refused.In(l)}
	}
	if len(readings) == 0 {
		return Verdict{State: Empty}
	}
	for _, r := range readings {
		if n.right(r) {
			return Verdict{
				State: Right, Credit: 1, Understood: r.Said(l), Converted: r.typed != "", Value: r.Value,
				Note: n.noteFor(l, r),
			}
		}
	}
	best, distance := n.judge(l, readings[0])
	for _, r := range readings[1:] { // '20,086' is ambiguous: use the reading that is closer to a mistake
		if v, d := n.judge(l, r); d < distance {
			best, distance = v, d
		}
	}
	return best
}

func (n *number) noteFor(l *terms.Language, r Reading) string {
	v := n.want[0]
	if (n.form == Count || n.form == Bytes) && math.Abs(r.Value-v) > n.form.near(v) {
		return l.T("drill.grade.note_for.exactly", "v", canonical(v, n.form))
	}
	return n.note
}

// judge returns a verdict that names the mistake behind a wrong number, together with the number's
// relative distance from that mistake's result.
func (n *number) judge(l *terms.Language, r Reading) (Verdict, float64) {
	v := Verdict{State: Wrong, Understood: r.Said(l), Converted: r.typed != "", Value: r.Value}
	best := math.Inf(1)
	if rounding, d := n.rounding(l, r); d < best {
		v.State, v.Credit, v.Mistake, v.Title, v.Why = Part, rounding.credit, rounding.mistake, rounding.title,
			rounding.why
		best = d
	}
	for _, s := range n.slips {
		d := apart(r.Value, s.value)
		if r.fits(s.value, n.form) && d <= best+1e-9 && d >= best-1e-9 && v.State == Wrong &&
			v.Mistake != "" && s.title != v.Title && s.credit == 0 && !v.either {
			v.either = true
			v.Why = l.T("drill.grade.judge.why.either_or", "title", v.Title, "why", v.Why, "title2", s.title, "why2",
				s.why)
			v.Title = l.T("drill.grade.judge.title")
			continue
		}
		if r.fits(s.value, n.form) && d < best-1e-9 {
			v.either = false
			v.State, v.Credit, v.Mistake, v.Title, v.Why = Wrong, s.credit, s.mistake, s.title, s.why
			if s.credit > 0 {
				v.State = Part
			}
			best = d
		}
	}
	if v.Mistake == "" {
		v.Title, v.Why = n.unknown(l, r)
	}
	return v, best
}

// apart returns the relative distance of x from v.
func apart(x, v float64) float64 { return math.Abs(x-v) / max(math.Abs(v), 1e-3) }

// fits reports whether a learner who made a mistake with result v could have written this reading.
func (r Reading) fits(v float64, f Form) bool {
	if math.Abs(r.Value-v) <= max(f.near(v), 1e-6*math.Abs(v)) {
		return true
	}
	return r.rounds(v) && r.Digits >= 2 && r.Ulp <= 0.1*math.Abs(v)
}

// rounding recognizes an answer that is right except for its last place, or that has too few
// places.
func (n *number) rounding(l *terms.Language, r Reading) (slip, float64) {
	best, found := math.Inf(1), slip{}
	for _, v := range n.want {
		d := apart(r.Value, v)
		if d >= best {
			continue
		}
		exact := n.form.show(v)
		switch {
		case r.rounds(v) && d <= 0.1:
			best, found = d, slip{
				Rounding, v, l.T("drill.grade.rounding.slip.right_so_far_but"),
				l.T("drill.grade.rounding.slip.right_so_far_but.why", "demand", n.form.demand(l), "value",
					canonical(r.Value, n.form)), 0.5,
			}
		case r.cutOff(v) && d <= 0.01:
			best, found = d, slip{
				Rounding, v, l.T("drill.grade.rounding.slip.last_place_cut_off"),
				l.T("drill.grade.rounding.slip.last_place_cut_off.why", "exact", exact), 0.75,
			}
		case d <= 0.004 || n.form == Probability && math.Abs(r.Value-v) <= 0.0011:
			best, found = d, slip{
				Rounding, v, l.T("drill.grade.rounding.slip.very_near_only_last"),
				l.T("drill.grade.rounding.slip.very_near_only_last.why"), 0.75,
			}
		}
	}
	if found.mistake != "" && r.guess {
		found = slip{
			Rounding, found.value, l.T("drill.grade.rounding.slip.guess", "typed", r.typed),
			l.T("drill.grade.rounding.slip.guess.why"), 0.5,
		}
	}
	if (n.form == Count || n.form == Bytes) && found.mistake != "" {
		found.title, found.why = l.T("drill.grade.rounding.slip.near_but_count_exact"),
			l.T("drill.grade.rounding.slip.multiply_out_last_digit")
	}
	return found, best
}

// tellsApart reports whether no slip's result, written as exactly as the form demands, counts as one
// of the right values.
func (f Form) tellsApart(want []float64, slips []slip) bool {
	step := func(v float64) float64 { // half of the last place that an answer needs
		e := f.exactness()
		places := e.digits - 1 - int(math.Floor(math.Log10(max(math.Abs(v), 1e-9))))
		return 0.5 * math.Pow10(-min(e.places, places))
	}
	for _, s := range slips {
		for _, v := range want {
			if math.Abs(s.value-v) <= max(f.near(v), step(v))+max(f.near(s.value), step(s.value)) {
				return false
			}
		}
	}
	return true
}

// cutOff reports whether the reading is v truncated instead of rounded.
func (r Reading) cutOff(v float64) bool {
	return r.Ulp > 0 && v > r.Value && v-r.Value < r.Ulp
}

// demand returns a sentence that describes how exact an answer must be.
func (f Form) demand(l *terms.Language) string {
	switch f {
	case Probability:
		return l.T("drill.grade.demand.give_three_or_four")
	case Money:
		return l.T("drill.grade.demand.give_amount_hundredth_cent")
	case Count, Bytes, Ratio:
		return l.T("drill.grade.demand.give_least_three_digits")
	}
	return l.T("drill.grade.demand.give_at_least_three_digits_zeros_in_front_do")
}

// show formats a value as the worked solutions do.
func (f Form) show(v float64) string {
	switch f {
	case Probability:
		return fmt.Sprintf("%.4f", v)
	case Count, Bytes:
		return canonical(v, f)
	case Money:
		s := strings.TrimRight(fmt.Sprintf("%.6f", v), "0")
		for len(s)-strings.IndexByte(s, '.') < 3 {
			s += "0"
		}
		return "$" + terms.Thousands(s)
	case Ratio:
		return significant(v, 4)
	}
	if math.Abs(v) >= 1 {
		return terms.Thousands(fmt.Sprintf("%.3f", v))
	}
	return fmt.Sprintf("%.*f", smallPlaces(v), v)
}

// asShown returns v as [Form.show] rounds a real number.
func asShown(v float64) float64 {
	if math.Abs(v) >= 1 {
		return roundTo(v, 3)
	}
	return roundTo(v, smallPlaces(v))
}

// smallPlaces returns the number of decimals needed to show four digits of a number below 1.
func smallPlaces(v float64) int {
	return min(9, max(4, 3-int(math.Floor(math.Log10(max(math.Abs(v), 1e-9))))))
}

// significant formats v with n digits, without trailing zeros.
func significant(v float64, digits int) string {
	places := max(0, digits-1-int(math.Floor(math.Log10(max(math.Abs(v), 1e-12)))))
	s := fmt.Sprintf("%.*f", min(places, 9), v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return terms.Thousands(s)
}

// unknown returns the response to a wrong number that fits no known mistake.
func (n *number) unknown(l *terms.Language, r Reading) (title, why string) {
	v := n.want[0]
	switch {
	case n.form == Probability && (r.Value < 0 || r.Value > 1+1e-9):
		return l.T("drill.grade.unknown.slip.probability_between_0_and"),
			l.T("drill.grade.unknown.slip.probability_between_0_and.why")
	case r.Value < 0 && v >= 0:
		return l.T("drill.grade.unknown.slip.cannot_be_below_0"),
			l.T("drill.grade.unknown.slip.cannot_be_below_0.why")
	case n.form == Bytes || n.form == Count:
		return l.T("drill.grade.unknown.slip.thats_not"), l.T("drill.grade.unknown.slip.thats_not.why")
	}
	return l.T("drill.grade.unknown.slip.thats_not"), l.T("drill.grade.unknown.slip.thats_not.why.hint")
}

// newNumber returns a grader for numbers. It keeps only the slips that differ from every right
// value. For a probability, it adds the slip of writing a right value as a percentage without its
// sign.
func newNumber(l *terms.Language, f Form, want []float64, slips []slip) *number {
	n := &number{form: f, want: want}
	if f == Probability {
		slips = slices.Concat(slips, barePercents(l, want))
	}
	for _, s := range slips {
		same := func(v float64) bool { return math.Abs(s.value-v) <= f.near(v) }
		if !math.IsNaN(s.value) && !math.IsInf(s.value, 0) && !slices.ContainsFunc(want, same) {
			n.slips = append(n.slips, s)
		}
	}
	return n
}

// barePercents returns the slips of writing the shares as percentages without the sign.
func barePercents(l *terms.Language, shares []float64) (slips []slip) {
	for _, x := range shares {
		percent := canonical(roundTo(100*x, 2), Real)
		if slices.ContainsFunc(slips, func(s slip) bool { return canonical(roundTo(s.value, 2), Real) == percent }) {
			continue
		}
		slips = append(slips, slip{
			mistake: Percent, value: 100 * x, title: l.T("drill.slip.percentage_needs_sign"),
			why:    l.T("drill.slip.percentage_needs_sign.why", "percent", percent, "p", Probability.show(x)),
			credit: 0.5,
		})
	}
	return slips
}
