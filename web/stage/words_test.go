package stage

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// pseudoWords returns the words of the pseudo-language.
func pseudoWords(t *testing.T) Words {
	t.Helper()
	return Words{pseudo.Language(t)}
}

// manyStates returns states of runs at every stage, with every kind of setting, stop and choice
// that a stage can describe.
func manyStates(t *testing.T) (all []*session.State) {
	t.Helper()
	stops, late := []string{" there", "\n\n"}, sampling.OrderLlama
	line := "regexp:.*"
	uncut, _ := sampling.Order("uncut:"+late).Move(sampling.RuleXTC, 0)
	by := map[int]float64{}
	for i, id := range testmodel.Target(t).Encode("the dog") {
		by[id] = 1.5 - float64(i)
	}
	bias, err := sampling.NewBias(by)
	if err != nil {
		t.Fatal(err)
	}
	runs := [][]session.Command{
		{session.Start{Prompt: "Once upon a time"}},
		{session.SetPreset{Key: "greedy"}, session.Start{Prompt: "Once upon a time"}},
		{session.SetPreset{Key: "pure"}, session.Start{Prompt: "The"}},
		{session.Set{Knobs: infer.Knobs{"top_k": 3, "top_p": 1}}, session.Start{Prompt: "Once upon a"}},
		{session.Set{Knobs: infer.Knobs{"min_p": 0.2, "top_p": 1}}, session.Start{Prompt: "Once upon a"}},
		{
			session.Set{Knobs: infer.Knobs{"repetition_penalty": 2, "temperature": 0}},
			session.Start{Prompt: "the dog, the cat, the bird and the fish"},
		},
		{
			session.Set{Knobs: infer.Knobs{"frequency_penalty": 1, "presence_penalty": 0.5}},
			session.Start{Prompt: "the dog"},
		},
		{session.Set{Bias: &bias}, session.Start{Prompt: "the dog"}},
		{
			session.Set{Knobs: infer.Knobs{"typical_p": 0.3, "top_p": 1, "max_tokens": 2}},
			session.Start{Prompt: "Once upon a"},
		},
		{session.Set{Knobs: infer.Knobs{"top_n_sigma": 1, "top_p": 1}}, session.Start{Prompt: "Once upon a"}},
		{session.Set{Knobs: infer.Knobs{"xtc_probability": 0.6, "top_p": 1}}, session.Start{Prompt: "The"}},
		{session.Set{Knobs: infer.Knobs{"dry_multiplier": 1}}, session.Start{Prompt: "a b a b"}},
		{session.Set{Order: &late, Knobs: infer.Knobs{"top_k": 9}}, session.Start{Prompt: "The"}},
		{session.Set{Order: &late, Knobs: infer.Knobs{"top_p": 1}}, session.Start{Prompt: "The"}},
		{session.Set{Order: &late, Knobs: infer.Knobs{"top_k": 9, "temperature": 1}}, session.Start{Prompt: "The"}},
		{session.Set{Order: &uncut, Knobs: infer.Knobs{"top_k": 9, "min_p": 0.1}}, session.Start{Prompt: "The"}},
		{session.Set{Order: &late, Knobs: infer.Knobs{"top_k": 9, "temperature": 0}}, session.Start{Prompt: "The"}},
		{session.Set{Knobs: infer.Knobs{"mirostat_tau": 2, "top_p": 1}}, session.Start{Prompt: "Once upon a"}},
		{session.Set{Grammar: &line, Knobs: infer.Knobs{"top_p": 1}}, session.Start{Prompt: "Once upon a"}},
		{session.Set{Grammar: &line, Knobs: infer.Knobs{"temperature": 0}}, session.Start{Prompt: "Once upon a"}},
		{session.Set{Grammar: &line, Order: &late, Knobs: infer.Knobs{"top_k": 9}}, session.Start{Prompt: "The"}},
		{
			session.Set{Knobs: infer.Knobs{"top_k": 5, "temperature": 0.3}, Stop: &stops},
			session.Start{Prompt: "Once upon a time"},
		},
	}
	for _, commands := range runs {
		s := session.New(testmodel.Target(t), session.DefaultLimits())
		all = append(all, s.State())
		for _, c := range commands {
			all = append(all, sessiontest.Do(t, s, c))
		}
		for range 2*len(infer.Kinds) - 1 {
			st, err := s.Apply(t.Context(), session.StepStage{})
			if err != nil {
				break // the text is over
			}
			all = append(all, st)
		}
		all = append(all, sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter}))
		u := 0.9
		st := sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindSample})
		if !st.Settings.Greedy() {
			all = append(all, sessiontest.Do(t, s, session.WhatIf{U: &u}))
		}
		all = append(all, sessiontest.Do(t, s, session.Choose{Step: 1, Token: int(st.Dist.Order[9])}))
	}
	return all
}

