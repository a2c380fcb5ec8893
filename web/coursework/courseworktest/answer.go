package courseworktest

import (
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
)

// Answer answers a question. For a choice question, it selects a wrong choice and then the right
// one. For a recall question, it enters an answer, compares it with the good one, checks off one
// point and saves the result.
func Answer(tab *browser.Tab, hands browser.Hands, q *lessons.Question) {
	form := "#check-" + q.ID
	if q.Kind == "recall" {
		hands.Fill(form+" textarea", "the model reads, scores, draws")
		hands.Press(form + ` button[value="compare"]`)
		hands.Press(form + ` input[name="tick"][value="0"]`)
		hands.Press(form + ` button[value="keep"]`)
		tab.WaitText(form+" .is-kept", terms.English.T("coursework.points", "all", len(q.Rubric), "n", 1))
		return
	}
	right := slices.IndexFunc(q.Choices, func(c lessons.Choice) bool { return c.Right })
	wrong := (right + 1) % len(q.Choices)
	for _, i := range []int{wrong, right} {
		choose(tab, hands, form, i)
		hands.Press(form + " .check__act button")
		tab.Wait("why", fmt.Sprintf(`document.querySelector('%s .choice:has([value="%d"]) .choice__why')`, form, i))
	}
	tab.WaitText(form+" .is-right em", "right on the second try")
}

// choose selects a choice. With the keyboard, the group of radio buttons is a single Tab stop, and
// the arrow keys move within the group.
func choose(tab *browser.Tab, hands browser.Hands, form string, i int) {
	radio := fmt.Sprintf(`%s [type=radio][value="%d"]`, form, i)
	if hands.Name() != "keyboard" {
		hands.Press(radio)
		return
	}
	hands.Press(form + " [type=radio]:not(:disabled)")
	for range 8 {
		if browser.Value[bool](tab, fmt.Sprintf(`document.querySelector('%s').checked`, radio)) {
			return
		}
		tab.Keys(browser.ArrowDown)
	}
}
