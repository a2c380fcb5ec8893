package why

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

// gridTokens is the maximum length, in tokens, of a text whose vectors can be carried over. There
// is a limit because each vector needs a run of its own.
const gridTokens = 32

// grid shows the results of carrying over another text's vectors, on the map of the model.
type grid struct {
	With, Bad   string
	Here, There stage.Text
	Same        bool   // both texts have the same prediction
	Say         string // a sentence about where the answer is looked up, if a single block does that
	Map         *stage.Map
}

// A patchError is the reason why another text's vectors can't be carried over.
type patchError struct{ error }

// patch carries over the vectors of another text into the text in question. If something is wrong
// with the other text, it returns a *patchError.
func patch(ctx context.Context, r *why.Report, with string) error {
	m, n := r.Study.Model(), len(r.Study.Tokens())
	about := subject{prompt: with}
	if err := about.read(ctx, m, nil); err != nil {
		return &patchError{err}
	}
	if len(about.tokens) != n || n > gridTokens {
		return &patchError{terms.Refuse(
			terms.CodeRange, "explain.grid.length", "n", len(about.tokens), "here", n, "most", gridTokens,
		)}
	}
	var err error
	if r.Other, err = why.New(ctx, m, about.tokens); err == nil {
		r.Grid, err = r.Study.Patch(ctx, r.Other)
	}
	return err
}

// newGrid lays out the results of carrying over another text's vectors.
func newGrid(w stage.Words, r *why.Report, about subject) grid {
	g, m, answer := grid{With: about.with}, r.Study.Model(), r.Grid
	if answer == nil {
		return g
	}
	g.Here, g.There = stage.TokenText(m.Token(answer.Here)), stage.TokenText(m.Token(answer.There))
	if g.Same = answer.Here == answer.There; g.Same {
		return g
	}
	here, there := r.Study.Tokens(), r.Other.Tokens()
	drawn := w.NewMapText(stage.MapTextOf{
		ID: "why-patch", Aria: w.T("explain.grid.aria"), Model: m, Tokens: here,
		Row: func(int) stage.MapKey { return stage.MapKey{} },
		Column: func(at int) stage.MapKey {
			if here[at] == there[at] {
				return stage.MapKey{}
			}
			t := append(stage.Text{}, stage.TokenText(m.Token(here[at]))...)
			t = append(append(t, stage.TextRun{S: " / ", Mark: true}), stage.TokenText(m.Token(there[at]))...)
			return stage.MapKey{Text: t}
		},
		Cell: func(height, at int) stage.MapKey {
			c := answer.Cells[height][at]
			return stage.MapKey{Small: terms.Percent(c.Follows), Class: fmt.Sprintf("p%d", sizeOf(c.Follows))}
		},
	})
	g.Map = &drawn
	if block, from := carrier(answer.Cells); block > 0 {
		g.Say = w.T("explain.grid.found", "block", block, "position", from)
	}
	return g
}

// carrier returns the block below which the answer depends most on one earlier position (from) and
// above which it depends most on the last position. Blocks count from 1; block is 0 if there is no
// such block.
func carrier(cells [][]why.GridCell) (block, from int) {
	strongest := func(height int) (at int) {
		for i, c := range cells[height] {
			if c.Follows > cells[height][at].Follows {
				at = i
			}
		}
		return at
	}
	last := len(cells[0]) - 1
	if from = strongest(0); from == last {
		return 0, 0
	}
	for height := range cells {
		switch at := strongest(height); {
		case block == 0 && at == last:
			block = height
		case block == 0 && at != from, block > 0 && at != last:
			return 0, 0
		}
	}
	return block, from
}
