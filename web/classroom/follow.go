package classroom

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// followPage is the page of a class on a phone.
type followPage struct {
	View   *class.View
	Title  string
	Shown  string // the code, spaced for reading aloud
	Here   string
	Screen screen
	Poll   *poll
	Mine   *class.Receipt
	Name   string // the member's name
	Own    *ownScreen
	Error  string
	Ends   string // when the countdown ends
	Where  string // the class's position, such as "12.5"
	End    *ending
	Say    string // HTML of the sentence of the walkthrough's step, "" if there is none
	Asked  bool   // a question that was sent as a form has been saved
}

// ownScreen is the screen of a follower who is looking at a stage other than the class's.
type ownScreen struct {
	screen
	Cursor     string // "12.3"
	Back, Next string
	NextName   string
	Class      string // "the class is at 5 Sample", "" if it has no stage
	// Turns means that the temperature can be changed at this stage. Temperature is its value, and
	// T its text. Turned means that it differs from the class's temperature.
	Turns       bool
	Temperature float64
	T           string
	Turned      bool
	Alone       string // link for continuing alone, "" if it is not allowed
}

// enter returns the room of a request, or responds with the reason why the sender cannot enter it.
func (p *Pages) enter(w http.ResponseWriter, r *http.Request) (room class.Room, who admission.Caller, ok bool) {
	who = p.caller(w, r)
	room, err := p.Hub.Enter(r.Context(), class.NormalCode(r.PathValue("code")), who)
	if err != nil {
		status, head, say := p.trouble(r, err)
		if shell.Fragment(r) {
			p.HTML(w, r, status, shell.Refusal(head, say))
			return nil, who, false
		}
		p.HTML(w, r, status, joinHTML(joinPage{r.PathValue("code"), say}))
		return nil, who, false
	}
	return room, who, true
}

func (p *Pages) follow(w http.ResponseWriter, r *http.Request) {
	room, who, ok := p.enter(w, r)
	if !ok {
		return
	}
	words := stage.In(r.Context())
	v := p.followPage(words, room.View(), shell.ViewOf(r))
	standing, err := room.Standing(r.Context(), who.Learner)
	switch {
	case err == nil:
		v.Mine, v.Name = receiptIn(words, standing.Vote), standing.Name
	case !errors.Is(err, class.ErrStranger): // newcomers have no vote to show
		p.fail(w, r, err)
		return
	}
	v.Asked = r.URL.Query().Has("asked")
	if q := r.URL.Query(); q.Has("at") {
		if v.Own, err = p.wander(words, v.View, v.Screen.View, q.Get("at"), q.Get("t")); err != nil {
			p.fail(w, r, err)
			return
		}
		if shell.Fragment(r) {
			p.HTML(w, r, http.StatusOK, ownHTML(v))
			return
		}
	}
	p.HTML(w, r, http.StatusOK, followHTML(v))
}

// receiptIn translates a receipt into a language.
func receiptIn(w stage.Words, r *class.Receipt) *class.Receipt {
	if r == nil {
		return nil
	}
	in := *r
	in.Text = class.TextIn(w.Language, r.Text)
	return &in
}

func (p *Pages) followPage(w stage.Words, v *class.View, view shell.View) followPage {
	f := followPage{
		View: v, Title: class.TextIn(w.Language, v.Title), Shown: class.ShownCode(v.Code), Here: terms.Count(v.Here),
		Screen: screenOf(w, v, view, p.rest, false), Poll: newPoll(w, v), Ends: millis(v.Timer), Say: walkText(v),
	}
	if f.End = newEnding(w, v); f.End != nil {
		f.Poll, f.Say = nil, ""
	}
	if st := v.State; st != nil && st.Started() {
		f.Where = at(st.Cursor)
	}
	return f
}

// seen returns the state whose stages members can look at.
func (p *Pages) seen(v *class.View) *session.State {
	st := v.State
	if st == nil {
		return p.rest
	}
	if v.Hidden && v.Poll != nil && v.Poll.Step > 0 && v.Poll.Step <= len(st.Steps) {
		return veiled(st, v.Poll.Step)
	}
	return st
}