// partsOf returns all components of a state.
func partsOf(w Words, st *session.State) map[string]templ.Component {
	strip, rail := w.NewStrip(st), w.NewRail(st)
	parts := map[string]templ.Component{
		"stage": w.HTML(w.New(st)), "prompt": w.PromptHTML(strip), "label": w.GeneratedLabelHTML(strip),
		"generated": w.GeneratedHTML(strip.Tokens), "next": w.NextHTML(strip), "rail": w.RailHTML(rail),
		"stepper": w.StepperHTML("x", rail.Stages, true), "strip row": w.StripRowHTML("x", strip, true),
		"peek": w.PeekHTML(w.CurrentPeek(st)), "found": w.FoundHTML(w.NewFound(st, 1, "the")),
		"nothing found": w.FoundHTML(w.NewFound(st, 1, "§§")), "what if": w.WhatIfHTML(w.NewWhatIf(st)),
		"head": w.HeadHTML(w.NewHead(st, 1, 1)), "no head": w.HeadHTML(w.NewHead(st, 1, 99)),
		"inside": w.InsideHTML(w.NewInside(st, 1)), "no block": w.InsideHTML(w.NewInside(st, 99)),
		"story": w.StoryHTML(w.NewStory(st)), "prose": w.ProseHTML(strip.Tokens),
		"slot":  w.ProseNextHTML(GivenText(st), strip),
		"verbs": w.VerbsHTML(rail),
		"seven": SevenHTML("x", "", w.NewSteps(st.Cursor.Stage), true),
	}
	if st.Started() && st.Cursor.Stage >= infer.KindLogits {
		parts["candidates"] = w.CandidatesHTML(w.NewCandidates(st, st.Cursor.Stage, 6), "x", true)
		parts["picture of scores"] = w.PictureHTML(w.PictureScores(st))
	}
	if c := w.NewChain(st); c != nil {
		parts["chain"] = w.chainHTML(c)
	}
	if st.Started() {
		parts["picture"] = w.PictureHTML(w.PictureColumns(st))
		parts["picture of a look"] = w.PictureHTML(w.PictureAttention(st, 1, 1))
	}
	return parts
}

// spokenAttributes are the attributes whose values are shown or read aloud.
var spokenAttributes = []string{"aria-label", "title", "placeholder", "aria-valuetext", "data-peek"}

