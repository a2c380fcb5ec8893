package classroom

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// tokensOnPages selects the elements that contain tokens.
const tokensOnPages = ".tk, .tok > span:not(.sr), .tc th > i, .seg__t, .laid__t, .vis text, .flow > *:not(small), " +
	".map__toks b, .opt, .falls__t, .prose"

// wordsOf returns the words of a component that are in no catalog.
func wordsOf(ctx context.Context, t *testing.T, c templ.Component) []string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	data := []string{"Qqq", "ABC234", "ABC 234", "silu(gate) × up", "The capital of France is"}
	data = append(data, "very safe", "as learned") // stage.Boldness returns English text
	d.Find("[data-token]").Each(func(_ int, s *goquery.Selection) { data = append(data, s.AttrOr("data-token", "")) })
	tokens := d.Find(tokensOnPages)
	tokens.Each(func(_ int, s *goquery.Selection) { data = append(data, s.Text()) })
	tokens.Remove()
	d.Find("noscript, [data-texts]").Remove() // raw text, not HTML
	d.Find(".tc tbody th").Contents().Not("*").Remove()
	html, err := d.Html()
	if err != nil {
		t.Fatal(err)
	}
	left, err := pseudo.NewData(data).OfPage(html)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// pollsOfPhones returns polls of every kind, in every phase and with every kind of result.
func pollsOfPhones(st *session.State) (list []*class.Poll) {
	answer, step := 5.5, st.Cursor.Step
	token := func(counts ...int) (options []class.Option) {
		for i, n := range counts {
			id := int(st.Dist.Order[i])
			options = append(options, class.Option{
				Key: fmt.Sprint(id), Letter: string(rune('A' + i)), Text: st.Model.Token(id).Text, Token: true,
				Count: n, Q: 0.25, P: 0.2,
			})
		}
		end := class.Option{Key: "2", Letter: "E", Text: terms.English.T("class.ask.end"), Q: 0.1}
		return append(options, end, class.Option{Text: terms.English.T("class.ask.others"), Rest: true, Q: 0.1})
	}
	question := []class.Option{{Key: "a", Letter: "A", Text: "Qqq", HTML: "Qqq", Right: true, Why: "Qqq"}}
	for _, phase := range []class.Phase{class.Open, class.Closed, class.Spread, class.Revealed} {
		for _, p := range []class.Poll{
			{Kind: class.Next, Prompt: terms.English.T("class.ask.next"), Options: token(0, 0, 0), Step: step},
			{Kind: class.Next, Prompt: terms.English.T("class.ask.next"), Options: token(2, 1, 0), Votes: 3, Round: 2},
			{Kind: class.Next, Prompt: terms.English.T("class.ask.next"), Options: token(1, 1, 1), Votes: 3},
			{Kind: class.Draw, Prompt: terms.English.T("class.ask.draw"), Options: token(2, 2, 0), Votes: 4},
			{Kind: class.Draw, Prompt: terms.English.T("class.ask.draw"), Options: token(1, 0, 0), Votes: 1},
			{Kind: class.Question, Prompt: "Qqq", Options: question, Answer: "Qqq", Votes: 1},
			{Kind: class.Number, Prompt: "Qqq", Unit: "Qqq", Median: &answer, Right: &answer, Options: question},
		} {
			p.ID, p.Phase, p.Ends, p.Round = "1-1", phase, time.Now(), max(p.Round, 1)
			if p.Round > 1 {
				p.Before = make([]int, len(p.Options))
				p.Before[0] = 3
			}
			if p.Kind == class.Draw {
				p.Falls = []class.Fall{{Member: class.Member{ID: 1, Name: "Qqq"}, U: 0.5}, {U: 0.7}}
			}
			list = append(list, &p)
		}
	}
	return list
}

// viewsOfPhones returns the views of a class that a phone shows.
func viewsOfPhones(t *testing.T) map[string]*class.View {
	t.Helper()
	st := stateAt(t, infer.KindFilter)
	walk := &lessons.Walk{Slug: "qqq", Title: "Qqq", Steps: []*lessons.WalkStep{{Title: "Qqq", Say: "<p>Qqq</p>"}}}
	list := map[string]*class.View{
		"nothing yet": {Title: terms.English.T("class.ask.untitled")},
		"the end": {Ended: true, Members: 2, End: &class.Ending{Asked: 1, Votes: 2, Texts: 1}, Walk: &class.WalkView{
			Walk: walk, Step: 1,
		}},
		"a veil": {State: st, Hidden: true, Poll: &class.Poll{Kind: class.Next, Phase: class.Open, Step: 2}},
	}
	for stage := infer.KindForward; stage <= infer.KindCache; stage++ {
		list[fmt.Sprint("stage ", stage)] = &class.View{State: stateAt(t, stage), Here: 3, Nicknames: true, Alone: true}
	}
	for i, q := range pollsOfPhones(st) {
		list[fmt.Sprintf("poll %d, %s, %s", i, q.Kind, q.Phase)] = &class.View{
			State: st, Here: 5, Poll: q, Nicknames: true, NamesFall: true,
		}
	}
	for _, v := range list {
		v.Code = "ABC234"
		if v.Title == "" {
			v.Title = "Qqq"
		}
	}
	return list
}

