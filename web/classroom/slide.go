package classroom

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// slide is the content of the wall.
type slide struct {
	Title, Code string
	Left, Right string // the halves of the code
	Here        string
	Ends        string // when the countdown ends
	Reach       reach
	QR          qrCode
	Screen      screen
	Map         *stage.Map // in the Story, unless a vote needs the space
	Poll        *poll
	End         *ending
	Wall        []class.OnWall // the members' questions that the instructor shows
	Say         string         // HTML of the sentence of the walkthrough's step, "" if there is none
}

// N returns the number of the stage.
func (d slide) N() string { return strconv.Itoa(d.Screen.N) }

// newSlide returns the initial slide of a page, without the pictures of the heads, which are
// sent later over the connection. The state rest is shown while the run is suspended.
func newSlide(w stage.Words, v *class.View, view shell.View, to reach, rest *session.State) (slide, error) {
	d := moving(w, v, view, rest, false)
	return d, d.join(to)
}

// join adds the instructions for joining the class.
func (d *slide) join(to reach) (err error) {
	d.Reach = to
	d.Left, d.Right = halves(d.Code)
	d.QR, err = newQR(to.Base + "/class/" + d.Code)
	return err
}

// moving returns a slide without the instructions for joining, which rarely change.
func moving(w stage.Words, v *class.View, view shell.View, rest *session.State, inside bool) slide {
	d := slide{
		Title: class.TextIn(w.Language, v.Title), Code: v.Code, Here: terms.Count(v.Here), Ends: millis(v.Timer),
		Screen: screenOf(w, v, view, rest, inside), Poll: newPoll(w, v), Say: walkText(v),
		End: newEnding(w, v), Wall: v.Wall,
	}
	if view == shell.Story && d.Poll == nil && len(d.Wall) == 0 && d.Screen.Started && !d.Screen.Veiled {
		m := w.NewMap(v.State, stage.MapOptions{})
		d.Map = &m
	}
	return d
}

// walkText returns the HTML of the sentence that the current walkthrough step shows to everyone. It
// returns "" before the first step, or if the presenter has left the script.
func walkText(v *class.View) string {
	if v.Walk == nil || v.Walk.Left || v.Walk.At() == nil {
		return ""
	}
	return v.Walk.At().Say
}

// screenOf returns the run of a room as everyone may see it. The state rest is shown for a
// suspended run. If inside is set and the run looks inside, the screen shows the inside of
// the forward pass.
func screenOf(w stage.Words, v *class.View, view shell.View, rest *session.State, inside bool) screen {
	st := cmp.Or(v.State, rest)
	if v.Hidden && v.Poll != nil && v.Poll.Step > 0 {
		return newVeiled(w, st, view, v.Poll.Step)
	}
	return newScreen(w, st, view, inside)
}

// brief returns a row of segments with only the first part of its text, since a slide has no
// space for more text next to the mark.
func brief(s *stage.Segments) *stage.Segments {
	short := *s
	short.SayEnd = ""
	return &short
}

// spelled separates the characters of a code with spaces, for reading aloud.
func spelled(code string) string { return strings.Join(strings.Split(code, ""), " ") }

// The sizes of a poll's dots, which are arranged in rows of dotRow dots.
const (
	dotRow  = mostDots / 2
	dotWide = 20 // distance between dots, in SVG units
	dotHigh = 28
)

func dotX(i int) string { return strconv.Itoa(1 + dotWide*(i%dotRow)) }
func dotY(i int) string { return strconv.Itoa(1 + dotHigh*(i/dotRow)) }

// dotsBox returns the viewBox for n dots.
func dotsBox(n int) string {
	return "0 0 " + strconv.Itoa(dotWide*min(n, dotRow)) + " " + strconv.Itoa(dotHigh*((n+dotRow-1)/dotRow))
}

// dotsClass returns the CSS class for the number of rows.
func dotsClass(n int) string {
	if n > dotRow {
		return "dots dots--2"
	}
	return "dots"
}

// number formats a number with no more digits than necessary.
func number(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if len(s) > 12 {
		return terms.Decimals(x, 4)
	}
	_, rest, _ := strings.Cut(s, ".")
	return terms.Decimals(x, len(rest))
}
