package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/wire"
)

func tokenID(step int) string { return fmt.Sprintf("t-%d", step) }

// tokensIn splits the strip's HTML into the HTML of its tokens.
func tokensIn(t testing.TB, html string) []string {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	doc.Find("#" + genID).Children().Each(func(i int, s *goquery.Selection) {
		if id, _ := s.Attr("id"); id != tokenID(i+1) {
			t.Errorf("token %d has id %q, want %q", i+1, id, tokenID(i+1))
		}
		h, _ := goquery.OuterHtml(s)
		list = append(list, h)
	})
	return list
}

// normal parses HTML and re-renders it, so that equivalent HTML compares equal.
func normal(t testing.TB, html string) string {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	h, _ := doc.Find("body").Html()
	return h
}

// sameAsFresh compares what a client has assembled from differences with what a newly connected
// client receives.
func sameAsFresh(t *testing.T, x *site, protocol string, c *client) {
	t.Helper()
	fresh := x.dial(protocol, "?run="+c.run)
	defer fresh.conn.Close()
	if fresh.run != c.run {
		t.Fatalf("run %s, want %s", fresh.run, c.run)
	}
	if len(fresh.stages) != len(c.stages) {
		t.Fatalf("got %d stages, want %d as for a fresh client", len(c.stages), len(fresh.stages))
	}
	for i := range c.stages {
		a, b := headOf(t, c.stages[i]), headOf(t, fresh.stages[i])
		// Rows of earlier stages also contain the token that was drawn later.
		if a != b || (a.Stage == "append" || a.Stage == "cache" || a.Stage == "forward") &&
			string(c.stages[i]) != string(fresh.stages[i]) {
			t.Errorf("stage %d is\n%s\nwant the stage of a fresh client\n%s", i, c.stages[i], fresh.stages[i])
		}
	}
	if len(fresh.tokens) != len(c.tokens) {
		t.Fatalf("got %d tokens on the page, want %d as on a fresh page", len(c.tokens), len(fresh.tokens))
	}
	for i := range c.tokens {
		if normal(t, c.tokens[i]) != normal(t, fresh.tokens[i]) {
			t.Errorf("token %d is\n%s\nwant the token of a fresh page\n%s", i+1, c.tokens[i], fresh.tokens[i])
		}
	}
	for id, html := range fresh.html {
		if c.html[id] != html {
			t.Errorf("panel %s is\n%s\nwant the panel of a fresh page\n%s", id, c.html[id], html)
		}
	}
}

// where returns the stage that the last state shows.
func (c *client) where() string {
	at := c.last.Cursor
	if c.last.Data != nil {
		at = &c.last.Data.Cursor
	}
	return fmt.Sprintf("%d %s", at.Step, at.Stage)
}

// TestEveryCommandReachesItsStage runs every command over both protocols. The expected stages
// follow from what the commands mean.
func TestEveryCommandReachesItsStage(t *testing.T) {
	t.Parallel()
	walk := []struct{ command, at string }{
		{`{"cmd":"set","temperature":0.8}`, "0 none"},
		{`{"cmd":"start","prompt":"Once upon a time"}`, "1 forward"},
		{`{"cmd":"step"}`, "1 logits"},
		{`{"cmd":"step"}`, "1 softmax"},
		{`{"cmd":"step"}`, "1 filter"},
		{`{"cmd":"step"}`, "1 sample"},
		{`{"cmd":"step"}`, "1 append"},
		{`{"cmd":"step"}`, "1 cache"},
		{`{"cmd":"step"}`, "2 forward"},
		{`{"cmd":"back"}`, "1 cache"},
		{`{"cmd":"step"}`, "2 forward"},
		{`{"cmd":"token"}`, "2 cache"},
		{`{"cmd":"token"}`, "3 cache"},
		{`{"cmd":"token"}`, "4 cache"},
		{`{"cmd":"seek","step":2,"stage":"sample"}`, "2 sample"},
		{`{"cmd":"pause"}`, "2 sample"},
		{`{"cmd":"preset","preset":"greedy"}`, "2 sample"}, // drops steps 3 and 4
		{`{"cmd":"token"}`, "2 cache"},
		{`{"cmd":"token"}`, "3 cache"},
		{`{"cmd":"set","seed":7}`, "3 cache"},
		{`{"cmd":"stop","max_tokens":40,"stop":["\n\n","User:"]}`, "3 cache"},
		{`{"cmd":"reset"}`, "1 forward"},
		{`{"cmd":"token"}`, "1 cache"},
		{`{"cmd":"start","prompt":"The cat"}`, "1 forward"},
		{`{"cmd":"token"}`, "1 cache"},
	}
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{})
			c := x.dial(protocol, "")
			for _, step := range walk {
				c.do(step.command)
				if got := c.where(); got != step.at {
					t.Fatalf("after %s, the client is at %s, want %s", step.command, got, step.at)
				}
				if step.at != "0 none" {
					sameAsFresh(t, x, protocol, c)
				}
			}
			if protocol == wire.ProtocolHTML {
				stageBeforeRest(t, x.dial(protocol, ""))
			}
		})
	}
}

