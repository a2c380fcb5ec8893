package browser

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/chromedp/chromedp"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// axeAll lists the rules that axe-core checks: all of WCAG 2.2 at levels A and AA. (Target sizes
// are measured by [Tab.Targets], which is stricter and costs half as much as all other rules
// together.)
const axeAll = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], rules: {"target-size": {enabled: false}}`

// axeRun returns one line for each violation: the rule, and the first element that violates it.
const axeRun = `axe.run({runOnly: ` + axeAll + `, resultTypes: ["violations"], preload: false})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes[0].target.join(" ") + " " + v.nodes[0].failureSummary))`

// axeSample makes axe measure the contrast of only some elements, for the short tier: among all
// elements whose text has the same color, size, weight and backgrounds, the first two and the last
// two. A table of a hundred rows has two dozen kinds of text, and contrast costs more than all
// other rules together.
const axeSample = `(() => {
	const ids = new Map(), below = new Map(), kinds = new Map();
	const id = (key) => ids.get(key) ?? (ids.set(key, ids.size + 1), ids.size);
	const backgrounds = (e) => { // everything painted behind an element's text, by the element and its ancestors
		if (!e) return 0;
		if (!below.has(e)) {
			const c = getComputedStyle(e), own = [c.backgroundColor, c.backgroundImage, c.opacity].join();
			const around = backgrounds(e.parentElement);
			below.set(e, own === 'rgba(0, 0, 0, 0),none,1' ? around : id(around + own));
		}
		return below.get(e);
	};
	for (const e of document.body.querySelectorAll('*')) {
		e.removeAttribute('data-contrast');
		const text = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
		if (!text && !e.matches('input, select, textarea')) continue;
		const c = getComputedStyle(e);
		const kind = [
			backgrounds(e), c.color, c.fill, c.fontSize, c.fontWeight, c.textShadow, c.visibility,
			e.matches(':disabled'),
		].join();
		kinds.set(kind, [...kinds.get(kind) ?? [], e]);
	}
	for (const list of kinds.values()) {
		for (const e of [...list.slice(0, 2), ...list.slice(-2)]) e.setAttribute('data-contrast', '');
	}
	axe.configure({rules: [{id: "color-contrast", selector: "[data-contrast]"}]});
})()`

// looks returns the screens of this run's tier. The short tier checks once, on a phone in light
// mode; the long tier checks every size in both themes.
func looks() []Screen {
	if !fixture.LongTier() {
		return []Screen{Phone}
	}
	var all []Screen
	for _, s := range []Screen{Phone, Chromebook, Laptop, Desktop} {
		dark := s
		dark.Dark = true
		all = append(all, s, dark)
	}
	return all
}

// Audit checks the page in its current state against WCAG 2.2 AA with axe-core. It also checks that
// the page fits the width of its window and that its controls are large enough. It does so on the
// screens and in the themes of this run's tier. The page is not reloaded, and afterward the tab has
// the last of these screens. The parameter what names the page in failure messages.
func (tab *Tab) Audit(what string) {
	tab.t.Helper()
	looks := looks()
	script, err := axeScript()
	if err != nil {
		tab.t.Fatal(err)
	}
	if !Value[bool](tab, `"axe" in window`) {
		tab.do("load axe-core", chromedp.Evaluate[chromedp.Void](script))
	}
	if looks[len(looks)-1] == tab.screen { // the tab already has the last screen
		slices.Reverse(looks)
	}
	for _, l := range looks {
		if l != tab.screen {
			tab.Screen(l)
		}
		theme := map[bool]string{false: "light", true: "dark"}[l.Dark]
		tab.Wait(
			"the screen",
			fmt.Sprintf(`matchMedia("(width: %dpx) and (prefers-color-scheme: %s)").matches`, l.Width, theme),
		)
		at := fmt.Sprintf("%s at %d px, %s", what, l.Width, theme)
		if !fixture.LongTier() {
			tab.do("sample for axe-core", chromedp.Evaluate[chromedp.Void](axeSample))
		}
		for _, fault := range ask(
			tab, "axe-core", chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise),
		) {
			tab.t.Errorf("%s: %s", at, fault)
		}
		// Do not use innerWidth: on a phone, it grows with overflowing content.
		if wide := Value[float64](tab, `document.documentElement.scrollWidth`); wide > float64(l.Width) {
			tab.t.Errorf("%s: the page is %g px wide", at, wide)
		}
		tab.Targets(at, l)
	}
}

// tooSmall lists every visible control whose target is too narrow or too short. The target of a box
// or a slider includes its label, and links within a sentence can be as small as their words.
const tooSmall = `((least) => {
	const list = [];
	for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, label.btn')) {
		if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.type === 'hidden') continue;
		if (e.closest('.sr, .skip') || e.matches('.all-cut, .as-chain')) continue;
		const target = e.matches('[type=checkbox], [type=radio]') ? e.closest('label') ?? e.labels[0] ?? e : e;
		if (e.matches('a') && getComputedStyle(e).display === 'inline' && e.closest('p, li, dd, .prose')) continue;
		const { width, height } = target.getBoundingClientRect();
		if (Math.min(width, height) < least - 0.25) {
			const name = target.id || target.className || target.outerHTML.slice(0, 60);
			const text = target.textContent.trim().slice(0, 20);
			list.push(name + ' “' + text + '” ' + width.toFixed(1) + ' × ' + height.toFixed(1));
		}
	}
	return [...new Set(list)];
})(%d)`

// Targets checks the size of every visible control on a screen, to which the tab must be
// set. The minimum is 44 px for touch and 24 px for a mouse.
func (tab *Tab) Targets(what string, on Screen) {
	tab.t.Helper()
	least := 24
	if on.Touch {
		least = 44
	}
	for _, small := range Value[[]string](tab, fmt.Sprintf(tooSmall, least)) {
		tab.t.Errorf("%s: smaller than %d px: %s", what, least, small)
	}
}

// axeScript is axe-core; see testdata/axe/README.md.
var axeScript = sync.OnceValues(func() (string, error) {
	root, err := os.Getwd()
	for ; err == nil; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("axe-core: no go.mod in the folders above the test")
		}
	}
	file, err := os.Open(filepath.Join(root, "testdata", "axe", "axe.min.js.gz"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file.Name(), err)
	}
	all, err := io.ReadAll(z)
	return string(all), err
})
