package loop

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// switchView handles POST /view. It stores the view in a cookie and redirects to the page that
// the form names, which can be anywhere on the site.
func (s *Server) switchView(w http.ResponseWriter, r *http.Request) {
	if !s.Form(w, r) {
		return
	}
	chosen := shell.ViewNamed(r.PostForm.Get("view"), "")
	if chosen == "" {
		say := stage.In(r.Context())
		s.Refuse(w, r, http.StatusBadRequest, say.T("loop.view.unknown"), say.T("loop.view.unknown.say"))
		return
	}
	shell.KeepView(w, r, chosen)
	http.Redirect(w, r, cmp.Or(shell.Back(r.PostForm.Get("back")), "/loop"), http.StatusSeeOther)
}

// back returns the address to which the page's view switch returns.
func (v Page) back() string {
	q := url.Values{}
	for key, value := range map[string]string{"run": v.Run, "log": v.Link, "class": v.Class} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return (&url.URL{Path: "/loop", RawQuery: q.Encode()}).String()
}

// view is a view of the Loop.
type view shell.View

const (
	storyView   = view(shell.Story)
	numbersView = view(shell.Numbers)
)

// panels returns the parts of the page that are sent again when they change. now contains the
// stage's panels, and later the panels that can be sent afterward.
func (v view) panels() (now, later []Panel) {
	if v == storyView {
		return storyPanels, nil
	}
	return stagePanels, besidePanels
}

// tokenHTML renders one generated token in the text.
func (v view) tokenHTML(w stage.Words, t stage.Token) templ.Component {
	if v == storyView {
		return w.ProseTokenHTML(t)
	}
	return w.TokenHTML(t)
}

// peek describes the token of a step.
func (v view) peek(w stage.Words, s *session.State, step int) stage.Peek {
	if v == storyView {
		return w.StoryPeek(s, step)
	}
	return w.NewPeek(s, step)
}

// generatedHTML renders all generated tokens.
func (v view) generatedHTML(w stage.Words, tokens []stage.Token) templ.Component {
	if v == storyView {
		return w.ProseHTML(tokens)
	}
	return w.GeneratedHTML(tokens)
}

// storyPanels lists the panels of the page in the Story.
var storyPanels = []Panel{
	{"prose-prompt", func(_ stage.Words, v Page) templ.Component { return stage.ProsePromptHTML(v.Given) }},
	{"strip-next", func(w stage.Words, v Page) templ.Component { return w.ProseNextHTML(v.Given, v.Strip) }},
	// The peek line is empty until a token is inspected.
	{"peek", func(w stage.Words, _ Page) templ.Component { return w.PeekHTML(stage.Peek{}) }},
	{"rail", func(w stage.Words, v Page) templ.Component { return w.VerbsHTML(v.Rail) }},
	{"notice", func(_ stage.Words, v Page) templ.Component { return noticeHTML(v.storyNotice()) }},
	{"branched", func(_ stage.Words, v Page) templ.Component { return branchedHTML(v.Branched) }},
	{"panel", func(w stage.Words, v Page) templ.Component { return w.StoryHTML(v.Story) }},
	{"map", func(w stage.Words, v Page) templ.Component { return w.MapHTML(v.Cost().Map) }},
	{"transport", func(_ stage.Words, v Page) templ.Component { return storyTransportHTML(v.Console, v.Story) }},
	{"progress", func(_ stage.Words, v Page) templ.Component { return progressHTML(v.Console.Progress) }},
	{"again", func(_ stage.Words, v Page) templ.Component { return againHTML(v.Story) }},
	{"spoken", func(w stage.Words, v Page) templ.Component { return spokenHTML(v.storySpoken(w)) }},
}

// storyNotice returns the page's notice, with the Story's wording for a stop. For the end of a text
// there is no notice, because the Story's sheet shows it.
func (v Page) storyNotice() Notice {
	n := v.Notice
	if n.Kind != NoticeEnd {
		return n
	}
	if v.Story.End {
		return Notice{}
	}
	n.Head = v.Story.Over
	return n
}

// storySpoken summarizes a step for a screen reader in the Story's words.
func (v Page) storySpoken(w stage.Words) string {
	if v.Story.Empty {
		return ""
	}
	return w.T("loop.spoken.story", "verb", v.Story.Verb, "say", v.Story.Say)
}