// wander returns the screen for a position other than the class's. If t is not "", it is the
// temperature to use.
func (p *Pages) wander(w stage.Words, v *class.View, view shell.View, place, t string) (*ownScreen, error) {
	st := p.seen(v)
	c, ok := parseAt(st, place)
	if !ok {
		return nil, terms.Refuse(class.CodeWalk, "class.refused.hidden")
	}
	own := &ownScreen{Cursor: place, Turns: c.Stage == infer.KindSoftmax || c.Stage == infer.KindFilter}
	in := st.Steps[c.Step-1].Settings
	var turned *float64
	if own.Turns && t != "" {
		x, err := strconv.ParseFloat(t, 64)
		in.Temperature = x
		if err == nil {
			err = in.Check()
		}
		if err != nil {
			return nil, settingError(err)
		}
		own.Turned = x != st.Steps[c.Step-1].Settings.Temperature
		turned = &x
	}
	own.Temperature = in.Temperature
	own.T = strconv.FormatFloat(in.Temperature, 'f', -1, 64)
	own.screen = newScreen(w, lookAt(st, c, turned), view, false)
	own.Back, own.Next = neighbors(st, c)
	if own.Next != "" {
		next, _ := parseAt(st, own.Next) // cannot fail: neighbors derived it from this state
		own.NextName = own.Rail[next.Stage-1].Name
	}
	if v.State != nil && v.State.Started() {
		step, now := v.State.Cursor.Step, v.State.Shown()
		own.Class = w.T("js.class.at", "n", int(now), "stage", own.Rail[now-1].Short)
		if m := &own.Rail[now-1]; step == c.Step && now != c.Stage {
			m.State = "is-class"
		}
	}
	if v.Alone && !v.Hidden {
		own.Alone = "/class/" + v.Code + "/alone?at=" + place
	}
	return own, nil
}

// settingError returns an error that explains what is wrong with a temperature.
func settingError(err error) error {
	var r *terms.RangeError
	if errors.As(err, &r) {
		return r
	}
	return terms.Refuse(terms.CodeUnknown, "class.refused.temperature")
}

// alone redirects to a separate run for the follower, which begins at the class's position or at
// the position that the follower is looking at.
func (p *Pages) alone(w http.ResponseWriter, r *http.Request) {
	room, _, ok := p.enter(w, r)
	if !ok {
		return
	}
	v, words := room.View(), stage.In(r.Context())
	switch {
	case !v.Alone:
		p.Refuse(w, r, http.StatusForbidden, words.T("class.alone.stay"), words.T("class.alone.stay.say"))
	case v.Hidden:
		p.Refuse(w, r, http.StatusConflict, words.T("class.alone.vote"), words.T("class.alone.vote.say"))
	case v.State == nil || !v.State.Started():
		p.Refuse(w, r, http.StatusConflict, words.T("class.alone.nothing"), words.T("class.alone.nothing.say"))
	default:
		link := v.Link()
		if c, ok := parseAt(v.State, r.URL.Query().Get("at")); ok {
			link = session.LinkOf(lookAt(v.State, c, nil))
		}
		http.Redirect(w, r, "/loop?log="+link+"&class="+v.Code, http.StatusSeeOther)
	}
}

// enterAsMember is like [Pages.enter], but for a form that makes its sender a member. It
// refuses browsers without cookies, since they would become a new member with each form.
func (p *Pages) enterAsMember(w http.ResponseWriter, r *http.Request) (class.Room, admission.Caller, bool) {
	room, who, ok := p.enter(w, r)
	if ok && who.Fresh {
		p.fail(w, r, errNoCookie)
		return nil, who, false
	}
	return room, who, ok
}

// vote handles a vote that a browser without scripts sends as a form.
func (p *Pages) vote(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, who, ok := p.enterAsMember(w, r)
	if !ok {
		return
	}
	if _, err := room.Join(r.Context(), who, ""); err != nil {
		p.fail(w, r, err)
		return
	}
	defer room.Leave(who.Learner)
	f := r.PostForm
	b := class.Ballot{Poll: f.Get("poll"), Choice: strings.TrimSpace(f.Get("choice"))}
	b.Sure, _ = strconv.ParseFloat(f.Get("sure"), 64) // optional
	if _, err := room.Vote(r.Context(), who.Learner, b); err != nil {
		p.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/class/"+room.Code(), http.StatusSeeOther)
}

// name handles a nickname from a form.
func (p *Pages) name(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, who, ok := p.enterAsMember(w, r)
	if !ok {
		return
	}
	if _, err := room.Join(r.Context(), who, r.PostForm.Get("nick")); err != nil {
		p.fail(w, r, err)
		return
	}
	room.Leave(who.Learner)
	if shell.Fragment(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, "/class/"+room.Code(), http.StatusSeeOther)
}