// TestPhonesHaveTheirWordsFromTheCatalog renders a phone's page in all states of a class in a
// language whose catalog marks every word.
func TestPhonesHaveTheirWordsFromTheCatalog(t *testing.T) {
	t.Parallel()
	ctx := terms.With(t.Context(), pseudo.Language(t))
	w := stage.In(ctx)
	p := &Pages{rest: session.New(stateAt(t, infer.KindForward).Model, session.Limits{}).State()}
	for name, v := range viewsOfPhones(t) {
		for _, view := range shell.Views {
			f := p.followPage(w, v, view)
			for _, mine := range []*class.Receipt{nil, {Choice: "a", Text: "Qqq"}, {Text: "Qqq", U: 0.5}} {
				f.Mine, f.Name = mine, "Qqq"
				if left := wordsOf(ctx, t, followHTML(f)); len(left) > 0 {
					t.Errorf("%s, %s: got %q outside of the catalog, want none", name, view, left)
				}
			}
		}
	}
	v := viewsOfPhones(t)["stage sample"]
	for _, view := range shell.Views {
		for _, place := range []struct{ at, t string }{{"1.1", ""}, {"1.3", "0.5"}, {"2.4", "1"}} {
			own, err := p.wander(w, v, view, place.at, place.t)
			if err != nil {
				t.Fatal(err)
			}
			if left := wordsOf(ctx, t, ownHTML(followPage{View: v, Own: own})); len(left) > 0 {
				t.Errorf("looking at %v, %s: got %q outside of the catalog, want none", place, view, left)
			}
		}
	}
	for _, ask := range []url.Values{{"at": {"9.9"}}, {"at": {"1.3"}, "t": {"x"}}} {
		_, err := p.wander(w, v, shell.Numbers, ask.Get("at"), ask.Get("t"))
		refused, ok := terms.AsRefusal(err)
		if left := pseudo.NewData(nil).Unmarked(refused.In(w.Language)); !ok || len(left) > 0 {
			t.Errorf("%v: got %v with %q outside of the catalog", ask, err, left)
		}
	}
}

// TestAssignmentsHaveTheirWordsFromTheCatalog is like [TestPhonesHaveTheirWordsFromTheCatalog], but
// for assignments.
func TestAssignmentsHaveTheirWordsFromTheCatalog(t *testing.T) {
	t.Parallel()
	ctx := terms.With(t.Context(), pseudo.Language(t))
	w := stage.In(ctx)
	task := []coursework.Task{{Key: "learn/qqq", Title: "Qqq", Time: "Qqq", Been: "Qqq", Done: true}}
	course := &lessons.Course{Questions: []*lessons.Question{
		{ID: "qqq", PromptText: "Qqq", Choices: []lessons.Choice{{Text: "Qqq"}}},
	}}
	results := newWorkSummary(w, course, &class.AssignedSummary{HandedIn: 1}, "Qqq")
	results.Tasks = []workTask{{"Qqq", "1", "10%"}}
	results.Slips = []workSlip{{"Qqq", slipText(w, course, "qqq.1"), 2}}
	results.People = []class.PersonSummary{{Name: "Qqq", Done: 1}}
	work := workPage{Assignment: class.Assignment{Title: "Qqq", Names: true}, Of: 2, Lessons: task}
	nameless, handed, again := work, work, work
	nameless.Names, nameless.Of = false, 0
	handed.Work, handed.Just, again.Work, again.Names = &class.Work{}, true, &class.Work{}, false
	for name, c := range map[string]templ.Component{
		"assigning":    assignHTML(assignPage{Title: "Qqq", Lessons: task, Drill: task}),
		"no tasks":     workHTML(nameless),
		"tasks":        workHTML(work),
		"handed in":    workHTML(handed),
		"before":       workHTML(again),
		"no results":   workSummaryHTML("ABC234", nil),
		"nobody":       workSummaryHTML("ABC234", newWorkSummary(w, course, &class.AssignedSummary{}, "Qqq")),
		"some results": workSummaryHTML("ABC234", results),
	} {
		if left := wordsOf(ctx, t, c); len(left) > 0 {
			t.Errorf("%s: got %q outside of the catalog, want none", name, left)
		}
	}
}

// TestSnapshotIsRenderedOnceForEachLanguage: screens in the same language share a snapshot, which
// outlives the connection for which it was rendered.
func TestSnapshotIsRenderedOnceForEachLanguage(t *testing.T) {
	t.Parallel()
	st := stateAt(t, infer.KindSample)
	p := &Pages{rest: session.New(st.Model, session.Limits{}).State()}
	v := &class.View{Seq: 1, Code: "ABC234", State: st}
	gone, end := context.WithCancel(terms.With(t.Context(), pseudo.Language(t)))
	end()
	for _, l := range []variant{{onPhone, shell.Story}, {onPhone, shell.Numbers}} {
		english, err := p.snapshot(t.Context(), v, l)
		if err != nil {
			t.Fatal(err)
		}
		other, err := p.snapshot(gone, v, l)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := p.snapshot(gone, v, l)
		if other != again || bytes.Contains(english.Bytes(), []byte("⟦")) ||
			!bytes.Contains(other.Bytes(), []byte("⟦")) {
			t.Errorf("%v: rendered again: %t, in English: %t; want one snapshot for each language", l, other != again,
				bytes.Equal(other.Bytes(), english.Bytes()))
		}
	}
}
