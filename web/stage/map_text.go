package stage

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// MapText is the form of a map whose cells have room for text. Each row is a height, that is, a gap
// between two blocks, and each cell describes one position at one height. [Words.NewMapText]
// returns such a map.
const MapText MapForm = "text"

// mapTextColumns is the number of columns of a map with text. Older tokens are folded into the
// first column.
const mapTextColumns = 12

// MapKey is a cell, a row's name or a column's name in a map with text. If Name is set, it is a
// button that sends Name=Value with the form whose id is Form.
type MapKey struct {
	Text  Text
	Small string // the text below Text
	Note  string // at the other end of Small's line, after NoteAria
	// NoteAria introduces Note for screen readers.
	NoteAria string
	Class    string
	Aria     string // label of the button, if its text alone is not enough
	Mark     bool   // shown with a tick
	Pressed  bool

	Form, Name, Value string
}

// MapTextOf is the content of a map with text. Heights and positions are numbered from 0. A height
// is the number of blocks below it.
type MapTextOf struct {
	ID     string
	Aria   string
	Model  *infer.Model
	Tokens []int
	Row    func(height int) MapKey               // if an entry has no text, the row's usual name is used
	Column func(position int) MapKey             // if an entry has no text, the column's token is used
	Cell   func(height int, position int) MapKey // called for positions that are not folded
}

// MapLine is a row of a map with text.
type MapLine struct {
	Head  MapKey
	Cells []MapKey
}

// MapFolded returns how many of n positions a map with text folds into one column.
func MapFolded(n int) int { return max(0, n-mapTextColumns) }

// NewMapText draws the model over a text, with text in its cells.
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

// MapHeight describes a height in words.
func (w Words) MapHeight(height int) string {
	if height == 0 {
		return w.T("map.height.first")
	}
	return w.T("map.height", "n", terms.Count(height))
}

// PromptText returns the token at a position of a text. The start token is shown as a mark.
func (w Words) PromptText(m *infer.Model, tokens []int, at int) Text {
	return w.promptText(m, m.Token(tokens[at]), at)
}

func (w Words) promptText(m *infer.Model, t infer.Token, at int) Text {
	if IsStart(m, t, at) {
		return Text{{S: w.T("start"), Mark: true}}
	}
	return TokenText(t)
}
