package loop

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// The TestWays tests use every feature of the Loop page by mouse. Features that have a different
// gesture for each input are also used by keyboard alone and by touch on a phone. In the long tier,
// all features are used with all three inputs. After each action, the page must show the state of
// the session on the server.

// visitor is a user of the Loop page with one kind of input.
type visitor struct {
	*browser.Tab
	browser.Hands
	t *testing.T
	x *site
}

// feature is a feature of the page. Its test starts at the first stage of a text with default
// settings, after the server has carried out the given commands.
type feature struct {
	name  string
	given []session.Command
	use   func(v *visitor)
	hands gesture
}

// gesture is true if mouse, keyboard and touch use different gestures for a feature, such as
// dragging, and false if they all press the same buttons.
type gesture bool

const (
	press    gesture = false
	gestures gesture = true
)

// useAll uses features by mouse and, in the long tier, with every kind of input.
func useAll(t *testing.T, features []feature) {
	t.Parallel()
	browser.Ways(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		useOn(t, screen, hands, features)
	})
}

// TestWaysByGesture uses the features that have separate gestures for each input, by keyboard
// and by touch.
// Promise: Drags and other gestures in the Loop have their equivalent by keyboard and by touch.
func TestWaysByGesture(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	features := slices.Concat(
		drawFeatures, historyFeatures, insideFeatures, settingsFeatures, shareFeatures, stripFeatures,
	)
	features = slices.DeleteFunc(features, func(f feature) bool { return f.hands == press })
	browser.EveryWay(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		if path.Base(t.Name()) != "mouse" { // the other tests cover the mouse
			useOn(t, screen, hands, features)
		}
	})
}

// useOn opens a page and uses features on it, one after another.
func useOn(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands, features []feature) {
	x := newSite(t, limits{})
	tab := visit(t, x, screen)
	hands(tab).Press("#prompt-form [data-prompt]")
	tab.Wait("a text", atStage("1"))
	if screen.Width > 1120 && screen.Height <= 800 { // here the console starts as one row
		hands(tab).Press("#all-controls")
	}
	for _, f := range features {
		if isInTab(t) && onlyServer[f.name] != "" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			at := tab.As(t)
			v := &visitor{at, hands(at), t, x}
			v.given(append(fresh(), f.given...)...)
			v.same()
			f.use(v)
		})
	}
}

// visit opens the Loop page as a new learner.
func visit(t *testing.T, x *site, screen browser.Screen) *browser.Tab {
	t.Helper()
	tab := browser.Open(t, screen, x.http.URL+"/loop")
	tab.Wait("a live page", isLive)
	x.tab = tab
	return tab
}

// fresh returns commands that begin a text with the settings of a page just opened.
func fresh() []session.Command {
	d := infer.DefaultSettings()
	return []session.Command{
		session.Pause{},
		session.SetAll(d),
		session.SetSpeed{Speed: session.SpeedNormal},
		session.SetLook{On: true},
		session.Start{Prompt: storyPrompt},
	}
}

// given carries out commands on the server directly, without the page.
func (v *visitor) given(commands ...session.Command) {
	v.t.Helper()
	for _, c := range commands {
		v.run().do(v.t, c)
	}
}

// state returns the run's state on the server.
func (v *visitor) state() *session.State { return v.run().Latest() }

// run returns the run that the page watches.
func (v *visitor) run() running {
	v.t.Helper()
	if v.x.twin != nil {
		return tabRun{v.t, v.Tab, v.x.twin}
	}
	return v.watched()
}

// watched returns the run on the server that a page watches.
func (v *visitor) watched() joined {
	v.t.Helper()
	list := v.x.live()
	for _, r := range list {
		if len(list) == 1 || len(r.connections()) > 0 {
			return r
		}
	}
	v.t.Fatal("nobody watches a run")
	return joined{}
}

// comes waits until the server's state satisfies is and the page shows it.
func (v *visitor) comes(what string, is func(*session.State) bool) *session.State {
	v.t.Helper()
	if !v.reaches(is) {
		v.Shot("failed.png")
		v.t.Fatalf(
			"the server never reached %s; it is at %+v with %+v\nthe page shows %q", what, v.state().Cursor,
			v.state().Settings, v.complaints(),
		)
	}
	v.same()
	return v.state()
}

// reaches waits until `is` returns true for the run's state. It returns false if that does not
// happen within a second. It watches the run as a connection does.
func (v *visitor) reaches(is func(*session.State) bool) bool {
	v.t.Helper()
	for end := time.Now().Add(browser.Patience); time.Now().Before(end); {
		if v.run().reaches(is, time.After(time.Second)) { // the page may switch to another run
			return true
		}
	}
	return false
}

// at returns a function that reports whether a state shows the given stage.
func at(step int, stage infer.Kind) func(*session.State) bool {
	return func(st *session.State) bool { return st.Cursor == session.Cursor{Step: step, Stage: stage} }
}

func (v *visitor) complaints() []string {
	v.t.Helper()
	return browser.Value[[]string](
		v.Tab, `[...document.querySelectorAll('.field-error')].map(e => e.textContent).filter(Boolean)`,
	)
}

// shown is the part of a page that can be compared with the state.
type shown struct {
	Stage   string    // number on the rail
	Now     string    // step of the marked token
	Scrub   string    // "12 of 21"
	Tokens  []string  // texts, with white space marked
	Ps      []string  // the probabilities under them
	Prompt  int       // number of prompt tokens
	Inputs  []float64 // values of all knobs, in knob order
	Stops   []string
	Speed   string
	Playing bool
	Stopped bool
	Lines   int // number of branches in the tree
}

