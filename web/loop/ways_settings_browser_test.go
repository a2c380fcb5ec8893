package loop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

var settingsGiven = []session.Command{oneToken, session.Seek{Step: 1, Stage: infer.KindFilter}}

var settingsFeatures = []feature{
	{"sliders", settingsGiven, useSliders, gestures},
	{"numbers", settingsGiven, useNumbers, press},
	{"more rules", settingsGiven, useMoreRules, press},
	{"wrong numbers", settingsGiven, useWrongNumbers, press},
	{"presets", settingsGiven, usePresets, press},
	{"stop conditions", nil, useStops, press},
	{"prompts", nil, usePrompts, press},
	{"suggestions", nil, useSuggestions, press},
}

// TestWaysSettings changes every setting that affects the text.
func TestWaysSettings(t *testing.T) {
	fixture.Long(t)
	useAll(t, settingsFeatures)
}

// becomes waits until a setting has the given value and the page's table shows the tokens that the
// filters keep with this value.
func (v *visitor) becomes(field string, value float64) {
	v.t.Helper()
	st := v.comes(
		fmt.Sprintf("%s = %v", field, value),
		func(st *session.State) bool { return st.Settings.Value(field) == value },
	)
	if st.Dist != nil && st.Cursor.Stage == infer.KindFilter {
		v.Wait(
			"the number of kept tokens",
			fmt.Sprintf(
				`document.querySelector('#panel .facts dd')?.innerText.replace(',', '') === '%d'`, st.Dist.Keep,
			),
		)
	}
}

func useSliders(v *visitor) {
	for _, s := range []struct {
		field     string
		to, about float64 // about is the precision of the gesture
	}{{"temperature", 1.5, 0.1}, {"top_k", 30, 2}, {"top_p", 0.6, 0.02}, {"min_p", 0.3, 0.02}} {
		got := v.Slide("#"+s.field, s.to)
		if d := got - s.to; d > s.about || d < -s.about {
			v.t.Errorf("%s was set to %v but is %v", s.field, s.to, got)
		}
		v.becomes(s.field, got)
	}
}

func useNumbers(v *visitor) {
	for field, value := range map[string]float64{
		"temperature": 0.45, "top_k": 7, "top_p": 0.85, "min_p": 0.01, "seed": 7,
	} {
		v.Fill(fmt.Sprintf("input[data-set=%s]:not([type=range])", field), strconv.FormatFloat(value, 'g', -1, 64))
		v.becomes(field, value)
	}
}

// useMoreRules opens the box with the rules that have no keyboard shortcut, and sets each of them
// by number and by slider.
func useMoreRules(v *visitor) {
	v.Press("#more-rules > summary")
	v.Wait("the box to be open", `document.getElementById('more-rules').open`)
	v.Fill("input[data-set=typical_p]:not([type=range])", "0.2")
	v.becomes("typical_p", 0.2)
	got := v.Slide("#typical_p", 0.5)
	if d := got - 0.5; d > 0.05 || d < -0.05 {
		v.t.Errorf("typical-p was set to 0.5 but is %v", got)
	}
	v.becomes("typical_p", got)
	v.Fill("input[data-set=repetition_penalty]:not([type=range])", "1.3")
	v.becomes("repetition_penalty", 1.3)
	v.Press("#more-rules > summary")
	v.Wait("the box to be shut", `!document.getElementById('more-rules').open`)
	v.same()
}

// useWrongNumbers checks that an invalid value causes an error next to its field and leaves the run
// unchanged, and that a valid value then removes the error.
func useWrongNumbers(v *visitor) {
	before := v.state()
	for _, c := range []struct{ field, typed, says string }{
		{"temperature", "-1", "Temperature is -1; it must be"},
		{"top_p", "1.5", "Top-p is 1.5; it must be above 0, up to 1"},
		{"top_k", "x", "“x” is not a number"},
		{"seed", "", "A number is missing here"},
		{"max_tokens", "0", "Max tokens is 0; it must be 1 to"},
	} {
		field := fmt.Sprintf("input[data-set=%s]:not([type=range])", c.field)
		v.Fill(field, c.typed)
		v.says("#err-"+c.field, c.says)
		v.Wait(
			"the field to be marked as wrong",
			fmt.Sprintf(`document.querySelector('%s').getAttribute('aria-invalid') === 'true'`, field),
		)
		// While the value is being typed, the field passes through other values, valid and invalid,
		// and the error appears and disappears accordingly. The elements below the field move until
		// the server has answered the last value.
		was := before.Settings.Value(c.field)
		v.Fill(field, strconv.FormatFloat(was, 'g', -1, 64))
		v.becomes(c.field, was)
		v.Wait("the words to go", fmt.Sprintf(`document.getElementById('err-%s').textContent === ''`, c.field))
	}
	v.comes("the settings as they were", func(st *session.State) bool {
		return st.Settings.Settings == before.Settings.Settings && st.Settings.Seed == before.Settings.Seed &&
			st.Settings.Stop.MaxTokens == before.Settings.Stop.MaxTokens
	})
}

