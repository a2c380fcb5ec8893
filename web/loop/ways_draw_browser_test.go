package loop

import (
	"fmt"
	"math"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

var drawGiven = []session.Command{oneToken, oneToken, oneToken, session.Seek{Step: 2, Stage: infer.KindSample}}

var drawFeatures = []feature{
	{"another u", drawGiven, useWhatIf, gestures},
	{"draw again", drawGiven, useRedraw, press},
	{"another seed", drawGiven, useReroll, press},
	{"worked row", []session.Command{oneToken, session.Seek{Step: 1, Stage: infer.KindSoftmax}}, useWorkedRow, press},
	{"all cut tokens", []session.Command{
		session.SetKnob("top_k", 5), oneToken, session.Seek{Step: 1, Stage: infer.KindFilter},
	}, useAllCut, press},
	{"why not the likeliest", nil, useWhyNot, press},
}

// TestWaysDraw inspects draws and makes other draws.
func TestWaysDraw(t *testing.T) {
	fixture.Long(t)
	useAll(t, drawFeatures)
}

// useWhatIf drags u over the strip, checks which token it would have drawn, and chooses that
// token.
func useWhatIf(v *visitor) {
	was := v.state().Steps[1]
	if u := browser.Value[float64](
		v.Tab, `Number(document.querySelector('#whatif-u').value)`,
	); !(math.Abs(u-was.U) <= 0.0001) {
		v.t.Errorf("the slider is at %v, want u, %v", u, was.U)
	}
	for _, to := range []float64{0.05, 0.97} {
		u := v.Slide("#whatif-u", to)
		if !(math.Abs(u-to) <= 0.06) {
			v.t.Errorf("the slider was moved to %v but is at %v", to, u)
		}
		st := v.comes("the question", func(st *session.State) bool { return st.WhatIf != nil && *st.WhatIf == u })
		rank := st.Dist.Draw(u)
		id := int(st.Dist.Order[rank])
		from, upTo := st.Dist.Segment(rank)
		if u < from || u >= upTo {
			v.t.Errorf("u = %v is not from %v to %v", u, from, upTo)
		}
		v.says("#whatif-say", fmt.Sprintf("u = %.4f falls on", u))
		v.says("#whatif-say", marked(st.Model.Token(id).Text))
		v.says("#whatif-say", fmt.Sprintf("p′ = %.4f", st.Dist.Q(rank)))
	}
	st := v.state()
	id := int(st.Dist.Order[st.Dist.Draw(*st.WhatIf)])
	if id == was.Chosen {
		v.t.Fatalf("u = %v draws the same token as %v: choose another prompt", *st.WhatIf, was.U)
	}
	v.Press("#whatif-say [data-cmd*=choose]")
	st = v.comes("the other token", func(st *session.State) bool { return st.Steps[1].Chosen == id })
	if !st.Steps[1].Forced || len(st.Branches) != 2 {
		v.t.Errorf("chosen by hand: %v, %d branches; want true and 2", st.Steps[1].Forced, len(st.Branches))
	}
}

// useRedraw redraws the step shown with another seed.
func useRedraw(v *visitor) {
	was := v.state()
	v.Press("#whatif [data-redraw]")
	st := v.comes("another draw", func(st *session.State) bool { return st.Settings.Seed != was.Settings.Seed })
	if st.Cursor != (session.Cursor{Step: 2, Stage: infer.KindSample}) || st.Steps[1].U == was.Steps[1].U {
		v.t.Errorf("at %+v with u = %v, was %v", st.Cursor, st.Steps[1].U, was.Steps[1].U)
	}
	v.says("#panel", fmt.Sprintf("u = %.4f", st.Steps[1].U))
	if len(st.Branches) != 2 {
		v.t.Errorf("%d branches, want 2, since the previous line is kept", len(st.Branches))
	}
}

// useReroll sets another seed for the following tokens.
func useReroll(v *visitor) {
	was := v.state().Settings.Seed
	v.Press("[data-reroll]")
	st := v.comes("another seed", func(st *session.State) bool { return st.Settings.Seed != was })
	if got := browser.Value[uint64](v.Tab, `Number(document.querySelector('#seed').value)`); got != st.Settings.Seed {
		v.t.Errorf("the field shows %d, want the run's %d", got, st.Settings.Seed)
	}
}

// useWorkedRow checks the arithmetic shown for the table's third row.
func useWorkedRow(v *visitor) {
	if v.Name() == "keyboard" {
		v.Point("#panel [data-rows]")
		v.Keys(browser.ArrowDown)
		for !browser.Value[bool](
			v.Tab, `document.querySelector('#panel tbody [data-row]:nth-of-type(3)').classList.contains('is-hover')`,
		) {
			v.Keys(browser.ArrowDown)
		}
	} else {
		v.Point("#panel tbody [data-row]:nth-of-type(3) th")
	}
	d := v.state().Dist
	id := d.Order[2]
	v.says("#work-line", marked(v.state().Model.Token(int(id)).Text))
	v.says("#work-line", fmt.Sprintf("%.4f", d.P[id]))
}

// useAllCut unfolds the rows of the cut tokens in a narrow window, and folds them again.
func useAllCut(v *visitor) {
	if v.Name() != "touch" {
		v.Screen(browser.Screen{Width: 390, Height: 844})
		defer v.Screen(browser.Laptop)
	}
	v.Wait("what unfolds them", `document.querySelector('#panel .more')?.checkVisibility()`)
	const rows = `[...document.querySelectorAll('#panel tbody [data-row]')].filter((e) => e.checkVisibility()).length`
	few := browser.Value[int](v.Tab, rows)
	v.Press("#all-cut")
	v.Wait(fmt.Sprintf("more than %d rows", few), fmt.Sprintf("%s > %d", rows, few))
	v.Press("#all-cut")
	v.Wait("the few rows", fmt.Sprintf("%s === %d", rows, few))
}

// useWhyNot finds a step whose drawn token was not the most likely one, and checks the page's
// explanation.
func useWhyNot(v *visitor) {
	for range 20 {
		st := v.state()
		if step := st.Steps[len(st.Steps)-1]; step.Ran == infer.KindCache && step.Rank > 1 {
			break
		}
		v.given(oneToken)
	}
	step := v.state().Steps[len(v.state().Steps)-1]
	if step.Rank == 1 {
		v.t.Fatal("all twenty draws took the most likely token")
	}
	v.same()
	v.Press("#rail li:nth-child(5) button")
	st := v.comes("the draw", at(step.N, infer.KindSample))
	likeliest := int(st.Dist.Order[0])
	_, upTo := st.Dist.Segment(0)
	v.says("#whatif-say", marked(st.Model.Token(likeliest).Text))
	v.says("#whatif-say", fmt.Sprintf("%.4f", upTo))
	v.says("#whatif-say", fmt.Sprintf("%.4f", step.U))
}