// pageShows returns the expression that reads what the page shows.
var pageShows = func() string {
	var keys []string
	for _, k := range terms.Knobs() {
		keys = append(keys, k.Key)
	}
	inputs, _ := json.Marshal(keys) // cannot fail: the keys are strings
	return `(() => {
	const $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)];
	return {
		stage: $('#rail [aria-current=step] i')?.textContent ?? '',
		now: $('#strip-gen [aria-current]')?.dataset.step ?? '',
		scrub: scrub.value + ' of ' + scrub.max,
		tokens: $$('#strip-gen > *').map((e) => e.children[1].textContent.trim()),
		ps: $$('#strip-gen small').map((e) => e.lastChild.textContent.trim()),
		prompt: $$('#strip-prompt .tok--given').length,
		inputs: ` + string(inputs) + `.map((f) => Number($('[data-set=' + f + ']').value)),
		stops: JSON.parse($('#stops').dataset.stops),
		speed: JSON.parse($('#transport [aria-pressed=true]').dataset.cmd).speed,
		playing: $('#transport [data-cmd*=pause]') !== null,
		stopped: $('#strip-next').classList.contains('is-stopped'),
		lines: $$('#branches .tree__leaf').length,
	}
})()`
}()

// shouldShow returns what a page should show for a state. It uses the engine's own values, rather
// than package stage.
func shouldShow(st *session.State) shown {
	d := st.Settings
	e := shown{
		Tokens: []string{}, Ps: []string{}, Prompt: len(st.PromptTokens), Stops: []string{}, Speed: string(st.Speed),
		Playing: st.Playing, Stopped: st.Stopped != infer.StopNone,
		Stage: strconv.Itoa(int(st.Cursor.Stage)),
		Scrub: fmt.Sprintf(
			"%d of %d", (st.Cursor.Step-1)*7+int(st.Cursor.Stage), (st.Frontier().Step-1)*7+int(st.Frontier().Stage),
		),
	}
	for _, k := range terms.Knobs() {
		e.Inputs = append(e.Inputs, d.Value(k.Key))
	}
	e.Stops = append(e.Stops, d.Stop.Strings...)
	for _, step := range st.Steps {
		if step.Ran < infer.KindAppend {
			break
		}
		e.Tokens = append(e.Tokens, marked(st.Model.Token(step.Chosen).Text))
		e.Ps = append(e.Ps, places(step.P, 2))
		if step.N == st.Cursor.Step {
			e.Now = strconv.Itoa(step.N)
		}
	}
	if len(st.Branches) > 1 {
		e.Lines = len(st.Branches)
	}
	if st.Undrawn { // the stage of the draw, before the draw is made
		e.Stage = strconv.Itoa(int(infer.KindSample))
	}
	return e
}

// marked returns a token as pages show it, with a space at either end shown as a dot.
func marked(text string) string {
	text = strings.ReplaceAll(text, "\n", "↵")
	if strings.HasPrefix(text, " ") {
		text = "·" + text[1:]
	}
	return text
}

// places formats a probability with n decimals. If a probability between 0 and 1 would be rounded
// to 0 or 1, the result is "<" followed by the smallest value that can be shown, or ">" followed by
// the largest.
func places(p float64, n int) string {
	s := fmt.Sprintf("%.*f", n, p)
	switch zeros := strings.Repeat("0", n); {
	case s == "0."+zeros && p > 0:
		return "<0." + zeros[1:] + "1"
	case s == "1."+zeros && p < 1:
		return ">0." + strings.Repeat("9", n)
	}
	return s
}

// settle waits until two frames have been drawn and the page has done the work that it postpones
// until after a frame.
func (v *visitor) settle() {
	v.t.Helper()
	browser.Value[bool](v.Tab, `(window.drawn = 0, requestAnimationFrame(() => setTimeout(() =>
		requestAnimationFrame(() => setTimeout(() => { window.drawn = 2; })))), true)`)
	v.Wait("two frames", `window.drawn === 2`)
}

// same waits until the page shows the server's state.
func (v *visitor) same() {
	v.t.Helper()
	var got, want shown
	for end := time.Now().Add(browser.Patience); time.Now().Before(end); v.Changed() {
		want, got = shouldShow(v.state()), browser.Value[shown](v.Tab, pageShows)
		if reflect.DeepEqual(got, want) {
			v.settle()
			return
		}
	}
	v.Shot("failed.png")
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	v.t.Fatalf("the page shows\n%s\nthe run has\n%s\nits error messages are %q", g, w, v.complaints())
}

// open opens a menu or another foldable part, unless it is already open.
func (v *visitor) open(details string) {
	v.t.Helper()
	if !browser.Value[bool](v.Tab, fmt.Sprintf(`document.querySelector(%q).open`, details)) {
		v.Press(details + " > summary")
		v.Wait(details+" to open", fmt.Sprintf(`document.querySelector(%q).open`, details))
	}
}

// says waits until an element's text contains the given words.
func (v *visitor) says(selector, words string) {
	v.t.Helper()
	v.Wait(
		fmt.Sprintf("%q in %s", words, selector),
		fmt.Sprintf(`document.querySelector(%q)?.innerText.replace(/\s+/g, ' ').includes(%q)`, selector, words),
	)
}

// cmd returns the selector of the button that sends a command, within a part of the page.
func cmd(within, command string) string {
	return fmt.Sprintf(`%s [data-cmd='%s']`, within, command)
}
