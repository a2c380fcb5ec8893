package loop

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/session"
)

var historyFeatures = []feature{
	{"stages", nil, useStages, press},
	{"token and reset", nil, useTokenAndReset, press},
	{"rail", []session.Command{oneToken}, useRail, press},
	{"scrubber", []session.Command{oneToken, oneToken, oneToken}, useScrubber, gestures},
	{"play and speed", nil, usePlay, press},
	{
		"to the end and cancel",
		[]session.Command{session.Try{Key: "loop"}, session.SetKnob("max_tokens", 480)},
		useFinish, press,
	},
	{"go on", []session.Command{session.SetKnob("max_tokens", 2), oneToken, oneToken}, useGoOn, press},
}

// TestWaysHistory goes forward and back through the text.
func TestWaysHistory(t *testing.T) {
	fixture.Long(t)
	useAll(t, historyFeatures)
}

// useStages steps through two turns and back with the buttons.
func useStages(v *visitor) {
	for n := 2; n <= 8; n++ {
		v.Press(cmd("#transport", nextCmd))
		if n == 5 {
			v.comes("the withheld draw", func(st *session.State) bool { return st.Undrawn })
			v.Press(cmd("#transport", drawCmd))
		}
		v.comes("the next stage", at(1+(n-1)/7, infer.Kind(1+(n-1)%7)))
	}
	for n := 7; n >= 1; n-- {
		v.Press(cmd("#transport", `{"cmd":"back"}`))
		v.comes("the stage before", at(1, infer.Kind(n)))
	}
	if got := v.Attr(`#transport [aria-label="Previous stage"]`, "aria-disabled"); got != "true" {
		v.t.Error("the back button is enabled at the first stage")
	}
}

func useTokenAndReset(v *visitor) {
	for n := 1; n <= 2; n++ {
		v.Press(cmd("#transport", `{"cmd":"token"}`))
		v.comes("a token", at(n, infer.KindCache))
	}
	v.Press(cmd("#transport", `{"cmd":"reset"}`))
	if st := v.comes("the prompt", at(1, infer.KindForward)); len(st.Steps) != 1 {
		v.t.Errorf("got %d steps after a reset, want 1", len(st.Steps))
	}
}

// useRail shows every stage of a turn.
func useRail(v *visitor) {
	for _, n := range []int{1, 5, 3, 7, 2, 6, 4} {
		v.Press(fmt.Sprintf("#rail li:nth-child(%d) button", n))
		v.comes("the stage pressed", at(1, infer.Kind(n)))
	}
}

// useScrubber drags to some of the 21 stages of three turns.
func useScrubber(v *visitor) {
	for _, n := range []float64{12, 1, 20} {
		got := int(v.Slide("#scrub", n))
		if d := got - int(n); d < -1 || d > 1 {
			v.t.Errorf("the scrubber was moved to %v but is at %d", n, got)
		}
		v.comes("the stage of the scrubber", at(1+(got-1)/7, infer.Kind(1+(got-1)%7)))
	}
}

// usePlay chooses every speed, plays and pauses, and plays to the end.
func usePlay(v *visitor) {
	for _, s := range session.Speeds {
		v.Press(cmd("#transport", fmt.Sprintf(`{"cmd":"speed","speed":%q}`, s)))
		v.comes("the speed", func(st *session.State) bool { return st.Speed == s })
	}
	v.Press(cmd("#transport", `{"cmd":"speed","speed":"0.5"}`)) // so that there is time to press pause
	v.Press(cmd("#transport", `{"cmd":"play"}`))
	v.comes("playing", func(st *session.State) bool { return st.Playing })
	v.Press(cmd("#transport", `{"cmd":"pause"}`))
	v.comes("a pause", func(st *session.State) bool { return !st.Playing })
	v.given(session.SetKnob("max_tokens", 6), session.SetSpeed{Speed: session.SpeedMax})
	v.same()
	v.Press(cmd("#transport", `{"cmd":"play"}`))
	if st := v.comes(
		"the end", func(st *session.State) bool { return st.Stopped != infer.StopNone },
	); len(st.Steps) > 6 {
		v.t.Errorf("%d tokens were generated, want at most 6", len(st.Steps))
	}
}

// useFinish runs to the end, and also cancels before the end. Each time, the pressed button
// disappears, and the focus moves to its replacement.
func useFinish(v *visitor) {
	v.Press(cmd("#transport", `{"cmd":"finish"}`))
	goOn := v.halt(func(st *session.State) bool { return st.Finishing && len(st.Steps) > 1 })
	defer goOn()
	v.focused("#progress button")
	v.Press(cmd("#progress", `{"cmd":"pause"}`))
	goOn()
	st := v.comes("a pause", func(st *session.State) bool { return !st.Playing })
	if st.Stopped != infer.StopNone || len(st.Steps) < 2 {
		v.t.Fatalf(
			"canceled after %d tokens, stopped by %q; want at least 2, %q", len(st.Steps), st.Stopped, infer.StopNone,
		)
	}
	v.focused(cmd("#transport", `{"cmd":"finish"}`))
	v.given(session.SetKnob("max_tokens", float64(len(st.Steps)+5)))
	v.same()
	v.Press(cmd("#transport", `{"cmd":"finish"}`))
	v.comes("the end", func(st *session.State) bool { return st.Stopped == infer.StopMaxTokens })
	v.focused("#transport .btn--main")
}

// halt waits until a playing run reaches a state, and stops the run there, so that there is time to
// use the page. Until the returned function is called, the next pass waits and commands are queued.
func (v *visitor) halt(is func(*session.State) bool) (goOn func()) {
	v.t.Helper()
	if !v.reaches(is) {
		v.t.Fatalf("the run did not reach the expected state: it is at %+v", v.state().Cursor)
	}
	v.x.halted.Lock()
	return sync.OnceFunc(v.x.halted.Unlock)
}

// focused waits until an element has focus.
func (v *visitor) focused(selector string) {
	v.t.Helper()
	v.Wait("the focus to be on "+selector, fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
}

// useGoOn continues after a limit, then opens a new prompt.
func useGoOn(v *visitor) {
	v.comes("the limit", func(st *session.State) bool { return st.Stopped == infer.StopMaxTokens })
	v.says("#strip-next", "max tokens")
	v.Press(cmd("#transport", `{"cmd":"goon"}`))
	st := v.comes("going on", func(st *session.State) bool { return st.Stopped == infer.StopNone })
	if st.Settings.Stop.MaxTokens <= 2 {
		v.t.Errorf("the limit is still %d, want more than 2", st.Settings.Stop.MaxTokens)
	}
	v.Press(cmd("#transport", `{"cmd":"token"}`))
	v.comes("a third token", at(3, infer.KindCache))
	v.Press("#transport [data-toggle=prompt-box]")
	v.Fill("#prompt", "The dog")
	v.Press("#prompt-form [type=submit]")
	v.comes("the new prompt", func(st *session.State) bool { return st.Prompt == "The dog" && len(st.Steps) == 1 })
}
