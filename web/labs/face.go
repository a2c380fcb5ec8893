package labs

import (
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// A face is the part of a page that is specific to one lab. The form, the findings and the rows are
// the same for all labs. A lab's face is in a file named after the lab.
type face struct {
	guess.Question
	tiles []tile // the lab's equation
	run   string // the key of the Run button's text; "" for the default
	// truth returns the choice that a result confirms, and a sentence about it. ok is false if
	// there are too few measurements to tell.
	truth    func(w stage.Words, result any) (key, say string, ok bool)
	sections func(w stage.Words, result any) []section // returns the result's sections
	bars     *guessBars                                // how the guess is drawn; nil if the guess is not a quantity
	// lanes, if not nil, draws a guess that names a lane, together with the result if there is one.
	lanes func(w stage.Words, guess string, result any) *guessPic
	// ahead, if not nil, returns the section above the settings, with the guess drawn in its chart.
	// result is nil before a run.
	ahead aheadOf
}

// aheadOf draws the section above the settings of a lab.
type aheadOf func(w stage.Words, m *infer.Model, v terms.Values, guess string, result any) *section

// faces holds the faces of all labs by name.
var faces = map[string]face{}

// show registers the face of a lab whose results are of type *T.
func show[T any](
	name string, sections func(stage.Words, *T) []section,
	truth func(stage.Words, *T) (key, say string, ok bool), p guess.Question,
) face {
	f := face{
		Question: p,
		sections: func(w stage.Words, result any) []section { return sections(w, result.(*T)) },
	}
	if truth != nil {
		f.truth = func(w stage.Words, result any) (key, say string, ok bool) { return truth(w, result.(*T)) }
	}
	faces[name] = f
	return f
}

// judge compares a prediction with the measurement. It returns nil if there is no prediction or if
// there are too few measurements.
func (f face) judge(w stage.Words, guessed string, r *lab.Report) *guess.Verdict {
	if r == nil || r.Result == nil || f.truth == nil || !hasGuess(f.Question, guessed) {
		return nil
	}
	guessed, _ = splitGuess(guessed)
	key, say, ok := f.truth(w, r.Result)
	if !ok {
		return nil
	}
	return f.Judge(w, guessed, key, say)
}

// drawAhead makes the page of a registered face show a chart above its settings, even before a run.
// If the guess consists of two rings, they are in this chart.
func drawAhead(f face, name string, ahead aheadOf) face {
	f.ahead = ahead
	faces[name] = f
	return f
}

// A tile is a part of a lab's equation: an input, a fixed number, or a number computed from the
// settings.
type tile struct {
	op          string // the operator before the tile; "" if there is none
	input       string // the input's name; "" for a number
	name, fixed string // the key of the number's name, and its value if it is fixed
}

// shows reports whether an input is a tile of the lab.
func (f face) shows(input string) bool {
	return slices.ContainsFunc(f.tiles, func(t tile) bool { return t.input == input })
}

// times returns tiles for inputs that are multiplied.
func times(params ...string) []tile {
	var list []tile
	for _, p := range params {
		list = append(list, tile{op: "×", input: p})
	}
	return list
}

// showTiles makes the page of a registered face show an equation that consists of the given tiles.
func showTiles(f face, name, run string, tiles ...tile) face {
	f.run, f.tiles = run, tiles
	faces[name] = f
	return f
}
