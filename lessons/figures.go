package lessons

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// functions holds the functions that figures can use. The drill functions work on the drill's five
// tokens with infer/sampling; the cost functions (figures_cost.go) use infer/cost. The loop and the
// grading of exercises use the same packages.
var functions map[string]func(a *arguments) value

func init() {
	functions = map[string]func(a *arguments) value{
		"calc": func(a *arguments) value { return number(a.one()) },
		"ln":   func(a *arguments) value { return number(math.Log(a.one())) },
		"log2": func(a *arguments) value { return number(math.Log2(a.one())) },
		"sqrt": func(a *arguments) value { return number(math.Sqrt(a.one())) },

		"logit":      figureLogit,
		"exp":        figureExp,
		"softmax":    figureSoftmax,
		"cumulative": figureCumulative,
		"power":      figurePower,
		"ratio":      figureRatio,
		"entropy":    figureEntropy,
		"filter":     figureFilter,
		"segment":    figureSegment,
		"draw":       figureDraw,
		"u":          figureU,
		"acceptance": figureAcceptance,
		"sure":       figureSure,
	}
	for name, f := range costFunctions {
		functions[name] = f
	}
}

// The drill's five tokens and their logits.
var (
	drillTokens = []string{"the", "a", "an", "and", "or"}
	drillLogits = []float32{4, 3, 2, 1, 0.5}
)

// drillScores returns the drill's logits, increased by the argument `add`.
func drillScores(a *arguments) []float32 {
	add := a.float("add", 0, -1000, 1000)
	z := make([]float32, len(drillLogits))
	for i := range z {
		z[i] = drillLogits[i] + float32(add)
	}
	return z
}

func temperature(a *arguments) float64 { return a.float("T", 1, 0.01, terms.MaxTemperature) }

// record returns a record with a field for each token.
func record(list []float64) value {
	v := value{fields: map[string]value{}, bare: true}
	for i, x := range list {
		v.fields[drillTokens[i]] = number(x)
	}
	return v
}

// drillP returns the softmax at T. If the argument `places` is given, each probability is rounded
// to that many decimal places, as on paper.
func drillP(a *arguments) (p []float64, max, sum float64) {
	z, t := drillScores(a), temperature(a)
	places := a.whole("places", -1, -1, 9)
	if a.bad != nil {
		t = 1
	}
	p, max, sum = sampling.Softmax(z, t)
	if places >= 0 {
		scale := math.Pow(10, float64(places))
		for i := range p {
			p[i] = math.Round(p[i]*scale) / scale
		}
	}
	return p, max, sum
}

// figureLogit returns z / T.
func figureLogit(a *arguments) value {
	z, t := drillScores(a), temperature(a)
	list := make([]float64, len(z))
	for i := range z {
		list[i] = float64(z[i]) / t
	}
	return record(list)
}

// figureExp returns e^(z/T) for each token, and their sum. For a single number x, it returns e^x.
func figureExp(a *arguments) value {
	if len(a.list) > 0 {
		return number(math.Exp(a.one()))
	}
	z, t := drillScores(a), temperature(a)
	list, sum := make([]float64, len(z)), 0.0
	for i := range z {
		list[i] = math.Exp(float64(z[i]) / t)
		sum += list[i]
	}
	v := record(list)
	v.fields["sum"] = number(sum)
	return v
}

func figureSoftmax(a *arguments) value {
	p, _, _ := drillP(a)
	v, sum := record(p), 0.0
	for _, x := range p {
		sum += x
	}
	v.fields["sum"] = number(sum)
	return v
}

// figureCumulative returns the running sum of p, from the most probable token down.
func figureCumulative(a *arguments) value {
	p, _, _ := drillP(a)
	sum := 0.0
	for i := range p {
		sum += p[i]
		p[i] = sum
	}
	return record(p)
}

