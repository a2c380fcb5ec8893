package labs

import "github.com/tokenbytoken/viz/infer/lab"

// A face is what the page of a lab has of its own, beside the form, the findings
// and the rows that all labs have. It stands in a file named as the lab is.
type face struct {
	prediction
	// truth finds which choice a result bears out, and says what was found. It
	// is not ok where the result is too short to tell.
	truth    func(result any) (key, say string, ok bool)
	sections func(result any) []section // the result, laid out
}

// faces are those of all labs, by name.
var faces = map[string]face{}

// show gives the lab of a name its face; its results are of type *T.
func show[T any](
	name string, sections func(*T) []section, truth func(*T) (key, say string, ok bool), p prediction,
) face {
	f := face{
		prediction: p,
		truth:      func(result any) (key, say string, ok bool) { return truth(result.(*T)) },
		sections:   func(result any) []section { return sections(result.(*T)) },
	}
	faces[name] = f
	return f
}

// judge lays a prediction beside what was measured. It returns nil where there
// was none, or where too little was measured.
func (f face) judge(guessed string, r *lab.Report) *verdict {
	if r == nil || r.Result == nil || !f.has(guessed) {
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
