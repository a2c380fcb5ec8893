package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestOpenedDetailsStayOpen: details that the learner has opened stay open while the panel
// around them is replaced, whether or not they have focus.
func TestOpenedDetailsStayOpen(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	open := `document.querySelector('#panel .blk__say details')`
	for _, focus := range []bool{false, true} {
		b.Eval(open + `.open = true`)
		if focus {
			b.Eval(open + `.querySelector('summary').focus()`)
		}
		b.say(`{"cmd":"stop","max_tokens":77}`)
		b.Until(`document.getElementById('max_tokens').value === '77'`)
		b.say(`{"cmd":"try","key":"unsure"}`) // another text, for which every figure in the panel is different
		b.Until(`!document.querySelector('#strip-prompt').textContent.includes('upon')`)
		b.say(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
		b.Until(`document.querySelector('#strip-prompt').textContent.includes('upon')`)
		if focus && !browser.Value[bool](b.Tab, open+`.open && document.activeElement.matches('summary')`) {
			t.Error("the details closed with the focus inside")
		}
		b.Eval(open + `.open = true`)
		b.say(`{"cmd":"set","temperature":1.25}`)
		b.Until(`document.getElementById('temperature').value === '1.25'`)
		b.say(`{"cmd":"set","temperature":0.7}`)
		b.Until(`document.getElementById('temperature').value === '0.7'`)
		if !browser.Value[bool](b.Tab, open+`.open`) {
			t.Errorf("the details closed (focus inside: %v), want them open", focus)
		}
	}
}

// TestMenusCloseAndSearchesClear: a menu closes when one of its items is chosen, and a step's
// search results disappear when another step is shown.
func TestMenusCloseAndSearchesClear(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTab(t, x)
	b.Click("#try > summary")
	b.Until(`document.getElementById('try').open`)
	b.Click("#try [data-cmd*=unsure]")
	b.Until(`!document.getElementById('try').open`)
	b.Until(atStage("1"))

	b.Keys(browser.ArrowRight)
	b.Until(atStage("2"))
	b.Eval(`const i = document.querySelector('[data-find]'); i.closest('details').open = true; i.focus()`)
	b.Keys("the")
	b.Until(`document.querySelector('#found [data-cmd]') !== null`)
	b.Eval(`document.activeElement.blur()`)
	b.Keys(browser.ArrowRight)
	b.Until(atStage("3"))
	b.Until(
		`document.querySelector('#found').childElementCount === 0 && ` +
			`document.querySelector('[data-find]').value === ''`,
	)
}
