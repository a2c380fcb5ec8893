package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

func (c *client) state(x *site) *session.State {
	c.t.Helper()
	return x.runOf(c.run).Latest()
}

// TestProgramReceivesWhatPagesShow: a program receives the same branches, what-if result, search
// results and link that a page shows.
func TestProgramReceivesWhatPagesShow(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	if c.last.Link != "" || c.last.Branches != nil {
		t.Errorf(`before the first start: link %q, branches %+v; want "", nil`, c.last.Link, c.last.Branches)
	}
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"token"}`)
	was := c.state(x)
	other := second(was, 2)
	m := c.do(fmt.Sprintf(`{"cmd":"choose","step":2,"token":%d}`, other))
	if len(m.Branches) != 2 {
		t.Fatalf("branches %+v, want 2 elements", m.Branches)
	}
	left, now := m.Branches[0], m.Branches[1]
	if left.Current || left.Step != 2 || left.Token == nil || left.Token.ID != was.Steps[1].Chosen ||
		left.Tokens != 2 ||
		!now.Current || now.Step != 0 {
		t.Errorf(
			"the branch left is %+v, the present one %+v; want left.Current = false, left.Step = 2, "+
				"left.Token not nil, left.Token.ID = %d, left.Tokens = 2, now.Current = true, now.Step = 0",
			left, now, was.Steps[1].Chosen,
		)
	}
	if m := c.do(fmt.Sprintf(`{"cmd":"branch","id":%d}`, left.ID)); !m.Branches[0].Current {
		t.Errorf("after going back: got %+v, want [0].Current = true", m.Branches)
	}
	c.do(`{"cmd":"seek","step":1,"stage":"sample"}`)
	if m := c.do(`{"cmd":"whatif","u":0.99}`); m.WhatIf == nil || m.WhatIf.U != 0.99 || m.WhatIf.From > 0.99 ||
		m.WhatIf.To <= 0.99 || m.WhatIf.Q <= 0 || m.WhatIf.P != c.state(x).Dist.P[m.WhatIf.ID] {
		t.Errorf("the what-if u falls on %+v", m.WhatIf)
	}
	if m := c.do(`{"cmd":"whatif","u":null}`); m.WhatIf != nil {
		t.Errorf("got the answer %+v without a question", m.WhatIf)
	}
	f := c.do(`{"cmd":"find","step":1,"text":" the"}`)
	if f.Find == nil || len(f.Find.Tokens) == 0 || fmt.Sprint(f.Find) != fmt.Sprint(f.Found) {
		t.Fatalf("found %+v and %+v, want the same tokens both ways", f.Find, f.Found)
	}
	if one := f.Find.Tokens[0]; one.ID != one.Token.ID || one.Text != one.Token.Text || one.Text == "" {
		t.Errorf("found %+v, want ID = %d, Text = %q, Text not empty", one, one.Token.ID, one.Token.Text)
	}
	elsewhere := x.stranger().dial(wire.ProtocolJSON, "")
	elsewhere.do(fmt.Sprintf(`{"cmd":"open","link":%q}`, c.last.Link))
	if elsewhere.where() != c.where() || elsewhere.state(x).Prompt != "Once upon a time" {
		t.Errorf("the link leads to %s, want %s", elsewhere.where(), c.where())
	}
}

// TestBranchCommandsOverBothProtocols sends every branching command over both protocols.
func TestBranchCommandsOverBothProtocols(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{Wire: wire.Limits{CommandBurst: 1000}})
			c := x.dial(protocol, "")
			c.do(`{"cmd":"stop","max_tokens":3}`)
			c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
			for range 3 {
				c.do(`{"cmd":"token"}`)
			}
			before := c.state(x)
			if before.Stopped != infer.StopMaxTokens {
				t.Fatalf("stopped by %q, want the limit", before.Stopped)
			}

			other := second(before, 2)
			c.do(fmt.Sprintf(`{"cmd":"choose","step":2,"token":%d}`, other))
			st := c.state(x)
			if got := c.where(); got != "2 sample" || st.Steps[1].Chosen != other || !st.Steps[1].Forced ||
				len(st.Branches) != 2 {
				t.Fatalf(
					"chose %d at %s, forced %v, of %d branches; want %d at 2 sample", st.Steps[1].Chosen, got,
					st.Steps[1].Forced, len(st.Branches), other,
				)
			}
			sameAsFresh(t, x, protocol, c)

			c.do(`{"cmd":"branch","id":1}`)
			if got := c.where(); got != "3 cache" || c.state(x).Steps[1].Chosen != before.Steps[1].Chosen {
				t.Fatalf(`back on the first branch, the run is at %s, want "3 cache" with the first choice`, got)
			}
			sameAsFresh(t, x, protocol, c)

			if e := c.refused(`{"cmd":"finish"}`); e.Code != session.CodeStopped {
				t.Errorf("finish at the end of a run: got %+v, want Code = %q", e, session.CodeStopped)
			}
			c.do(`{"cmd":"goon"}`)
			c.do(`{"cmd":"token"}`)
			if got := c.where(); got != "4 cache" {
				t.Fatalf("the run continued to %s, want 4 cache", got)
			}
			c.do(`{"cmd":"back"}`)
			c.do(`{"cmd":"back"}`)
			c.do(`{"cmd":"whatif","u":0.999}`)
			if u := c.state(x).WhatIf; u == nil || *u != 0.999 {
				t.Errorf("the what-if question is about u = %v, want 0.999", u)
			}
			sameAsFresh(t, x, protocol, c)
			for _, u := range []string{"1", "-0.1", "1e300"} {
				if e := c.refused(`{"cmd":"whatif","u":` + u + `}`); e.Code != terms.CodeRange || e.Field != "u" {
					t.Errorf("u = %s: got %+v; want Code = %q, Field = %q", u, e, terms.CodeRange, "u")
				}
			}
			c.do(`{"cmd":"whatif","u":null}`)
			if u := c.state(x).WhatIf; u != nil {
				t.Errorf("the what-if question is still about u = %v, want nil", *u)
			}
			c.do(`{"cmd":"redraw","seed":12345}`)
			if st := c.state(x); c.where() != "4 sample" || st.Steps[3].Settings.Seed != 12345 {
				t.Errorf(
					"drew again at %s with seed %d; want %s, 12345", c.where(), st.Steps[3].Settings.Seed, "4 sample",
				)
			}
			sameAsFresh(t, x, protocol, c)
			vocab := st.Model.Config().Vocab
			for _, token := range []int{-1, vocab} {
				if e := c.refused(
					fmt.Sprintf(`{"cmd":"choose","step":1,"token":%d}`, token),
				); e.Code != terms.CodeRange || e.Field != "token" {
					t.Errorf("token %d: got %+v; want Code = %q, Field = %q", token, e, terms.CodeRange, "token")
				}
			}
			c.do(`{"cmd":"ping"}`)

			// Try a suggestion, with and without the inside view of the pass.
			c.do(`{"cmd":"try","key":"sure"}`)
			if got, st := c.where(), c.state(x); got != "1 forward" || st.Prompt != session.Suggestions[0].Prompt ||
				st.Look == nil {
				t.Fatalf(
					`the suggestion is at %s with %q, looked into: %v; want "1 forward" with its prompt, true`, got,
					st.Prompt, st.Look != nil,
				)
			}
			c.do(`{"cmd":"look","on":false}`)
			if e := c.refused(`{"cmd":"head","block":1,"head":1}`); e.Code != session.CodeOrder {
				t.Errorf("a head without a look inside the pass: got %+v, want Code = %q", e, session.CodeOrder)
			}
			c.do(`{"cmd":"look","on":true}`)
			sameAsFresh(t, x, protocol, c)
		})
	}
}

// TestFinishCancelAndContinue runs to the end, cancels before the end, and continues.
func TestFinishCancelAndContinue(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	c.do(`{"cmd":"preset","preset":"greedy"}`)
	c.do(`{"cmd":"stop","max_tokens":400}`)
	c.do(`{"cmd":"start","prompt":"There was a little old woman who"}`)
	c.do(`{"cmd":"finish"}`)
	for len(c.tokens) < 5 {
		c.read()
	}
	c.do(`{"cmd":"pause"}`)
	n := len(c.state(x).Steps)
	if c.last.Data.Playing || n >= 400 {
		t.Fatalf("canceled at %d tokens, playing: %v; want less than 400, false", n, c.last.Data.Playing)
	}
	sameAsFresh(t, x, wire.ProtocolHTML, c)
	c.do(`{"cmd":"finish"}`)
	for c.last.Data.Playing {
		c.read()
	}
	if st := c.state(x); st.Stopped == infer.StopNone || len(st.Steps) <= n {
		t.Errorf("ran to %d tokens and did not stop", len(st.Steps))
	}
	sameAsFresh(t, x, wire.ProtocolHTML, c)
}

// TestQueriesChangeNothing sends every query to a run at its forward stage, and checks that
// nothing changes.
func TestQueriesChangeNothing(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	js := x.dial(wire.ProtocolJSON, "")
	js.do(`{"cmd":"start","prompt":"The capital of France is"}`)
	js.do(`{"cmd":"token"}`)
	js.do(`{"cmd":"step"}`)
	page := x.dial(wire.ProtocolHTML, "?run="+js.run)
	st := js.state(x)
	ask := func(command string, to any) {
		t.Helper()
		n := js.send(command)
		for {
			js.conn.SetReadDeadline(time.Now().Add(browser.Patience))
			_, b, err := js.conn.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var m struct{ Ack uint64 }
			if json.Unmarshal(b, &m) == nil && m.Ack == n {
				if err := json.Unmarshal(b, to); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	panel := func(command, id string, words ...string) {
		t.Helper()
		m := page.do(command)
		if len(m.Panels) != 1 || m.Panels[0].ID != id || m.Panels[0].Op != "morph" || m.Data != nil {
			t.Fatalf(
				"%s: got %+v; want len(Panels) = 1, Panels[0].ID = %q, Panels[0].Op = %q, Data = nil", command, m, id,
				"morph",
			)
		}
		for _, w := range append(words, fmt.Sprintf("id=%q", id)) {
			if !strings.Contains(m.Panels[0].HTML, w) {
				t.Errorf("%s: the panel does not contain %q:\n%s", command, w, m.Panels[0].HTML)
			}
		}
	}

	var a struct{ answers }
	first := st.Steps[0]
	ask(`{"cmd":"peek","step":1}`, &a)
	if p := a.Peek; p.Token.ID != first.Chosen || p.P != first.P || p.Entropy != first.Entropy ||
		len(p.Others) != peekOthers || p.Others[0].P < p.Others[1].P {
		t.Errorf("peek: %+v, want token %d with %v", p, first.Chosen, first.P)
	}
	panel(
		`{"cmd":"peek","step":1}`, "peek", `&#34;cmd&#34;:&#34;choose&#34;`,
		fmt.Sprintf(`&#34;token&#34;:%d}`, a.Peek.Others[3].Token.ID),
	)

	ask(`{"cmd":"find","step":1,"text":"·Paris"}`, &a)
	if f := a.Found; len(f.Tokens) == 0 || f.Tokens[0].Token.Text != " Paris" ||
		f.Tokens[0].P != first.Distribution().P[f.Tokens[0].Token.ID] {
		t.Errorf("found %+v, want Paris first", f)
	}
	panel(`{"cmd":"find","step":1,"text":"·Paris"}`, "found", "Paris")
	ask(`{"cmd":"find","step":1,"text":"e"}`, &a)
	if len(a.Found.Tokens) != findMost || a.Found.More < 100 {
		t.Errorf("found %d tokens with an e and %d more; want %d, at least 100", len(a.Found.Tokens), a.Found.More,
			findMost)
	}
	panel(`{"cmd":"find","step":1,"text":""}`, "found")

	ask(`{"cmd":"head","block":2,"head":3}`, &a)
	w := st.Look.Blocks[1].Attention[2]
	sum := a.Head.Rest.Weight
	for _, r := range a.Head.Reads {
		sum += float64(r.Weight)
		if r.Weight != w[r.Position] {
			t.Errorf("head: position %d has %v, want %v", r.Position, r.Weight, w[r.Position])
		}
	}
	if sum < 0.999 || sum > 1.001 || len(a.Head.Reads)+a.Head.Rest.N != len(w) {
		t.Errorf(
			"head: %d weights and %d more sum to %v; want sum at least 0.999 and at most 1.001, "+
				"len(a.Head.Reads)+a.Head.Rest.N = %d",
			len(a.Head.Reads), a.Head.Rest.N, sum, len(w),
		)
	}
	panel(`{"cmd":"head","block":2,"head":3}`, "map-zoom")

	ask(`{"cmd":"inside","block":6}`, &a)
	c := st.Model.Config()
	if in := a.Inside; fmt.Sprint(in.Query.Shape, in.Key.Shape, in.Value.Shape, in.Hidden.Shape) !=
		fmt.Sprint([]int{c.Heads, c.HeadDim}, []int{c.KVHeads, c.HeadDim}, []int{c.KVHeads, c.HeadDim}, []int{c.FFN}) ||
		in.Query.Values[5] != st.Look.Blocks[5].Query[5] {
		t.Errorf(
			"inside: got shapes %v %v %v %v, want the model's shapes, with the look's values", in.Query.Shape,
			in.Key.Shape, in.Value.Shape, in.Hidden.Shape,
		)
	}
	panel(`{"cmd":"inside","block":6}`, "map-zoom")
	if js.state(x) != st {
		t.Error("a query changed the run")
	}
}

