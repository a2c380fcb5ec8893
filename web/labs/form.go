package labs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// A control is one parameter in the form.
type control struct {
	lab.Param
	ID    string
	Value string
	Error string
	Rare  bool // shown among the further settings
}

// rare holds the parameters that seldom need changing, in addition to temperature and filters.
var rare = map[string]bool{
	"block": true, "position": true, "horizon": true, "passes": true, "rows": true, "rounds": true,
	"trained_tokens": true, "machine": true, "weights": true, "heads": true,
}

// ofEngine holds the parameters that the memory lab does not show on its first screen, since most
// of them belong to the engine rather than to the calculator.
var ofEngine = map[string]bool{"prompt": true, "tokens": true, "seed": true, "heads": true, "weights": true}

// A tileView is a tile, with its control if it is a parameter.
type tileView struct {
	tile
	Control control
}

// A form holds a lab's parameters, prediction and buttons.
type form struct {
	lab.Info
	Tiles      []tileView // the lab's equation
	Main, More []control
	Open       bool // whether the further settings are open because one of them was changed
	Guess      prediction
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

// A preset is a suggestion for settings to try, with its address.
type preset struct {
	lab.Preset
	Href string
}

// newForm lays out a lab's parameters. values may include rejected values.
func newForm(i lab.Info, values lab.Values, guessed string, bad *terms.RangeError) form {
	face := faces[i.Name]
	f := form{
		Info: i, Guess: face.prediction, Run: cmp.Or(face.run, "Run"),
	}
	f.guessed(guessed)
	tiles := map[string]control{}
	for _, p := range i.Params {
		c := control{Param: p, ID: "f-" + p.Name, Value: p.Default}
		if v, ok := values[p.Name]; ok {
			c.Value = v
		}
		if bad != nil && bad.Field == p.Name {
			c.Error = errorText(p, bad)
		}
		_, samples := sampling.Pure.Value(p.Name)
		if c.Rare = rare[p.Name] || samples; i.Name == "memory" {
			c.Rare = ofEngine[p.Name]
		}
		if face.shows(p.Name) {
			tiles[p.Name] = c
		} else if c.Rare {
			f.More = append(f.More, c)
			f.Open = f.Open || c.Value != p.Default || c.Error != ""
		} else {
			f.Main = append(f.Main, c)
		}
	}
	for _, t := range face.tiles {
		f.Tiles = append(f.Tiles, tileView{t, tiles[t.param]})
	}
	slices.SortStableFunc(f.Main, func(a, b control) int { return a.order() - b.order() })
	for _, t := range i.Try {
		if v, err := i.Parse(t.Values); err == nil {
			f.Presets = append(f.Presets, preset{t, linkOf(i, v)})
		}
	}
	if f.HasRequest = hasRequest(i); f.HasRequest {
		if v, err := i.Parse(values); err == nil {
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

// errorText returns the text next to a field that explains why its value was rejected.
func errorText(p lab.Param, bad *terms.RangeError) string {
	return fmt.Sprintf("%s is %s; it must be %s.", p.Label, bad.Got, bad.Want)
}

// long reports whether a parameter's field has several lines.
func (c control) long() bool {
	return c.Kind == lab.Strings || c.Kind == lab.Text && c.Max > 1000
}

// whole and wide report how much space a field needs: a prompt needs the whole width, and other
// texts need only part of it.
func (c control) whole() bool { return c.Name == "prompt" }

func (c control) wide() bool {
	return !c.whole() && (c.Kind == lab.Strings || c.Kind == lab.Text || c.Kind == lab.List)
}

// order returns a sort key that puts the prompt first, then numbers, then other texts, so that
// fields of the same height are next to each other.
func (c control) order() int {
	switch {
	case c.whole():
		return 0
	case c.long():
		return 2
	}
	return 1
}

// slides reports whether a number also has a slider. A seed has none, since neighboring seeds are
// unrelated.
func (c control) slides() bool {
	return (c.Kind == lab.Int || c.Kind == lab.Float) && c.Max < 1e16 && c.Name != "seed" && c.Name != "position" &&
		c.Name != "block"
}

// logarithmic reports whether the slider is logarithmic. If there are more than a thousand steps, a
// linear slider would skip values.
func (c control) logarithmic() bool {
	_, to := c.Slider()
	return to/max(c.Step, 1e-9) > 400
}

// ends returns the range of the slider, for its script.
func (c control) ends() (from, to string) {
	x, y := c.Slider()
	return bound(x), bound(y)
}

// slide returns the slider's position, 0 to 1000, for the field's value.
func (c control) slide() string {
	v, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		return "0"
	}
	from, to := c.Slider()
	v = min(max(v, from), to)
	at := (v - from) / (to - from)
	if c.logarithmic() {
		at = math.Log1p((v-from)/c.least()) / math.Log1p((to-from)/c.least())
	}
	return strconv.Itoa(int(math.Round(1000 * at)))
}

// least returns the slider's smallest step.
func (c control) least() float64 { return min(max(c.Step, 1e-9), max(c.Min, 1)) }

func bound(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// lines returns the number of lines of the parameter's field.
func (c control) lines() string {
	if c.Kind == lab.Strings {
		return strconv.Itoa(min(max(2, 1+strings.Count(c.Value, "\n")), 5))
	}
	return fmt.Sprint(min(4, 1+len(c.Value)/90+strings.Count(c.Value, "\n")))
}

// chips reports whether a script shows the value as chips, that is, as a list whose entries can be
// added and removed.
func (c control) chips() bool { return c.Kind == lab.List || c.Kind == lab.Strings || c.Commas }

// keyboard returns the type of on-screen keyboard for a parameter.
func (c control) keyboard() string {
	switch c.Kind {
	case lab.Int:
		return "numeric"
	case lab.Float:
		return "decimal"
	}
	return "text"
}

// hint returns the line below a field, with the parameter's range and meaning.
func (c control) hint() string {
	switch c.Kind {
	case lab.Int, lab.Float:
		if c.Max > infer.MaxSeed {
			return fmt.Sprintf("%s; %s or more", c.Help, short(c.Min))
		}
		return fmt.Sprintf("%s; %s to %s", c.Help, short(c.Min), short(c.Max))
	case lab.List:
		return fmt.Sprintf("%s; each %s to %s, with commas between", c.Help, short(c.Min), short(c.Max))
	case lab.Text:
		if c.Unit != "" {
			return fmt.Sprintf("%s; %s to %s %s", c.Help, short(c.Min), short(c.Max), c.Unit)
		}
	case lab.Strings:
		return fmt.Sprintf("%s; at most %d, each up to %d bytes", c.Help, infer.MaxStopStrings, infer.MaxStopStringLen)
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

// option returns the name that the page shows for a choice.
func (c control) option(key string) string {
	switch {
	case key == "true":
		return "on"
	case key == "false":
		return "off"
	}
	if name, ok := optionNames[key]; ok {
		return name
	}
	return key
}

// refusedOf returns the range error in err, or nil if there is none.
func refusedOf(err error) *terms.RangeError {
	var r *terms.RangeError
	errors.As(err, &r)
	return r
}