// TestEveryWordIsInTheCatalog renders every stage of several runs in the pseudo-language, which
// marks every word from a catalog. A word without a mark is hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	w := pseudoWords(t)
	seen := 0
	for i, st := range manyStates(t) {
		if !fixture.LongTier() && i%4 > 0 {
			continue
		}
		data := pseudo.NewData(dataOf(st))
		check := func(what, text string) {
			seen++
			if left := data.Unmarked(text); len(left) > 0 {
				t.Errorf(
					"state %d, stage %d, %s: %q is in no catalog, want none: %q", i, st.Cursor.Stage, what,
					left, text,
				)
			}
		}
		for name, part := range partsOf(w, st) {
			var b bytes.Buffer
			if err := part.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			d, err := goquery.NewDocumentFromReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			d.Find("*").Each(func(_ int, e *goquery.Selection) {
				for _, a := range spokenAttributes {
					check(name+", "+a, e.AttrOr(a, ""))
				}
			})
			d.Find(".tk, .tok > span:not(.sr), .tc th > i, .seg__t, .laid__t, .vis text, .flow > *:not(small), " +
				".pic__name, .map__toks b").Remove()
			d.Find("tbody th").Each(func(_ int, e *goquery.Selection) {
				if e.Closest(".tc").Length() > 0 {
					e.Contents().Not("*").Remove() // the token itself
				}
			})
			check(name, textOf(d.Nodes[0]))
		}
		if !st.Started() {
			continue
		}
		for k := infer.KindForward; k <= st.Step().Ran; k++ {
			stage := st.StageOf(k, 6)
			for _, v := range []Voice{Numbers, Brief, Line, Tale} {
				check(fmt.Sprint(v), w.Sentence(v, stage, aboutOf(st)).String())
			}
			for _, f := range append(w.Facts(Numbers, stage), w.Facts(Brief, stage)...) {
				check("fact", f.Name+" "+f.Value)
			}
			check("terminal", strings.Join(w.Further(stage), "\n"))
		}
		check("settings", w.Drawn(st.Settings.Settings, st.Settings.Seed))
	}
	if seen < 1500 {
		t.Errorf("found only %d texts", seen)
	}
}

// textOf returns the text below a node, with each text node on a separate line.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + "\n")
		}
	}
	return b.String()
}

// dataOf returns the strings in a state that are not the program's words: the state's tokens,
// prompt and stop strings, and the formula of the activation.
func dataOf(st *session.State) []string {
	data := []string{st.Prompt, "silu(gate) × up"}
	add := func(t infer.Token) { data = append(data, TokenText(t).String(), t.Text) }
	for _, t := range st.PromptTokens {
		add(t)
	}
	for _, t := range st.Ghosts {
		add(t)
	}
	for _, s := range st.Settings.Stop.Strings {
		data = append(data, Marked(s).String())
	}
	for _, step := range st.Steps {
		if step.Ran < infer.KindLogits {
			continue
		}
		for _, id := range step.Distribution().Order[:80] {
			add(st.Model.Token(int(id)))
		}
		add(st.Model.Token(step.Chosen))
	}
	for _, id := range st.Model.Config().EOS {
		add(st.Model.Token(id))
	}
	if st.Started() {
		for _, row := range English.NewFound(st, 1, "the").Rows {
			data = append(data, row.Text.String())
		}
	}
	if st.WhatIf != nil {
		add(st.Model.Token(int(st.Dist.Order[st.Dist.Draw(*st.WhatIf)])))
	}
	if st.Look != nil {
		for _, b := range st.Look.Blocks {
			for _, r := range b.Says {
				add(r.Token)
			}
		}
	}
	return data
}

// emptyPlace matches the gap that a missing value leaves.
var emptyPlace = regexp.MustCompile(`  |“”| [,.:;)]|\( |^ | $`)

// TestVoicesUseKnownValues checks that no voice's texts have gaps, which means that the code
// provides every value that a text uses.
func TestVoicesUseKnownValues(t *testing.T) {
	for _, st := range manyStates(t) {
		if !st.Started() {
			continue
		}
		for k := infer.KindForward; k <= st.Step().Ran; k++ {
			for _, v := range []Voice{Numbers, Brief, Line, Tale} {
				got := English.Sentence(v, st.StageOf(k, 6), aboutOf(st)).String()
				if got == "" || strings.HasPrefix(got, string(v)+".") || emptyPlace.MatchString(got) {
					t.Errorf("%s at stage %d: got %q, want a text without gaps", v, k, got)
				}
			}
		}
	}
}