func usePresets(v *visitor) {
	n := browser.Value[int](v.Tab, `document.querySelectorAll('#presets button').length`)
	if n != 5 {
		v.t.Fatalf("%d presets, want 5", n)
	}
	for i := range n {
		button := fmt.Sprintf("#presets button:nth-child(%d)", i+1)
		v.Press(button)
		v.Wait(
			"the preset to be marked",
			fmt.Sprintf(`document.querySelector('%s').getAttribute('aria-pressed') === 'true'`, button),
		)
		v.same()
	}
}

// useStops sets a limit, and types and picks stop strings, one of which fires.
func useStops(v *visitor) {
	v.Fill("#max_tokens", "12")
	v.becomes("max_tokens", 12)
	list := func(want ...string) {
		v.t.Helper()
		v.comes(
			fmt.Sprintf("the stop strings %q", want),
			func(st *session.State) bool { return slices.Equal(st.Settings.Stop.Strings, want) },
		)
	}
	v.open("details.stops__edit")
	v.Fill("#stop-string", `end\n`)
	v.Press("[data-stop-form] [type=submit]")
	list("end\n")
	v.Press(`[data-stop-add="User:"]`)
	list("end\n", "User:")
	v.Press(`#stops [data-stop-remove="0"]`)
	list("User:")
	// The second token that the model will generate becomes a stop string, so that it stops the
	// run.
	v.given(oneToken, oneToken)
	second := v.state().Steps[1].Text
	v.given(session.Reset{})
	v.same()
	v.Fill("#stop-string", second)
	v.Press("[data-stop-form] [type=submit]")
	list("User:", second)
	v.Press(cmd("#transport", `{"cmd":"finish"}`))
	st := v.comes("the stop", func(st *session.State) bool { return st.Stopped != infer.StopNone })
	if st.Stopped != infer.StopString || len(st.Steps) != 2 {
		v.t.Errorf("stopped by %q after %d tokens, want the stop string after 2", st.Stopped, len(st.Steps))
	}
	v.says("#strip-next", "stop string")
}

// usePrompts types a prompt, checks its tokens, and starts a run with it. It then starts a run with
// an offered prompt.
func usePrompts(v *visitor) {
	v.Press("#transport [data-toggle=prompt-box]")
	v.Fill("#prompt", "A small fox")
	v.Wait(
		"the pieces",
		fmt.Sprintf(
			`document.querySelectorAll('#pieces .tk').length === %d`, len(testmodel.Target(v.t).Encode("A small fox")),
		),
	)
	v.Press("#prompt-form [type=submit]")
	v.comes("the text", func(st *session.State) bool { return st.Prompt == "A small fox" })
	v.Wait("the prompt box to go", `document.getElementById('prompt-box').hidden`)
	v.Press("#transport [data-toggle=prompt-box]")
	offered := browser.Value[string](v.Tab, `document.querySelector('#prompt-form [data-prompt]').dataset.prompt`)
	v.Press("#prompt-form [data-prompt]")
	v.comes("the prompt offered", func(st *session.State) bool { return st.Prompt == offered })
}

// useSuggestions starts each suggested run from the menu, which then closes.
func useSuggestions(v *visitor) {
	for _, s := range session.Suggestions {
		v.open("#try")
		v.Press(cmd("#try", fmt.Sprintf(`{"cmd":"try","key":%q}`, s.Key)))
		st := v.comes("the suggestion", func(st *session.State) bool { return st.Prompt == s.Prompt })
		if st.Settings.Settings != s.Settings.Settings || st.Settings.Stop.MaxTokens != s.Settings.Stop.MaxTokens {
			v.t.Errorf("%s: settings %+v, want %+v", s.Key, st.Settings, s.Settings)
		}
		v.Wait("the menu to shut", `!document.querySelector('#try').open`)
	}
}

// TestFilterOrderIsVisible: the order of the filters is shown next to the presets, or, if
// there is no room, under "More".
func TestFilterOrderIsVisible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	const order = "n order: temperature, top-k, top-p, min-p, typical-p"
	for _, screen := range []browser.Screen{browser.Phone, browser.Chromebook, browser.Laptop, browser.Desktop} {
		x := newSite(t, limits{})
		tab := visit(t, x, screen)
		v := &visitor{tab, nil, t, x}
		tab.Click("#prompt-form [data-prompt]")
		tab.Wait("a text", atStage("1"))
		v.given(session.Set{Knobs: infer.Knobs{"typical_p": 0.5}})
		v.same()
		if screen == browser.Chromebook {
			tab.Click(`label[for="all-controls"]`)
		}
		beside := strings.Contains(tab.Text("#filter-note"), order)
		if want := screen == browser.Phone || screen == browser.Desktop; beside != want {
			t.Errorf("at %d px the order is shown next to the presets: got %v, want %v", screen.Width, beside, want)
		}
		tab.Click("#more-rules > summary")
		tab.Wait("the order under More", fmt.Sprintf(
			`document.getElementById('filter-order').checkVisibility() &&
				document.getElementById('filter-order').innerText.includes('%s')`, order,
		))
	}
}
