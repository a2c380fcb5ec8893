package classroom

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// Instructors can write a walkthrough on a page that shows its run next to the text. The
// text stays on the page: the server parses the text that it receives, replies, and stores
// nothing. Since anyone can start such runs, the model is shared fairly between learners.

// Limits of a draft.
const (
	draftBytes = 20 << 10 // fits into a form of 64 KiB in every script
	draftSteps = 100
	draftSlice = 5 * time.Second // longest time of a run while others wait
)

// draftSample returns the initial text.
func draftSample(w stage.Words) string {
	of := func(what string) string { return w.T("classroom.draft.sample." + what) }
	return `---
title: ` + of("title") + `
slug: my-walkthrough
minutes: 10
lead: ` + of("lead") + `
---

## ` + of("first") + ` {#first}

::: do
start prompt="Once upon a time there was a" temperature=0.7 top_p=0.9 seed=42 max_tokens=24
go step=1 stage=softmax
:::

` + of("say") + `

::: note
` + of("note") + `
:::

## ` + of("second") + ` {#second}

::: do
go step=1 stage=sample
:::

` + of("ask") + `

::: ask next choices=5
:::
`
}

// draftPage is the page for writing a walkthrough.
type draftPage struct {
	Text     string
	Walks    []*lessons.Walk // walkthroughs to start from
	Problems []*lessons.Problem
	Walk     *lessons.Walk // the part of the walkthrough that could be parsed
	N        int           // the number of the step shown, starting at 1; 0 for none
	Asks     string        // a description of what the step asks
	Trouble  string        // the reason why the step is not shown
	Screen   *screen
}

func (v draftPage) Step() *lessons.WalkStep { return v.Walk.Steps[v.N-1] }

// draft handles GET /teach/walk?from=SLUG.
func (p *Pages) draft(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	words := stage.In(r.Context())
	text := draftSample(words)
	if from := r.URL.Query().Get("from"); from != "" {
		if text = p.Course.In(r.Context()).WalkText(from); text == "" {
			p.Refuse(
				w, r, http.StatusNotFound, words.T("classroom.draft.none"), words.T("classroom.draft.none.say"),
			)
			return
		}
	}
	p.HTML(w, r, http.StatusOK, draftHTML(p.newDraft(r, text, url.Values{})))
}

// checkDraft handles the form of the draft page: it parses the text and shows a step, or
// sends the text back as a file.
func (p *Pages) checkDraft(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	p.Who(w, r)
	text := strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
	if len(text) > draftBytes {
		words := stage.In(r.Context())
		p.Refuse(
			w, r, http.StatusRequestEntityTooLarge, words.T("classroom.draft.long"),
			words.T("classroom.draft.long.say", "size", words.Bytes(draftBytes)),
		)
		return
	}
	if r.PostForm.Get("do") == "save" {
		sendDraft(w, p.Course.In(r.Context()), text)
		return
	}
	p.HTML(w, r, http.StatusOK, draftHTML(p.newDraft(r, text, r.PostForm)))
}

// sendDraft sends the text of a walkthrough as a file for a lesson folder.
func sendDraft(w http.ResponseWriter, course *lessons.Course, text string) {
	name := "walkthrough"
	if walk, problems := course.ReadWalk(text); len(problems) == 0 {
		name = walk.Slug
	}
	h := w.Header()
	h.Set("Content-Type", "text/markdown; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`.md"`)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text)) // the browser may be gone
}

// newDraft parses the text of a walkthrough and runs it up to the requested step.
func (p *Pages) newDraft(r *http.Request, text string, f url.Values) draftPage {
	v, words := draftPage{Text: text}, stage.In(r.Context())
	course := p.Course.In(r.Context())
	for _, w := range course.Walks {
		if course.WalkText(w.Slug) != "" { // the server lacks the text of instructors' own walkthroughs
			v.Walks = append(v.Walks, w)
		}
	}
	v.Walk, v.Problems = course.ReadWalk(text)
	if len(v.Walk.Steps) > draftSteps {
		v.Trouble = words.T("classroom.draft.steps.most", "n", draftSteps)
	}
	if len(v.Problems) > 0 || len(v.Walk.Steps) == 0 || v.Trouble != "" {
		return v
	}
	v.N = stepAsked(v.Walk, f)
	v.Asks = askText(words, v.Step().Ask)
	st, err := p.runDraft(r, v.Walk, v.N)
	if err != nil {
		_, _, v.Trouble = p.trouble(r, err)
		return v
	}
	s := newScreen(words, st, shell.ViewOf(r), false)
	v.Screen = &s
	return v
}

// stepAsked returns the step whose button was pressed or, if none was, the step that contains the
// line with the cursor.
func stepAsked(w *lessons.Walk, f url.Values) int {
	if n, err := strconv.Atoi(f.Get("step")); err == nil {
		return min(max(n, 1), len(w.Steps))
	}
	line, _ := strconv.Atoi(f.Get("line"))
	n := 1
	for i, s := range w.Steps {
		if s.Line <= line {
			n = i + 1
		}
	}
	return n
}

// runDraft runs a walkthrough up to the given step. It starts at the nearest step at or before the
// given one that begins a new text.
func (p *Pages) runDraft(r *http.Request, w *lessons.Walk, step int) (*session.State, error) {
	who, _ := p.Caller(r)
	ctx, leave, err := p.drafts.EnterRequest(r.Context(), who, draftSlice)
	if err != nil {
		return nil, errBusy
	}
	defer leave()
	s := p.Slot()
	s.Step(true) // someone is waiting for this run
	run := session.New(s.Model(), session.Limits{PromptBytes: tourPrompt})
	st, err := moves.Perform(ctx, run.Apply, w, step, 0)
	if err != nil && ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), admission.ErrYield) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, terms.Refuse(terms.CodeBusy, "classroom.draft.slow", "n", step)
		}
		return nil, errBusy
	}
	return st, err
}

// askText describes what a step asks. It returns "" for a step without a question.
func askText(w stage.Words, a *lessons.AskSpec) string {
	switch {
	case a == nil:
		return ""
	case a.Kind == lessons.AskNext:
		return w.T("classroom.draft.asks.next", "n", a.Choices)
	case a.Kind == lessons.AskDraw:
		return w.T("classroom.draft.asks.draw")
	case a.Kind == lessons.AskQuestion:
		return w.T("classroom.draft.asks.question", "question", oneLine(a.Question.PromptText))
	}
	answer := strings.TrimSpace(terms.Plain(a.Answer) + " " + a.Unit)
	return w.T("classroom.draft.asks.number", "question", oneLine(a.PromptText), "answer", answer)
}
