package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// notSeen selects the elements that may differ between two runs with different seeds while their
// markers are falling: times, the seed itself, the marker, and the space that a hidden u takes up.
const notSeen = `.cost, .panel__head, #seed, .cum .mark, .laid__pin`

// atDrop opens a run with the given seed and steps to the moment before its marker falls, in slow
// motion.
func atDrop(t *testing.T, in view, seed int) loopTab {
	t.Helper()
	b := openTab(t, newSiteIn(t, in), browser.Screen{Width: 1366, Height: 657, Motion: true})
	b.say(fmt.Sprintf(`{"cmd":"set","seed":%d}`, seed))
	b.say(`{"cmd":"start","prompt":"In the old house lived a"}`)
	b.Until(atStageIn(in, "1"))
	for n := 2; n <= 5; n++ {
		b.Keys(browser.ArrowRight)
		b.Until(atStageIn(in, fmt.Sprint(n)))
	}
	b.Until(`document.querySelector('#panel[data-undrawn], .laid.is-open')`)
	b.SlowMotion()
	return b
}

// TestMarkerDoesNotRevealTheWinner: while the marker moves back and forth, the page looks the same
// no matter where the marker will land. No segment, row, slot, map bar or word is highlighted, and
// a screen reader announces only that the marker is falling. Once it has landed, the pages differ
// and the result is announced.
func TestMarkerDoesNotRevealTheWinner(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for _, in := range []view{numbersView, storyView} {
		t.Run(string(in), func(t *testing.T) {
			t.Parallel()
			var falling, landed []string
			for _, seed := range []int{1, 2, 42} { // farmer, soldier, fox
				b := atDrop(t, in, seed)
				b.Keys(browser.ArrowRight)
				b.Until(`document.querySelector('.is-falling')`)
				b.Moves("carry-sample")
				b.Eval(`film.at(350)`) // the marker is at the far end
				falling = append(falling, b.Seen(notSeen))
				b.Shot(fmt.Sprintf("fall-%s-%d.png", in, seed))
				if strings.Contains(falling[len(falling)-1], "was hit") {
					t.Error("the text below the map reports a hit bar while the marker is moving")
				}
				b.WaitText("#spoken", "The marker is falling.")
				b.Keys("x") // not a command key
				b.Until(`!document.querySelector('.is-falling')`)
				b.Until(`!['', 'The marker is falling.'].includes(document.querySelector('#spoken').textContent)`)
				landed = append(landed, b.Seen(notSeen))
				if says := strings.Contains(landed[len(landed)-1], "was hit"); says != (in == storyView) {
					t.Errorf(
						"it says below the map that a bar was hit: got %t, once the marker has landed, want %t", says,
						in == storyView,
					)
				}
			}
			for i := range falling[1:] {
				if one, other := differ(falling[0], falling[i+1]); one != other {
					t.Errorf("while the marker is moving, one page has\n%s\nwant the same as the other page\n%s", one,
						other)
				}
				if landed[0] == landed[i+1] {
					t.Error("the pages look the same although different tokens were drawn")
				}
			}
		})
	}
}

// differ returns the first line at which two strings differ, as it appears in each of them.
func differ(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return fmt.Sprint(len(as), " lines"), fmt.Sprint(len(bs), " lines")
}

// TestSettingChangeElsewhereEndsTheMarker: if another page of the run changes a setting while the
// marker is falling, the fall ends. The winner is never named before that.
func TestSettingChangeElsewhereEndsTheMarker(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := atDrop(t, storyView, 42)
	other := b.second(b.URL())
	other.Until(isLive)
	b.Keys(browser.ArrowRight)
	b.Moves("carry-sample")
	b.Eval(`
		window.early = 0;
		new MutationObserver(() => {
			const said = document.querySelector('#panel .say');
			const named = said.checkVisibility({ opacityProperty: true }) && said.textContent.includes('fell');
			const falls = film.moving('carry-sample').length > 0;
			if (named && falls) early++;
		}).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })`)
	other.say(`{"cmd":"set","min_p":0.01}`)
	b.Until(`film.moving('carry-sample').length === 0 && !document.querySelector('.is-falling')`)
	b.Until(`document.querySelector('#panel .say').checkVisibility({ opacityProperty: true })`)
	if n := browser.Value[int](b.Tab, `early`); n > 0 {
		t.Errorf("the winner was named %d times while the marker fell, want 0", n)
	}
}
