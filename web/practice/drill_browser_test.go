package practice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/browser"
)

// numbers returns a drill of the given kind with its lesson's numbers.
func numbers(t *testing.T, kind drill.Kind) *drill.Problem {
	t.Helper()
	p, err := drill.New(terms.English, kind, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// field returns a selector for a cell's input.
func field(cell string) string { return fmt.Sprintf(`#drill [name="%s"]:not([type=hidden])`, cell) }

// enter types an answer into a cell and checks it with the Enter key.
func enter(tab *browser.Tab, cell, answer string) {
	tab.Wait("the cell "+cell, fmt.Sprintf(`document.querySelector('%s')`, field(cell)))
	tab.Eval(fmt.Sprintf(`{ const e = document.querySelector('%s'); e.focus(); e.select() }`, field(cell)))
	tab.Keys(answer + browser.Enter)
	verdict(tab, cell)
}

// verdict waits for the verdict on a cell.
func verdict(tab *browser.Tab, cell string) {
	tab.Wait(
		"a verdict on "+cell,
		fmt.Sprintf(
			`["right", "part", "wrong", "refused"].includes(document.querySelector('%s')?.dataset.state)`, field(cell),
		),
	)
}

// solve fills in all of a step's answers and checks them together.
func solve(tab *browser.Tab, p *drill.Problem, step string) {
	for _, id := range p.Order() {
		if strings.HasPrefix(id, step+".") {
			tab.Eval(fmt.Sprintf(`document.querySelector('%s').value = %q`, field(id), p.Answer(id)))
		}
	}
	tab.Click("#drill-check")
	tab.Wait("the step done", `document.querySelector(".dsteps .is-now.is-done")`)
}

// TestDrillStatesAreAccessible: axe-core reports no problems on a drill that shows some right
// answers, one mistake and the current step.
func TestDrillStatesAreAccessible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	for _, a := range [][2]string{
		{"softmax.exp.0", "54.598"},
		{"softmax.exp.1", "20.086"},
		{"softmax.sum", "86.44"},
		{"softmax.p.0", "63.2%"},
		{"softmax.p.1", "0.3679"},
	} {
		enter(tab, a[0], a[1])
	}
	tab.WaitText(".slip b", "You divided by the largest exponential instead of the sum.")
	browser.Mouse(tab).Press(".slip .btn")
	tab.WaitText(".shown .blank", "?")
	tab.Audit("the drill")
	tab.FullShot("drill.png")
	solve(tab, numbers(t, drill.Softmax), "softmax")
	tab.Click("#drill-worked")
	tab.Wait("the solution", `document.querySelector(".worked")`)
	tab.Audit("worked")
	tab.FullShot("drill-worked.png")
}

// TestDrillByKeyboard solves the drill from its first cell to full credit by keyboard alone. A
// right answer must move the focus to the next cell. A formula in a cell must be entirely visible.
func TestDrillByKeyboard(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	p := numbers(t, drill.Softmax)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	browser.Keyboard(tab).Point(field(p.Order()[0]))
	for _, id := range p.Order() {
		if step, _, _ := strings.Cut(id, "."); tab.Attr(`#drill [name="step"]`, "value") != step {
			tab.Wait("the focus on the next step", `document.activeElement?.id === "drill-next"`)
			tab.Keys(browser.Enter)
		}
		tab.Wait("the focus in "+id, fmt.Sprintf(`document.activeElement?.name === %q`, id))
		keyIn(tab, p.Cell(id), p.Answer(id), rowsOf(p, id))
	}
	tab.WaitText("#ov small", fmt.Sprintf("%d of %d cells right, 100%% of the points", len(p.Order()), len(p.Order())))
	if got := strings.Join(tab.Texts(".trend span b"), " "); got != "0.864 0.632 0.422" {
		t.Errorf("the trend is %q, want %q", got, "0.864 0.632 0.422")
	}
	if n := len(tab.Texts(".mini-card")); n != len(p.Overview()) {
		t.Errorf("%d summaries, want %d", n, len(p.Overview()))
	}
	tab.FullShot("drill-done.png")
	tab.Go(url + "/practice")
	if got, want := tab.Text(".drills li:has([href='/practice/softmax']) .drills__been b"), fmt.Sprintf(
		"%d steps done, best 100%%", len(p.Steps),
	); got != want {
		t.Errorf("the list shows %q, want %q", got, want)
	}
	for _, s := range []browser.Screen{browser.Chromebook, browser.Phone} {
		tab := browser.Open(t, s, url+"/practice/softmax")
		cell := field(p.Order()[0])
		tab.Type(cell, "e^4/86.440")
		got := browser.Value[[]int](tab, fmt.Sprintf(
			`(e => [e.scrollWidth, e.clientWidth, document.documentElement.scrollWidth])(document.querySelector(%q))`,
			cell,
		))
		if got[0] > got[1] || got[2] > s.Width {
			t.Errorf(
				"a formula is %d px wide in a cell of %d, the page %d in %d; want both to fit", got[0], got[1],
				got[2], s.Width,
			)
		}
		tab.Shot(fmt.Sprintf("drill-formula-%d.png", s.Width))
	}
}

// rowsOf returns the options of a set's rows, in table order.
func rowsOf(p *drill.Problem, id string) (options []string) {
	for _, s := range p.Steps {
		for _, r := range s.Rows {
			for _, i := range r.Items {
				if i.Cell != nil && i.Cell.ID == id {
					options = append(options, i.Option)
				}
			}
		}
	}
	return options
}

// keyIn enters an answer into the focused cell by keyboard.
func keyIn(tab *browser.Tab, c *drill.Cell, answer string, rows []string) {
	switch c.Type {
	case drill.Set:
		for i, option := range rows {
			if i > 0 {
				tab.Keys(browser.ArrowDown)
			}
			if slices.Contains(strings.Split(answer, ","), option) {
				tab.Keys(" ")
			}
		}
	case drill.ChoiceOf:
		at := slices.IndexFunc(c.Options, func(o drill.Option) bool { return o.Value == answer })
		if at == 0 {
			tab.Keys(" ")
		}
		tab.Keys(strings.Repeat(browser.ArrowDown, at))
	default:
		tab.Keys(answer)
	}
	tab.Keys(browser.Enter)
}

// TestDrillNamesMistakes: if a mistake has a name, that name appears below the cell.
func TestDrillNamesMistakes(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	p := numbers(t, drill.Softmax)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	solve(tab, p, "softmax")
	for _, m := range []struct {
		cell, answer string
		want         drill.Mistake
	}{
		{"softmax.p.1", "0.3679", drill.Largest},        // 20.086 / 54.598
		{"softmax.exp.1", "1000", drill.Base10},         // 10³
		{"softmax.exp.1", "8", drill.Base2},             // 2³
		{"softmax.p.0", "0.63", drill.Rounding},         // two places
		{"softmax.p.2", "7.389", drill.Swapped},         // the exponential instead
		{"topk.q.0", "0.6316", drill.Renormalize},       // p unchanged
		{"cold.zt.0", "2", drill.TimesT},                // 4 × 0.5
		{"topp.keep", "the,a", drill.Crossing},          // 0.8640 < 0.9
		{"topp.keep", "the,a,an,and", drill.OneTooMany}, // 0.9495 was enough
	} {
		v := p.Check(m.cell, m.answer)
		if v.Mistake != m.want {
			t.Errorf("%s in %s is recognized as %q, want %q", m.answer, m.cell, v.Mistake, m.want)
			continue
		}
		step, _, _ := strings.Cut(m.cell, ".")
		tab.Click("#tab-" + step)
		tab.Wait("the step", fmt.Sprintf(`document.querySelector('#drill [name=step]').value === %q`, step))
		if c := p.Cell(m.cell); c.Type == drill.Set {
			mark(tab, m.cell, strings.Split(m.answer, ","))
			tab.Click("#drill-check")
		} else {
			enter(tab, m.cell, m.answer)
		}
		slip := fmt.Sprintf(`[id="why-%s"]`, m.cell)
		tab.Wait(
			fmt.Sprintf("%q at %s", v.Title, m.cell),
			fmt.Sprintf(`document.querySelector('%s b')?.innerText === %q`, slip, v.Title),
		)
		if !browser.Value[bool](
			tab,
			fmt.Sprintf(
				`document.querySelector('%s').closest("tr").previousElementSibling.querySelector('[name="%s"]') !== `+
					`null`,
				slip, m.cell,
			),
		) {
			t.Errorf("%s: the mistake is not named below its cell", m.cell)
		}
		tab.FullShot("slip-" + string(m.want) + ".png")
		if p.Cell(m.cell).Type == drill.Number {
			if got := browser.Value[string](
				tab, fmt.Sprintf(`getComputedStyle(document.querySelector('%s')).textDecorationLine`, field(m.cell)),
			); m.want != drill.Rounding && got != "line-through" {
				t.Errorf("%s: the wrong answer is not struck through: %q", m.cell, got)
			}
			enter(tab, m.cell, p.Answer(m.cell))
		}
	}
}

// mark selects the checkboxes of the given options and no others.
func mark(tab *browser.Tab, cell string, options []string) {
	for _, at := range browser.Value[[]string](
		tab,
		fmt.Sprintf(`[...document.querySelectorAll('%s')].map((e) => e.value + (e.checked ? "+" : ""))`, field(cell)),
	) {
		option, on := strings.TrimSuffix(at, "+"), strings.HasSuffix(at, "+")
		if on != slices.Contains(options, option) {
			tab.Click(fmt.Sprintf(`%s[value="%s"]`, field(cell), option))
		}
	}
}

// TestDrillArrowKeys: the arrow keys move between cells as in a spreadsheet, Tab moves to the
// next cell, and "?" gives a hint.
func TestDrillArrowKeys(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	at := func(want string) {
		t.Helper()
		tab.Wait("the focus in "+want, fmt.Sprintf(`document.activeElement?.name === %q`, want))
	}
	browser.Keyboard(tab).Point(field("softmax.exp.0"))
	for _, m := range []struct{ keys, want string }{
		{browser.ArrowDown, "softmax.exp.1"},
		{browser.ArrowRight, "softmax.p.1"},
		{browser.ArrowRight, "softmax.cum.1"},
		{browser.ArrowUp, "softmax.cum.0"},
		{browser.ArrowLeft, "softmax.p.0"},
		{browser.ArrowLeft, "softmax.exp.0"},
		{browser.ArrowLeft, "softmax.exp.0"},
		{browser.ArrowUp, "softmax.exp.0"},
		{browser.Tabulator, "softmax.p.0"},
	} {
		tab.Keys(m.keys)
		at(m.want)
	}
	tab.Keys("12" + browser.ArrowLeft) // moves the cursor within the cell
	at("softmax.p.0")
	tab.Keys(browser.Tabulator) // leaving a cell checks it
	verdict(tab, "softmax.p.0")
	at("softmax.cum.0")
	tab.Wait(
		"the help for this cell", `document.querySelector(".shown h2 small").innerText.startsWith("running total")`,
	)
	tab.Keys("?")
	tab.Wait("a hint", `document.querySelectorAll(".shown li").length === 1`)
	at("softmax.cum.0")
	if got := browser.Value[string](tab, `document.activeElement.value`); got != "" {
		t.Errorf(`the cell holds %q, want ""`, got)
	}
}

// TestHelpFollowsTheFocus: if the learner moves to another cell and back, a late response does not
// show help for a cell that is not focused.
func TestHelpFollowsTheFocus(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	tab.Await(`return new Promise((done) => {
		const whole = window.fetch, cell = (name) => document.querySelector('[name="softmax.' + name + '"]');
		window.fetch = async (...request) => { // the first response is late
			window.fetch = whole;
			const answer = await whole(...request);
			cell('p.0').focus();
			new MutationObserver((_, seen) => { seen.disconnect(); cell('cum.0').focus(); done(); })
				.observe(document.querySelector('.shown'), { childList: true, subtree: true, characterData: true });
			return answer;
		};
		cell('cum.0').focus();
	})`)
	tab.Wait(
		"the help for this cell", `document.querySelector(".shown h2 small").innerText.startsWith("running total")`,
	)
	tab.Wait("both responses", `performance.getEntriesByType("resource").filter((e) =>
		e.initiatorType === "fetch").length >= 2`)
	if got := tab.Text(".shown h2 small"); !strings.HasPrefix(got, "running total") {
		t.Errorf("with the focus on the running total, the help is for %q, want help for that cell", got)
	}
}

// TestDrillAddressIsReproducible: an address results in the same numbers everywhere, the learner's
// work survives a reload, and the key N generates new numbers.
func TestDrillAddressIsReproducible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	address := url + "/practice/softmax?seed=77&level=2"
	tab := browser.Open(t, browser.Laptop, address)
	facts := tab.Text(".dfacts")
	enter(tab, "softmax.exp.0", "1")
	tab.Reload()
	verdict(tab, "softmax.exp.0")
	if got := tab.Text(".dfacts"); got != facts ||
		browser.Value[string](tab, fmt.Sprintf(`document.querySelector('%s').value`, field("softmax.exp.0"))) != "1" {
		t.Errorf("after a reload: got %q, want the same numbers and the typed answers", got)
	}
	if got := browser.Open(
		t, browser.Phone, address,
	).Text(".dfacts"); strings.Join(strings.Fields(got), " ") != strings.Join(
		strings.Fields(facts), " ",
	) {
		t.Errorf("in another browser: got %q, want %q", got, facts)
	}
	tab.Eval(`document.activeElement.blur()`)
	tab.Keys("n")
	tab.Wait(
		"new numbers",
		fmt.Sprintf(`location.href !== %q && document.querySelector(".dfacts")?.innerText !== %q`, address, facts),
	)
}

