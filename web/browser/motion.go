package browser

import "fmt"

// slowMotion slows scripted animations almost to a standstill. It finds running animations by the
// names that static/js gives them.
const slowMotion = `
	if (window.film) return;
	const animate = Element.prototype.animate;
	const film = window.film = {
		began: new Set(),
		moving: (name = 'carry') => document.getAnimations()
			.filter((a) => a.id.startsWith(name) && a.playState === 'running'),
		end: () => Math.max(...film.moving().map((a) => a.effect.getComputedTiming().endTime)),
		at: (ms) => {
			for (const a of film.moving()) a.currentTime = Math.min(ms, a.effect.getComputedTiming().endTime - 1);
		},
	};
	Element.prototype.animate = function (...how) {
		const one = animate.apply(this, how);
		one.updatePlaybackRate(1e-6); // not 0, because such an animation cannot be finished
		queueMicrotask(() => film.began.add(one.id));
		return one;
	};`

// SlowMotion slows down the page's animations so much that they last until [Tab.Moves] and other
// methods have examined or ended them.
func (tab *Tab) SlowMotion() {
	tab.t.Helper()
	tab.Eval(slowMotion)
}

// Moves waits until the animation with the given name, such as "carry-sample", runs in slow motion.
// Scripts give their animations these names.
func (tab *Tab) Moves(name string) {
	tab.t.Helper()
	tab.Wait("the animation "+name, fmt.Sprintf(`film.moving(%q).length > 0`, name))
}

// Film freezes all animations at five points from start to end and, if $VIZ_SHOTS is set, saves a
// picture of each point as $VIZ_SHOTS/name-0.png to name-4.png. It leaves the animations halfway
// through.
func (tab *Tab) Film(name string) {
	tab.t.Helper()
	for frame := range 5 {
		tab.Eval(fmt.Sprintf(`film.at(film.end() * %d / 4)`, frame))
		tab.Shot(fmt.Sprintf("%s-%d.png", name, frame))
	}
	tab.Eval(`film.at(film.end() / 2)`)
}

// Seen ends the CSS animations and then returns the visible content of the page: each element with
// its own text, position and colors. It omits the elements that match the selector except.
func (tab *Tab) Seen(except string) string {
	tab.t.Helper()
	return Value[string](tab, fmt.Sprintf(`(() => {
		const lines = [];
		for (const a of document.getAnimations()) {
			if (!a.id && a.effect.getComputedTiming().iterations !== Infinity) a.finish();
		}
		for (const e of document.querySelectorAll('body *')) {
			if (e.closest(%q) || e.closest('.sr, script, template, title, [hidden]')) continue;
			if (e.matches('svg, g')) continue; // these only contain visible elements
			if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
			const own = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join(' ');
			const s = getComputedStyle(e);
			const before = getComputedStyle(e, '::before').content;
			const box = e.getBoundingClientRect();
			const at = [box.x, box.y, box.width, box.height].map((n) => n.toFixed(1)).join(' ');
			lines.push([e.nodeName, own, before, at, s.color, s.backgroundColor,
				s.borderColor, s.fill, s.stroke, s.opacity, s.fontWeight].join(' | '));
		}
		return lines.join('\n');
	})()`, except))
}
