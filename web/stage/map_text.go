package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// MapText is the map with room for words: its rows are heights, between two blocks,
// and each cell says something of one height and one position. [Words.NewMapText]
// makes it.
const MapText MapForm = "text"

// mapTextColumns are the columns of a map with words; older tokens are folded into
// the first of them.
const mapTextColumns = 12

// MapKey is a cell, a row's name or a column's name of a map with words. With a Name
// it is a button, which sends Name=Value with the form of the id Form.
type MapKey struct {
	Text  Text
	Small string // below it
	Note  string // at the other end of that line, after what NoteAria calls it
	// NoteAria is for screen readers.
	NoteAria string
	Class    string
	Aria     string // of the button, if its text does not say enough
	Mark     bool   // ticked
	Pressed  bool

	Form, Name, Value string
}

// MapTextOf is what a map with words says. Heights and positions count from 0; a
// height is the number of blocks below it.
type MapTextOf struct {
	ID     string
	Aria   string
	Model  *infer.Model
	Tokens []int
	Row    func(height int) MapKey               // its name is filled in if it has no text
	Column func(position int) MapKey             // so is its token
	Cell   func(height int, position int) MapKey // of a position that has a column of its own
}

// MapLine is a row of a map with words.
type MapLine struct {
	Head  MapKey
	Cells []MapKey
}

// MapFolded is how many of n positions have no column of their own on a map with
// words.
func MapFolded(n int) int { return max(0, n-mapTextColumns) }

// NewMapText draws the model over a text, with words in its cells.
func (w Words) NewMapText(o MapTextOf) Map {
	m := Map{ID: o.ID, Form: MapText, Aria: o.Aria}
	from := MapFolded(len(o.Tokens))
	if from > 0 {
		fold := Text{{S: "+" + terms.Count(from), Mark: true}}
		m.Heads = append(m.Heads, MapKey{
			Text: fold, Class: "is-fold", Aria: w.T("map.aria.fold", "n", terms.Count(from)),
		})
	}
	for at := from; at < len(o.Tokens); at++ {
		key := o.Column(at)
		if key.Text == nil {
			key.Text = w.PromptText(o.Model, o.Tokens, at)
		}
		m.Heads = append(m.Heads, key)
	}
	layers := o.Model.Config().Layers
	for height := layers; height >= 0; height-- {
		line := MapLine{Head: o.Row(height)}
		if line.Head.Text == nil {
			line.Head.Text = Text{{S: w.MapHeight(height)}}
		}
		if from > 0 {
			line.Cells = append(line.Cells, MapKey{Class: "is-fold"})
		}
		for at := from; at < len(o.Tokens); at++ {
			line.Cells = append(line.Cells, o.Cell(height, at))
		}
		m.Lines = append(m.Lines, line)
	}
	return m
}

// MapHeight is a height in words.
func (w Words) MapHeight(height int) string {
	if height == 0 {
		return w.T("map.height.first")
	}
	return w.T("map.height", "n", terms.Count(height))
}

// PromptText is the token at a position of a text; the one that begins it for the
// model is a mark.
func (w Words) PromptText(m *infer.Model, tokens []int, at int) Text {
	return w.promptText(m, m.Token(tokens[at]), at)
}

func (w Words) promptText(m *infer.Model, t infer.Token, at int) Text {
	if IsStart(m, t, at) {
		return Text{{S: w.T("start"), Mark: true}}
	}
	return TokenText(t)
}
