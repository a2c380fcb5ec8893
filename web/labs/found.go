package labs

import (
	"slices"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// found is a report prepared for display on the page.
type found struct {
	Info     lab.Info
	Report   *lab.Report
	Verdict  *guess.Verdict
	Sections []section
	Partial  bool // the run is still in progress
}

// lead returns the section above the settings, or nil if there is none.
func (f *found) lead() *section {
	if f == nil || len(f.Sections) == 0 || !f.Sections[0].Lead {
		return nil
	}
	return &f.Sections[0]
}

// below returns the sections below the settings.
func (f *found) below() []section {
	if f.lead() != nil {
		return f.Sections[1:]
	}
	return f.Sections
}

func (p *Pages) newFound(w stage.Words, i lab.Info, guessed string, r *lab.Report, partial bool) *found {
	if r == nil || r.Result == nil {
		return nil
	}
	f := &found{Info: i, Report: r, Sections: faces[i.Name].sections(w, r.Result), Partial: partial}
	if ahead := p.ahead(w, i, r.Values, guessed, r.Result); ahead != nil {
		f.Sections = append([]section{*ahead}, f.Sections...)
	} else {
		f.Sections = p.withGuess(w, leadFirst(f.Sections), i, r, guessed, partial)
	}
	if !partial {
		f.Verdict = faces[i.Name].judge(w, guessed, r)
	}
	return f
}

// leadFirst moves the first section with a chart to the front and marks it as the section above the
// settings.
func leadFirst(list []section) []section {
	if len(list) == 0 || list[0].Lead {
		return list
	}
	n := slices.IndexFunc(list, func(s section) bool { return s.Chart != nil && s.Body == nil })
	if n < 0 {
		return list
	}
	lead := list[n]
	lead.Lead = true
	return append([]section{lead}, slices.Delete(slices.Clone(list), n, n+1)...)
}

// withGuess adds the picture of the guess above the first screen's chart. Once the run is over, the
// picture also shows the measured value.
func (p *Pages) withGuess(
	w stage.Words, list []section, i lab.Info, r *lab.Report, guess string, partial bool,
) []section {
	result := r.Result
	if partial {
		result = nil
	}
	pic := p.guessPic(w, i, r.Values, guess, result)
	switch {
	case pic == nil:
	case len(list) > 0 && list[0].Lead:
		list[0].Guess = pic
	default:
		list = append([]section{{ID: "guess", Lead: true, Guess: pic}}, list...)
	}
	return list
}

// ahead returns the section that a lab shows above the settings even before a run. It returns nil
// if there is none.
func (p *Pages) ahead(w stage.Words, i lab.Info, v terms.Values, guess string, result any) *section {
	if draw := faces[i.Name].ahead; draw != nil {
		return draw(w, p.Target, v, guess, result)
	}
	return nil
}

// drawn returns the guess chart, redrawn after the guess has changed, together with the newest
// result, if any. It returns nil if the lab has no such chart or if a run is in progress.
func (p *Pages) drawn(
	w stage.Words, i lab.Info, last *lab.Report, now *liveRun, guess string, v terms.Values,
) *found {
	if now != nil {
		return nil
	}
	if faces[i.Name].bars != nil {
		if last == nil {
			return p.guessAhead(w, i, v, guess)
		}
		return &found{Info: i, Sections: p.newFound(w, i, guess, last, false).Sections[:1], Partial: true}
	}
	var result any
	if last != nil {
		v, result = last.Values, last.Result
	}
	s := p.ahead(w, i, v, guess, result)
	if s == nil {
		return nil
	}
	return &found{Info: i, Sections: []section{*s}, Partial: true}
}

// calculated returns the results that can be calculated from a lab's values alone, or nil if there
// are none.
func (p *Pages) calculated(w stage.Words, l lab.Lab, guess string, v terms.Values) *found {
	i := l.Info(w.Language)
	if s := p.ahead(w, i, v, guess, nil); s != nil {
		return &found{Info: i, Sections: []section{*s}, Partial: true}
	}
	r, err := lab.Calculated(l, p.env(w), v)
	if err != nil || r == nil {
		return nil
	}
	return p.newFound(w, i, guess, r, true)
}
