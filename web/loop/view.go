package loop

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// view is how the page shows a run. Both show the same run, stage and knobs.
type view string

const (
	// storyView says in plain words what happens; everybody begins with it.
	storyView view = "story"
	// numbersView has every number and every control.
	numbersView view = "numbers"
)

// viewNamed is the view with a name, or another one if there is none.
func viewNamed(name string, other view) view {
	switch v := view(name); v {
	case storyView, numbersView:
		return v
	}
	return other
}

// viewCookie keeps the view that a learner has switched to. It says nothing
// else about them, and so is no secret.
const viewCookie = "view"

// viewYears is how long the choice is kept.
const viewYears = 2 * 365 * 24 * 60 * 60

// viewOf is the view in which a learner sees the Loop.
func viewOf(r *http.Request) view {
	for _, c := range shell.Cookies(r, viewCookie, "/") {
		if v := viewNamed(c.Value, ""); v != "" {
			return v
		}
	}
	return storyView
}

// switchView answers POST /loop/view: it keeps the view in a cookie and leads
// back to the run that the form names.
func (s *Server) switchView(w http.ResponseWriter, r *http.Request) {
	if !s.Form(w, r) {
		return
	}
	chosen := viewNamed(r.PostForm.Get("view"), "")
	if chosen == "" {
		s.Refuse(w, r, http.StatusBadRequest, "There is no such view.", "The Loop has two: Story and Numbers.")
		return
	}
	shell.SetCookie(w, r, http.Cookie{Name: viewCookie, Value: string(chosen), Path: "/", MaxAge: viewYears})
	back := url.Values{}
	for _, key := range []string{"run", "log", "class"} {
		if value := r.PostForm.Get(key); value != "" {
			back.Set(key, value)
		}
	}
	to := url.URL{Path: "/loop", RawQuery: back.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// panels are the parts of the page that are sent again when they change.
func (v view) panels() []Panel {
	if v == storyView {
		return storyPanels
	}
	return Panels
}

// tokenHTML is one generated token in the text.
func (v view) tokenHTML(t stage.Token) templ.Component {
	if v == storyView {
		return stage.ProseTokenHTML(t)
	}
	return lang.TokenHTML(t)
}

// peek describes the token of a step.
func (v view) peek(s *session.State, step int) stage.Peek {
	if v == storyView {
		return lang.StoryPeek(s, step)
	}
	return lang.NewPeek(s, step)
}

// generatedHTML is all of them.
func (v view) generatedHTML(tokens []stage.Token) templ.Component {
	if v == storyView {
		return lang.ProseHTML(tokens)
	}
	return lang.GeneratedHTML(tokens)
}

// storyPanels are those of the page in the Story.
var storyPanels = []Panel{
	{"prose-prompt", func(v Page) templ.Component { return stage.ProsePromptHTML(v.Prompt) }},
	{"strip-next", func(v Page) templ.Component { return lang.ProseNextHTML(v.Prompt, v.Strip) }},
	{"peek", func(Page) templ.Component { return lang.PeekHTML(stage.Peek{}) }}, // until a token is asked about
	{"rail", func(v Page) templ.Component { return lang.VerbsHTML(v.Rail) }},
	{"notice", func(v Page) templ.Component { return noticeHTML(v.storyNotice()) }},
	{"branched", func(v Page) templ.Component { return branchedHTML(v.Branched) }},
	{"panel", func(v Page) templ.Component { return lang.StoryHTML(v.Story) }},
	{"map", func(v Page) templ.Component { return lang.MapHTML(v.Cost.Map) }},
	{"transport", func(v Page) templ.Component { return storyTransportHTML(v.Console, v.Story) }},
	{"progress", func(v Page) templ.Component { return progressHTML(v.Console.Progress) }},
	{"again", func(v Page) templ.Component { return againHTML(v.Story) }},
	{"spoken", func(v Page) templ.Component { return spokenHTML(v.storySpoken()) }},
}

// storyNotice is the page's notice without that of a stop, which the Story
// says on its sheet.
func (v Page) storyNotice() Notice {
	if v.Story.End && v.Notice.Kind == NoticeEnd {
		return Notice{}
	}
	return v.Notice
}

// storySpoken sums a step up for a screen reader in the Story's words.
func (v Page) storySpoken() string {
	if v.Story.Empty {
		return ""
	}
	return v.Story.Verb + ". " + v.Story.Say.String()
}
