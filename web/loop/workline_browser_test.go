package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// overWorkLine selects each row of the table in turn, and returns the worked line that is cut off
// the most, or nothing if none is.
const overWorkLine = `(() => {
	const line = document.getElementById('work-line');
	let most = 1, cut = '';
	for (const row of document.querySelectorAll('[data-row]')) {
		row.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
		const box = line.getBoundingClientRect();
		const over = Math.max(line.scrollWidth - line.clientWidth, line.scrollHeight - line.clientHeight,
			...[...line.querySelectorAll('*')].map((e) => e.getBoundingClientRect().right - box.right));
		if (over > most) [most, cut] = [over, line.innerText.replace(/\s+/g, ' ')];
	}
	return cut;
})()`

// TestWorkedLineIsNotCutOff: no number in the worked line is cut off on a Chromebook, no matter
// which row is selected.
func TestWorkedLineIsNotCutOff(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := startTabOn(t, newSite(t, limits{}), browser.Chromebook)
	for _, settings := range []string{
		`{"cmd":"preset","preset":"common"}`,
		`{"cmd":"set","temperature":2,"top_p":1,"top_k":0}`, // hundreds of segments before a row
		`{"cmd":"set","temperature":1.3,"top_k":40,"repetition_penalty":1.3}`,
	} {
		b.say(`{"cmd":"reset"}`)
		b.say(settings)
		b.say(`{"cmd":"token"}`)
		b.Until(atStage("7"))
		for _, stage := range []string{"2", "3", "4", "5"} {
			b.Keys(stage)
			b.Until(atStage(stage))
			if cut := browser.Value[string](b.Tab, overWorkLine); cut != "" {
				t.Errorf("stage %s after %s: the worked line is cut off: %s, want it complete", stage, settings, cut)
			}
		}
	}
}
