package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

var stripGiven = []session.Command{oneToken, oneToken, oneToken, oneToken}

var stripFeatures = []feature{
	{"peek", stripGiven, usePeek, gestures},
	{"rewind", stripGiven, useRewind, gestures},
	{"branch and back", stripGiven, useBranch, gestures},
	{"find", stripGiven, useFind, press},
	{"find what is not there", stripGiven, useFindNothing, press},
	{
		"white space and bytes",
		[]session.Command{session.Start{Prompt: "Grüße 🦉\n\tend"}, oneToken},
		useMarks,
		press,
	},
}

// TestWaysStrip inspects tokens of the text, goes back to them, and continues with others.
func TestWaysStrip(t *testing.T) {
	fixture.Long(t)
	useAll(t, stripFeatures)
}

// usePeek shows how the second token was drawn.
func usePeek(v *visitor) {
	v.Point("#t-2")
	v.Wait("the line of token 2", `document.getElementById('peek').dataset.step === '2'`)
	st := v.state()
	step := st.Steps[1]
	d := step.Distribution()
	v.says("#peek", fmt.Sprintf("%s %s, %s of 4,096, entropy %.2f bits",
		marked(st.Model.Token(step.Chosen).Text), places(step.P, 4), ordinal(step.Rank), step.Entropy))
	var want []string
	for _, id := range d.Order[:5] {
		if int(id) != step.Chosen && len(want) < 4 {
			want = append(want, fmt.Sprintf("%s %s", marked(st.Model.Token(int(id)).Text), places(d.P[id], 2)))
		}
	}
	got := browser.Value[[]string](
		v.Tab,
		`[...document.querySelectorAll('#peek .alt')].map(e => e.innerText.replace(/\s+/g, ' ').replace('Take ', `+
			`'').trim())`,
	)
	if !slices.Equal(got, want) {
		v.t.Errorf("the line offers %q, want %q, as in the step", got, want)
	}
	if !at(4, infer.KindCache)(v.state()) {
		v.t.Error("inspecting a token has moved the run")
	}
}

// ordinal returns 1st, 2nd, 3rd and so on, for numbers below a thousand.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		suffix = []string{"st", "nd", "rd"}[n%10-1]
	}
	return fmt.Sprint(n) + suffix
}

// rewind goes back to a token's draw. With touch, the first tap only shows the rewind button.
func (v *visitor) rewind(step int) {
	v.t.Helper()
	token := fmt.Sprintf("#t-%d", step)
	if v.Name() == "touch" {
		v.Point(token)
		v.Press(fmt.Sprintf(`#peek[data-step="%d"] .peek__rewind`, step))
	} else {
		v.Press(token)
	}
	v.comes("the draw of a token", at(step, infer.KindSample))
}

func useRewind(v *visitor) {
	for _, n := range []int{3, 1, 4} {
		v.rewind(n)
		step := v.state().Steps[n-1]
		v.says("#panel", fmt.Sprintf("u = %.4f", step.U))
	}
}

// choose presses the first alternative in a token's line.
func (v *visitor) choose(step int) {
	v.t.Helper()
	v.Point(fmt.Sprintf("#t-%d", step))
	alternative := fmt.Sprintf(`#peek[data-step="%d"] [data-cmd*=choose]`, step)
	if v.Name() == "keyboard" { // the arrow key moves from the token to its line
		v.Keys(browser.ArrowDown)
		v.Wait("the focus in the line", fmt.Sprintf(`document.activeElement.matches(%q)`, alternative))
		v.Keys(browser.Enter)
	} else {
		v.Press(alternative)
	}
}

// useBranch chooses another token twice, and returns to each branch through the tree.
func useBranch(v *visitor) {
	first := v.state()
	v.choose(2)
	st := v.comes("a branch", func(st *session.State) bool { return len(st.Branches) == 2 })
	if !st.Steps[1].Forced || st.Steps[1].Chosen == first.Steps[1].Chosen ||
		st.Steps[0].Chosen != first.Steps[0].Chosen {
		v.t.Errorf(
			"step 2 by hand: %v; token %d, was %d", st.Steps[1].Forced, st.Steps[1].Chosen, first.Steps[1].Chosen,
		)
	}
	v.Press(cmd("#transport", `{"cmd":"token"}`))
	v.Press(cmd("#transport", `{"cmd":"token"}`))
	second := v.comes("more of the branch", at(3, infer.KindCache))
	for _, line := range []struct {
		id   int
		want *session.State
	}{{st.Branches[0].ID, first}, {st.Branches[1].ID, second}} {
		if v.Name() == "touch" { // on a phone the line appears for a tapped token
			v.Point("#t-1")
			// The line moves the elements below it.
			v.Wait("the line of token 1", `document.getElementById('peek').dataset.step === '1'`)
		}
		v.open("details.tree")
		v.Press(cmd("#branches", fmt.Sprintf(`{"cmd":"branch","id":%d}`, line.id)))
		back := v.comes("the line that was left", func(st *session.State) bool {
			i := slices.IndexFunc(st.Branches, func(b session.Branch) bool { return b.Current })
			return st.Branches[i].ID == line.id
		})
		for i, step := range line.want.Steps {
			if back.Steps[i].Chosen != step.Chosen || back.Steps[i].P != step.P {
				v.t.Errorf("branch %d, step %d is %d, want %d", line.id, i+1, back.Steps[i].Chosen, step.Chosen)
			}
		}
	}
}

// useFind searches the vocabulary for a token and chooses it.
func useFind(v *visitor) {
	v.rewind(2)
	v.open("details.find")
	v.Fill("#find", "the")
	v.Wait("what was found", `document.querySelector('#found [data-cmd]') !== null`)
	st := v.state()
	want, _ := st.Find(2, "the", 1)
	d := st.Dist
	v.says("#found", marked(st.Model.Token(want[0]).Text))
	v.says("#found", places(d.P[want[0]], 4))
	v.Press(fmt.Sprintf("#found [data-cmd*='\"token\":%d']", want[0]))
	v.comes("the token found", func(st *session.State) bool { return st.Steps[1].Chosen == want[0] })
}

// useFindNothing searches for text that no token contains and for the empty string. The page
// keeps working.
func useFindNothing(v *visitor) {
	v.open("details.find")
	v.Fill("#find", "qzxqz")
	v.says("#found", "None of the 4,096 tokens contains “qzxqz”")
	v.Fill("#find", "")
	v.says("#found", "Type a part of a token")
	v.Press(cmd("#transport", `{"cmd":"token"}`))
	v.comes("the next token", at(5, infer.KindCache))
}

// useMarks checks the marks for invisible content: partial characters, line breaks, tabs.
func useMarks(v *visitor) {
	got := v.Texts("#strip-prompt .tok--given > span:first-child")
	for _, want := range []string{"↵", "⇥", "⟨f0", "⟨c3⟩"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			v.t.Errorf("no %s among %q", want, got)
		}
	}
}
