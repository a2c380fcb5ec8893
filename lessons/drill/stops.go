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
// a randomly picked one, so all reasons occur.
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
func reasonText(l *terms.Language, x infer.StopReason) string {
	return terms.Capital(l.Stop(string(x)).Name)
}

// visible makes line breaks visible.
func visible(text string) string { return strings.ReplaceAll(text, "\n", "↵") }

func buildStops(p *Problem) {
	w := newRun(p)
	p.Facts = []Fact{
		{p.lang.T("drill.stops.fact.positions_prompt"), terms.Count(w.prompt)},
		{p.lang.T("drill.stops.fact.max_tokens"), terms.Count(w.stop.MaxTokens)},
		{p.lang.T("drill.stops.fact.stop_string"), visible(w.stop.Strings[0])},
		{p.lang.T("drill.stops.fact.context_window"), p.lang.T("drill.stops.fact.positions", "context", w.context)},
	}
	rows := make([]Row, len(w.tokens))
	for i, token := range w.tokens {
		rows[i] = Row{Key: fmt.Sprintf("t%d", i+1), Name: visible(token), Token: true}
		if token == "" {
			rows[i].Name, rows[i].Token = p.lang.T("drill.stops.name"), false
		}
	}
	p.begin(Step{
		ID: "run", Name: p.lang.T("drill.stops.run.name"), Note: p.lang.T("drill.stops.run.note"),
		Title:  p.lang.T("drill.stops.run.title"),
		Ask:    p.lang.T("drill.stops.run.ask"),
		Remark: p.lang.T("drill.stops.run.remark"),
	}, rows,
		Column{
			Key: "n", Head: p.lang.T("drill.stops.run.head.token"),
			Title: p.lang.T("drill.stops.run.column.number_token"),
		},
		Column{
			Key: "positions", Head: p.lang.T("drill.stops.run.head.read"),
			Title: p.lang.T("drill.stops.run.column.positions_read_predict"),
		})
	p.fill("n", Given, func(i int) Item { return Count.item(float64(i + 1)) })
	p.fill("positions", Given, func(i int) Item { return Count.item(float64(w.prompt + i)) })
	w.askReason(p)
	w.askCount(p)
	w.askText(p)
}

// when describes the token at which a condition would fire.
func (w *run) when(l *terms.Language, x infer.StopReason) string {
	n, ok := w.rivals[x]
	if !ok {
		return l.T("drill.stops.when.not_within_these_tokens", "reason", reasonText(l, x))
	}
	return l.T("drill.stops.when.token", "reason", reasonText(l, x), "n", n)
}

func (w *run) askReason(p *Problem) {
	c := &choice{right: string(w.reason), why: map[string]said{}, note: w.when(p.lang, w.reason)}
	var all []string
	for _, stop := range terms.Stops() {
		reason := infer.StopReason(stop.Key)
		c.options = append(c.options, Option{Value: stop.Key, Text: reasonText(p.lang, reason)})
		all = append(all, w.when(p.lang, reason))
		n, fires := w.rivals[reason]
		switch {
		case !fires:
			c.why[stop.Key] = said{
				OtherOption, p.lang.T("drill.stops.reason.slip.one_does_not_fire"),
				w.when(p.lang, w.reason),
			}
		case n == w.n:
			c.why[stop.Key] = said{
				OtherOption, p.lang.T("drill.stops.reason.slip.would_fire_same_token"),
				p.lang.T("drill.stops.reason.slip.would_fire_same_token.why"),
			}
		default:
			c.why[stop.Key] = said{
				OffByOne, p.lang.T("drill.stops.reason.slip.would_fire_later"),
				p.lang.T("drill.stops.reason.slip.would_fire_later.why", "n", n, "n2", w.n),
			}
		}
	}
	p.choose("reason", p.lang.T("drill.stops.reason.prompt"), p.lang.T("drill.stops.reason.label"), c, [3]string{
		p.lang.T("drill.stops.reason.hint.question"),
		p.lang.T("drill.stops.reason.hint.rule"),
		strings.Join(all, " "),
	}, Line{Say: p.lang.T("drill.stops.reason.work.look_for_first_fires"), Eq: strings.Join(all, " ")})
}

