package loop

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

var insideFeatures = []feature{
	{"what belongs together", []session.Command{oneToken, oneStage, oneStage, oneStage}, useLight, press},
	{"head", []session.Command{oneToken, oneStage}, useHead, press},
	{"row of the picture", []session.Command{oneToken, oneStage}, useCanvas, gestures},
	{"block", []session.Command{oneToken, oneStage}, useBlock, press},
	{"early read-out", nil, useReadout, press},
	{"look or not", nil, useLook, press},
	{"cost column", []session.Command{oneToken, oneToken}, useCost, press},
}

// TestWaysInside inspects the forward pass and its cost.
func TestWaysInside(t *testing.T) {
	fixture.Long(t)
	useAll(t, insideFeatures)
}

// mostRead returns the n positions with the largest weights, in descending order.
func mostRead(weights []float32, n int) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case weights[a] > weights[b]:
			return -1
		case weights[a] < weights[b]:
			return 1
		}
		return 0
	})
	return order[:min(n, len(order))]
}

// useHead points at a head, checks which tokens the head reads most, and opens each of them.
func useHead(v *visitor) {
	weights := v.state().Look.Blocks[2].Attention[1] // block 3, head 2
	const head = `[data-head="2.1"]`
	v.Point(head)
	v.says("#work-line", "Block 3, head 2")
	for _, i := range mostRead(weights, 3) {
		v.says("#work-line", fmt.Sprintf("at %d", i+1))
		v.says("#work-line", places(float64(weights[i]), 4))
	}
	if v.Name() != "touch" { // with touch, the tap has already pressed it
		v.lightsWhatItReads(weights)
		v.Press(head)
	}
	v.says("#map-zoom h3", "Block 3, head 2 reads")
	got := v.Texts("#map-zoom .reads li:not(.reads__rest) b")
	var want []string
	for _, i := range mostRead(weights, len(weights)) {
		want = append(want, places(float64(weights[i]), 4))
	}
	if want = want[:len(got)]; len(got) == 0 || !slices.Equal(got, want) {
		v.t.Errorf("the head reads %q, want %q", got, want)
	}
	v.Press("#map-zoom [data-zoom-out]")
	v.Wait("the head to be shut", `document.getElementById('map-zoom').hidden`)
}

// lightsWhatItReads checks that the tokens that a head reads are highlighted in the text, each
// with its share.
func (v *visitor) lightsWhatItReads(weights []float32) {
	v.t.Helper()
	got := browser.Value[map[int]int](v.Tab, `Object.fromEntries([...document.querySelectorAll("#strip-row .is-lit")]
		.map((e) => [e.dataset.pos, parseInt(e.dataset.looks)]))`)
	for at, weight := range weights {
		if share, lit := got[at]; math.Abs(100*float64(weight)-float64(share)) > 1 || weight > 0.01 && !lit {
			v.t.Errorf("token %d is highlighted at %d%% (highlighted: %v), want its weight of %.1f%%", at, share, lit,
				100*weight)
		}
	}
}

// litThings lists the highlighted elements, each with its kind, block and position.
const litThings = `[...document.querySelectorAll(".is-lit")].map(({ localName, dataset }) =>
	[localName, dataset.block, dataset.pos].filter(Boolean).join(" ")).sort()`

// useLight checks which elements are highlighted. With the mouse, it points at a token's segment,
// which highlights all elements that show the token, and then at a cell of the map, which
// highlights the cells that it reads, with their tokens. By keyboard, it highlights a block, and by
// touch, a token.
func useLight(v *visitor) {
	lights := func(what string, want ...string) {
		v.t.Helper()
		v.Wait(what+" lit", fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%q.split(","))`, litThings,
			strings.Join(want, ",")))
	}
	switch v.Name() {
	case "mouse":
		const piece = `.cum__bar svg[data-token]:nth-child(2)`
		v.Point(piece)
		lights("its bar on the map, its piece and its row", "span", "svg", "tr")
		v.Until(`document.querySelector('tr.is-lit').dataset.token === ` +
			`document.querySelector('` + piece + `').dataset.token`)
		v.Point(`.map__keyrow:nth-child(5) .map__key[data-pos="1"]`)
		lights("what the cell reads", "button 1 0", "button 1 1", "button 2 0", "button 2 1", "span 0", "span 0",
			"span 1", "span 1")
		at := len(v.state().PromptTokens)
		column := fmt.Sprintf(`document.querySelectorAll('.map__toks .is-lit[data-pos="%d"]').length === 1`, at)
		v.Point(fmt.Sprintf(`#strip-gen [data-pos="%d"]`, at))
		v.Until(column)
		v.Keys(browser.ArrowRight) // the map is re-rendered under the pointer
		v.Until(atStage("4") + " && " + column)
		v.Point("#panel h2") // away from the text, whose line then folds
		v.Until(`document.querySelector(".is-lit") === null`)
	case "keyboard":
		v.Point(`.map__key[tabindex="0"]`)
		v.Wait("a block lit", `document.querySelectorAll('.map__nos .is-lit[data-block="6"]').length === 1`)
	default:
		at := len(v.state().PromptTokens)
		v.Point(fmt.Sprintf(`#strip-gen [data-pos="%d"]`, at))
		v.Until(fmt.Sprintf(`document.querySelectorAll('.map__toks .is-lit[data-pos="%d"]').length === 1`, at))
	}
}

