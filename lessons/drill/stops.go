package drill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// run is the drill about stop conditions. It holds the tokens that a model would generate if no
// condition stopped it.
type run struct {
	tokens  []string // "" is the end of text
	prompt  int      // number of positions
	context int
	stop    infer.Stop

	reason infer.StopReason // the condition that fires first
	n      int              // the token at which it fires
	text   string           // the returned text
	rivals map[infer.StopReason]int
}

const endOfText = "<end of text>"

// sentences holds sentences that a small model could generate, as tokens.
var sentences = [][]string{
	{" Tom", " had", " a", " red", " ball", "."},
	{" She", " went", " to", " the", " park", "."},
	{" The", " dog", " was", " very", " happy", "."},
	{" They", " play", "ed", " all", " day", "."},
	{" His", " mum", " sm", "iled", " at", " him", "."},
	{" It", " was", " a", " sunny", " day", "."},
}

// marks holds stop strings and the ways in which tokens may split them. The first is simple, and
// the last begins inside a token.
var marks = []struct {
	stop string
	cuts [3][]string
	near []string // texts that begin like the stop string but then differ
}{
	{"User:", [3][]string{{"User:"}, {"Us", "er", ":"}, {"\nUs", "er", ":"}}, []string{" Us", "ually"}},
	{"</answer>", [3][]string{{"</answer>"}, {"</", "answer", ">"}, {"!</", "ans", "wer>"}}, []string{"</", "b>"}},
	{"\n\n", [3][]string{{"\n\n"}, {"\n", "\n"}, {"!\n", "\n"}}, []string{"\n"}},
}

func newRun(p *Problem) *run {
	r := newRandom(p)
	for {
		w := &run{prompt: r.between(5, 40)}
		order := slices.Clone(sentences)
		shuffle(r, order)
		mark := pick(r, marks)
		w.tokens = append(w.tokens, order[0]...)
		if p.Level > 1 {
			w.tokens = append(w.tokens, mark.near...)
		}
		w.tokens = append(w.tokens, order[1]...)
		parts := [][]string{mark.cuts[p.Level-1], {""}, order[2][:r.between(2, len(order[2]))]}
		shuffle(r, parts)
		for _, part := range parts {
			w.tokens = append(w.tokens, part...)
		}
		w.tokens = append(w.tokens, order[3]...)
		w.stop = infer.Stop{MaxTokens: r.between(7, len(w.tokens)-2), Strings: []string{mark.stop}}
		w.context = 4096
		if p.Level > 2 {
			w.context = w.prompt + r.between(6, len(w.tokens)-3)
		}
		if w.decide() && w.open(p.Level, r) {
			return w
		}
	}
}

// decide runs the engine's check at every token and reports whether a condition stops the run.
func (w *run) decide() bool {
	w.rivals = map[infer.StopReason]int{}
	var all []byte
	for i, token := range w.tokens {
		all = append(all, token...)
		n, positions := i+1, w.prompt+i
		reason, _, safe := infer.Ending(token == "", n, positions, w.context, all, len(token), w.stop)
		if reason != infer.StopNone && w.reason == infer.StopNone {
			w.reason, w.n, w.text = reason, n, string(all[:safe])
		}
		// Check each condition alone, to recognize an answer that names another firing condition.
		for _, alone := range []struct {
			kind    infer.StopReason
			eos     bool
			context int
			stop    infer.Stop
		}{
			{infer.StopEOS, token == "", 1 << 30, infer.Stop{MaxTokens: 1 << 30}},
			{infer.StopString, false, 1 << 30, infer.Stop{MaxTokens: 1 << 30, Strings: w.stop.Strings}},
			{infer.StopMaxTokens, false, 1 << 30, infer.Stop{MaxTokens: w.stop.MaxTokens}},
			{infer.StopContext, false, w.context, infer.Stop{MaxTokens: 1 << 30}},
		} {
			got, _, _ := infer.Ending(alone.eos, n, positions, alone.context, all, len(token), alone.stop)
			if _, known := w.rivals[alone.kind]; got == alone.kind && !known {
				w.rivals[alone.kind] = n
			}
		}
	}
	return w.reason != infer.StopNone
}

