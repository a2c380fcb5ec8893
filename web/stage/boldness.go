package stage

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// boldness lists the Story's words for temperatures, from safe to bold, each with the highest
// temperature that it applies to. The middle one is T = 1, the temperature at which the model was
// trained.
var boldness = []struct {
	upTo float64
	key  string
}{
	{0, "bold.favorite"},
	{0.5, "bold.safer"},
	{0.95, "bold.safe"},
	{1.05, "bold.learned"},
	{1.5, "bold.bold"},
	{2, "bold.bolder"},
}

// Boldness returns the Story's words for a temperature.
func (w Words) Boldness(t float64) string {
	for _, b := range boldness {
		if t <= b.upTo {
			return w.T(b.key)
		}
	}
	return w.T(boldness[len(boldness)-1].key)
}

// BoldnessWords returns the words from which [Words.Boldness] chooses, for a page's script: "0
// always the favorite|…".
func (w Words) BoldnessWords() string {
	var list []string
	for _, b := range boldness {
		list = append(list, terms.Plain(b.upTo)+" "+w.T(b.key))
	}
	return strings.Join(list, "|")
}
