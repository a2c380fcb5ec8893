package labs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// rare holds the inputs that, like temperature and the filters, seldom need changing.
var rare = map[string]bool{
	"block": true, "position": true, "horizon": true, "passes": true, "rows": true, "rounds": true,
	"trained_tokens": true, "machine": true, "weights": true, "heads": true,
}

// ofEngine holds the inputs that the memory lab does not show on its first screen. Most of them
// belong to the engine rather than to the calculator.
var ofEngine = map[string]bool{"prompt": true, "tokens": true, "seed": true, "heads": true, "weights": true}

// A tileView is a tile, with its control if it is an input.
type tileView struct {
	tile
	Control shell.Control
}

// A form holds a lab's inputs, prediction and buttons.
type form struct {
	lab.Info
	Tiles      []tileView // the lab's equation
	Main, More []shell.Control
	Open       bool // whether the additional settings are open because one of them was changed
	Guess      guess.Question
	Guessed    string // the key of the chosen prediction
	Again      string // the guessed time of the last token if all tokens are read again, as typed
	Cached     string // the guessed time with the cache, as typed
	GuessError string
	Press      string // the number of the press that started the run shown on the page
	Presets    []preset
	// The bill's request as JSON, the JSON as it was sent to the page, and the error in it.
	Request, Was, RequestErr string
	HasRequest               bool
	Run                      string
	Own                      string // the model whose numbers are shown
}

// A preset is a suggested set of values, with the address that opens the lab with them.
type preset struct {
	lab.Preset
	Href string
}

// newForm lays out a lab's inputs. values may include rejected values.
func newForm(w stage.Words, i lab.Info, values terms.Values, guessed string, bad *terms.RangeError) form {
	face := faces[i.Name]
	f := form{
		Info: i, Guess: face.Question, Run: w.T(cmp.Or(face.run, "labs.run")),
	}
	f.guessed(guessed)
	tiles := map[string]shell.Control{}
	for _, p := range i.Inputs {
		c := shell.Control{Input: p, ID: "f-" + p.Key, Value: p.Default}
		if v, ok := values[p.Key]; ok {
			c.Value = v
		}
		if bad != nil && bad.Field == p.Key {
			c.Error = errorText(w, p, bad)
		}
		_, samples := sampling.Pure.Value(p.Key)
		further := rare[p.Key] || samples
		if i.Name == "memory" {
			further = ofEngine[p.Key]
		}
		if face.shows(p.Key) {
			tiles[p.Key] = c
		} else if further {
			f.More = append(f.More, c)
			f.Open = f.Open || c.Value != p.Default || c.Error != ""
		} else {
			f.Main = append(f.Main, c)
		}
	}
	for _, t := range face.tiles {
		f.Tiles = append(f.Tiles, tileView{t, tiles[t.input]})
	}
	slices.SortStableFunc(f.Main, func(a, b shell.Control) int { return order(a) - order(b) })
	for _, t := range i.Try {
		if v, err := i.Inputs.Read(t.Values); err == nil {
			f.Presets = append(f.Presets, preset{t, linkOf(i, v)})
		}
	}
	if f.HasRequest = hasRequest(i); f.HasRequest {
		if v, err := i.Inputs.Read(values); err == nil {
			f.Request = lab.RequestOf(v).JSON()
			f.Was = f.Request
		}
	}
	return f
}

// guessed fills in the form's guess.
func (f *form) guessed(guess string) {
	key, drawn := splitGuess(guess)
	f.Guessed = key
	if drawn != nil {
		f.Again, f.Cached = terms.Plain(drawn[0]), terms.Plain(drawn[1])
	}
}

// errorText returns the text next to a field that explains why the field's value was rejected.
func errorText(w stage.Words, in terms.Input, bad *terms.RangeError) string {
	own := *bad
	own.Subject = cmp.Or(in.The, in.Label)
	return own.In(w.Language)
}

// whole and wide report how much space a field needs: a prompt needs the whole width, and other
// texts need only part of it.
func whole(c shell.Control) bool { return c.Key == "prompt" }

func wide(c shell.Control) bool {
	return !whole(c) && (c.Kind == terms.KindLines || c.Kind == terms.KindText || c.Kind == terms.KindList)
}

// order returns a sort key that puts the prompt first, then numbers, then other texts, so that
// fields of the same height are next to each other.
func order(c shell.Control) int {
	switch {
	case whole(c):
		return 0
	case c.Long():
		return 2
	}
	return 1
}

// lines returns the number of lines of the input's field.
func lines(c shell.Control) string {
	if c.Kind == terms.KindLines {
		return strconv.Itoa(min(max(2, c.Lines()), 5))
	}
	return strconv.Itoa(min(4, c.Lines()+len(c.Value)/90))
}

// hint returns the line below a field, with the input's range and meaning.
func hint(w stage.Words, c shell.Control) string {
	low, high := short(c.Min), short(c.Max)
	switch c.Kind {
	case terms.KindInt, terms.KindFloat:
		if c.Max > infer.MaxSeed {
			return w.T("labs.hint.from", "help", c.Help, "low", low)
		}
		return w.T("labs.hint.number", "help", c.Help, "low", low, "high", high)
	case terms.KindList:
		return w.T("labs.hint.list", "help", c.Help, "low", low, "high", high)
	case terms.KindText:
		if c.Unit != "" {
			return w.T("labs.hint.text", "help", c.Help, "low", low, "high", high, "unit", c.Unit)
		}
	case terms.KindLines:
		return w.T(
			"labs.hint.lines", "help", c.Help, "most", fmt.Sprint(infer.MaxStopStrings),
			"bytes", fmt.Sprint(infer.MaxStopStringLen),
		)
	}
	return c.Help
}

// short formats a bound of a range for display.
func short(x float64) string {
	if x == float64(int64(x)) {
		return terms.Count(int64(x))
	}
	return terms.Decimals(x, 3)
}

// optionName returns the name that the page shows for a choice.
func optionName(w stage.Words, key string) string {
	switch key {
	case "true":
		return w.T("labs.option.on")
	case "false":
		return w.T("labs.option.off")
	}
	if text := "labs.option." + key; w.Has(text) {
		return w.T(text)
	}
	return key
}

// refusedOf returns the range error in err, or nil if there is none.
func refusedOf(err error) *terms.RangeError {
	var r *terms.RangeError
	errors.As(err, &r)
	return r
}
