package classroom

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// teachPage is the page for creating a room.
type teachPage struct {
	Walks   []*lessons.Walk
	Lessons []*lessons.Lesson // those with a printed plan: all
	Form    url.Values        // the form as it was sent, if it was refused
	Error   string
	Reach   reach
	Deleted bool   // a room has just been deleted
	Kept    string // how long an unused room is kept: "30 days"
	Notices []progress.Notice
}

func (v teachPage) Checked(name string) bool {
	return v.Form == nil && name == "nicknames" || v.Form.Get(name) != ""
}

// Picked reports whether a walkthrough is selected. Initially, that is the first one.
func (v teachPage) Picked(i int, slug string) bool {
	if v.Form == nil {
		return i == 0
	}
	return v.Form.Get("walk") == slug
}

func (p *Pages) teachPage(r *http.Request) teachPage {
	course := p.Course.In(r.Context())
	return teachPage{
		Walks: course.Walks, Lessons: course.Lessons,
		Reach: p.reach(r), Kept: lasting(stage.In(r.Context()), p.Hub.TTL()),
	}
}

func (p *Pages) teach(w http.ResponseWriter, r *http.Request) {
	who := p.Who(w, r)
	q := r.URL.Query()
	v := p.teachPage(r)
	v.Deleted = q.Has("deleted")
	v.Reach.Let = p.letIn(r, who, nil, "")
	var err error
	if v.Notices, err = p.Progress.News(r.Context(), who); err != nil { // not required for the page
		v.Notices = nil
	}
	if walk := q.Get("walk"); walk != "" {
		v.Form = url.Values{"walk": {walk}, "nicknames": {"on"}}
	}
	p.HTML(w, r, http.StatusOK, teachHTML(v))
}

// noticeText returns a notice about lost data with its date.
func noticeText(w stage.Words, n progress.Notice) string {
	return w.T("classroom.notice", "date", w.Date(n.At.UTC()), "text", n.Text)
}

// makeRoom creates a room, stores its secret in a cookie, and redirects to the page that shows how
// to join.
func (p *Pages) makeRoom(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	f := r.PostForm
	who := p.caller(w, r)
	letIn := f.Has("let-in")
	if letIn && !p.pressed(w, r, who.Learner, "", f.Get("let-in")) {
		return
	}
	room, secret, err := p.Hub.Create(r.Context(), who, class.Options{
		Title: strings.TrimSpace(f.Get("title")), Walk: f.Get("walk"), Nicknames: f.Get("nicknames") != "",
		NamesFall: f.Get("namesfall") != "", Alone: f.Get("alone") != "",
	})
	if err != nil {
		status, _, say := p.trouble(r, err)
		v := p.teachPage(r)
		v.Form, v.Error = f, say
		v.Reach.Let = p.letIn(r, who.Learner, nil, "")
		p.HTML(w, r, status, teachHTML(v))
		return
	}
	setSecret(w, r, room.Code(), secret)
	// The page with the instructor's link is shown only once. This cookie means that it has
	// not been shown yet.
	shell.SetCookie(w, r, http.Cookie{Name: freshName, Value: "1", Path: madePath(room.Code()), MaxAge: 600})
	if letIn {
		if err := p.Phones.open(p.Hub, room, f.Get("host")); err != nil {
			p.showMade(w, r, room, who.Learner, secret.String(), err)
			return
		}
	}
	http.Redirect(w, r, madePath(room.Code()), http.StatusSeeOther)
}

const freshName = "viz-room-fresh"

func madePath(code string) string { return roomPath(code) + "/made" }

// madePage shows a new room: its code, its links, and how others reach it.
type madePage struct {
	Title, Code string
	Left, Right string
	Reach       reach
	QR          qrCode
	Link        string // link for everyone to join
	Secret      string // the instructor's link, shown once
	Walk        string
}

func (p *Pages) made(w http.ResponseWriter, r *http.Request) {
	if room, secret, who, ok := p.taught(w, r); ok {
		key := ""
		if len(shell.Cookies(r, freshName, madePath(room.Code()))) > 0 {
			key = secret.String()
		}
		p.showMade(w, r, room, who, key, nil)
	}
}

// showMade sends the page of a new room. It contains the instructor's link if key is not "",
// and the reason why phones were not let in if why is not nil.
func (p *Pages) showMade(w http.ResponseWriter, r *http.Request, room class.Room, who, key string, why error) {
	to, status := p.reach(r), http.StatusOK
	to.Let = p.letIn(r, who, room, madeOn)
	if why != nil {
		status, _, to.Let.Error = p.trouble(r, why)
	}
	view := room.View()
	v := madePage{
		Title: class.TextIn(terms.In(r.Context()), view.Title), Code: room.Code(), Reach: to,
		Link: to.Base + "/class/" + room.Code(),
	}
	v.Left, v.Right = halves(room.Code())
	if view.Walk != nil {
		v.Walk = view.Walk.Walk.Title
	}
	var err error
	if v.QR, err = newQR(v.Link); err != nil {
		p.fail(w, r, err)
		return
	}
	if key != "" {
		v.Secret = v.Link + "/present?key=" + url.QueryEscape(key)
		shell.SetCookie(w, r, http.Cookie{Name: freshName, Path: madePath(room.Code()), MaxAge: -1})
	}
	p.HTML(w, r, status, madeHTML(v))
}

// halves splits a code into two parts for reading aloud.
func halves(code string) (left, right string) { return code[:len(code)/2], code[len(code)/2:] }

// joinPage is the page for typing a code.
type joinPage struct {
	Code  string // as typed
	Error string
}

func (p *Pages) join(w http.ResponseWriter, r *http.Request) {
	who := p.caller(w, r)
	typed := r.URL.Query().Get("code")
	if typed == "" {
		p.HTML(w, r, http.StatusOK, joinHTML(joinPage{}))
		return
	}
	room, err := p.Hub.Enter(r.Context(), class.NormalCode(typed), who)
	if err != nil {
		status, _, say := p.trouble(r, err)
		p.HTML(w, r, status, joinHTML(joinPage{typed, say}))
		return
	}
	http.Redirect(w, r, "/class/"+room.Code(), http.StatusSeeOther)
}
