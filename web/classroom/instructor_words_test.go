package classroom

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// zzz replaces all text written by people or taken from lessons in these tests.
const zzz = "Zzz"

// stageParts selects the texts of scripts, the parts of pages that package stage writes, with their
// tokens, and the names of the codes and columns of a study, which are the same in all languages.
const stageParts = "template, .study code, #cl-strip, #cl-rail, .deck__stage > :not(p), .bigstage__map, .segments, " +
	".bigstage__say, .seven, .ph__main"

// checkWords reports the words of a page that are in no catalog.
func checkWords(t *testing.T, l *terms.Language, name string, page templ.Component) {
	t.Helper()
	var b bytes.Buffer
	if err := page.Render(terms.With(t.Context(), l), &b); err != nil {
		t.Fatal(err)
	}
	d, err := goquery.NewDocumentFromReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	d.Find(stageParts).Remove()
	html, err := d.Html()
	if err != nil {
		t.Fatal(err)
	}
	data := []string{zzz, "zzz", "ABC", "ABC234", "/class/ABC234", "/join", "http", "zzz0"}
	left, err := pseudo.NewData(data).OfPage(html)
	if err != nil || len(left) > 0 {
		t.Errorf("%s: the words %q, %v are in no catalog, want none", name, left, err)
	}
}

func someWalk() *lessons.Walk {
	return &lessons.Walk{
		Slug: "zzz", Title: zzz, Lead: zzz, LeadText: zzz, Minutes: 9, Steps: []*lessons.WalkStep{
			{Title: zzz, Say: "<p>Zzz</p>", Note: "<p>Zzz</p>", Wait: zzz}, {Title: zzz},
		},
	}
}

// reaches returns all ways in which a class can reach a server.
func reaches() (list []reach) {
	host := PhoneHost{"1.2.3.4", "zzz0"}
	for _, let := range []*letIn{
		nil,
		{Error: zzz, Minutes: 1},
		{Code: "ABC234", Hosts: []PhoneHost{host}, Clear: true, Minutes: 10},
		{Hosts: []PhoneHost{host, host}, Minutes: 10},
		{Open: true, Lost: true, Clear: true, Minutes: 10},
		{Code: "ABC234", Open: true, Minutes: 1},
	} {
		list = append(list, reach{
			Access: Access{Local: true, Command: "zzz", Secure: "zzz"}, Base: "http://zzz", Shown: "zzz", Let: let,
		})
	}
	return append(list, reach{Access: Access{Clear: true, Secure: "zzz"}, Base: "http://zzz", Shown: "zzz"})
}

// TestPagesOfInstructorsAreInTheCatalog renders, in the pseudo-language, the pages for creating and
// joining a room and for writing a walkthrough, and the error pages.
func TestPagesOfInstructorsAreInTheCatalog(t *testing.T) {
	t.Parallel()
	l := pseudo.Language(t)
	w := stage.Words{Language: l}
	check := func(name string, page templ.Component) { t.Helper(); checkWords(t, l, name, page) }
	check("a refusal", refusalPage(zzz, zzz))
	check("no classes", nonePage())
	check("joining", joinHTML(joinPage{"ABC234", zzz}))
	for i, to := range reaches() {
		made := madePage{Title: zzz, Code: "ABC234", Left: "ABC", Right: "234", Reach: to, Link: "http://zzz"}
		check(fmt.Sprint("a room ", i), madeHTML(made))
		made.Walk, made.Secret = zzz, zzz
		check(fmt.Sprint("a new room ", i), madeHTML(made))
		v := teachPage{Walks: []*lessons.Walk{someWalk()}, Reach: to, Kept: lasting(w, 48*time.Hour)}
		check(fmt.Sprint("making a room ", i), teachHTML(v))
		v.Error, v.Deleted, v.Form = zzz, true, url.Values{}
		v.Notices = []progress.Notice{{At: time.Now(), Text: zzz}}
		check(fmt.Sprint("a refused room ", i), teachHTML(v))
	}
	asked := &lessons.Question{Prompt: "<p>Zzz</p>", PromptText: zzz}
	for _, kept := range []string{"", lasting(w, 48*time.Hour)} {
		check("the study kit", studyHTML(studyPage{Question: asked, Kept: kept}))
	}
	for _, codes := range [][]string{{"ABC234"}, {"ABC234", "ABC234"}} {
		check("answer sheets", studySheetHTML(studyPage{Question: asked, Codes: codes}))
	}
	n, unit := 3.0, "zzz"
	for _, ask := range []*lessons.AskSpec{
		nil,
		{Kind: lessons.AskNext, Choices: 5},
		{Kind: lessons.AskDraw},
		{Kind: lessons.AskQuestion, Question: &lessons.Question{PromptText: zzz}},
		{Kind: lessons.AskNumber, PromptText: zzz, Answer: n, Unit: unit},
	} {
		walk := someWalk()
		check("a walkthrough", draftHTML(draftPage{
			Walks: []*lessons.Walk{walk, walk}, Walk: walk, N: 1, Asks: askText(w, ask),
		}))
	}
	check("a bad walkthrough", draftHTML(draftPage{Problems: []*lessons.Problem{{Line: 1, Say: zzz}}}))
	check("a slow walkthrough", draftHTML(draftPage{Trouble: zzz}))
	for line := range strings.Lines(draftSample(w)) {
		if words, ok := strings.CutPrefix(line, "⟦"); !ok && strings.Contains(words, "step") &&
			!strings.HasPrefix(line, "go ") && !strings.Contains(line, "⟦") {
			t.Errorf("the first text has the line %q, want it in the catalog", line)
		}
	}
}

