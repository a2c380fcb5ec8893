package classroom

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// presentPage is the instructor's window: the slide, and the controls and notes that only
// the instructor sees.
type presentPage struct {
	slide
	View      *class.View
	Control   control
	Note      note
	Script    []scriptStep
	Settings  infer.Settings
	Questions []*lessons.Question
	Raised    questionList
	Let       *letIn
}

// control holds the buttons that are currently available.
type control struct {
	Onlooker bool // someone else has the controls
	Another  bool // another window of the same person has the controls too
	Main     button
	More     []button
	Back     button
	Playing  bool
	Ended    bool
	Offer    string // the reason why a poll was not opened; "" if there is no offer
}

// button is a command with its label.
type button struct {
	Cmd, Say, Cap, Key string // Cap is the key as displayed; Key is its name in browsers
	Fields             map[string]string
	Keys               []string // more keys for the same button
}

// note is the note for the instructor about the current step.
type note struct {
	Where  string // the step's number, "" outside of a walkthrough
	Say    string // HTML of the note, which is not shown on the wall
	Wait   string // a sentence about what to wait for
	Next   string
	Notice string
	Left   bool
	Last   bool // this is the last step
}

// scriptStep is a walkthrough step in the list of steps.
type scriptStep struct {
	N     int
	Title string
	State string // "is-done", "is-now" or ""
}

func (p *Pages) presentPage(r *http.Request, v *class.View, drives bool) (presentPage, error) {
	w := stage.In(r.Context())
	d, err := newSlide(w, v, shell.ViewOf(r), p.reach(r), p.rest)
	if err != nil {
		return presentPage{}, err
	}
	page := presentPage{
		slide: d, View: v, Control: controlFor(w, v, drives), Note: newNote(w, v), Script: newScript(v),
		Settings: infer.DefaultSettings(), Questions: p.questions(v),
	}
	if v.State != nil {
		page.Settings = v.State.Settings
	}
	return page, nil
}

// questions returns the questions that a class can be asked, in its language.
func (p *Pages) questions(v *class.View) (list []*lessons.Question) {
	for _, q := range p.Course.Translated(v.Language).Questions {
		if q.Kind == "choice" || q.Kind == "recall" {
			list = append(list, q)
		}
	}
	return list
}

// memberState returns the key of the text that describes a member in the list of members.
func memberState(m class.Attendee) string {
	switch {
	case m.Here && m.Voted != "":
		return "classroom.members.here.voted"
	case m.Here:
		return "classroom.members.here"
	case m.Voted != "":
		return "classroom.members.away.voted"
	}
	return "classroom.members.away"
}

// onScript reports whether the class follows the walkthrough and there are steps left.
func onScript(v *class.View) bool {
	return v.Walk != nil && !v.Walk.Left && v.Walk.Next() != nil
}

// atEnd reports whether the walkthrough has reached its last step.
func atEnd(v *class.View) bool { return v.Walk != nil && v.Walk.At() != nil && v.Walk.Next() == nil }

// controlFor returns the controls for the presenter or for an observer.
func controlFor(w stage.Words, v *class.View, drives bool) control {
	if drives {
		c := newControl(w, v)
		c.Another = v.Leading > 1
		return c
	}
	return control{Onlooker: true, Main: button{Cmd: "take-seat", Say: w.T("classroom.present.take")}}
}