// stageBeforeRest checks that the first message about a state contains the stage's panels, and the
// second one the panels beside it. The first state with a text is sent in one message.
func stageBeforeRest(t *testing.T, c *client) {
	t.Helper()
	ids := func(m received) (now, later []string) {
		for _, p := range m.Panels {
			if p.Later {
				later = append(later, p.ID)
			} else {
				now = append(now, p.ID)
			}
		}
		return now, later
	}
	start := c.do(`{"cmd":"start","prompt":"The cat"}`)
	if now, later := ids(start); start.More || !slices.Contains(now, "panel") || !slices.Contains(later, "cost") {
		t.Errorf("the first text: more = %v, panels %q and later %q; want all at once", start.More, now, later)
	}
	first := c.do(`{"cmd":"step"}`)
	if now, later := ids(first); !first.More || first.Data == nil || !slices.Contains(now, "panel") || later != nil {
		t.Errorf("first message: more = %v, panels %q and later %q; want the stage's, and more", first.More, now, later)
	}
	rest := c.got[len(c.got)-1]
	if now, later := ids(rest); !rest.Rest || rest.Data != nil || now != nil || !slices.Contains(later, "work-lines") ||
		!slices.Contains(later, "cost") {
		t.Errorf("second message: rest = %v, panels %q and later %q; want only later ones", rest.Rest, now, later)
	}
	if rest.Seq != first.Seq || rest.Ack != first.Ack {
		t.Errorf("second message: seq %d, ack %d; want %d, %d", rest.Seq, rest.Ack, first.Seq, first.Ack)
	}
}

type filterStage struct {
	Kept int
	TopK int `json:"top_k"`
}

type sampleStage struct {
	Chosen struct{ ID, Rank int }
}

// TestSettingsBeforeAndAfterTheDraw changes the settings before and after the draw.
func TestSettingsBeforeAndAfterTheDraw(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"preset","preset":"pure"}`)
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	for range 3 { // logits, softmax, filter
		c.do(`{"cmd":"step"}`)
	}
	if f := stageAt[filterStage](c, 1, "filter"); f.Kept != 4096 {
		t.Fatalf("with every filter off, %d tokens are kept, want all 4096", f.Kept)
	}
	m := c.do(`{"cmd":"set","top_k":3}`)
	if m.Cut == nil || m.Cut.Step != 1 {
		t.Errorf("got cut %+v, want step 1", m.Cut)
	}
	if f := stageAt[filterStage](c, 1, "filter"); f.Kept != 3 || f.TopK != 3 {
		t.Errorf("at the filter, top-k 3 keeps %d (shown as top-k %d), want 3 at once", f.Kept, f.TopK)
	}
	c.do(`{"cmd":"step"}`)
	before := stageAt[sampleStage](c, 1, "sample")
	m = c.do(`{"cmd":"set","top_k":1}`)
	if m.Cut != nil || len(m.Stages) > 0 {
		t.Errorf("after the draw, a change of a setting changed the draw: got %+v, want Cut = nil, len(Stages) = 0", m)
	}
	if after := stageAt[sampleStage](c, 1, "sample"); after != before {
		t.Errorf("the draw changed from %+v to %+v", before, after)
	}
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"token"}`)
	if f := stageAt[filterStage](c, 2, "filter"); f.Kept != 1 {
		t.Errorf("at the next step, top-k 1 keeps %d, want 1", f.Kept)
	}
	if s := stageAt[sampleStage](c, 2, "sample"); s.Chosen.Rank != 1 {
		t.Errorf("with top-k 1, rank %d was drawn, want 1", s.Chosen.Rank)
	}
}