// viewsOfInstructors returns rooms in all states that the instructor's controls show.
func viewsOfInstructors(t *testing.T) (list []*class.View) {
	t.Helper()
	st := stateAt(t, infer.KindSoftmax)
	add := func(v *class.View) {
		v.Code, v.Title = "ABC234", zzz
		list = append(list, v)
	}
	add(&class.View{})
	add(&class.View{State: st, Leading: 2, Nicknames: true, Notice: class.ErrBroken})
	add(&class.View{State: st, Alone: true, Locked: true, NamesHidden: true, Nicknames: true})
	add(&class.View{State: st, Ended: true})
	add(&class.View{State: st, Offer: &class.Offer{Draw: true, Share: 0.9}})
	add(&class.View{State: st, Offer: &class.Offer{Choices: 5}})
	for step := range 3 {
		add(&class.View{State: st, Walk: &class.WalkView{Walk: someWalk(), Step: step}})
		add(&class.View{State: st, Walk: &class.WalkView{Walk: someWalk(), Step: step, Left: true}})
	}
	right := 3.0
	for _, phase := range []class.Phase{class.Open, class.Closed, class.Spread, class.Revealed} {
		for _, kind := range []class.Kind{class.Next, class.Draw, class.Question, class.Number} {
			q := &class.Poll{Kind: kind, Phase: phase, Round: 1, Prompt: zzz, Step: 1, Votes: 1}
			q.Options = []class.Option{{Key: "a", Letter: "A", Text: zzz, Count: 1, Q: 0.5, Right: true}}
			if kind == class.Number {
				q.Options, q.Right = nil, &right
			}
			add(&class.View{State: st, Poll: q, Here: 2, Hidden: phase != class.Revealed})
		}
	}
	return list
}

// TestPresentingIsInTheCatalog renders the instructor's page, the wall and the panels of their
// connections in the pseudo-language.
func TestPresentingIsInTheCatalog(t *testing.T) {
	t.Parallel()
	l := pseudo.Language(t)
	w := stage.Words{Language: l}
	rest := session.New(testmodel.Target(t), session.Limits{}).State()
	list := []class.Attendee{
		{}, {Here: true}, {Voted: zzz}, {Here: true, Voted: zzz, Member: class.Member{ID: 3, Name: zzz}},
	}
	for i, v := range viewsOfInstructors(t) {
		for _, view := range shell.Views {
			d, err := newSlide(w, v, view, reach{Base: "http://zzz", Shown: "zzz"}, rest)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint("view ", i, " in ", view)
			checkWords(t, l, name+", the wall", projectorHTML(d))
			for _, drives := range []bool{false, true} {
				page := presentPage{
					slide: d, View: v, Control: controlFor(w, v, drives), Note: newNote(w, v), Script: newScript(v),
					Settings:  infer.DefaultSettings(),
					Questions: []*lessons.Question{{PromptText: zzz}},
				}
				checkWords(t, l, name, presentHTML(page))
			}
		}
		checkWords(t, l, "members", members(v, list))
	}
	for _, to := range reaches() {
		checkWords(t, l, "letting phones in", presentLetIn(presentPage{slide: slide{Reach: to}, Let: to.Let}))
	}
}

// TestToursAndSummariesAreInTheCatalog renders the steps of a tour, and the summary and replay of a
// class, in the pseudo-language.
func TestToursAndSummariesAreInTheCatalog(t *testing.T) {
	t.Parallel()
	l := pseudo.Language(t)
	w := stage.Words{Language: l}
	walk := someWalk()
	rest, wrong, right := stateAt(t, infer.KindForward), false, true
	for _, v := range viewsOfInstructors(t) {
		for _, verdict := range []*bool{nil, &wrong, &right} {
			for _, mine := range []string{"", "a"} {
				p := tourPage{
					Walk: walk, Step: walk.Steps[0], N: 1, Screen: newScreen(w, rest, shell.Story, false),
					Poll: newPoll(w, v), Mine: mine, Said: zzz, Right: verdict, Draws: len(mine), Loop: "/loop",
				}
				checkWords(t, l, "a tour's last step", tourHTML(p))
				p.Back, p.Next = "/zzz", "/zzz"
				checkWords(t, l, "a tour's step", tourHTML(p))
			}
		}
	}
	s := &class.Summary{Title: zzz, Code: "ABC234", Begun: time.Now(), Members: 1, Voters: 1}
	checkWords(t, l, "an empty summary", summaryHTML(newSummaryPage(w, s, "http://zzz")))
	checkWords(t, l, "an empty replay", replayHTML(newSummaryPage(w, s, "http://zzz")))
	s.Walk, s.WalkSlug, s.NextAsked, s.Stated = zzz, "zzz", 2, 3
	s.Texts, s.Letters = []class.Text{{Prompt: zzz}}, map[int]string{0: "a"}
	s.Calibration = []predict.Bin{{N: 1, To: 0.5}}
	for _, v := range viewsOfInstructors(t) {
		if v.Poll != nil {
			p := class.PollSummary{Poll: *v.Poll, Text: zzz, Rounds: []class.Round{{Votes: 1, Right: 1}}}
			s.Polls = append(s.Polls, p)
			p.Rounds = append(p.Rounds, p.Rounds...)
			s.Polls = append(s.Polls, p)
		}
	}
	checkWords(t, l, "a summary", summaryHTML(newSummaryPage(w, s, "http://zzz")))
	checkWords(t, l, "a replay", replayHTML(newSummaryPage(w, s, "http://zzz")))
}