// open reports whether the problem is suitable, that is, whether its answer does not depend on
// luck. Two conditions may fire at the same token only at the hardest level. The reason must equal
// a randomly picked one, so that all reasons occur.
func (w *run) open(level int, r *random) bool {
	at := 0
	for _, n := range w.rivals {
		if n == w.n {
			at++
		}
	}
	if at > 1 && level < 3 || w.rivals[infer.StopString] == 0 || w.rivals[infer.StopEOS] == 0 {
		return false
	}
	want := []infer.StopReason{infer.StopString, infer.StopMaxTokens, infer.StopEOS}
	if level > 2 {
		want = append(want, infer.StopContext)
	}
	return w.reason == pick(r, want)
}

// reasonText returns a stop condition's name, capitalized.
func reasonText(x infer.StopReason) string { return terms.Capital(terms.StopOf(x).Name) }

// visible makes line breaks visible.
func visible(text string) string { return strings.ReplaceAll(text, "\n", "↵") }

func buildStops(p *Problem) {
	w := newRun(p)
	p.Facts = []Fact{
		{"positions of the prompt", terms.Count(w.prompt)},
		{"max tokens", terms.Count(w.stop.MaxTokens)},
		{"stop string", visible(w.stop.Strings[0])},
		{"context window", terms.Count(w.context) + " positions"},
	}
	step := &Step{
		ID: "run", Name: "The run", Note: "token by token", Title: "Where does this run end, and why?",
		Ask:    "Below is what the model would write if nothing stopped it. A line break is shown as ↵.",
		Remark: "The first condition that fires ends the run.",
		Columns: []Column{
			{Key: "n", Head: "token", Title: "number of the token", State: Given},
			{Key: "positions", Head: "read", Title: "positions read to predict it", State: Given},
		},
	}
	for i, token := range w.tokens {
		name, isToken := visible(token), true
		if token == "" {
			name, isToken = endOfText, false
		}
		step.Rows = append(
			step.Rows,
			Row{
				Key: fmt.Sprintf("t%d", i+1), Name: name, Token: isToken,
				Items: []Item{
					{Text: terms.Count(i + 1), Value: float64(i + 1)},
					{Text: terms.Count(w.prompt + i), Value: float64(w.prompt + i)},
				},
			},
		)
	}
	p.Steps = append(p.Steps, step)
	w.askReason(p)
	w.askCount(p, step)
	w.askText(p)
}

// when describes the token at which a condition would fire.
func (w *run) when(x infer.StopReason) string {
	n, ok := w.rivals[x]
	if !ok {
		return reasonText(x) + ": not within these tokens."
	}
	return fmt.Sprintf("%s: at token %d.", reasonText(x), n)
}

func (w *run) askReason(p *Problem) {
	c := &choice{right: string(w.reason), why: map[string]said{}, note: w.when(w.reason)}
	var all []string
	for _, stop := range terms.Stops() {
		reason := infer.StopReason(stop.Key)
		c.options = append(c.options, Option{Value: stop.Key, Text: reasonText(reason)})
		all = append(all, w.when(reason))
		n, fires := w.rivals[reason]
		switch {
		case !fires:
			c.why[stop.Key] = said{OtherOption, "This one does not fire within these tokens.", w.when(w.reason)}
		case n == w.n:
			c.why[stop.Key] = said{
				OtherOption, "It would fire at the same token, but another goes before it.",
				"The order is: end of text, stop string, max tokens, context window.",
			}
		default:
			c.why[stop.Key] = said{
				OffByOne, "It would fire later.", fmt.Sprintf("At token %d; the run has ended at token %d.", n, w.n),
			}
		}
	}
	p.question("reason", "Which stop condition ends the run?", "what ends the run", c, [3]string{
		"For each condition: at which token would it fire if it were the only one?",
		"A stop string may be cut across tokens, and may begin inside one. Max tokens counts generated tokens only; " +
			"the window counts the prompt, too.",
		strings.Join(all, " "),
	}, []Line{{"Look for the first that fires.", strings.Join(all, " "), reasonText(w.reason)}})
}

