package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// visibleWords counts the words that the page shows. It omits words for screen readers only and
// words in folded parts.
const visibleWords = `(() => {
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let n = 0;
	for (let text = texts.nextNode(); text; text = texts.nextNode()) {
		const e = text.parentElement;
		if (e.closest('.sr, .skip, script, noscript') || !e.checkVisibility({visibilityProperty: true})) continue;
		n += (text.data.match(/\S*[\p{L}\p{N}]\S*/gu) ?? []).length;
	}
	return n;
})()`

// TestEmptyLoopIsShort: without a text, the page is short, and the first press of the Tab key after
// the skip link leads to the prompt.
func TestEmptyLoopIsShort(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, view := range []view{storyView, numbersView} {
		for name, screen := range map[string]browser.Screen{
			"phone": browser.Phone, "chromebook": browser.Chromebook, "desktop": browser.Desktop,
		} {
			t.Run(string(view)+" on a "+name, func(t *testing.T) {
				t.Parallel()
				x := newSiteIn(t, view)
				b := openTab(t, x, screen)
				n := browser.Value[int](b.Tab, visibleWords)
				t.Logf("%d words", n)
				if n < 20 || n > 120 {
					t.Errorf("the page shows %d words, want at most 120", n)
				}
				b.Keys("\t")
				b.Until(`document.activeElement.matches('.skip')`)
				b.Keys("\t")
				b.Until(`document.activeElement.id === 'prompt'`)
				b.Shot("empty-" + string(view) + "-" + name + ".png")
			})
		}
	}
}

// TestSettingsCanBeChangedBeforeStart: as long as there is no text, Numbers folds the settings into
// one plain line, and the run begins with the chosen settings. The prompt and the settings survive
// a switch to the Story and back. Once the run has begun, everything around the stage is shown.
func TestSettingsCanBeChangedBeforeStart(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for name, screen := range map[string]browser.Screen{"phone": browser.Phone, "chromebook": browser.Chromebook} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSite(t, limits{})
			b := openTab(t, x, screen)
			b.Until(`!document.getElementById('temperature').checkVisibility()`)
			b.Click(".begin__settings summary")
			b.Until(`document.getElementById('temperature').checkVisibility()`)
			b.Shot("settings-" + name + ".png")
			b.Audit("settings before a text")
			b.Type("#prompt", "A fox")
			b.Eval(`document.getElementById('temperature').value = '1.2'`)
			for _, view := range []view{storyView, numbersView} {
				// No answer can arrive between the change and the press.
				b.Eval(`document.getElementById('temperature').dispatchEvent(new Event('input', { bubbles: true }));
					document.querySelector('[data-view-form] [value="` + string(view) + `"]').click()`)
				b.Until(`document.body?.dataset.view === '` + string(view) + `' && ` + isLive)
				b.Until(`document.getElementById('prompt').value === 'A fox'`)
				b.Until(`document.querySelector('#pieces .tk') !== null`)
				b.Until(`document.getElementById('temperature').value === '1.2'`)
			}
			b.Click("#prompt")
			b.Chord(browser.Enter)
			b.Until(atStage("1"))
			b.Until(`!document.querySelector('.begin__settings').checkVisibility()`)
			b.Until(`['rail', 'strip-row', 'transport'].every((id) => document.getElementById(id).checkVisibility())`)
			if got := x.onlyRun().Latest().Settings.Temperature; got != 1.2 {
				t.Errorf("the run begins at T = %g, want 1.2", got)
			}
		})
	}
}

// TestPromptCoversTheStage: the box for a new prompt covers the stage, and its field has focus.
// After Escape, stepping forward brings the stage back.
func TestPromptCoversTheStage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, view := range []view{storyView, numbersView} {
		for name, screen := range map[string]browser.Screen{
			"phone": browser.Phone, "chromebook": browser.Chromebook,
		} {
			t.Run(string(view)+" on a "+name, func(t *testing.T) {
				t.Parallel()
				x := newSiteIn(t, view)
				b := startTabOn(t, x, screen)
				open := `:is(#transport, .st__text) [data-toggle="prompt-box"]`
				b.Click(open)
				b.Until(`document.activeElement.id === 'prompt'`)
				b.Until(visible("#prompt"))
				b.Until(visible("#prompt-form [type=submit]"))
				b.Until(`!document.getElementById('panel').checkVisibility()`)
				b.Until(`(() => {
					const box = document.getElementById('prompt-box').getBoundingClientRect();
					const sheet = document.getElementById('prompt-box').parentElement.getBoundingClientRect();
					return Math.abs(box.width - sheet.width) < 2 && box.height > sheet.height - 2;
				})()`)
				b.Shot("new-" + string(view) + "-" + name + ".png")
				b.Keys(browser.Escape)
				b.Keys(browser.ArrowRight)
				b.Until(atStageIn(view, "2"))
				b.Until(`document.getElementById('panel').checkVisibility()`)
				b.Click(open)
				b.Until(`document.activeElement.id === 'prompt'`)
				b.Eval(`document.getElementById('prompt').select()`)
				b.Keys("A fox")
				b.Shift(browser.Enter)
				b.Keys("sat")
				b.Keys(browser.Enter)
				b.Until(atStageIn(view, "1"))
				b.Until(`document.getElementById('panel').checkVisibility()`)
				if got := x.onlyRun().Latest().Prompt; got != "A fox\nsat" {
					t.Errorf("the run begins with %q, want %q", got, "A fox\nsat")
				}
			})
		}
	}
}

// atStageIn is [atStage] for either view. The Story shows a check mark for completed stages.
func atStageIn(v view, n string) string {
	if v == numbersView {
		return atStage(n)
	}
	return `document.querySelector('#rail li:nth-child(` + n + `)')?.classList.contains('is-now')`
}