// figurePower applies the temperature after the softmax: it returns p^(1/T), rescaled to sum to 1.
func figurePower(a *arguments) value {
	t := temperature(a)
	p, _, _ := sampling.Softmax(drillLogits, 1)
	sum := 0.0
	for i := range p {
		p[i] = math.Pow(p[i], 1/t)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return record(p)
}

// token returns the index of the drill token named by an argument.
func token(a *arguments, name string) int {
	w := a.word(name, "")
	for i, t := range drillTokens {
		if t == w {
			return i
		}
	}
	a.fail("%s is %q; want one of %s", name, w, strings.Join(drillTokens, ", "))
	return 0
}

// figureRatio returns how many times more likely one token is than another.
func figureRatio(a *arguments) value {
	p, _, _ := drillP(a)
	return number(p[token(a, "of")] / p[token(a, "to")])
}

// figureEntropy returns the entropy of the drill's distribution in bits.
func figureEntropy(a *arguments) value {
	p, _, _ := drillP(a)
	return number(sampling.Entropy(p))
}

// decided runs the drill through the softmax and the filters.
func decided(a *arguments) *sampling.Distribution {
	z := drillScores(a)
	s := sampling.Settings{
		Temperature: a.float("T", 1, 0, terms.MaxTemperature),
		TopK:        a.whole("k", 0, 0, 1e6),
		TopP:        a.float("p", 1, 0, 1),
		MinP:        a.float("minp", 0, 0, 1),
	}
	typical := a.float("typical", 1, 0, 1)
	if err := terms.MustKnob("typical_p").Check(typical); err != nil {
		a.fail("%w", err)
	}
	s.Set("typical_p", typical)
	if a.bad == nil {
		if err := s.Check(); err != nil {
			a.fail("%w", err)
		}
	}
	if a.bad != nil {
		s = sampling.Pure
	}
	return sampling.Decide(z, s)
}

// figureFilter returns the result of the filters: each token's renormalized share, which tokens are
// kept, their number, and their mass. It also returns the number of tokens that would be kept if
// each filter received the rescaled result of the previous filter.
func figureFilter(a *arguments) value {
	d := decided(a)
	v := value{fields: map[string]value{}, bare: true}
	var names []string
	for r, id := range d.Order {
		v.fields[drillTokens[id]] = number(d.Q(r))
		if d.Stays(r) {
			names = append(names, drillTokens[id])
		}
	}
	v.fields["kept"] = number(float64(d.Keep))
	v.fields["cut"] = number(float64(len(d.Order) - d.Keep))
	v.fields["mass"] = number(d.Mass)
	v.fields["tokens"] = word(strings.Join(names, ", "))
	v.fields["kept_renormalising"] = number(float64(d.KeepRenormalizing()))
	return v
}

// figureSegment returns the segment of a kept token in the strip from 0 to 1.
func figureSegment(a *arguments) value {
	id := token(a, "token")
	d := decided(a)
	r := d.RankOf(int32(id))
	if !d.Stays(r) {
		a.fail("the filters cut %q", drillTokens[id])
		return value{}
	}
	from, to := d.Segment(r)
	return value{
		bare: true, fields: map[string]value{"from": number(from), "to": number(to), "length": number(to - from)},
	}
}

// figureDraw returns the token on which u falls.
func figureDraw(a *arguments) value {
	u := a.float("u", must, 0, 1)
	if u == 1 {
		a.fail("u must be below 1")
	}
	d := decided(a)
	if a.bad != nil {
		return value{}
	}
	return word(drillTokens[d.Order[d.Draw(u)]])
}

// figureU returns the random number u that the program draws in a step.
func figureU(a *arguments) value {
	seed, step := a.whole("seed", 42, 0, 1<<53-1), a.whole("step", must, 1, 1e6)
	return number(sampling.U(uint64(seed), step))
}

// figureAcceptance returns min(1, p/q).
func figureAcceptance(a *arguments) value {
	p, q := a.float("p", must, 0, 1), a.float("q", must, 0, 1)
	if q == 0 {
		a.fail("q is 0, so the token is never proposed")
		return value{}
	}
	return number(sampling.Acceptance(p, q))
}

// figure computes a figure. Errors include the position in the text.
func (l *loader) figure(at position, expression string) string {
	text, err := compute(expression)
	if err != nil {
		l.problems.add(at, "figure {=%s}: %v", expression, err)
		return "?"
	}
	l.figures = append(l.figures, figureUse{at, expression, text})
	return text
}

// figureUse is a figure in the course.
type figureUse struct {
	at         position
	expression string
	text       string
}

func (f figureUse) String() string {
	return fmt.Sprintf("%s:%d: {=%s} is %s", f.at.file, f.at.line, f.expression, f.text)
}
