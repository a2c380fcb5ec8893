package first

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// scene is a page of the first run.
type scene string

// The scenes, in order.
const (
	sceneWrite  scene = "write"  // the learner types the beginning of a text
	sceneRead   scene = "read"   // the model reads the text as tokens
	sceneGuess  scene = "guess"  // the learner guesses the next token
	sceneShares scene = "shares" // the page shows the model's shares
	sceneBolder scene = "bolder" // the learner guesses the effect of the knob, then turns it
	sceneDrop   scene = "drop"   // a token is drawn, and can be drawn again
	sceneJoined scene = "joined" // the token joins the text
	sceneEnd    scene = "end"    // the model has completed the sentence
)

var scenes = []scene{
	sceneWrite, sceneRead, sceneGuess, sceneShares, sceneBolder, sceneDrop, sceneJoined, sceneEnd,
}

// guessElse is the guess that the next token is not among the offered tokens.
const guessElse = "else"

// These are the possible guesses about how the knob changes the bar of the most probable token.
const (
	turnGrow   = "grow"
	turnShrink = "shrink"
	turnSame   = "same"
)

// location is where a learner is in the first run.
type location struct {
	scene scene
	link  string
	guess string // guess of the next token: its id, or guessElse; "" for none
	turn  string // guess about the knob: one of the constants above; "" for none
}

// query encodes the location as a query string.
func (p location) query() string {
	q := url.Values{"scene": {string(p.scene)}}
	if p.link != "" {
		q.Set("log", p.link)
	}
	if p.guess != "" {
		q.Set("guess", p.guess)
	}
	if p.turn != "" {
		q.Set("turn", p.turn)
	}
	return q.Encode()
}

func (p location) address() string { return base + "?" + p.query() }

// placeOf returns the location that a query contains. It does not parse the link.
func placeOf(q url.Values) location {
	return location{scene: scene(q.Get("scene")), link: q.Get("log"), guess: q.Get("guess"), turn: q.Get("turn")}
}

// parse checks that the parts of a location are consistent, and parses its link.
func (p location) parse(m *infer.Model) (session.Link, error) {
	if !slices.Contains(scenes, p.scene) {
		scene := strconv.Quote(short(string(p.scene)))
		return session.Link{}, terms.Refuse(session.CodeLink, "first.scene.none", "scene", scene)
	}
	link, err := session.ParseLink(m, p.link)
	if err != nil {
		return session.Link{}, err
	}
	if !p.scene.fits(link) {
		scene := strconv.Quote(string(p.scene))
		return session.Link{}, terms.Refuse(session.CodeLink, "first.scene.other", "scene", scene)
	}
	if !p.guessFits(m.Config().Vocab) || !p.turnFits() {
		return session.Link{}, terms.Refuse(session.CodeLink, "first.guess.none")
	}
	return link, nil
}

// fits reports whether the scene matches the state of a run. It prevents an edited address from
// revealing shares or a draw too early.
func (s scene) fits(l session.Link) bool {
	last := session.Cursor{Step: l.Log.Steps, Stage: l.Log.Ran}
	if l.Cursor != last {
		return false
	}
	at := func(step int, stages ...infer.Kind) bool {
		return !l.Undrawn && last.Step == step && slices.Contains(stages, last.Stage)
	}
	switch s {
	case sceneRead, sceneGuess:
		return at(1, infer.KindForward)
	case sceneShares, sceneBolder:
		return at(1, infer.KindSoftmax)
	case sceneDrop:
		return l.Undrawn && last.Step == 1 || at(1, infer.KindSample)
	case sceneJoined:
		return at(1, infer.KindCache)
	case sceneEnd:
		return ended(l)
	}
	return false
}

// ended reports whether a run has completed a token, so that its text can be read.
func ended(l session.Link) bool {
	return l.Cursor == session.Cursor{Step: l.Log.Steps, Stage: l.Log.Ran} && l.Log.Ran == infer.KindCache
}

func (p location) guessFits(vocab int) bool {
	switch p.scene {
	case sceneShares, sceneBolder, sceneDrop:
		if p.guess == "" || p.guess == guessElse {
			return true
		}
		id, err := strconv.Atoi(p.guess)
		return err == nil && id >= 0 && id < vocab
	}
	return p.guess == ""
}

func (p location) turnFits() bool {
	return p.turn == "" || p.scene == sceneBolder && slices.Contains([]string{turnGrow, turnShrink, turnSame}, p.turn)
}

// These are the first run's cookies. One records that the first run was finished or skipped, and
// the other stores the learner's location. Neither identifies a person.
const (
	overCookie  = "first"
	placeCookie = "first_at"
	over        = "over"
	keptYears   = 2 * 365 * 24 * 60 * 60
	keptDays    = 30 * 24 * 60 * 60
	cookieBytes = 3500 // browsers allow 4,096, including the attributes
)

// Due reports whether the first run should still be shown to the sender of a request, and
// whether the sender has begun it.
func Due(r *http.Request) (due, begun bool) {
	for _, c := range shell.Cookies(r, overCookie, "/") {
		if c.Value == over {
			return false, false
		}
	}
	_, begun = keptPlace(r)
	return true, begun
}

// keep stores a location in a cookie. If the location's address is too long for a cookie, it is
// not stored.
func keep(w http.ResponseWriter, r *http.Request, p location) {
	c := http.Cookie{Name: placeCookie, Value: p.query(), Path: "/", MaxAge: keptDays}
	if len(c.Value) > cookieBytes {
		c.Value, c.MaxAge = "", -1
	}
	shell.SetCookie(w, r, c)
}

// finish records that the first run should not be shown again.
func finish(w http.ResponseWriter, r *http.Request) {
	shell.SetCookie(w, r, http.Cookie{Name: overCookie, Value: over, Path: "/", MaxAge: keptYears})
	shell.SetCookie(w, r, http.Cookie{Name: placeCookie, Path: "/", MaxAge: -1})
}

// keptPlace returns the location stored in the cookie.
func keptPlace(r *http.Request) (location, bool) {
	for _, c := range shell.Cookies(r, placeCookie, "/") {
		if q, err := url.ParseQuery(c.Value); err == nil && q.Get("log") != "" {
			return placeOf(q), true
		}
	}
	return location{}, false
}

// justStarted reports whether this browser has started the run of a link and not continued it yet.
func justStarted(r *http.Request, link string) bool {
	at, ok := keptPlace(r)
	return ok && at == location{scene: sceneRead, link: link}
}

// short shortens a text from an address so that it can be quoted in a message.
func short(s string) string {
	if r := []rune(s); len(r) > 20 {
		return string(r[:20]) + "…"
	}
	return s
}

// promptAddress returns the address that starts a run with the given text.
func promptAddress(text string) string { return base + "?" + url.Values{"prompt": {text}}.Encode() }
