package loop

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// TestNumbersViewEndsAsProse: a run in Numbers ends with its text as prose, as in the Story. By
// mouse, keyboard and touch, each word shows its share and opens its draw.
func TestNumbersViewEndsAsProse(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	b := startTabOn(t, x, browser.Chromebook)
	b.Until(`document.getElementById('reading').hidden`)
	b.say(`{"cmd":"stop","max_tokens":12}`)
	b.Keys("e")
	b.Until(visible("#reading .prose"))
	b.Until(`document.querySelectorAll('#reading .w').length === 12 && document.querySelector('#reading .the-end')`)
	st := x.onlyRun().Latest()
	want := st.Prompt
	for _, step := range st.Steps {
		want += step.Text
	}
	got := browser.Value[string](b.Tab, `document.querySelector('#reading .prose').textContent`)
	if got = strings.TrimSuffix(got, "■"); got != want {
		t.Errorf("the text reads %q, want %q", got, want)
	}
	says := func(n string) string {
		return `(() => {
			const word = document.querySelector('#reading [data-step="` + n + `"]');
			return document.getElementById('reading-say').textContent === word.dataset.peek && word.title.includes('%');
		})()`
	}
	browser.Mouse(b.Tab).Point(`#reading [data-step="2"]`)
	b.Until(says("2"))
	b.Eval(`document.querySelector('#reading [tabindex="0"]').focus()`)
	b.Keys(browser.Home)
	b.Until(says("1"))
	b.Keys(browser.ArrowRight + browser.ArrowRight)
	b.Until(says("3"))
	b.Shot("end-chromebook.png")
	b.Keys(browser.Enter)
	b.Until(atStage("5") + ` && document.getElementById('reading').hidden`)

	b.Screen(browser.Phone)
	b.Eval(`scrollTo(0, 400)`)
	b.Keys("7")
	b.Until(atStage("7"))
	b.say(`{"cmd":"seek","step":12,"stage":"cache"}`)
	b.Until(visible("#reading-h"))
	b.Tap(`#reading [data-step="4"]`)
	b.Until(says("4"))
	b.Shot("end-phone.png")
	if !browser.Value[bool](b.Tab, atStage("7")) {
		t.Error("the first tap has already led to the draw")
	}
}

// TestBranchKeepsTheTokenInView: a branch from an early token drops the rest of a long text. The
// branch's next token then comes into view, and stays in view as the branch grows.
func TestBranchKeepsTheTokenInView(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTabOn(t, newSite(t, limits{}), browser.Chromebook)
	b.say(`{"cmd":"stop","max_tokens":40}`)
	b.Keys("e")
	b.Until(`document.querySelectorAll('#strip-gen [data-step]').length === 40`)
	b.say(`{"cmd":"seek","step":2,"stage":"sample"}`) // go back to the second token
	b.Until(atStage("5") + ` && document.querySelector('#strip-gen [data-step="2"][aria-current]')`)
	b.Eval(`document.querySelector('#strip-gen [data-step="2"]').focus()`)
	b.Until(`document.querySelector('#peek[data-step="2"] .alt')`)
	b.Eval(`document.querySelector('#peek .alt').click()`)
	const inView = `(() => {
		const [row, next] = ['#strip-row', '.tok--next'].map((e) => document.querySelector(e).getBoundingClientRect());
		return next.left >= row.left && next.right <= row.right;
	})()`
	b.Until(`document.querySelectorAll('.tok--ghost').length > 30 && ` + inView)
	b.say(`{"cmd":"token"}`)
	b.Until(`document.querySelectorAll("#strip-gen [data-step]").length > 1 && ` + inView)
}
