package stage

import (
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Found lists the tokens that a search found in the vocabulary.
type Found struct {
	Say  string
	Rows []FoundRow
	More string // "and 31 more"
}

// FoundRow is one token found, with its probability at the step.
type FoundRow struct {
	Text    Text
	P, Rank string
	Title   string
	Cmd     string // the command that chooses it
	Chosen  bool   // this token is already the chosen one
}

// foundRows is the maximum number of tokens that a search lists.
const foundRows = 12

// unmarked converts this program's marks for invisible characters back to the
// characters.
var unmarked = strings.NewReplacer("·", " ", "↵", "\n", "⇥", "\t")

// NewFound searches the vocabulary for tokens that contain text and that can be chosen at a step.
// The tokens are in the order of [session.State.Find].
func (w Words) NewFound(s *session.State, n int, text string) Found {
	step := stepOf(s, n)
	if step == nil || step.Logits == nil {
		return Found{Say: w.notDrawn(s, n)}
	}
	text = unmarked.Replace(text)
	if text == "" {
		return Found{Say: w.T("found.type")}
	}
	d := distributionOf(s, step)
	ids, more := s.Find(n, text, foundRows)
	v := Found{}
	for _, id := range ids {
		rank := d.RankOf(int32(id))
		t, p := TokenText(s.Model.Token(id)), d.P[id]
		row := FoundRow{
			Text: t, P: terms.Prob(p), Rank: w.Ordinal(rank + 1), Cmd: chooseCmd(n, id),
			Chosen: step.Ran >= infer.KindSample && step.Chosen == id,
		}
		row.Title = w.T(
			"found.take", "token", t, "p", terms.Is("p", p), "rank", row.Rank, "all", terms.Count(len(d.Order)),
		)
		v.Rows = append(v.Rows, row)
	}
	v.Say = w.T(
		"found", "tokens", w.Counted(len(ids)+more, "token"), "text", Marked(text),
		"token", terms.Count(Position(s, n)),
	)
	if len(ids) == 0 {
		v.Say = w.T("found.none", "all", terms.Count(len(d.Order)), "text", Marked(text).Inline())
	}
	if more > 0 {
		v.More = w.T("found.more", "n", terms.Count(more))
	}
	return v
}
