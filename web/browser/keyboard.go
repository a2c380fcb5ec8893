package browser

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mostTabs is the maximum number of Tab presses allowed for reaching a control.
const mostTabs = 250

// shiftTab is Shift+Tab.
var shiftTab = chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift))

type keyboard struct{ *Tab }

func (k keyboard) Name() string { return "keyboard" }

// focusAt returns where the focus is, relative to the first visible element that matches:
// "here", "in" (within its group of roving tab stops), "before" or "after" it, or the reason why
// the focus cannot get there.
const focusAt = `((selector) => {
	const all = [...document.querySelectorAll(selector)];
	const e = all.find((e) => e.checkVisibility({visibilityProperty: true}));
	if (!e) return all.length ? 'is there and not visible' : 'is not there';
	const a = document.activeElement;
	if (a === e) return 'here';
	const group = e.tabIndex < 0 ? e.closest('[data-roving]') : null;
	if (!group && e.tabIndex < 0) return 'is not a place for the focus';
	if (group?.contains(a)) return 'in';
	if (!a || a === document.body) return 'before';
	return e.compareDocumentPosition(a) & Node.DOCUMENT_POSITION_FOLLOWING ? 'after' : 'before';
})(%q)`

// obscured returns the element that entirely hides the focused element, or "" if there is none.
// (WCAG 2.2, 2.4.11: the focus is not obscured.) For a checkbox that is not drawn itself, the label
// counts.
const obscured = `(() => {
	const e = document.activeElement;
	const r = e.getBoundingClientRect();
	if (r.width < 3 || r.height < 3) return '';
	let by = 'nothing: out of sight';
	for (const fx of [0.5, 0.02, 0.98]) for (const fy of [0.5, 0.1, 0.9]) {
		const hit = document.elementFromPoint(r.left + fx * r.width, r.top + fy * r.height);
		if (hit && (e.contains(hit) || hit.contains(e) || hit.closest('label')?.control === e)) return '';
		if (hit) by = hit.outerHTML.slice(0, 80);
	}
	return by;
})()`

// goTo moves the focus with Tab and, among roving tab stops, with the arrow keys.
func (k keyboard) goTo(selector string) {
	k.t.Helper()
	deadline := time.Now().Add(Patience)
	for presses := 0; presses < mostTabs; {
		switch where := Value[string](k.Tab, fmt.Sprintf(focusAt, selector)); where {
		case "here":
			if by := Value[string](k.Tab, obscured); by != "" {
				k.Shot("failed.png")
				k.t.Errorf("the focused element %s is obscured by %s", selector, by)
			}
			return
		case "in":
			k.arrow(selector)
			presses++
		case "before":
			k.Keys(kb.Tab)
			presses++
		case "after":
			k.do("press Shift and Tab", shiftTab)
			presses++
		default:
			if time.Now().After(deadline) {
				k.Shot("failed.png")
				k.t.Fatalf("%s %s", selector, where)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	k.Shot("failed.png")
	k.t.Fatalf("pressing Tab %d times did not reach %s; the focus is on %s", mostTabs, selector,
		Value[string](k.Tab, `document.activeElement.outerHTML.slice(0, 120)`))
}

// arrow moves the focus among roving tab stops.
func (k keyboard) arrow(selector string) {
	k.t.Helper()
	key := kb.ArrowRight
	if Value[bool](
		k.Tab,
		fmt.Sprintf(
			`!!(document.querySelector(%q).compareDocumentPosition(document.activeElement) & `+
				`Node.DOCUMENT_POSITION_FOLLOWING)`,
			selector,
		),
	) {
		key = kb.ArrowLeft
	}
	k.Keys(key)
}

func (k keyboard) Press(selector string) {
	k.t.Helper()
	k.goTo(selector)
	key := kb.Enter
	if Value[bool](k.Tab, `document.activeElement.matches('input[type=checkbox], input[type=radio]')`) {
		key = " "
	}
	k.Keys(key)
}

func (k keyboard) Point(selector string) { k.t.Helper(); k.goTo(selector) }

func (k keyboard) Fill(selector, text string) {
	k.t.Helper()
	k.goTo(selector)
	k.retype(text)
}

// Slide moves the slider to one end, and then by pages and by steps.
func (k keyboard) Slide(selector string, value float64) float64 {
	k.t.Helper()
	k.goTo(selector)
	k.Keys(kb.Home)
	now := k.valueOf(selector)
	for _, keys := range [][2]string{{kb.PageUp, kb.PageDown}, {kb.ArrowRight, kb.ArrowLeft}} {
		k.Keys(keys[0])
		by := k.valueOf(selector) - now
		if by <= 0 {
			break // the slider is at its end
		}
		n := int(math.Round((value-now)/by)) - 1
		if n < 0 {
			keys[0] = keys[1]
		}
		k.Keys(strings.Repeat(keys[0], min(abs(n), mostSteps)))
		now = k.valueOf(selector)
	}
	return now
}

// mostSteps is the maximum number of arrow-key presses used to move a slider. A slider with fine
// steps can therefore stop short of the requested value.
const mostSteps = 60

func abs(n int) int { return max(n, -n) }
