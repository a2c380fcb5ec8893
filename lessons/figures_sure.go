package lessons

import (
	"maps"
	"slices"
	"strings"
)

// A certainty is how sure the bundled model is of a token, by temperature.
type certainty struct {
	Prompt, Token string
	P             map[float64]float64 // by T
}

// certainties holds the probabilities that the lesson on certainty quotes, by name. Figures are
// computed at every start, without a model. A test computes the same values with the bundled model.
var certainties = map[string]certainty{
	"canada":  {"The capital of Canada is", " Ottawa", map[float64]float64{1: 0.9999}},
	"narnia":  {"The capital of Narnia is", " T", map[float64]float64{0.5: 0.9963, 1: 0.8953}},
	"times":   {"Seven times eight is", " si", map[float64]float64{0.5: 0.9772, 1: 0.7927}},
	"colour":  {"The colour of the sky on Mars is", " blue", map[float64]float64{1: 0.9989}},
	"color":   {"The color of the sky on Mars is", " blue", map[float64]float64{1: 0.1517}},
	"closed":  {"The house was", " closed", map[float64]float64{1: 0.1034}},
	"fifteen": {"Five times two is", " fifteen", map[float64]float64{0.5: 0.9372, 1: 0.6813}},
	"ten":     {"Five times two is", " ten", map[float64]float64{0.5: 0.0476, 1: 0.1536}},
	"shut":    {"The house was", " shut", map[float64]float64{1: 0.0860}},
}

// figureSure returns the bundled model's probability of a token after a text, at temperature T.
func figureSure(a *arguments) value {
	name, t := a.word("of", ""), a.float("T", 1, 0, 2)
	c, ok := certainties[name]
	if !ok {
		a.fail("of is %q; want one of %s", name, strings.Join(slices.Sorted(maps.Keys(certainties)), ", "))
	}
	p, known := c.P[t]
	if ok && !known {
		a.fail("the probability of %s is not known at T = %v", name, t)
	}
	return number(p)
}
