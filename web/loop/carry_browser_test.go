package loop

import (
	"fmt"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
)

// watchCarry slows down the animations of carry.js, so that a test can inspect them.
const watchCarry = `
	const animate = Element.prototype.animate;
	window.moves = 0;
	Element.prototype.animate = function (...how) {
		const one = animate.apply(this, how);
		one.updatePlaybackRate(1e-6);
		window.moves++;
		return one;
	};
	window.carried = () => document.getAnimations().filter(a => a.id.startsWith('carry') && a.playState === 'running');
	// at sets all animations to a share of the longest one's duration.
	window.at = (share) => {
		const ends = carried().map(a => a.effect.getComputedTiming().endTime);
		for (const [i, a] of carried().entries()) a.currentTime = Math.min(share * Math.max(...ends), ends[i] - 1);
	};
	window.unseen = (selector) =>
		[...document.querySelectorAll(selector)].every(e => getComputedStyle(e).opacity === '0')`

// carries lists the transitions after the first stage. Each entry has the stage that the transition
// reaches and, for each view, a selector that matches once that stage has been reached.
var carries = []struct{ name, verb, stage, story, numbers string }{
	{"2-score", "Score", "2", ".shares--dots", ".gap__dot"},
	{"3-share", "Share", "3", ".shares:not(.shares--dots)", ".bar__p"},
	{"4-trim", "Trim", "4", ".is-cut, .shares", ".bar__q"},
	{"5-tip", "Draw", "5", ".laid.is-open", ".cum--big"},
	{"5-fall", "Draw", "5", ".laid__drop", ".mark__at"},
	{"5-again", "Draw", "5", ".laid__drop", ".mark__at"},
	{"6-write", "Write", "6", ".ends", ".flow"},
	{"7-keep", "Keep", "7", ".memo", ".kv"},
	{"1-read", "Read", "1", ".chips", ".blk"},
}

// TestStageMotionInBothViews: in both views, something moves from each stage to the next. A key
// press or a click ends the animation early and leaves no trace of it. The winner is not named
// before the marker has fallen. If VIZ_SHOTS is set, the test takes five screenshots of each
// animation.
func TestStageMotionInBothViews(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for name, screen := range map[string]browser.Screen{
		"story-laptop":   {Width: 1366, Height: 657, Motion: true},
		"story-phone":    {Width: 390, Height: 844, Touch: true, Motion: true},
		"numbers-laptop": {Width: 1366, Height: 657, Motion: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := storyView
			if name == "numbers-laptop" {
				in = numbersView
			}
			x := newSiteIn(t, in)
			b := openTab(t, x, screen)
			b.Type("#prompt", "In the old house lived a")
			b.Chord(browser.Enter)
			b.Until(atStage("1"))
			b.Eval(watchCarry)
			for i, to := range carries {
				b.Eval(`window.moves = 0`)
				if to.name == "5-again" {
					b.say(`{"cmd":"redraw","seed":7}`)
				} else {
					b.Keys(browser.ArrowRight)
				}
				shown := verb(to.verb) + ` && document.querySelector('#panel :is(` + to.story + `)')`
				if name == "numbers-laptop" {
					shown = atStage(to.stage) + ` && document.querySelector('#panel :is(` + to.numbers + `)')`
				}
				b.Until(shown)
				b.Until(`window.moves > 0 && window.carried().length > 0`)
				b.half(name+"-"+to.name, to.name == "5-fall" || to.name == "5-again", to.name == "6-write")
				if i%2 == 0 {
					b.Keys("x") // not a command key
				} else {
					b.Eval(`document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))`)
				}
				b.Until(`window.carried().length === 0 && !document.querySelector('.carried, .is-falling')`)
			}
		})
	}
}

// half stops an animation halfway and checks what is visible.
func (b loopTab) half(name string, falls, flies bool) {
	for frame := range 5 {
		b.Eval(fmt.Sprintf(`window.at(%g)`, float64(frame)/4))
		b.Shot(fmt.Sprintf("motion-%s-%d.png", name, frame))
	}
	b.Eval(`window.at(.5)`)
	if falls {
		for _, selector := range []string{"#panel .say", "#panel .laid__at", "#panel .verdict", "#panel .mark text"} {
			if !browser.Value[bool](b.Tab, fmt.Sprintf(`window.unseen(%q)`, selector)) {
				b.Fail("%s: %s is seen before the marker has fallen", name, selector)
			}
		}
	}
	copies := browser.Value[int](b.Tab, `document.querySelectorAll('.carried:not(.carried--dot)').length`)
	if copies > 1 || copies == 1 && !flies {
		b.Fail("%s: %d copies fly", name, copies)
	}
}

// TestStepDuringMotionCounts: a step during an animation ends the animation and still takes effect:
// the next stage is shown, and only its own animation runs.
func TestStepDuringMotionCounts(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := openStory(t, browser.Screen{Width: 1366, Height: 657, Motion: true})
	b.Eval(watchCarry)
	for _, to := range carries[:4] {
		b.Keys(browser.ArrowRight)
		b.Until(verb(to.verb) + ` && document.querySelector('#panel :is(` + to.story + `)')`)
		b.Until(`window.carried().length > 0`)
		b.Eval(`window.at(.5)`)
	}
	b.Keys(browser.ArrowRight)
	b.Until(`document.querySelector('.laid__drop') && document.querySelector('.is-falling')`)
	b.Keys(browser.ArrowRight)
	b.Until(verb("Write") + ` && !document.querySelector('.is-falling')`)
	b.Until(`window.carried().every(a => a.id === 'carry-append')`)
}

// TestStoryWithReducedMotion: nothing moves if the user prefers reduced motion.
func TestStoryWithReducedMotion(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	b := openStory(t, browser.Laptop)
	b.Eval(watchCarry)
	for _, name := range []string{"Score", "Share", "Trim", "Draw"} {
		b.Keys(browser.ArrowRight)
		b.Until(verb(name))
	}
	b.Keys(browser.ArrowRight)
	b.Until(`document.querySelector('.laid__drop')`)
	b.Keys(browser.ArrowRight)
	b.Until(verb("Write"))
	if n := browser.Value[int](b.Tab, `window.moves`); n != 0 {
		t.Errorf("got %d moving elements, want 0", n)
	}
}
