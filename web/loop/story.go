package loop

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// storyKeys are the keyboard shortcuts that the Story shares with Numbers. Both views have controls
// for them.
var storyKeys = slices.DeleteFunc(slices.Clone(keys), func(k shell.Key) bool {
	return k.Cap == "T K P M S" || k.Cap == "↑ ↓"
})

var storyStyles = append(slices.Clone(styles), "css/story.css")

func storyShell(w stage.Words, v Page) shell.Of {
	return shell.Of{
		Title: v.Title, Active: "loop", Class: "page-loop page-story", Skip: w.T("loop.skip.step"), Embeds: true,
		Data: templ.Attributes{
			"data-run": v.Run, "data-view": string(v.View), "data-link": v.Link,
			"data-stages": strings.Join(terms.StageKeys(), ","),
		},
		Styles:  storyStyles,
		Scripts: []string{"js/loop.js"},
		End:     storyEndHTML(v),
		Keys:    append([]shell.Key{{Cap: "T", Says: "loop.keys.temper"}}, storyKeys...),
	}
}

// temperatureOf returns the console's temperature as a number.
func temperatureOf(c Console) float64 {
	t, _ := strconv.ParseFloat(c.Inputs[FieldTemperature], 64) // cannot fail: the program has formatted it
	return t
}

// nextVerb returns the text of the main button: "Next: Share", "Let it fall".
func nextVerb(w stage.Words, n int, open bool) string {
	if open {
		return w.T("next.draw")
	}
	kind := n%7 + 1
	return w.T("next.stage", "stage", w.T("verb."+terms.StageAt(kind).Key))
}

// stepCommand is the main button's command. The run stops before each draw until the command is
// sent a second time.
const stepCommand = `{"cmd":"step","withhold":true}`

// canTryAgain reports whether another draw can be made at the step shown.
func canTryAgain(pin string, open bool) bool { return pin != "" && !open }
