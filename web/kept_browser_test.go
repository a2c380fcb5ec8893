package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOpenedStaysOpen: what the learner has opened stays so while the panel
// around it is made anew, with the focus inside of it and without.
func TestOpenedStaysOpen(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	open := `document.querySelector('#panel .blk__say details')`
	for _, focus := range []bool{false, true} {
		b.do(open + `.open = true`)
		if focus {
			b.do(open + `.querySelector('summary').focus()`)
		}
		b.say(`{"cmd":"stop","max_tokens":77}`)
		b.until(`document.getElementById('max_tokens').value === '77'`)
		b.say(`{"cmd":"try","key":"unsure"}`) // another text: every figure of the panel changes
		b.until(`!document.querySelector('#strip-prompt').textContent.includes('upon')`)
		b.say(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
		b.until(`document.querySelector('#strip-prompt').textContent.includes('upon')`)
		if focus && !eval[bool](b, open+`.open && document.activeElement.matches('summary')`) {
			t.Error("with the focus inside it has shut")
		}
		b.do(open + `.open = true`)
		b.say(`{"cmd":"set","temperature":1.25}`)
		b.until(`document.getElementById('temperature').value === '1.25'`)
		b.say(`{"cmd":"set","temperature":0.7}`)
		b.until(`document.getElementById('temperature').value === '0.7'`)
		if !eval[bool](b, open+`.open`) {
			t.Errorf("it has shut (focus inside: %v)", focus)
		}
	}
	b.checkFaults()
}

// TestMenusAndFindings: a menu closes when something was chosen in it, and
// what was found for one step goes when another is looked at.
func TestMenusAndFindings(t *testing.T) {
	x := newSite(t, Limits{})
	b := startTab(t, x)
	b.run("open the menu", chromedp.Click(chromedp.CSS("#try > summary")))
	b.until(`document.getElementById('try').open`)
	b.run("choose", chromedp.Click(chromedp.CSS("#try [data-cmd*=unsure]")))
	b.until(`!document.getElementById('try').open`)
	b.until(atStage("1"))

	b.key(kb.ArrowRight)
	b.until(atStage("2"))
	b.do(`const i = document.querySelector('[data-find]'); i.closest('details').open = true; i.focus()`)
	b.key("the")
	b.until(`document.querySelector('#found [data-cmd]') !== null`)
	b.do(`document.activeElement.blur()`)
	b.key(kb.ArrowRight)
	b.until(atStage("3"))
	b.until(`document.querySelector('#found').childElementCount === 0 && document.querySelector('[data-find]').value === ''`)
	b.checkFaults()
}
