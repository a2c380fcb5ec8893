package why

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// scored is a request for the /score page: a text and, optionally, a second text or other settings.
// The page's address contains the whole request.
type scored struct {
	Texts [2]string // the second is "" for none
	Temps [2]string // as typed
	Rules [2]string // as typed, such as "top_k=40 top_p=0.9"

	Example bool // the request has no text, so the page shows an example
}

func scoredOf(q url.Values) scored {
	a := scored{Texts: [2]string{begins + " Paris.", q.Get("other")}, Temps: [2]string{q.Get("t"), q.Get("u")}}
	for i, name := range scoreRules {
		a.Rules[i] = strings.Join(strings.Fields(q.Get(name)), " ")
	}
	if a.Example = !q.Has("text"); !a.Example {
		a.Texts[0] = q.Get("text")
	}
	for i, t := range a.Temps {
		if strings.TrimSpace(t) == "" {
			a.Temps[i] = "1"
		}
	}
	return a
}

// sides parses the request. It returns one side or, if there is a second text or other settings,
// two sides. field is the field at fault.
func (a scored) sides(m *infer.Model) (sides []infer.Side, field string, err error) {
	texts := []string{a.Texts[0]}
	switch {
	case a.Texts[1] != "":
		texts = append(texts, a.Texts[1])
	case strings.TrimSpace(a.Temps[0]) != strings.TrimSpace(a.Temps[1]), a.Rules[0] != a.Rules[1]:
		texts = append(texts, a.Texts[0])
	}
	for i, text := range texts {
		// Browsers send line breaks in forms as \r\n.
		text = strings.ReplaceAll(text, "\r\n", "\n")
		if err := m.CheckPrompt(text, infer.MaxSampleBytes); err != nil {
			return nil, scoreFields[i], err
		}
		t, err := strconv.ParseFloat(strings.TrimSpace(a.Temps[i]), 64)
		if err != nil {
			return nil, scoreTemps[i], terms.Refuse(terms.CodeRange, "explain.score.ask.number")
		}
		settings, err := session.ReadRules(a.Rules[i], sampling.Pure)
		if err != nil {
			return nil, scoreRules[i], terms.RefusalOf(err)
		}
		settings.Temperature = t
		sides = append(sides, infer.Side{Text: text, Settings: settings})
	}
	return sides, "", nil
}

// These are the fields of the page's address: the texts, temperatures and rules of both sides.
var (
	scoreFields, scoreTemps = [2]string{"text", "other"}, [2]string{"t", "u"}
	scoreRules              = [2]string{"rules", "rules2"}
)

// ruleKnobs returns the knobs, other than the temperature, that can be set for scoring a text.
func ruleKnobs(w stage.Words) (list []terms.Knob) {
	for _, k := range w.Knobs() {
		_, ok := sampling.Pure.Value(k.Key)
		if ok && k.Key != "temperature" && sampling.Reads(k.Key) {
			list = append(list, k)
		}
	}
	return list
}

// scoreView is the content of the page.
type scoreView struct {
	Ask   scored
	Bad   string
	Field string // the field at fault
	Sides []scoredSide
	Apart *apart // nil for one side
	Rows  []scoreRow
}

// compares reports whether the form contains a second text or second settings.
func (v scoreView) compares() bool {
	a := v.Ask
	return a.Texts[1] != "" || a.Rules != [2]string{} || a.Temps != [2]string{"1", "1"}
}

// scoredSide is a text with its scores.
type scoredSide struct {
	Name   string
	Rules  string // the rules that are on; "" for none
	Cut    string // a sentence about how many of the text's tokens the rules cut
	Say    string // a sentence about the average
	Tokens []stripToken
	Facts  []field
}

// apart is the divergence between two sides at each step.
type apart struct {
	Tokens  []stripToken // the tokens of the first side, with bars that show the divergence
	Average string       // average over the steps where the divergence is finite, and the step where it is largest
	Endless string       // number of steps at which the divergence is infinite, and the reason
	Rest    string       // the tokens that are not compared
}

