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
		s.Refuse(w, r, http.StatusBadRequest, "There is no such view.", "There are two: Story and Numbers.")
		return
	}
	shell.KeepView(w, r, chosen)
	http.Redirect(w, r, cmp.Or(shell.Back(r.PostForm.Get("back")), "/loop"), http.StatusSeeOther)
}

// back returns the address that the page's view switch leads to.
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

// panels returns the parts of the page that are sent again when they change.
func (v view) panels() []Panel {
	if v == storyView {
		return storyPanels
	}
	return Panels
}

// tokenHTML renders one generated token in the text.
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

// generatedHTML renders all generated tokens.
func (v view) generatedHTML(tokens []stage.Token) templ.Component {
	if v == storyView {
		return lang.ProseHTML(tokens)
	}
	return lang.GeneratedHTML(tokens)
}

// storyPanels lists the panels of the page in the Story.
var storyPanels = []Panel{
	{"prose-prompt", func(v Page) templ.Component { return stage.ProsePromptHTML(v.Given) }},
	{"strip-next", func(v Page) templ.Component { return lang.ProseNextHTML(v.Given, v.Strip) }},
	{"peek", func(Page) templ.Component { return lang.PeekHTML(stage.Peek{}) }}, // until a token is inspected
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

// storyNotice returns the page's notice, with the Story's wording for a stop. The end itself has no
// notice, because the Story's sheet shows it.
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
func (v Page) storySpoken() string {
	if v.Story.Empty {
		return ""
	}
	return v.Story.Verb + ". " + v.Story.Say.String()
}
