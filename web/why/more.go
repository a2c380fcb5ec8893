package why

import (
	"context"
	"fmt"
	"sync"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

// gridTokens is how long a text may be whose every vector is carried over: each is a
// run of its own.
const gridTokens = 32

// grid is what comes of carrying another text's vectors over.
type grid struct {
	With, Bad   string
	Here, There stage.Text
	Same        bool // both texts say the same
	Reading     []stage.Text
	Rows        []gridRow
}

type gridRow struct {
	Name  string
	Cells []gridCell
}

type gridCell struct {
	Follows string
	Size    int // 1 to 5
}

// A patchError says why another text's vectors can't be carried over.
type patchError struct{ error }

// patch carries the vectors of a text into the one asked about. What is wrong with that
// text comes back as a *patchError.
func patch(ctx context.Context, r *why.Report, with string) error {
	m, n := r.Study.Model(), len(r.Study.Tokens())
	about := subject{prompt: with}
	if err := about.read(ctx, m, nil); err != nil {
		return &patchError{sentenceOf(err)}
	}
	if len(about.tokens) != n || n > gridTokens {
		return &patchError{fmt.Errorf(
			"the other text has %s and this one %d. Both need the same number, at most %d",
			terms.Counted(len(about.tokens), "token"), n, gridTokens,
		)}
	}
	var err error
	if r.Other, err = why.New(ctx, m, about.tokens); err == nil {
		r.Grid, err = r.Study.Patch(ctx, r.Other)
	}
	return err
}

// newGrid lays out what came of another text's vectors.
func newGrid(r *why.Report, about subject) grid {
	g, m, answer := grid{With: about.with}, r.Study.Model(), r.Grid
	if answer == nil {
		return g
	}
	g.Here, g.There = stage.TokenText(m.Token(answer.Here)), stage.TokenText(m.Token(answer.There))
	if g.Same = answer.Here == answer.There; g.Same {
		return g
	}
	for i, id := range r.Study.Tokens() {
		t := stage.TokenText(m.Token(id))
		if at := r.Other.Tokens()[i]; at != id {
			t = append(append(append(stage.Text{}, t...), stage.Piece{S: " / "}), stage.TokenText(m.Token(at))...)
		}
		g.Reading = append(g.Reading, t)
	}
	for height := len(answer.Cells) - 1; height >= 0; height-- {
		row := gridRow{Name: heightName(height)}
		for _, c := range answer.Cells[height] {
			row.Cells = append(row.Cells, gridCell{terms.Percent(c.Follows), sizeOf(c.Follows)})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// heightName is a place between two blocks.
func heightName(height int) string {
	if height == 0 {
		return "before block 1"
	}
	return fmt.Sprintf("after block %d", height)
}

// habit is one habit of heads, in words.
type habit struct {
	Name, Say string
	Heads     []string
}

// habits are what heads are looked for.
var habits = map[why.Habit]string{
	why.HabitPrevious:  "Looks at the token before",
	why.HabitInduction: "Looks at what came after the same token before (an induction head)",
	why.HabitStart:     "Looks at the start of the text",
}

// finder measures a model's heads once, for all who ask.
type finder struct {
	mu    sync.Mutex
	found *why.Findings
}

// find returns the findings; the first who asks waits for the measurement.
func (f *finder) find(ctx context.Context, m *infer.Model) (*why.Findings, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		found, err := why.Find(ctx, m)
		if err != nil {
			return nil, err
		}
		f.found = found
	}
	return f.found, nil
}

// inWords says what was found; nothing if nobody looked.
func inWords(f *why.Findings) (how string, list []habit) {
	if f == nil {
		return "", nil
	}
	how = fmt.Sprintf(
		"Measured on %s of %s, each said twice. The second time only the first can give away what comes: the model's "+
			"surprise is %s bits a token in the first half and %s in the second.",
		terms.Counted(f.Texts, "row"), terms.Counted(f.Row, "random token"), terms.Decimals(f.First, 2),
		terms.Decimals(f.Second, 2),
	)
	for _, h := range f.Habits {
		w := habit{Name: habits[h.Habit]}
		switch h.Pass {
		case 0:
			w.Say = fmt.Sprintf(
				"No head of this model does, by this measure: none gives %s of its weight there.",
				terms.Percent(why.Passing),
			)
		default:
			w.Say = fmt.Sprintf(
				"%s of this model %s, by this measure: %s of the weight or more. Without them the surprise is %s.",
				terms.Counted(h.Pass, "head"), map[bool]string{true: "does", false: "do"}[h.Pass == 1],
				terms.Percent(why.Passing), terms.Decimals(h.Together, 2),
			)
		}
		for _, head := range h.Heads {
			w.Heads = append(w.Heads, fmt.Sprintf(
				"%s: %s of its weight. Without it the surprise is %s.", nameOf(head.Part), terms.Percent(head.Score),
				terms.Decimals(head.Off, 2),
			))
		}
		list = append(list, w)
	}
	return how, list
}