// scoreRow holds the numbers of one step.
type scoreRow struct {
	N      int
	Tokens [2]stage.Text
	Bits   [2]string
	Apart  string
	Back   string // divergence in the other direction
	Lost   string // probability that the first side gives to tokens that the second side cuts
}

// score handles GET /score.
func (s *Server) score(w http.ResponseWriter, r *http.Request) {
	v, words := scoreView{Ask: scoredOf(r.URL.Query())}, stage.In(r.Context())
	sides, at, err := v.Ask.sides(s.Model)
	status := http.StatusOK
	if err == nil {
		var c *infer.Comparison
		c, status, err = s.compare(w, r, sides)
		var wrong *terms.RangeError
		switch {
		case err == nil:
			v.show(words, sides, c)
		case errors.As(err, &wrong):
			at = faultAt(wrong.Field)
		default:
			head, say := s.failed(words, status, err)
			s.Refuse(w, r, status, head, say)
			return
		}
	}
	if err != nil {
		v.Bad, v.Field, status = shell.Sentence(words.Language, err), at, http.StatusBadRequest
	}
	s.HTML(w, r, status, scoreHTML(v))
}

// faultAt returns the field of the page that corresponds to the field named in an error from the
// model.
func faultAt(field string) string {
	switch field {
	case "temperature":
		return scoreTemps[0]
	case "prompt":
		return scoreFields[0]
	}
	return scoreRules[0]
}

// compare waits in the queue for ordinary requests and then scores the sides.
func (s *Server) compare(w http.ResponseWriter, r *http.Request, sides []infer.Side) (*infer.Comparison, int, error) {
	who, _ := s.Caller(r)
	who.Learner = s.Who(w, r)
	ctx, release, err := s.Replays.EnterRequest(r.Context(), who, maxTokens*positionTime)
	if err != nil {
		return nil, http.StatusServiceUnavailable, err
	}
	defer release()
	c, err := s.Model.Compare(ctx, sides...)
	switch {
	case err == nil, errors.As(err, new(*terms.RangeError)):
		return c, http.StatusOK, err
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, http.StatusServiceUnavailable, errTooLong
	case ctx.Err() != nil:
		return nil, http.StatusServiceUnavailable, err
	}
	return nil, http.StatusInternalServerError, err
}

// bitsOf converts nats to bits.
func bitsOf(nats float64) float64 { return nats / math.Ln2 }

// show lays out the results.
func (v *scoreView) show(w stage.Words, sides []infer.Side, c *infer.Comparison) {
	for i, read := range c.Sides {
		side := scoredSide{Name: v.sideName(w, sides, i), Rules: v.Ask.Rules[i]}
		if read.Cut > 0 {
			side.Cut = w.T("explain.side.cut", "n", read.Cut)
		}
		for n, t := range read.Tokens {
			token := stripToken{Token: stage.TokenText(t.Token), Bits: "–"}
			if !t.First {
				bits := bitsOf(-t.LogProb)
				token.Bits, token.Class = terms.Decimals(bits, 1), surpriseClass(bits)
				token.bar(bits)
				if math.IsInf(bits, 1) {
					token.Bits = "∞"
				}
			}
			side.Tokens = append(side.Tokens, token)
			v.row(n, i, token)
		}
		if s := read.Sum; s.Tokens > 0 {
			side.Say = averageText(w, s.BitsPerToken())
			side.Facts = []field{
				{w.T("explain.facts.tokens"), terms.Count(s.Tokens)},
				{w.T("explain.facts.bits"), terms.Decimals(s.BitsPerToken(), 2)},
				{w.T("explain.facts.perplexity"), terms.Decimals(s.Perplexity(), 2)},
				{w.T("explain.facts.byte"), terms.Decimals(s.BitsPerByte(), 3)},
				{w.T("explain.facts.all"), terms.Decimals(s.Bits(), 1)},
			}
		}
		v.Sides = append(v.Sides, side)
	}
	if len(sides) == 2 {
		v.apart(w, c)
	}
}

