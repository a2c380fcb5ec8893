package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// PictureCut shows the shares after the filters. The most probable tokens have rows of their own.
// One row counts the other kept tokens, and one the other cut ones, so the rows add up to the
// vocabulary. The heading says how many tokens are kept and cut and, if top-p decides it, which
// token crosses its border.
func (w Words) PictureCut(s *session.State) Picture {
	p := w.picture(s, "cut", infer.KindFilter, MapOptions{})
	d := s.Dist
	named := min(mapShares, len(d.Order))
	if d.Keep > named {
		named-- // the other kept tokens and the cut ones need a row each
	}
	shares, rest := make([]float64, 0, named+1), 1.0
	for r := range named {
		shares, rest = append(shares, d.Q(r)), rest-d.Q(r)
	}
	rest = max(rest, 0)
	percents := mapPercents(append(shares, rest))
	kept, cut, cutShare := d.Keep, len(d.Order)-d.Keep, 1-d.Mass
	for r, q := range shares {
		id := int(d.Order[r])
		row := PictureRow{Text: TokenText(s.Model.Token(id)), Bar: Share(q), Value: percents[r]}
		if d.Stays(r) {
			kept--
		} else {
			cut, cutShare = cut-1, cutShare-d.P[id]
			row.Class, row.Bar, row.Value = "is-cut", Share(d.P[id]), w.T("cut")
		}
		p.Rows = append(p.Rows, row)
	}
	others := func(n int, bar, value, class string) {
		if n > 0 {
			text := Text{{S: w.T("pic.others", "n", terms.Count(n))}}
			p.Rows = append(p.Rows, PictureRow{Text: text, Bar: bar, Value: value, Class: class})
		}
	}
	others(kept, Share(rest), percents[named], "is-rest")
	others(cut, Share(max(cutShare, 0)), w.T("cut"), "is-rest is-cut")
	head, say := "pic.cut.head", "pic.say.cut"
	with := []any{
		"kept", terms.Count(d.Keep), "cut", terms.Count(len(d.Order) - d.Keep), "all", w.Counted(len(d.Order), "token"),
		"shares", w.List(p.rowWords()),
	}
	if last := w.crosses(s); last != "" {
		head, say = "pic.cut.head.border", "pic.say.cut.border"
		with = append(with, "token", last, "p", terms.Plain(d.Settings.TopP))
	}
	p.Head, p.Say = w.T(head, with...), w.T(say, with...)
	p.twinRows()
	return p
}

// crosses returns the token with which the running sum reaches top-p, or "" if top-p does not decide
// how many tokens are kept.
func (w Words) crosses(s *session.State) string {
	d := s.Dist
	if d.Settings.Greedy() || d.Settings.TopP >= 1 || !d.Leading() || d.Reach(sampling.RuleTopP) != d.Keep {
		return ""
	}
	return TokenText(s.Model.Token(int(d.Order[d.Keep-1]))).Inline()
}
