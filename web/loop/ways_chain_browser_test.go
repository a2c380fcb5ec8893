package loop

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// chained sets three rules, each of which cuts at least one token when the rules are applied in the
// order that llama.cpp uses.
var chained = []session.Command{
	session.Set{
		Knobs: infer.Knobs{"temperature": 1.5, "top_k": 30, "top_p": 0.9, "min_p": 0.05},
		Order: ptrTo(sampling.OrderLlama),
	},
	oneToken,
	session.Seek{Step: 1, Stage: infer.KindFilter},
}

// TestSamplingChainByKeyAndDrag steps through stage 4 rule by rule, and moves rules by drag, key and button.
// Promise: You can see what each sampling rule removes, and reorder the rules by drag, key or button.
func TestSamplingChainByKeyAndDrag(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	browser.EveryWay(t, func(t *testing.T, screen browser.Screen, hands func(*browser.Tab) browser.Hands) {
		useOn(t, screen, hands, []feature{{"rule by rule", chained, useChain, gestures}})
	})
}

// columns contains the headings of the chain's columns, without their buttons, and the number of
// tokens left after each rule.
type columns struct {
	Rules, Left []string
	Focus       string // the rule whose button has focus
}

const readColumns = `({
	Rules: [...document.querySelectorAll('.ch thead th .ch__name')].map((e) => e.textContent),
	Left: [...document.querySelectorAll('.ch tfoot tr:first-child td')].map((e) => e.textContent.replace(',', '')),
	Focus: document.activeElement.closest('.ch th')?.dataset.rule ?? '',
})`

// chainShows waits until the page shows the state's chain.
func (v *visitor) chainShows(st *session.State) columns {
	v.t.Helper()
	want := columns{}
	for _, l := range st.Dist.Links() {
		name := "scores"
		if l.Rule != sampling.RuleNone {
			name = l.Rule.Name()
		}
		if l.Rule == sampling.RuleGrammar {
			name = "the grammar"
		}
		want.Rules, want.Left = append(want.Rules, name), append(want.Left, strconv.Itoa(l.Keeps))
	}
	if st.Settings.Order.Measure() == sampling.OnUncut {
		want.Rules, want.Left = append(want.Rules, "p′"), append(want.Left, strconv.Itoa(st.Dist.Keep))
	}
	var got columns
	for end := time.Now().Add(browser.Patience); time.Now().Before(end); v.Changed() {
		got = browser.Value[columns](v.Tab, readColumns)
		if slices.Equal(got.Rules, want.Rules) && slices.Equal(got.Left, want.Left) {
			return got
		}
	}
	v.Shot("failed.png")
	v.t.Fatalf("the page has the columns %q, want the run's %q", got, want)
	return got
}

func useChain(v *visitor) {
	if v.Name() == "keyboard" {
		v.Press("#as-chain")
	} else {
		v.Press("#panel .chain-switch")
	}
	v.Wait("the rules, not the table", `document.querySelector('.ch')?.checkVisibility() &&
		!document.querySelector('.tc').checkVisibility()`)
	st := v.state()
	v.chainShows(st)
	if got := st.Dist.Links(); len(got) != 5 || got[4].Rule != sampling.RuleTemperature {
		v.t.Fatalf("got %d links in llama.cpp's order, want 5 with the temperature last", len(got))
	}
	v.Shot("chain-" + v.Name() + ".png")

	// With the temperature first, more tokens are kept.
	kept := st.Dist.Keep
	if v.Name() == "mouse" {
		v.Drag("#rule-temperature .ch__name", false, browser.Value[float64](v.Tab, `(() => {
			const middle = (s) => {
				const { left, width } = document.querySelector(s).getBoundingClientRect();
				return left + width / 2;
			};
			return middle('#rule-top_k .ch__name') - middle('#rule-temperature .ch__name');
		})()`), 0)
	} else {
		for range 3 { // each time from its new position on the page
			was := v.state().Settings.Order
			if v.Name() == "keyboard" {
				v.Point("#move-temperature-earlier")
				v.Keys(browser.ArrowLeft)
			} else {
				v.Press("#move-temperature-earlier")
			}
			v.chainShows(v.comes("a move", func(st *session.State) bool { return st.Settings.Order != was }))
		}
	}
	st = v.comes("the temperature before top-k", func(st *session.State) bool {
		rules := st.Settings.Order.Rules()
		return slices.Index(rules, sampling.RuleTemperature) == slices.Index(rules, sampling.RuleTopK)-1
	})
	got := v.chainShows(st)
	if v.Name() == "keyboard" && got.Focus != "temperature" {
		v.t.Errorf("the focus is on %q, want the column that moved", got.Focus)
	}
	if st.Dist.Keep <= kept || st.Cursor != (session.Cursor{Step: 1, Stage: infer.KindFilter}) {
		v.t.Errorf(
			"%d kept at %+v; %d with the temperature last; want more than %d, %+v", st.Dist.Keep, st.Cursor, kept, kept,
			session.Cursor{Step: 1, Stage: infer.KindFilter},
		)
	}

	v.Press("#chain-m1") // measures each rule on all tokens
	st = v.comes("the other measure", func(st *session.State) bool {
		return st.Settings.Order.Measure() == sampling.OnUncut
	})
	v.chainShows(st)
	v.Press("#chain-o0") // this program's order
	v.chainShows(v.comes("the own order", func(st *session.State) bool {
		return st.Settings.Order == sampling.OrderOwn
	}))
	useGrammar(v)
	if v.Name() == "mouse" {
		v.Audit("stage 4, rule by rule")
		v.Screen(browser.Chromebook)
	}
	v.Press("#as-chain")
	v.Wait("the table", `document.querySelector('.tc')?.checkVisibility()`)
	v.same()
}

// useGrammar sets a grammar, at the first token and at a later one, and removes it.
func useGrammar(v *visitor) {
	v.given(session.StepToken{}, session.StepToken{}, session.Seek{Step: 2, Stage: infer.KindFilter})
	v.same()
	v.Fill("#grammar", "regexp:(")
	v.Press("#grammar-form [type=submit]")
	v.says("#err-grammar", "cannot parse the expression")
	v.comes("the first token", at(1, infer.KindFilter)) // where a grammar is set; elements move until then
	v.Press("#grammar-form [data-grammar*=yes]")
	st := v.comes("a form", func(st *session.State) bool {
		return strings.Contains(st.Settings.Grammar, "yes") &&
			st.Cursor == session.Cursor{Step: 1, Stage: infer.KindFilter}
	})
	if got := v.chainShows(st); !slices.Contains(got.Rules, "the grammar") {
		v.t.Errorf("columns %q, want it to contain %q", got.Rules, "the grammar")
	}
	v.Wait("no complaint", `document.getElementById('err-grammar').textContent === ''`)
	v.says("#panel .chain__form", `{"enum":["yes","no"]}`)
	v.Shot("chain-grammar-" + v.Name() + ".png")
	v.Press(".chain__form [data-grammar]")
	st = v.comes("no form", func(st *session.State) bool { return st.Settings.Grammar == "" })
	v.chainShows(st)
}
