package drill

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// choice grades a cell whose answer is one of its options.
type choice struct {
	options []Option
	right   string
	why     map[string]said // responses to the wrong options, by value
	note    string
}

// said is the response to a wrong choice.
type said struct {
	mistake Mistake
	title   string
	why     string
}

func (c *choice) grade(l *terms.Language, text string) Verdict {
	text = strings.TrimSpace(text)
	if text == "" {
		return Verdict{State: Empty}
	}
	o, ok := find(c.options, text)
	if !ok {
		return Verdict{State: Refused, Title: l.T("drill.choose.grade.title")}
	}
	v := Verdict{State: Right, Credit: 1, Understood: strings.TrimSpace(o.Text), Note: c.note}
	if o.Value == c.right {
		return v
	}
	w := c.why[o.Value]
	if w.mistake == "" {
		w.mistake = OtherOption
	}
	v.State, v.Credit, v.Note, v.Mistake, v.Title, v.Why = Wrong, 0, "", w.mistake, w.title, w.why
	return v
}

// find returns the option with the given value or text.
func find(options []Option, text string) (Option, bool) {
	for _, o := range options {
		if strings.EqualFold(text, o.Value) || strings.EqualFold(text, strings.TrimSpace(o.Text)) {
			return o, true
		}
	}
	return Option{}, false
}

// set grades a cell whose answer is a subset of its options: the tokens that a cut keeps.
type set struct {
	options []Option // in the order of the rows
	ranked  []string // values, most probable first
	keep    int      // number of ranked options that are right
	mass    []float64
	topP    float64 // as in sampling.Settings: 1 if the cut is not by probability mass
	note    string
}

// parse splits text into option values at commas, spaces or braces.
func (s *set) parse(text string) (chosen []string, unknown string) {
	for _, word := range strings.FieldsFunc(
		text, func(r rune) bool { return strings.ContainsRune(",;{}[]() \t\n\"'·", r) },
	) {
		o, ok := find(s.options, word)
		if !ok {
			return nil, word
		}
		if !slices.Contains(chosen, o.Value) {
			chosen = append(chosen, o.Value)
		}
	}
	return chosen, ""
}

func (s *set) grade(l *terms.Language, text string) Verdict {
	if len(text) > 8*maxAnswer {
		return Verdict{State: Refused, Title: l.T("drill.choose.grade.title.longer_than_all_tokens")}
	}
	chosen, unknown := s.parse(text)
	if unknown != "" {
		return Verdict{State: Refused, Title: l.T("drill.choose.grade.title.no_token_in_table", "unknown", unknown)}
	}
	if len(chosen) == 0 {
		return Verdict{State: Empty}
	}
	has := func(rank int) bool { return slices.Contains(chosen, s.ranked[rank]) }
	hits, prefix := 0, true
	for r := range s.ranked {
		if has(r) && r < s.keep {
			hits++
		}
		if has(r) != (r < len(chosen)) {
			prefix = false
		}
	}
	v := Verdict{State: Right, Credit: 1, Understood: s.names(chosen), Note: s.note}
	extra := len(chosen) - hits
	if hits == s.keep && extra == 0 {
		return v
	}
	v.State, v.Credit, v.Note = Wrong, 0, ""
	if extra+s.keep-hits == 1 && s.keep > 1 {
		v.State, v.Credit = Part, 0.5
	}
	v.Mistake, v.Title, v.Why = s.mistake(l, chosen, prefix)
	return v
}

// names returns the texts of the chosen options in the order of the rows.
func (s *set) names(chosen []string) string {
	var names []string
	for _, o := range s.options {
		if slices.Contains(chosen, o.Value) {
			names = append(names, strings.TrimSpace(o.Text))
		}
	}
	return strings.Join(names, ", ")
}

// mistake identifies the mistake in a wrong set of tokens.
func (s *set) mistake(l *terms.Language, chosen []string, prefix bool) (Mistake, string, string) {
	p4, border := Probability.show, canonical(s.topP, Real)
	last := s.ranked[s.keep-1]
	switch n := len(chosen); {
	case !prefix:
		return OtherOption, l.T("drill.choose.slip.cut_keeps_tokens_from"),
			l.T("drill.choose.slip.cut_keeps_tokens_from.why")
	case s.topP < 1 && n == s.keep-1:
		return Crossing, l.T("drill.slip.token_crosses_border_stays"),
			l.T("drill.choose.slip.token_crosses_border_stays.why", "mass", p4(s.mass[n-1]), "top_p", border,
				"last", last, "mass2", p4(s.mass[s.keep-1]))
	case s.topP < 1 && n < s.keep:
		return OneTooFew, l.T("drill.choose.slip.too_few_sum_has"),
			l.T("drill.choose.slip.too_few_sum_has.why", "mass", p4(s.mass[n-1]), "top_p", border)
	case s.topP < 1:
		return OneTooMany, l.T("drill.choose.slip.too_many_border_reached"),
			l.T("drill.choose.slip.too_many_border_reached.why", "last", last, "mass", p4(s.mass[s.keep-1]),
				"top_p", border)
	case n < s.keep:
		return OneTooFew, l.T("drill.choose.slip.too_few_tokens"),
			l.T("drill.choose.slip.too_few_tokens.why", "n", s.keep)
	}
	return OneTooMany, l.T("drill.choose.slip.too_many_tokens"),
		l.T("drill.choose.slip.too_few_tokens.why", "n", s.keep)
}