// newControl chooses the main button and the other available buttons.
func newControl(w stage.Words, v *class.View) control {
	if v.Ended { // without keys, so that a clicker cannot reopen the class
		return control{Ended: true, Main: button{Cmd: "reopen", Say: w.T("classroom.present.reopen")}}
	}
	c := control{Back: button{Cmd: "back", Say: w.T("classroom.present.back.stage"), Keys: []string{"ArrowLeft"}}}
	if v.Walk != nil && !v.Walk.Left && v.Walk.Step > 1 {
		c.Back.Cmd, c.Back.Say = "prev-step", w.T("classroom.present.back.step")
		c.Back.Keys = []string{"ArrowLeft", "PageUp"}
	} else {
		c.Back.Keys = append(c.Back.Keys, "PageUp")
	}
	c.Playing = v.State != nil && v.State.Playing
	forward := forwardButton(w, v)
	if q := v.Poll; q != nil && q.Phase != class.Revealed {
		c.Main, c.More = pollButtons(w, q)
		return c
	}
	if o := v.Offer; o != nil {
		c.Offer, c.Main, c.More = offered(w, o)
		return c
	}
	c.Main = forward
	if atEnd(v) { // a clicker cannot end the class
		if !v.Walk.Left { // or write on by accident
			forward = button{Cmd: "forward", Say: w.T("classroom.present.next.keep")}
		}
		c.Main, c.More = button{Cmd: "end", Say: w.T("classroom.present.end")}, []button{forward}
	}
	if q := v.Poll; q != nil {
		if q.Kind == class.Next || q.Kind == class.Draw {
			c.More = append(c.More, button{Cmd: "append-majority", Say: w.T("classroom.present.poll.append")})
		}
		c.More = append(c.More, button{Cmd: "dismiss", Say: w.T("classroom.present.poll.dismiss")})
	}
	if v.State != nil && v.State.Started() {
		c.More = append(c.More, button{Cmd: "new-poll", Say: w.T("classroom.present.poll.new"), Cap: "P", Key: "p"})
	}
	return c
}

// offered explains why a poll was not opened, and returns the buttons for asking at another
// position. It does not name the likely token, since a class might see this window.
func offered(w stage.Words, o *class.Offer) (say string, first button, more []button) {
	cmd, fields := "ask-next", func(where string) map[string]string {
		return map[string]string{"where": where, "choices": strconv.Itoa(o.Choices)}
	}
	if o.Draw {
		cmd, fields = "ask-draw", func(where string) map[string]string { return map[string]string{"where": where} }
	}
	say = w.T("classroom.present.offer.word")
	if o.Share > 0 {
		say = w.T("classroom.present.offer.share", "share", terms.Percent(o.Share))
	}
	// This button moves forward in the loop without a poll.
	plain := button{Cmd: "forward", Say: w.T("classroom.present.next.plain"), Keys: forwardKeys}
	return say, button{Cmd: cmd, Say: w.T("classroom.present.offer.next"), Cap: "P", Key: "p", Fields: fields("open")},
		[]button{{Cmd: cmd, Say: w.T("classroom.present.offer.here"), Fields: fields("here")}, plain}
}

// forwardKeys are the keys that move forward: the keys of clickers, and the space bar.
var forwardKeys = []string{"ArrowRight", "PageDown", "Space"}

// forwardButton returns the button that moves forward in the script if the presenter follows
// the script, and otherwise in the loop.
func forwardButton(w stage.Words, v *class.View) button {
	b := button{Cmd: "forward", Cap: "→", Keys: forwardKeys}
	switch st := v.State; {
	case onScript(v):
		b.Cmd, b.Say = "next-step", w.T("classroom.present.next.step", "step", v.Walk.Next().Title)
		if v.Walk.Step == 0 {
			b.Say = w.T("classroom.present.next.begin", "step", v.Walk.Next().Title)
		}
	case v.Walk != nil && v.Walk.Left && v.Walk.At() != nil:
		b.Say = w.T("classroom.present.next.stage")
	case st == nil || !st.Started():
		b.Say = w.T("classroom.present.next.stage")
	default:
		b.Say = w.NextText(st)
	}
	return b
}

// pollButtons returns the buttons for a poll that has not been revealed.
func pollButtons(w stage.Words, q *class.Poll) (first button, more []button) {
	first = button{Cmd: "reveal", Say: w.T("classroom.present.poll.close"), Cap: "V", Key: "v", Keys: forwardKeys}
	if q.Phase != class.Open {
		first.Say = w.T("classroom.present.poll.reveal")
	}
	extend := button{
		Cmd: "extend", Say: w.T("classroom.present.poll.extend", "n", 30), Fields: map[string]string{"seconds": "30"},
	}
	switch q.Phase {
	case class.Open:
		more = append(more, button{Cmd: "spread", Say: w.T("classroom.present.poll.close.spread")}, extend)
	case class.Closed:
		more = append(more, button{Cmd: "spread", Say: w.T("classroom.present.poll.spread")}, extend)
	}
	if q.Kind == class.Question { // the opening question of a study stays unanswered
		quiet := button{Cmd: "close", Say: w.T("classroom.present.poll.close.quiet")}
		if q.Phase != class.Open {
			quiet = button{Cmd: "dismiss", Say: w.T("classroom.present.poll.dismiss")}
		}
		more = append(more, quiet)
	}
	if q.Phase != class.Open && q.Kind != class.Draw {
		more = append(more, button{Cmd: "revote", Say: w.T("classroom.present.poll.again"), Cap: "P", Key: "p"})
	}
	return first, more
}