func (w *run) askCount(p *Problem) {
	slips := []slip{
		{
			mistake: Missing, value: float64(w.prompt + w.n),
			title: p.lang.T("drill.stops.count.slip.counted_prompt"),
			why:   p.lang.T("drill.stops.count.slip.counted_prompt.why"),
		},
	}
	for _, stop := range terms.Stops() {
		reason := infer.StopReason(stop.Key)
		if n, ok := w.rivals[reason]; ok && n != w.n {
			slips = append(
				slips,
				slip{
					mistake: OtherOption, value: float64(n),
					title: p.lang.T("drill.stops.count.slip.another_condition_would_fire"),
					why: p.lang.T("drill.stops.count.slip.another_condition_would_fire.why", "when",
						w.when(p.lang, reason)),
				},
			)
		}
	}
	slips = append(slips,
		slip{
			mistake: OffByOne, value: float64(w.n - 1),
			title: p.lang.T("drill.stops.count.slip.token_ends_run_generated"),
			why:   p.lang.T("drill.stops.count.slip.token_ends_run_generated.why"),
		},
		slip{
			mistake: OffByOne, value: float64(w.n + 1), title: p.lang.T("drill.slip.one_too_many"),
			why: p.lang.T("drill.stops.count.slip.one_too_many.why"),
		})
	p.ask(p.lang.T("drill.stops.count.ask"), p.number(quantity{
		id: "count", name: p.lang.T("drill.stops.count.name"), form: Count, unit: p.lang.T("drill.unit.tokens"),
		want: exactly(w.n), slips: slips,
		question: p.lang.T("drill.stops.count.hint.question"),
		rule:     p.lang.T("drill.stops.count.hint.rule"),
		numbers:  w.when(p.lang, w.reason),
		work: []Line{{
			Say: p.lang.T("drill.stops.count.work.count_token_which_fires"),
			Eq:  w.when(p.lang, w.reason),
		}},
	}))
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
				OneTooMany, p.lang.T("drill.stops.text.slip.stop_string_itself_not"),
				p.lang.T("drill.stops.text.slip.stop_string_itself_not.why"),
			},
		},
		{
			text(w.n - 1),
			said{
				OneTooFew, p.lang.T("drill.stops.text.slip.last_token_text_cut"),
				p.lang.T("drill.stops.text.slip.last_token_text_cut.why"),
			},
		},
		{text(min(w.n+2, len(w.tokens))), said{
			OffByOne, p.lang.T("drill.stops.text.slip.run_has_ended_before"),
			w.when(p.lang, w.reason),
		}},
		{text(max(0, w.n-3)), said{OneTooFew, p.lang.T("drill.stops.text.slip.too_short"), w.when(p.lang, w.reason)}},
	}
	seen := map[string]bool{}
	candidates = slices.DeleteFunc(candidates, func(x candidate) bool {
		double := seen[tail(x.text)]
		seen[tail(x.text)] = true
		return double
	})
	shuffle(newRandom(p), candidates)
	c := &choice{why: map[string]said{}, note: p.lang.T("drill.stops.text.note")}
	for i, x := range candidates {
		o := Option{Value: string(rune('a' + i)), Text: "…" + visible(tail(x.text))}
		c.options = append(c.options, o)
		if x.text == w.text {
			c.right = o.Value
		} else {
			c.why[o.Value] = x.why
		}
	}
	p.choose("text", p.lang.T("drill.stops.text.prompt"), p.lang.T("drill.stops.text.label"), c, [3]string{
		p.lang.T("drill.stops.text.hint.question"),
		p.lang.T("drill.stops.text.hint.rule"),
		w.when(p.lang, w.reason),
	}, Line{Say: p.lang.T("drill.stops.text.work.take_text_up_without")})
}

// tail returns the last 32 characters of a text, which are enough to identify it.
func tail(text string) string {
	r := []rune(text)
	return string(r[max(0, len(r)-32):])
}