// useCanvas presses a row of the picture, which acts like its head's button. The keyboard
// uses the button instead.
func useCanvas(v *visitor) {
	if v.Name() == "keyboard" {
		v.Press(`[data-head="0.0"]`)
		v.says("#map-zoom h3", "Block 1, head 1 reads")
		return
	}
	v.Press(`canvas[data-heat="4"]`) // in the middle of the canvas, where head 3 of 6 ends
	v.Wait(
		"a head of block 5", `/^Block 5, head [34] reads/.test(document.querySelector('#map-zoom h3')?.innerText)`,
	)
}

// useBlock opens a block and checks its norms, shapes and values.
func useBlock(v *visitor) {
	b := v.state().Look.Blocks[3]
	v.Press(`.blk__open[data-cmd*='"block":4']`)
	v.says("#map-zoom h3", "Inside block 4")
	want := []string{fmt.Sprintf("%.2f", b.NormIn), fmt.Sprintf("%.2f", b.NormMid), fmt.Sprintf("%.2f", b.NormOut)}
	if got := v.Texts("#map-zoom .parts dd"); !slices.Equal(got, want) {
		v.t.Errorf("norms %q, want %q", got, want)
	}
	v.open("#map-zoom .zoom__vectors")
	c := v.state().Model.Config()
	for _, shape := range []string{
		fmt.Sprintf("%d heads × %d", c.Heads, c.HeadDim), fmt.Sprintf("%d heads × %d", c.KVHeads, c.HeadDim),
		terms.Count(c.FFN),
	} {
		v.says("#map-zoom", shape+"; from")
	}
	v.open("#map-zoom .ins__tensor:nth-of-type(1) details")
	minus := func(x float32) string {
		s := fmt.Sprintf("%.2f", x)
		if s == "-0.00" {
			return "0.00"
		}
		if s[0] == '-' {
			s = "−" + s[1:]
		}
		return s
	}
	values := v.Text("#map-zoom .ins__tensor:nth-of-type(1) .vals dd")
	if want := minus(b.Query[0]) + " " + minus(b.Query[1]) + " "; len(values) < len(want) ||
		values[:len(want)] != want {
		v.t.Errorf("the query's values begin %.30q, want %q", values, want)
	}
	v.Press("#map-zoom [data-zoom-out]")
	v.Wait("the block to be shut", `document.getElementById('map-zoom').hidden`)
}

// useReadout unfolds the list of the five tokens that the logit lens reads after a block.
func useReadout(v *visitor) {
	says := v.state().Look.Blocks[1].Says
	const block = "#panel .blk:nth-child(2)"
	v.says(block+" .blk__say b", places(says[0].P, 2))
	v.open(block + " .blk__say details")
	var want []string
	for _, r := range says {
		want = append(want, marked(r.Token.Text)+" "+places(r.P, 2))
	}
	got := browser.Value[[]string](
		v.Tab,
		fmt.Sprintf(
			`[...document.querySelectorAll('%s .blk__say details li')].map(e => e.innerText.replace(/\s+/g, ' `+
				`').trim())`,
			block,
		),
	)
	if len(want) != 5 || !slices.Equal(got, want) {
		v.t.Errorf("the block shows %q, want %q", got, want)
	}
}

// useLook switches the inside view off and on again.
func useLook(v *visitor) {
	v.Press(cmd("#panel", `{"cmd":"look","on":false}`))
	if st := v.comes("not looking", func(st *session.State) bool { return !st.Looking }); st.Look != nil {
		v.t.Error("the inside of the pass is shown after it was switched off")
	}
	v.Wait("no heads and no pictures", `document.querySelector('[data-head], canvas') === null`)
	v.Press(cmd("#panel", `{"cmd":"look","on":true}`))
	v.comes("looking", func(st *session.State) bool { return st.Looking && st.Look != nil })
	v.Wait("the pictures", `document.querySelectorAll('canvas[data-heat]').length === 6`)
}

// useCost shows the cache by head, then by layer again, and opens the chart's table.
func useCost(v *visitor) {
	v.Press("#kv-heads")
	v.Wait(
		"the grid by head",
		`document.querySelector('.kv-heads').checkVisibility() && `+
			`!document.querySelector('.kv-layers').checkVisibility()`,
	)
	v.Press("#kv-heads")
	v.Wait(
		"the grid by layer",
		`!document.querySelector('.kv-heads').checkVisibility() && `+
			`document.querySelector('.kv-layers').checkVisibility()`,
	)
	v.open(".cost__total .twin")
	st := v.state()
	var want []string
	for _, step := range st.Steps {
		if step.Ran == infer.KindCache {
			want = append(want, fmt.Sprint(step.N))
		}
	}
	v.Wait(fmt.Sprintf("a table of the steps %q", want), fmt.Sprintf(
		`[...document.querySelectorAll('#cost-table tbody th')].map((e) => e.innerText.trim()).join() === '%s'`,
		strings.Join(want, ",")))
	v.says("#tokens", fmt.Sprintf("in %d", len(st.PromptTokens)))
	v.says("#tokens", fmt.Sprintf("out %d", len(st.Steps)))
}
