package loop

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// dataOf returns the strings on a state's page that are not the program's own words: names,
// formats, prompts, and the state's tokens, messages and stop strings.
func dataOf(m *infer.Model, st *session.State) []string {
	data := []string{
		shell.Name, m.Name(), st.Prompt, "User:", "</answer>", "silu(gate) × up",
	}
	for _, o := range session.Openings {
		data = append(data, o.Text, stage.Marked(o.Text).String())
		said, _, _ := strings.Cut(strings.TrimPrefix(o.Text, "User: "), "\n")
		data = append(data, said)
	}
	for _, s := range session.Suggestions {
		data = append(data, stage.Marked(s.Prompt).String())
	}
	for _, s := range st.Settings.Stop.Strings {
		data = append(data, stage.Marked(s).String())
	}
	add := func(t infer.Token) { data = append(data, stage.TokenText(t).String(), t.Text) }
	for _, t := range slices.Concat(st.PromptTokens, st.Ghosts) {
		add(t)
	}
	for _, b := range st.Branches {
		for _, id := range b.Chosen {
			add(m.Token(id))
		}
	}
	for _, id := range m.Config().EOS {
		add(m.Token(id))
	}
	for _, step := range st.Steps {
		if step.Ran < infer.KindLogits {
			continue
		}
		for _, id := range step.Distribution().Order[:300] {
			add(m.Token(int(id)))
		}
		add(m.Token(step.Chosen))
	}
	if st.Started() {
		for _, row := range lang.NewFound(st, 1, "the").Rows {
			data = append(data, row.Text.String())
		}
	}
	if st.Look != nil {
		for _, b := range st.Look.Blocks {
			for _, r := range b.Says {
				add(r.Token)
			}
		}
	}
	for _, message := range st.Messages() {
		data = append(data, message.Content)
	}
	return data
}

// TestEveryWordIsInTheCatalog renders the page and the live panels of many states, in both views,
// in the pseudo-language, which marks every word from a catalog. A word without a mark is
// hard-coded.
func TestEveryWordIsInTheCatalog(t *testing.T) {
	w := stage.Words{Language: pseudo.Language(t)}
	all := states(t)
	for _, s := range stories {
		if s.Name == "long" {
			continue
		}
		st, err := s.state(t.Context(), testmodel.Target(t))
		if err != nil {
			t.Fatal(err)
		}
		all["story "+s.Name] = st
	}
	paused, failed, stuck := *all["stopped"], *all["stopped"], *all["stopped"]
	paused.Notice, failed.Notice, stuck.Stuck = session.WhyMemory, session.WhyFailed, terms.Refuse("", "run.text.none")
	all["paused"], all["failed"], all["stuck"] = &paused, &failed, &stuck
	for name, st := range all {
		data := pseudo.NewData(dataOf(st.Model, st))
		for _, view := range []view{numbersView, storyView} {
			v := NewPage(w, st)
			v.View, v.Class = view, "ABCD"
			check(t, name+", "+string(view), data, inPseudo(t, w, PageHTML(v)))
			m := &wire.Message{}
			e := encoders[wire.ProtocolHTML](w, view)
			if err := encodeAll(e, m, st); err != nil {
				t.Fatal(err)
			}
			if st.Started() {
				for query, q := range map[string]*query{
					"peek": {step: 1}, "find": {step: 1, text: "the"}, "zoom": {block: 1, head: 1, sum: true},
				} {
					if err := e.answer(m, query, q, st); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, p := range m.Panels {
				check(t, name+", "+string(view)+", panel "+p.ID, data, p.HTML)
			}
		}
	}
	for _, text := range []string{"", "ba", "ba\xff", strings.Repeat("Once upon ", 300)} {
		m := testmodel.Target(t)
		data := pseudo.NewData(dataOf(m, all["empty"]))
		check(t, "pieces", data, inPseudo(t, w, PiecesHTML(NewPieces(w, m, chat.Text{Text: text}))))
	}
}

// inPseudo renders a component in the language of w.
func inPseudo(t *testing.T, w stage.Words, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(terms.With(t.Context(), w.Language), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tokens selects the elements of a page that contain tokens or prompts, and the elements that are
// not shown.
const tokens = ".tk, .tok > span:not(.sr), .tc th > i, .seg__t, .laid__t, .vis text, .flow > *:not(small), " +
	".pic__name, .map__toks b, .begin__act [data-prompt], [data-chat], script, noscript, " +
	"template[data-texts]"

// check reports the words in a piece of HTML that are neither marked nor data.
func check(t *testing.T, what string, data pseudo.Data, page string) {
	t.Helper()
	d := parse(t, page)
	d.Find(tokens).Remove()
	d.Find("tbody th").Each(func(_ int, e *goquery.Selection) {
		if e.Closest(".tc").Length() > 0 {
			e.Contents().Not("*").Remove() // the token itself
		}
	})
	shown, err := d.Html()
	if err != nil {
		t.Fatal(err)
	}
	left, err := data.OfPage(shown)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range left {
		t.Errorf("%s: in no catalog: %s", what, words)
	}
}

// TestResponsesAreInTheLanguageOfTheRequest requests pages without a run, and exports that are refused.
func TestResponsesAreInTheLanguageOfTheRequest(t *testing.T) {
	x := newSite(t, limits{})
	mux := http.NewServeMux()
	x.Mount(mux)
	data := pseudo.NewData(append(dataOf(x.Model, x.empty), "Token", "by", "storybook"))
	ctx := terms.With(t.Context(), pseudo.Language(t))
	for _, path := range []string{
		"/loop", "/loop?run=gone", "/loop?log=damaged", "/loop?log=" + strings.Repeat("A", session.MaxLink+1),
		"/loop?start=none", "/loop?class=ABCD", "/storybook", "/storybook/none", "/storybook/empty",
		"/export/none", "/export/text?run=gone", "/export/chart?log=damaged",
	} {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, http.NoBody).WithContext(ctx))
		check(t, path, data, rec.Body.String())
	}
	rec, form := httptest.NewRecorder(), strings.NewReader("view=none")
	r := httptest.NewRequest(http.MethodPost, "/view", form).WithContext(ctx)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	mux.ServeHTTP(rec, r)
	check(t, "/view", data, rec.Body.String())
}
