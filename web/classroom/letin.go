package classroom

import (
	"crypto/rand"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// letIn is the button that lets phones in or closes their listener again.
type letIn struct {
	Code  string // the room's code; "" if the same press creates the room
	Page  string // the page that contains the button: madeOn or presentOn
	Token string // valid for one press
	Hosts []PhoneHost
	Open  bool
	Lost  bool // the listener's address no longer exists on the machine
	Clear bool
	// Minutes is how long phones can still open pages after their class has ended.
	Minutes int
	Error   string
}

const (
	madeOn    = "made"
	presentOn = "present"
)

// letReach describes how a class reaches the server, for the presenter's slide that contains
// the button.
func (v presentPage) letReach() reach {
	to := v.Reach
	to.Let = v.Let
	return to
}

// letError returns the reason why phones were not let in. It is usually "".
func (v presentPage) letError() string {
	if v.Let == nil {
		return ""
	}
	return v.Let.Error
}

// Form returns the id of the form that the button sends.
func (v *letIn) Form() string {
	if v.Code == "" {
		return "make"
	}
	return "let-in-form"
}

// pressLife is how long the button of an open page stays valid. It covers a school day.
const pressLife = 12 * time.Hour

// newPresses returns the single-use tokens of the button. Their key is valid only for the lifetime
// of the process, since only the process remembers which tokens were used.
func newPresses(now func() time.Time) *tickets {
	var key [32]byte
	rand.Read(key[:]) // never fails
	t := newTickets(key[:], now)
	t.life = pressLife
	return t
}

// letIn returns the button for a page of a room or, if room is nil, for the page that creates
// rooms. It returns nil if the sender of the request must not press the button. If the page shows
// that phones are let in, the listener for phones stays open for the page's room.
func (p *Pages) letIn(r *http.Request, who string, room class.Room, page string) *letIn {
	if !p.Phones.mayAsk(r) {
		return nil
	}
	code := ""
	if room != nil {
		code = room.Code()
		p.Phones.join(p.Hub, room)
	}
	v := &letIn{
		Code: code, Page: page, Token: p.presses.give(code, who, class.Secret{}), Hosts: p.Phones.cfg.Hosts(),
		Clear:   !p.Phones.cfg.TLS,
		Minutes: int(p.Phones.cfg.Linger / time.Minute),
	}
	if at := p.Phones.at(); at != nil {
		v.Open, v.Lost = true, !p.Phones.has(at.Hostname())
	}
	return v
}

// access describes how browsers reach the server. While the listener for phones is open, the
// address is the listener's.
func (p *Pages) access() Access {
	a := p.Access
	if at := p.Phones.at(); at != nil {
		a.URL, a.Local, a.Clear = at.String(), false, !p.Phones.cfg.TLS
	}
	return a
}

func (p *Pages) reach(r *http.Request) reach { return p.access().reach(r) }

// joinPanels returns the panels of a wall that explain how to join. They change when phones are let
// in or shut out. If the server cannot let phones in, joinPanels does not return any panels.
func (p *Pages) joinPanels(d slide) ([]panel, error) {
	if p.Phones == nil {
		return nil, nil
	}
	a := p.access()
	if a.URL == "" {
		a.URL = p.Phones.url(p.Phones.cfg.Main).String()
	}
	if err := d.join(a.reach(nil)); err != nil {
		return nil, err
	}
	return []panel{{"cl-join", joinLine(d)}, {"cl-qr", joinQR(d)}}, nil
}

// pressed reports whether a form was sent by pressing the button on a page in the same
// browser. If it was not, pressed responds with the reason.
func (p *Pages) pressed(w http.ResponseWriter, r *http.Request, who, code, token string) bool {
	say := ""
	switch {
	case p.Phones == nil:
		say = "classroom.letin.refused.never"
	case !p.Phones.mayAsk(r):
		say = "classroom.letin.refused.elsewhere"
	case !sameOrigin(r):
		say = "classroom.letin.refused.origin"
	default:
		if _, ok := p.presses.take(token, code, who); ok {
			return true
		}
		say = "classroom.letin.refused.twice"
	}
	words := stage.In(r.Context())
	p.Refuse(w, r, http.StatusForbidden, words.T("classroom.head.unchanged"), words.T(say))
	return false
}

// phones opens the phones' listener for a room, or closes it.
func (p *Pages) phones(w http.ResponseWriter, r *http.Request) {
	if !p.Form(w, r) {
		return
	}
	room, secret, who, ok := p.taught(w, r)
	if !ok || !p.pressed(w, r, who, room.Code(), r.PostForm.Get("token")) {
		return
	}
	var err error
	switch r.PostForm.Get("do") {
	case "open":
		err = p.Phones.open(p.Hub, room, r.PostForm.Get("host"))
	case "close":
		p.Phones.Close()
	default:
		err = terms.RefuseField("do", terms.Quoted(r.PostForm.Get("do")), terms.PhraseOf("class.want.do"))
	}
	onMade := r.PostForm.Get("page") == madeOn
	switch {
	case err != nil && onMade:
		p.showMade(w, r, room, who, "", err)
	case err != nil:
		p.showPresent(w, r, room, secret, who, err)
	case onMade:
		http.Redirect(w, r, madePath(room.Code()), http.StatusSeeOther)
	default:
		http.Redirect(w, r, roomPath(room.Code())+"/present", http.StatusSeeOther)
	}
}