// sideName returns the heading of a side. If there are two sides, it includes the side's
// temperature if both sides have the same text or if the temperature is not 1.
func (v *scoreView) sideName(w stage.Words, sides []infer.Side, i int) string {
	if len(sides) == 1 {
		if v.Ask.Example {
			return w.T("explain.side.example")
		}
		return w.T("explain.side.expected")
	}
	t := sides[i].Settings.Temperature
	if sides[0].Text == sides[1].Text || t != 1 {
		keys := [2]string{"explain.side.first.at", "explain.side.second.at"}
		return w.T(keys[i], "t", strconv.FormatFloat(t, 'f', -1, 64))
	}
	return w.T([2]string{"explain.side.first", "explain.side.second"}[i])
}

// averageText describes an average number of bits. Above 30 bits, it does not mention the number of
// guesses, which would be unimaginably large.
func averageText(w stage.Words, bits float64) string {
	cost := terms.Decimals(bits, 2)
	if bits > 30 {
		return w.T("explain.side.average.high", "bits", cost)
	}
	return w.T("explain.side.average", "bits", cost, "guess", guessOf(bits))
}

// row adds a token to the table of numbers.
func (v *scoreView) row(n, side int, t stripToken) {
	if n == len(v.Rows) {
		v.Rows = append(v.Rows, scoreRow{N: n + 1, Bits: [2]string{"", ""}})
	}
	v.Rows[n].Tokens[side], v.Rows[n].Bits[side] = t.Token, t.Bits
}

// bar sets the token's bar to a number of bits.
func (t *stripToken) bar(bits float64) {
	t.Height = stripHigh * min(bits/stripBits, 1)
	t.Y = stripHigh - t.Height
}

// apart lays out the divergence between the sides.
func (v *scoreView) apart(w stage.Words, c *infer.Comparison) {
	a, sum, most, finite := &apart{}, 0.0, -1, 0
	for n, d := range c.Apart {
		row := &v.Rows[n]
		row.Apart, row.Back = apartText(d.Nats), apartText(d.Back)
		if row.Lost = "–"; d.Lost > 0 {
			row.Lost = terms.Prob(d.Lost)
		}
		t := stripToken{Token: row.Tokens[0], Class: "is-apart", Bits: row.Apart}
		t.bar(bitsOf(d.Nats))
		a.Tokens = append(a.Tokens, t)
		if math.IsInf(d.Nats, 1) {
			continue
		}
		finite++
		if sum += d.Nats; most < 0 || d.Nats > c.Apart[most].Nats {
			most = n
		}
	}
	steps := len(c.Apart)
	endless := steps - finite
	if finite > 0 {
		key := "explain.apart.average"
		if endless > 0 {
			key = "explain.apart.average.rest"
		}
		a.Average = w.T(key, "bits", terms.Decimals(bitsOf(sum)/float64(finite), 2), "n", most+1)
	}
	if endless > 0 {
		a.Endless = w.T("explain.apart.endless", "n", endless)
	}
	if more := max(len(c.Sides[0].Tokens), len(c.Sides[1].Tokens)) - steps; more > 0 {
		a.Rest = w.T("explain.apart.longer", "n", more)
	}
	v.Apart = a
}

// apartText formats a divergence in bits.
func apartText(nats float64) string {
	if math.IsInf(nats, 1) {
		return "∞"
	}
	return terms.Decimals(bitsOf(nats), 2)
}

// scoreFrame returns the frame around the page.
func scoreFrame(w stage.Words) shell.Of {
	f := frame(w)
	f.Title, f.Skip, f.Scripts = shell.TitleOf(w.T("explain.score.window")), w.T("explain.score.skip"), nil
	return f
}

// scored returns the address of the /score page for this text.
func (v view) scored() templ.SafeURL {
	return templ.SafeURL("/score?" + url.Values{"text": {v.Prompt}}.Encode())
}