// TestGoldenPageData checks the data that the page's script receives in addition to the panels.
func TestGoldenPageData(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	if d := c.last.Data; d.Link != "" || d.Scrub != (scrub{}) || d.Show.WhatIf || d.Heat != nil {
		t.Errorf(`before the start: got %+v, want Link = "", Scrub = %+v, Show.WhatIf = false, Heat = nil`, d, scrub{})
	}
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	if d := c.last.Data; d.Scrub != (scrub{1, 1}) || d.Heat == nil || len(d.Heat.Rows) != 6 || d.Link == "" {
		t.Errorf(
			"at the forward stage: got %+v, want Scrub = %+v, Heat not nil, len(Heat.Rows) = 6, Link not empty", d,
			scrub{1, 1},
		)
	}
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"seek","step":1,"stage":"sample"}`)
	d, st := c.last.Data, c.state(x)
	if d.Scrub != (scrub{5, 7}) || !d.Show.WhatIf || d.U == nil || *d.U != st.Steps[0].U || d.Heat != nil {
		t.Errorf(
			"at the sample stage: got %+v, u %v; want Scrub = %+v, Show.WhatIf = true, U not nil, *d.U = "+
				"%v, Heat = nil",
			d, d.U, scrub{5, 7}, st.Steps[0].U,
		)
	}
	if link, err := session.ParseLink(st.Model, d.Link); err != nil || link.Cursor != st.Cursor {
		t.Errorf("the link leads to %+v (%v), want %+v", link.Cursor, err, st.Cursor)
	}
	c.do(`{"cmd":"whatif","u":0.25}`)
	if d := c.last.Data; *d.U != 0.25 {
		t.Errorf("after a what-if question about 0.25: got %v, want 0.25", *d.U)
	}
	c.do(fmt.Sprintf(`{"cmd":"choose","step":1,"token":%d}`, second(st, 1)))
	if d := c.last.Data; d.Show.WhatIf || d.U != nil {
		t.Errorf("for a token chosen by hand: got %+v, want WhatIf = false, d.U = nil", d.Show)
	}
}
