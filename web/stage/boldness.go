package stage

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// boldness lists the Story's words for temperatures, from safer to bolder, each with the highest
// temperature that it applies to. The middle is T = 1, the temperature that the model was trained
// at.
var boldness = []struct {
	upTo float64
	say  string
}{
	{0, "always the favorite"},
	{0.5, "very safe"},
	{0.95, "a little safe"},
	{1.05, "as learned"},
	{1.5, "a little bold"},
	{2, "very bold"},
}

// Boldness returns the Story's words for a temperature.
func Boldness(t float64) string {
	for _, b := range boldness {
		if t <= b.upTo {
			return b.say
		}
	}
	return boldness[len(boldness)-1].say
}

// BoldnessWords returns the words that [Boldness] chooses from, for a page's script: "0 always
// the favorite|…".
func BoldnessWords() string {
	var list []string
	for _, b := range boldness {
		list = append(list, terms.Plain(b.upTo)+" "+b.say)
	}
	return strings.Join(list, "|")
}
