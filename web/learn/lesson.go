package learn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A lessonPage is the content of a lesson's page.
type lessonPage struct {
	*lessons.Lesson
	Map        *coursework.Map
	Here       *coursework.MapLesson
	Sections   []lessonSection
	Notes      []*lessons.Term // definitions of the lesson's terms, each in a note that opens in place
	Prev, Next *lessons.Lesson
	Picture    []pictureState // the states of the picture beside the text; may be empty
	Own        *ownSentence
}

// A lessonSection is a section with its parts laid out.
type lessonSection struct {
	*lessons.Section
	Parts []templ.Component
	Notes []string // HTML
}

// lesson handles GET /learn/SLUG.
func (p *Pages) lesson(w http.ResponseWriter, r *http.Request) {
	p.showLesson(w, r, p.Course.In(r.Context()).Lesson(r.PathValue("slug")), nil)
}

// showLesson sends a lesson's page. If a form was submitted without scripts, the page is its
// response, and asked is the current state of the question in the form. Otherwise, asked is nil.
func (p *Pages) showLesson(w http.ResponseWriter, r *http.Request, l *lessons.Lesson, asked *coursework.Question) {
	if l == nil {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("learn.lesson.none"), words.T("learn.lesson.none.say"))
		return
	}
	learner := p.Who(w, r)
	m, err := p.Map(r.Context(), learner)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	own := p.ownSentence(r, learner, l)
	p.HTML(w, r, http.StatusOK, lessonHTML(p.newLesson(r.Context(), l, m, own, asked, shell.ViewOf(r))))
}

func (p *Pages) newLesson(
	ctx context.Context, l *lessons.Lesson, m *coursework.Map, own *ownSentence, asked *coursework.Question,
	view shell.View,
) *lessonPage {
	v := &lessonPage{Lesson: l, Map: m, Own: own, Picture: p.pictureOf(stage.In(ctx), l, own)}
	for i := range m.Lessons {
		if m.Lessons[i].Lesson != l {
			continue
		}
		v.Here = &m.Lessons[i]
		if i > 0 {
			v.Prev = m.Lessons[i-1].Lesson
		}
		if i+1 < len(m.Lessons) {
			v.Next = m.Lessons[i+1].Lesson
		}
	}
	for _, s := range l.Sections {
		ls := lessonSection{Section: s}
		for _, b := range s.Blocks {
			ls.Parts = append(ls.Parts, p.block(ctx, l, b, asked, view, own.Text))
		}
		for _, n := range l.Notes {
			if n.Section == s.ID || n.Section == s.Key() {
				ls.Notes = append(ls.Notes, n.HTML)
			}
		}
		v.Sections = append(v.Sections, ls)
	}
	for _, id := range l.Terms {
		v.Notes = append(v.Notes, p.Course.In(ctx).Term(id))
	}
	return v
}

// block lays out one block of a section. The lesson is nil for pages that are not lessons. own is the
// learner's sentence, or "".
func (p *Pages) block(
	ctx context.Context, l *lessons.Lesson, b lessons.Block, asked *coursework.Question, view shell.View, own string,
) templ.Component {
	switch b := b.(type) {
	case lessons.Prose:
		return proseHTML(b.HTML)
	case lessons.Fold:
		return foldHTML(b)
	case lessons.Widget:
		return p.widget(b, view, own)
	case lessons.Check:
		if asked == nil || asked.Q != b.Question {
			asked = coursework.Ask(ctx, b.Question, checkAction(b.Question, l))
		}
		return checkHTML(asked, p.earlier(ctx, b.Question, l))
	case lessons.Picture:
		return pictureMark(b)
	case lessons.Aside:
		return aside(b)
	}
	// A block that this package cannot show must not be silently omitted, so the whole page fails.
	return templ.ComponentFunc(func(context.Context, io.Writer) error {
		return fmt.Errorf("no layout for a lesson part of type %T", b)
	})
}

// checkAction returns the address for the answer to a question on the page of a lesson. It names
// the lesson if the question belongs to another one.
func checkAction(q *lessons.Question, on *lessons.Lesson) string {
	if on == nil || strings.HasPrefix(q.Section, on.Slug+"#") {
		return "/learn/check/" + q.ID
	}
	return "/learn/check/" + q.ID + "?on=" + on.Slug
}

// earlier returns the section that a question is about if it belongs to another lesson than the one
// whose page asks it. Otherwise, it returns nil.
func (p *Pages) earlier(ctx context.Context, q *lessons.Question, on *lessons.Lesson) *lessons.Section {
	if on == nil || strings.HasPrefix(q.Section, on.Slug+"#") {
		return nil
	}
	return p.Course.In(ctx).Section(q.Section)
}

// check handles POST /learn/check/ID, which submits an answer to a lesson's question. It sends
// the updated question to a script, and the whole lesson to a form.
func (p *Pages) check(w http.ResponseWriter, r *http.Request) {
	q := p.Course.In(r.Context()).Question(r.PathValue("id"))
	if q == nil {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("learn.question.none"), words.T("learn.changed"))
		return
	}
	if !p.Form(w, r) {
		return
	}
	slug, _, _ := strings.Cut(q.Section, "#")
	l := p.Course.In(r.Context()).Lesson(slug)
	if on := p.Course.In(r.Context()).Lesson(r.URL.Query().Get("on")); on != nil {
		l = on
	}
	v := coursework.Ask(r.Context(), q, checkAction(q, l))
	if !p.Answer(w, r, v, progress.Check) {
		return
	}
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, coursework.QuestionForm(v))
		return
	}
	p.showLesson(w, r, l, v)
}

// visit handles POST /learn/visit, which marks sections as read to the end. The script sends
// sections one by one; the button at a lesson's end sends all of them.
func (p *Pages) visit(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	learner := p.Who(w, r)
	for _, key := range r.PostForm["section"] {
		if p.Course.Section(key) == nil {
			words := stage.In(r.Context())
			p.Refuse(w, r, http.StatusBadRequest, words.T("learn.section.none"), words.T("learn.changed"))
			return
		}
		if err := p.Progress.Visit(r.Context(), learner, key); err != nil {
			p.Fail(w, r, err)
			return
		}
	}
	if shell.Fragment(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	to := "/learn"
	if l := p.Course.Lesson(r.PostForm.Get("lesson")); l != nil {
		to = l.Href() + "#end"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// Heading returns the section's title as HTML.
func (s lessonSection) Heading() string {
	if s.TitleHTML != "" {
		return s.TitleHTML
	}
	return templ.EscapeString(s.Title)
}

// asideIcons maps the kinds of asides to their icons.
var asideIcons = map[string]string{
	"slip": "warn", "pitfall": "warn", "care": "pen", "small-model": "look", "notice": "look",
}