// TestSmallDrillByEveryHand: a drill can be solved for full credit by mouse, keyboard and touch.
// Promise: A drill can be solved by mouse, by keyboard alone and by touch.
func TestSmallDrillByEveryHand(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	p := numbers(t, drill.KVBytes)
	browser.Ways(t, func(t *testing.T, screen browser.Screen, with func(*browser.Tab) browser.Hands) {
		tab := browser.Open(t, screen, url+"/practice/kv-bytes")
		hands := with(tab)
		for i, step := range p.Steps {
			for _, r := range step.Rows {
				cell := r.Items[1].Cell.ID
				hands.Fill(field(cell), p.Answer(cell))
			}
			hands.Press("#drill-check")
			if i+1 < len(p.Steps) {
				hands.Press("#drill-next")
				tab.Wait(
					"the next step",
					fmt.Sprintf(`document.querySelector('#drill [name=step]').value === %q`, p.Steps[i+1].ID),
				)
			}
		}
		tab.Wait("full marks", `document.querySelector("#ov small").innerText.endsWith("100% of the points")`)
	})
}

// TestDrillFastTyping: if answers are typed without a pause, row by row with the Tab key, then in
// the end all of them are present and checked, whichever responses were pending in between.
func TestDrillFastTyping(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	p := numbers(t, drill.Softmax)
	tab := browser.Open(t, browser.Laptop, url+"/practice/softmax")
	browser.Keyboard(tab).Point(field("softmax.exp.0"))
	keys := ""
	for row := range p.Steps[0].Rows {
		for _, column := range []string{"exp", "p", "cum"} {
			answer := p.Answer(fmt.Sprintf("softmax.%s.%d", column, row))
			if row == 1 && column == "p" {
				answer = "0.3679" // a mistake, which opens a row below
			}
			keys += answer + browser.Tabulator
		}
	}
	tab.Keys(keys + p.Answer("softmax.sum") + browser.Enter)
	tab.WaitText(".tally > span:last-child", "15 right, 1 to fix, 0 to go")
	enter(tab, "softmax.p.1", p.Answer("softmax.p.1"))
	tab.Wait("the step done", `document.querySelector(".dsteps .is-now.is-done")`)
}
