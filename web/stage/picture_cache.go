package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// PictureCache shows a second pass, in which all columns except the new one are kept from the first
// pass. Above the map, the work of this pass is compared with the work of reading everything again.
func (w Words) PictureCache(s *session.State) Picture {
	p := w.picture(s, "cache", infer.KindForward, MapOptions{})
	step := s.Step()
	n := step.Positions()
	shape := s.Model.Shape()
	with, without := shape.Step(n).Total(), shape.Pass(n).Total()
	p.Rows = []PictureRow{
		{
			Text: Text{{S: w.T("pic.with")}}, Bar: Share(float64(with) / float64(without)),
			Value: terms.Count(int(with)),
		},
		{Text: Text{{S: w.T("pic.without")}}, Bar: Share(1), Value: terms.Count(int(without)), Class: "is-other"},
	}
	p.Head = w.T("pic.cache.head")
	p.Say = w.T(
		"pic.say.cache", "kept", terms.Count(n-len(step.Input)), "columns", w.Counted(n, "column"),
		"work", p.Rows[0].Value, "all", p.Rows[1].Value,
	)
	p.twinRows()
	return p
}

// PictureEdit shows the columns that become invalid when an earlier word changes: all columns
// from the first changed token on. s is the run with the old text, and to is the run with the
// new one.
func (w Words) PictureEdit(s, to *session.State) Picture {
	same := 0
	for same < min(len(s.PromptTokens), len(to.PromptTokens)) && s.PromptTokens[same].ID == to.PromptTokens[same].ID {
		same++
	}
	p := w.picture(s, "edit", infer.KindCache, MapOptions{Dead: same + 1})
	favorite := int(to.Dist.Order[0])
	for _, run := range []*session.State{s, to} {
		share := run.Dist.P[favorite]
		p.Rows = append(p.Rows, PictureRow{
			Text: Marked(run.Prompt), Bar: Share(share), Value: terms.Percent(share), Class: "is-line",
		})
	}
	p.Rows[0].Class += " is-other"
	token := TokenText(s.Model.Token(favorite)).String()
	n := len(s.PromptTokens)
	p.Head = w.T("pic.edit.head", "token", token)
	p.Say = w.T(
		"pic.say.edit", "to", to.Prompt, "kept", w.Counted(same, "column"), "dead", terms.Count(n-same), "token", token,
		"before", p.Rows[0].Value, "after", p.Rows[1].Value,
	)
	p.twinRows()
	return p
}

// PictureGuess is a token that a draft proposes, with the probability that it is accepted. Guesses
// after a rejected one are not checked.
type PictureGuess struct {
	Token            infer.Token
	Chance           float64
	Accepted, Judged bool
	Own              bool // the target's own token, in place of a rejected guess or after all guesses
}

// PictureGuesses shows a draft's guesses as columns after the end of the text, and which of them
// are accepted.
func (w Words) PictureGuesses(s *session.State, guesses []PictureGuess) Picture {
	var ahead []MapColumn
	var rows []PictureRow
	for _, g := range guesses {
		row := PictureRow{Text: TokenText(g.Token)}
		class := "is-next"
		switch {
		case g.Own:
			row.Value, row.Class = w.T("pic.own"), "is-own"
		case !g.Judged:
			row.Value, row.Class, class = w.T("pic.unjudged"), "is-off", class+" is-no"
		case g.Accepted:
			row.Bar, row.Value = Share(g.Chance), w.T("pic.accepted", "p", terms.Percent(g.Chance))
			class += " is-gen"
		default:
			row.Bar, row.Value = Share(g.Chance), w.T("pic.refused", "p", terms.Percent(g.Chance))
			row.Class, class = "is-no", class+" is-no"
		}
		if !g.Own {
			ahead = append(ahead, MapColumn{Text: row.Text, Class: class})
		}
		rows = append(rows, row)
	}
	p := w.picture(s, "guesses", infer.KindForward, MapOptions{Ahead: ahead})
	p.Rows, p.Head = rows, w.T("pic.guesses.head")
	p.Say = w.T("pic.say.guesses", "guesses", w.List(p.rowWords()))
	p.twinRows()
	return p
}
