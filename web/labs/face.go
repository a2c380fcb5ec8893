package labs

import "github.com/tokenbytoken/viz/infer/lab"

// A face is what is specific to one lab's page, besides the form, the findings
// and the rows that all labs have. It is in a file with the lab's name.
type face struct {
	prediction
	claim string   // what the lab puts to the test, as the page's title
	tiles []string // the parameters whose product it shows
	run   string   // the words on the button that measures; "" for Run
	// truth returns the choice that a result confirms, and a sentence about it.
	// ok is false if the result is too short to tell.
	truth    func(result any) (key, say string, ok bool)
	sections func(result any) []section // the result's sections
}

// faces are those of all labs, by name.
var faces = map[string]face{}

// show registers a lab's face; its results are of type *T.
func show[T any](
	name string, sections func(*T) []section, truth func(*T) (key, say string, ok bool), p prediction,
) face {
	f := face{
		prediction: p, claim: claims[name],
		sections: func(result any) []section { return sections(result.(*T)) },
	}
	if truth != nil {
		f.truth = func(result any) (key, say string, ok bool) { return truth(result.(*T)) }
	}
	faces[name] = f
	return f
}

// claims are the titles of the labs' pages: what each puts to the test.
var claims = map[string]string{
	"strategies":   "The same beginning, and every setting tells another story.",
	"draw":         "Draw often enough, and chance draws the model’s own bars.",
	"cache":        "Reading everything again gets slower with every token.",
	"memory":       "Eight long chats weigh more than the model.",
	"prefill":      "Reading is quick. Writing takes the time.",
	"bill":         "Every token that is written costs more than one that is read.",
	"speculation":  "A small model guesses, a large one checks, and the text stays the same.",
	"stops":        "A text ends when something stops it.",
	"quantization": "Weights in four bits, and mostly the same words.",
}

// judge compares a prediction with the measurement. It returns nil if there was
// none, or if too little was measured.
func (f face) judge(guessed string, r *lab.Report) *verdict {
	if r == nil || r.Result == nil || f.truth == nil || !f.has(guessed) {
		return nil
	}
	key, say, ok := f.truth(r.Result)
	if !ok {
		return nil
	}
	v := &verdict{Found: say, Right: key == guessed}
	if guessed != none {
		v.Guessed = f.words(guessed)
	}
	return v
}

// showTiles has the page of a registered face show parameters as a product.
func showTiles(f face, name, run string, tiles ...string) face {
	f.run, f.tiles = run, tiles
	faces[name] = f
	return f
}
