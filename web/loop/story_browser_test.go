package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// openStory opens the Loop in the Story, as a newcomer, and begins a text.
func openStory(t *testing.T, screen browser.Screen) loopTab {
	t.Helper()
	b := openTab(t, newStorySite(t), screen)
	b.Type("#prompt", "In the old house lived a")
	b.Chord(browser.Enter)
	b.Until(atStage("1"))
	return b
}

// verb returns an expression that is true while the Story shows the step with the given name.
func verb(name string) string {
	return `document.querySelector('#now')?.firstChild.data.trim() === '` + name + `'`
}

// TestBrowserStoryByKeyboard steps through a token in the Story by keyboard: through the seven
// verbs, the marker that falls only on request, and the text as prose. It then switches to Numbers
// and back, at the same stage of the same run.
func TestBrowserStoryByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := openStory(t, browser.Laptop)
	for _, name := range []string{"Score", "Share", "Trim", "Draw"} {
		b.Keys(browser.ArrowRight)
		b.Until(verb(name))
		b.Until(`[...document.querySelectorAll('.btn--main')].filter(e => e.checkVisibility()).length === 1`)
	}
	b.WaitText("#transport .btn--main", "Let it fall")
	b.Until(`!document.querySelector('.laid__drop, .is-pick')`)
	b.Keys(browser.ArrowRight)
	b.Until(`document.querySelector('.laid__drop') && document.querySelector('#again[data-redraw]')`)
	won := b.Text("#panel .tk--pick")
	b.Keys(browser.ArrowRight)
	b.Until(verb("Write"))
	b.Until(`document.querySelectorAll('#strip-gen > .w').length === 1`)
	if word := b.Text("#strip-gen"); word == "" || won == "" {
		t.Errorf("the text continues with %q, want the drawn %q", word, won)
	}
	b.Keys("3")
	b.Until(verb("Share"))
	b.Click(`.view button[value="numbers"]`)
	b.Until(`document.body?.dataset.view === 'numbers' && ` + isLive)
	b.Until(atStage("3"))
	b.Click(`.view button[value="story"]`)
	b.Until(`document.body?.dataset.view === 'story' && ` + isLive)
	b.Until(verb("Share"))
}

// TestBrowserFinishedTextShowsShares: once the text has run to its end, its tokens show their
// shares by mouse, keyboard and touch.
func TestBrowserFinishedTextShowsShares(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := openStory(t, browser.Laptop)
	b.Keys("e")
	b.Until(`document.querySelector('.story--end') && document.querySelector('.the-end')`)
	b.Screen(browser.Chromebook)
	b.Until(`innerWidth === 1366 && (t => t.scrollHeight - t.clientHeight <= 1)(document.getElementById('strip-row'))`)
	b.Eval(`document.querySelector('#strip-gen > .w').focus()`)
	b.Until(`document.querySelector('#peek[data-step="1"]')?.textContent.includes('%')`)
	b.Keys(browser.Enter)
	b.Until(verb("Draw"))
	b.Screen(browser.Phone)
	b.Keys("7")
	b.Until(verb("Keep"))
	b.Tap("#strip-gen > .w:nth-child(3)")
	b.Until(`document.querySelector('#peek[data-step="3"]')?.textContent.includes('%')`)
}

// TestNewestTextStaysInView: in both views, the newest words of a long text are in view. When the
// learner goes back to a step, the token of that step is in view. A finished text is shown from its
// beginning.
func TestNewestTextStaysInView(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, view := range []view{storyView, numbersView} {
		t.Run(string(view), func(t *testing.T) {
			t.Parallel()
			x := newSiteIn(t, view)
			b := startTabOn(t, x, browser.Chromebook)
			within := func(selector string) string {
				return `(() => {
					const box = document.getElementById('strip-row').getBoundingClientRect();
					const at = document.querySelector('` + selector + `').getBoundingClientRect();
					return at.left >= box.left - 1 && at.right <= box.right + 1 &&
						at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
				})()`
			}
			const longer = `(box => box.scrollHeight > box.clientHeight + 1 ||
				box.scrollWidth > box.clientWidth + 1)(` +
				`document.getElementById('strip-row'))`
			b.write(48)
			b.Until(longer)
			b.Until(within("#strip-gen > :last-child"))
			b.say(`{"cmd":"seek","step":2,"stage":"sample"}`)
			b.Until(`document.querySelector('#strip-gen > [aria-current="true"]')?.dataset.step === '2'`)
			b.Until(within(`#strip-gen > [data-step="2"]`))
			b.say(`{"cmd":"seek","step":48,"stage":"cache"}`)
			b.Until(within("#strip-gen > :last-child"))
			b.Eval(`location.reload()`)
			b.Until(isLive)
			b.tokens(48)
			b.Until(within("#strip-gen > :last-child"))
			b.Eval(`document.getElementById('strip-row').scrollTo({top: 0, left: 0, behavior: 'instant'})`)
			b.Keys("n")
			b.tokens(49)
			if !browser.Value[bool](
				b.Tab, `(box => box.scrollTop + box.scrollLeft === 0)(document.getElementById('strip-row'))`,
			) {
				t.Error("the text jumps to its end while its beginning is being read")
			}
			b.Keys("e")
			if view == storyView {
				b.Until(`document.querySelector('.story--end') && document.getElementById('strip-row').scrollTop === 0`)
			}
		})
	}
}

// TestStoryStatesAreAccessible: axe-core reports no problems in the Story's states.
func TestStoryStatesAreAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newStorySite(t)
	tab := browser.Open(t, browser.Laptop, x.http.URL+"/loop")
	tab.Until(isLive)
	tab.Audit("a newcomer's page")
	for _, name := range []string{
		"prefill", "logits", "softmax", "filter", "sample", "append", "cache", "stopped-end", "branches",
	} {
		tab.Go(x.http.URL + storyBase + name + "?view=story")
		tab.Until(isReady)
		tab.Audit("story of " + name)
	}
}
