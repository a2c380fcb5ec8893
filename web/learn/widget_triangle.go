package learn

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// triangleTokens is the maximum number of tokens for which the look experiment shows the triangle.
const triangleTokens = 16

// A triangle shows the weights of one head for all tokens of a text at once: one row for each token
// that looks, and one column for each token that it can look at. The tokens after it are behind a
// wall.
type triangle struct {
	Heads []stage.Text // the columns
	Rows  []triangleRow
	Width string // of a row in units of its viewBox
}

// A triangleRow is the look of one token. At is its number, from 1.
type triangleRow struct {
	Text  stage.Text
	At    string
	Label string // describes the row in words
	Now   bool   // the table shows this row
	Cells []triangleCell
	WallX string
	Wall  string // the width of the wall
}

// A triangleCell is the weight of one token, as a bar that grows from the bottom of its cell.
type triangleCell struct{ X, Y, Height string }

// The size of a cell in units of a row's viewBox.
const cellWidth, cellHeight = 20, 20

// triangle lays out the weights of a head. It returns nil if the text is too long.
func (e *headLook) triangle(w stage.Words, block, head, row int) *triangle {
	n := len(e.ids)
	if n > triangleTokens {
		return nil
	}
	t := &triangle{Width: strconv.Itoa(n * cellWidth)}
	for i := range n {
		weights := e.watch.Attention(block+1, head+1, i)
		r := triangleRow{
			Text: textAt(w, e.model, e.ids, i), At: strconv.Itoa(i + 1), Now: i == row,
			WallX: strconv.Itoa((i + 1) * cellWidth), Wall: strconv.Itoa((n - 1 - i) * cellWidth),
		}
		most := 0
		for j, weight := range weights {
			height := cellHeight * float64(weight)
			r.Cells = append(r.Cells, triangleCell{
				strconv.Itoa(j*cellWidth + 1), fmt.Sprintf("%.2f", cellHeight-height), fmt.Sprintf("%.2f", height),
			})
			if weight > weights[most] {
				most = j
			}
		}
		r.Label = w.T(
			"learn.look.row", "token", r.Text, "most", textAt(w, e.model, e.ids, most), "weight",
			terms.Prob(float64(weights[most])),
		)
		t.Heads, t.Rows = append(t.Heads, r.Text), append(t.Rows, r)
	}
	return t
}

// rowAt runs one token again after the cached ones before it, so that the experiment shows the look of
// that token instead of the last one. Nothing after it changes what it computes.
func (e *headLook) rowAt(ctx context.Context, row int) error {
	if e.at == row && e.look != nil {
		return nil
	}
	look, err := e.model.Inspect(ctx, e.cache, e.ids[row], row)
	if err != nil {
		return err
	}
	e.at, e.look = row, look
	return nil
}

// lookAdded divides the score of the likeliest next token among the parts of the model: what the
// heads, the feed-forward layers and everything else added.
type lookAdded struct {
	Token                           stage.Text
	Looking, FeedForward, Rest, Sum string
}

// added returns nil if the text is too long.
func (e *headLook) added() (*lookAdded, error) {
	if e.watch == nil {
		return nil, nil
	}
	last := len(e.ids) - 1
	z, err := e.watch.Logits(e.model.Config().Layers, last)
	if err != nil {
		return nil, err
	}
	top := int(sampling.Top(z, 1)[0])
	parts, err := e.watch.Contributions(last, top, -1)
	if err != nil {
		return nil, err
	}
	var looking, feedForward, rest float64
	for _, c := range parts {
		switch c.Part.Kind {
		case infer.PartHead, infer.PartBias:
			looking += c.Z
		case infer.PartFeedForward:
			feedForward += c.Z
		default:
			rest += c.Z
		}
	}
	amounts := []float64{looking, feedForward, rest}
	var shown []string
	for _, n := range apportion(amounts, 100) {
		shown = append(shown, terms.Decimals(float64(n)/100, 2))
	}
	total := terms.Decimals(looking+feedForward+rest, 2)
	return &lookAdded{stage.TokenText(e.model.Token(top)), shown[0], shown[1], shown[2], total}, nil
}