// TestPlayMissesNoToken plays at full speed to a limit and checks that no token is missing.
func TestPlayMissesNoToken(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{})
			c := x.dial(protocol, "")
			c.do(`{"cmd":"stop","max_tokens":30}`)
			c.do(`{"cmd":"speed","speed":"max"}`)
			c.do(`{"cmd":"start","prompt":"Once upon a time there was a"}`)
			c.do(`{"cmd":"play"}`)
			for c.last.Playing || c.last.Data != nil && c.last.Data.Playing {
				c.read()
			}
			steps := x.runOf(c.run).Latest().Steps
			if len(steps) != 30 {
				t.Fatalf("%d tokens (%s), want the limit of 30", len(steps), steps[len(steps)-1].Stop)
			}
			sameAsFresh(t, x, protocol, c)
			if e := c.refused(`{"cmd":"step"}`); e.Code != "stopped" {
				t.Errorf("a step after the stop: got %+v, want Code = %q", e, "stopped")
			}
			if e := c.refused(`{"cmd":"play"}`); e.Code != "stopped" {
				t.Errorf("playing after the stop: got %+v, want Code = %q", e, "stopped")
			}
		})
	}
}

// TestStopStringEndsTheRun takes the first characters that greedy decoding generates and uses
// them as the stop string, so that the run must end there.
func TestStopStringEndsTheRun(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"preset","preset":"greedy"}`)
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	var text string
	type appended struct{ Text, Stop string }
	for step := 1; len(text) < 12; step++ {
		c.do(`{"cmd":"token"}`)
		text += stageAt[appended](c, step, "append").Text
	}
	c.do(`{"cmd":"reset"}`)
	c.do(fmt.Sprintf(`{"cmd":"stop","stop":[%q]}`, text[4:8]))
	c.do(`{"cmd":"speed","speed":"max"}`)
	c.do(`{"cmd":"play"}`)
	for c.last.Playing {
		c.read()
	}
	if c.last.Stopped != "stop_string" {
		t.Fatalf("stopped by %q, want stop_string", c.last.Stopped)
	}
	var got string
	for step := 1; step <= c.last.Cursor.Step; step++ {
		got += stageAt[appended](c, step, "append").Text
	}
	if got != text[:4] {
		t.Errorf("text before the stop string is %q, want %q", got, text[:4])
	}
}

// TestSpeedSetsTheStageTime plays in real time. At speed 4, a stage lasts 0.3 s, and two stages
// must run in order without further commands.
func TestSpeedSetsTheStageTime(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	c.do(`{"cmd":"start","prompt":"Hello"}`)
	c.do(`{"cmd":"speed","speed":"4"}`)
	c.do(`{"cmd":"play"}`)
	c.read()
	c.read()
	c.do(`{"cmd":"pause"}`)
	if c.last.Playing {
		t.Error("still playing after a pause")
	}
	if got := c.where(); got != "1 softmax" && got != "1 filter" { // a third tick may come before the pause
		t.Errorf("the run is at %s, want 1 softmax", got)
	}
}

// TestPiecesCommandChangesNothing: splitting a text while it is typed does not change the run.
func TestPiecesCommandChangesNothing(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	page, js := x.dial(wire.ProtocolHTML, ""), x.dial(wire.ProtocolJSON, "")
	m := js.do(`{"cmd":"pieces","prompt":"The capital"}`)
	var text string
	for _, p := range m.Pieces {
		if p.ID != testmodel.Target(t).Config().BOS {
			text += p.Text
		}
	}
	if text != "The capital" {
		t.Errorf("pieces spell %q, want %q", text, "The capital")
	}
	h := page.do(`{"cmd":"pieces","prompt":"<b>The capital"}`)
	if len(h.Panels) != 1 || h.Panels[0].ID != "pieces" || strings.Contains(h.Panels[0].HTML, "<b>The") {
		t.Errorf(
			"pieces on the page: got %+v, want 1 element, [0].ID = %q, [0].HTML without %q", h.Panels, "pieces",
			"<b>The",
		)
	}
	if js.last.Seq != 1 || page.last.Seq != 1 {
		t.Errorf("typing changed the run: versions %d and %d", js.last.Seq, page.last.Seq)
	}
}