func newNote(w stage.Words, v *class.View) note {
	n := note{}
	if v.Notice != nil {
		n.Notice = v.Notice.In(w.Language)
	}
	walk := v.Walk
	if walk == nil {
		n.Say = "<p>" + templ.EscapeString(w.T("classroom.notes.none")) + "</p>"
		return n
	}
	n.Left = walk.Left
	n.Where = w.T("classroom.notes.where", "n", walk.Step, "all", len(walk.Walk.Steps))
	if next := walk.Next(); next != nil {
		n.Next = next.Title
	}
	step := walk.At()
	if step == nil {
		n.Where = w.T("classroom.notes.steps", "n", len(walk.Walk.Steps))
		n.Say = "<p>" + walk.Walk.Lead + "</p>"
		return n
	}
	if step.Minutes > 0 {
		n.Where = w.T(
			"classroom.notes.minutes", "n", step.Minutes, "step", walk.Step, "all", len(walk.Walk.Steps),
		)
	}
	n.Say, n.Wait = step.Note, step.Wait
	n.Last = atEnd(v) && !walk.Left && !v.Ended
	return n
}

func newScript(v *class.View) []scriptStep {
	if v.Walk == nil {
		return nil
	}
	var list []scriptStep
	for i, s := range v.Walk.Walk.Steps {
		one := scriptStep{N: i + 1, Title: s.Title}
		switch {
		case one.N == v.Walk.Step:
			one.State = "is-now"
		case one.N < v.Walk.Step:
			one.State = "is-done"
		}
		list = append(list, one)
	}
	return list
}

// present serves the instructor's page. The key in the instructor's link is moved into a
// cookie, so that the address in the browser's history does not contain it.
func (p *Pages) present(w http.ResponseWriter, r *http.Request) {
	if key := r.URL.Query().Get("key"); key != "" {
		code := class.NormalCode(r.PathValue("code"))
		secret := class.ParseSecret(key)
		if _, err := p.Hub.Instruct(r.Context(), code, secret, p.caller(w, r)); err != nil {
			p.failTaught(w, r, err)
			return
		}
		setSecret(w, r, code, secret)
		http.Redirect(w, r, "/class/"+code+"/present", http.StatusSeeOther)
		return
	}
	room, secret, who, ok := p.taught(w, r)
	if !ok {
		return
	}
	p.showPresent(w, r, room, secret, who, nil)
}

// showPresent sends the instructor's page. If why is not nil, the page shows it as the
// reason why phones were not let in.
func (p *Pages) showPresent(
	w http.ResponseWriter, r *http.Request, room class.Room, secret class.Secret, who string, why error,
) {
	drives, err := room.CanPresent(r.Context(), who)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	asked, _ := raisedIn(r.Context(), room, secret) // after an error, the page shows none
	page, err := p.presentPage(r, room.View(), drives)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	page.Raised = newQuestionList(room.View().Quiet, asked)
	status := http.StatusOK
	page.Let = p.letIn(r, who, room, presentOn)
	if why != nil {
		status, _, page.Let.Error = p.trouble(r, why)
	}
	p.HTML(w, r, status, presentHTML(page))
}

// projector serves the page for the wall, which requires only the code.
func (p *Pages) projector(w http.ResponseWriter, r *http.Request) {
	room, _, ok := p.enter(w, r)
	if !ok {
		return
	}
	d, err := newSlide(stage.In(r.Context()), room.View(), shell.ViewOf(r), p.reach(r), p.rest)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.HTML(w, r, http.StatusOK, projectorHTML(d))
}

// inputMode returns the kind of keyboard that a phone should show for a knob.
func inputMode(k terms.Knob) string {
	if k.Whole() {
		return "numeric"
	}
	return "decimal"
}