func (w *run) askCount(p *Problem, step *Step) {
	slips := []slip{
		{
			mistake: Missing, value: float64(w.prompt + w.n), title: "You counted the prompt.",
			why: "The question is about generated tokens.",
		},
	}
	for _, stop := range terms.Stops() {
		reason := infer.StopReason(stop.Key)
		if n, ok := w.rivals[reason]; ok && n != w.n {
			slips = append(
				slips,
				slip{
					mistake: OtherOption, value: float64(n), title: "There another condition would fire.",
					why: w.when(reason) + " But something stops the run before.",
				},
			)
		}
	}
	slips = append(slips,
		slip{
			mistake: OffByOne, value: float64(w.n - 1), title: "The token that ends the run is generated, too.",
			why: "It was drawn before the condition could be looked at: it counts.",
		},
		slip{
			mistake: OffByOne, value: float64(w.n + 1), title: "One too many.",
			why: "The run ends at the token that makes the condition true.",
		})
	made := p.quantity(step.ID, quantity{
		id: "count", name: "tokens generated", form: Count, unit: "tokens", want: exactly(w.n), slips: slips,
		hints: [3]string{
			"Does the token that makes the condition true still count?",
			"It was generated, so it counts, even if its text is not returned.", w.when(w.reason),
		},
		work: []Line{{"Count to the token at which it fires.", w.when(w.reason), terms.Count(w.n)}},
	})
	step.Asks = append(step.Asks, Ask{"How many tokens are generated?", made})
}

// askText asks which text the caller receives.
func (w *run) askText(p *Problem) {
	text := func(n int) string { return strings.Join(w.tokens[:n], "") }
	type candidate struct {
		text string
		why  said
	}
	candidates := []candidate{
		{w.text, said{}},
		{
			text(w.n),
			said{
				OneTooMany, "The stop string itself is not returned.",
				"The text ends right before it, even inside a token.",
			},
		},
		{
			text(w.n - 1),
			said{
				OneTooFew, "The last token's text is cut too short.",
				"Only a stop string is removed, from where it starts.",
			},
		},
		{text(min(w.n+2, len(w.tokens))), said{OffByOne, "The run has ended before.", w.when(w.reason)}},
		{text(max(0, w.n-3)), said{OneTooFew, "Too short.", w.when(w.reason)}},
	}
	seen := map[string]bool{}
	candidates = slices.DeleteFunc(candidates, func(x candidate) bool {
		double := seen[tail(x.text)]
		seen[tail(x.text)] = true
		return double
	})
	shuffle(newRandom(p), candidates)
	c := &choice{why: map[string]said{}, note: "A stop string is never returned; the text before it is kept."}
	for i, x := range candidates {
		o := Option{Value: string(rune('a' + i)), Text: "…" + visible(tail(x.text))}
		c.options = append(c.options, o)
		if x.text == w.text {
			c.right = o.Value
		} else {
			c.why[o.Value] = x.why
		}
	}
	p.question("text", "How does the text end that the caller gets?", "the end of the text returned", c, [3]string{
		"Is the token at which the run ends a part of the text?",
		"The end of text has no text. A stop string is removed from where it starts. Everything else stays.",
		w.when(w.reason),
	}, []Line{{"Take the text up to there, without the stop string.", "", "…" + visible(tail(w.text))}})
}

// tail returns the last 32 characters of a text, which are enough to identify it.
func tail(text string) string {
	r := []rune(text)
	return string(r[max(0, len(r)-32):])
}
