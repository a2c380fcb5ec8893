package labs

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// This file tests labs whose results change as soon as a value does.

// TestQuickResultsFollow: after a quick run, changing a value runs the lab again automatically.
// Before the first run, changing a value does not run the lab.
func TestQuickResultsFollow(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("draw")
	if m := w.ask("set", values("draw", "draws", "200")); panelOf(m, "lab-run") != "" {
		t.Fatal("the lab ran before Run was pressed")
	}
	w.ask("set", values("draw", "draws", "200", "run", "1", "guess", guess.None))
	w.done()
	w.ask("set", values("draw", "draws", "300", "guess", guess.None))
	if html := panelOf(w.done(), "lab-results"); !strings.Contains(html, "300 draws") {
		t.Error("the results did not change with the value")
	}
}

// TestPricesNeedNoRun: results that depend only on prices are computed immediately from the last
// measurement. Other results need a new run.
func TestPricesNeedNoRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.open("bill")
	w.ask("set", values("bill", "input_price", "3", "run", "1", "guess", guess.None))
	w.done()
	m := w.ask("set", values("bill", "input_price", "1000000", "guess", guess.None))
	if m.Error == nil || m.Error.Field != "input_price" {
		t.Errorf("a price beyond its range: got %+v, want an error, Field = %q", m.Error, "input_price")
	}
	m = w.ask("set", values("bill", "input_price", "5000", "guess", guess.None))
	// 8 prompt tokens at $5,000 per million are 4 cents.
	if html := panelOf(m, "lab-lead") + panelOf(m, "lab-results"); !strings.Contains(html, "<b>8</b>") ||
		!strings.Contains(html, "<b>$0.04</b>") || strings.Contains(panelOf(m, "lab-run"), "Measuring") {
		t.Errorf("the results do not have the new price: %s", html[:min(len(html), 600)])
	}
	if page := s.get(m.Data.(feedData).Link, 200); !strings.Contains(text(page.Find("#s-ticks")), "$0.04") {
		t.Error("the report was not kept")
	}
	m = w.ask("set", values("bill", "seed", "5", "guess", guess.None))
	// The lab either runs or, after a slow run, waits until Run is pressed.
	if html := panelOf(m, "lab-run"); panelOf(m, "lab-results") != "" || !strings.Contains(html, "Measuring") &&
		!strings.Contains(html, "the old ones") {
		t.Error("got results for another seed without a run")
	}
}

// TestBillTilesUpdateAtOnce: before the first run, a change to any of the bill's tiles updates the
// maximum price of the request. After the run, such a change updates the first screen at once,
// while the measured results stay the same.
func TestBillTilesUpdateAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.get("/labs/bill?max_tokens=10", 200)
	// 8 input tokens at $3 per million and 10 output tokens at $15: $0.000024 + $0.00015.
	if got := text(page.Find("#lab-sum")); !strings.Contains(got, "$0.000174") ||
		!strings.Contains(got, "$17.40 a day") { // 100,000 such requests
		t.Errorf("the sum is %q, want it to contain %q and %q", got, "$0.000174", "$17.40 a day")
	}
	if got := text(page.Find("#lab-follows")); got != "tokens read 8" {
		t.Errorf("the computed tile is %q, want %q", got, "tokens read 8")
	}
	w := s.open("bill")
	for _, c := range []struct{ name, value, follows, sum string }{
		{"max_tokens", "20", "<b>8</b>", "$0.000324"},        // 8·3 + 20·15
		{"output_price", "30", "<b>8</b>", "$0.000264"},      // 8·3 + 8·30
		{"input_price", "0", "<b>8</b>", "$0.00012"},         // 8·15
		{"prompt", "Once", "<b>2</b>", "$0.000126"},          // with the start token: 2·3 + 8·15
		{"requests", "1000000", "<b>8</b>", "$144.00 a day"}, // $0.000144 each
	} {
		m := w.ask("set", values("bill", c.name, c.value))
		if !strings.Contains(panelOf(m, "lab-follows"), c.follows) || !strings.Contains(panelOf(m, "lab-sum"), c.sum) {
			t.Errorf(
				"%s = %s: got %s, %s; want them to contain %q, %q", c.name, c.value,
				panelOf(m, "lab-follows"), panelOf(m, "lab-sum"), c.follows, c.sum,
			)
		}
		if !strings.Contains(panelOf(m, "lab-lead"), "Only a run can tell") {
			t.Errorf("%s: the chart does not state what is unknown", c.name)
		}
	}
	w.ask("set", values("bill", "run", "1", "guess", "stop"))
	if m := w.done(); !strings.Contains(panelOf(m, "lab-lead"), "in all") {
		t.Errorf("after the run: got %s, want it to contain %q", panelOf(m, "lab-lead"), "in all")
	}
	m := w.ask("set", values("bill", "max_tokens", "20", "guess", "stop"))
	if !strings.Contains(panelOf(m, "lab-sum"), "$0.000324") || panelOf(m, "lab-results") != "" {
		t.Errorf("a tile after the run: got %s, want $0.000324 and unchanged results", panelOf(m, "lab-sum"))
	}
}

// TestUnusualPricesAreNamed: the lab's claim is about usual prices. If the prices contradict it, the
// page says that they are not usual.
func TestUnusualPricesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out float64
		say     string
	}{
		{3, 15, "A token written costs as much as 5 tokens read."},
		{4, 5, "A token written costs as much as 1.25 tokens read."},
		{3, 3, "not usual, a token written costs as much as a token read."},
		{3, 1, "not usual, a token written costs less than a token read."},
		{0, 1, "reading is free"},
		{0, 0, "everything is free"},
	} {
		b := &lab.Bill{Prices: lab.Prices{Input: c.in, Output: c.out}, BreakEven: c.out / max(c.in, 1e-9)}
		if got := pricesText(stage.English, b); !strings.Contains(got, c.say) {
			t.Errorf("$%v and $%v: got %q, want it to contain %q", c.in, c.out, got, c.say)
		}
	}
}

// TestMemoryNeedsNoRun: the memory calculator shows its results without a run. A changed number is
// kept until another model is chosen, which resets all numbers to the chosen model's.
func TestMemoryNeedsNoRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	// 2 × 32 × 32 × 128 × 2 bytes × 4,096 tokens × 8 chats is 16 GiB.
	page := s.get("/labs/memory", 200)
	if got := text(page.Find("#lab-sum")); !strings.Contains(got, "16.0 GiB") ||
		!strings.Contains(got, "17,179,869,184 bytes") {
		t.Errorf("the sum is %q, want it to contain %q and %q", got, "16.0 GiB", "17,179,869,184 bytes")
	}
	if got := text(page.Find(".lab__verdict")); !strings.Contains(got, "Too much for this card, by 4.6 GiB") ||
		!strings.Contains(got, "room for 5 chats") {
		t.Errorf(
			"it says %q, want it to contain %q and %q", got, "Too much for this card, by 4.6 GiB", "room for 5 chats",
		)
	}
	if got, _ := page.Find(`[name="kv_heads"]`).Attr("value"); got != "32" {
		t.Errorf("got %q KV heads, want %q", got, "32")
	}
	w := s.open("memory")
	all := map[string]string{
		"preset": "mistral-7b", "own": "llama-2-7b", "layers": "32", "heads": "32", "kv_heads": "32", "head_dim": "128",
	}
	m := w.ask("set", all)
	data, ok := m.Data.(feedData)
	if !ok || data.Inputs["kv_heads"] != "8" || data.Inputs["own"] != "mistral-7b" ||
		data.Link != "/labs/memory?preset=mistral-7b" {
		t.Errorf("another model: %+v", m.Data)
	}
	if html := panelOf(m, "lab-sum"); !strings.Contains(html, "4.0 GiB") { // 8 heads in place of 32
		t.Errorf("another model: got %s, want it to contain %q", html, "4.0 GiB")
	}
	all["own"], all["kv_heads"] = "mistral-7b", "4"
	m = w.ask("set", all)
	if data, ok = m.Data.(feedData); !ok || data.Inputs["kv_heads"] != "4" ||
		data.Link != "/labs/memory?kv_heads=4&preset=mistral-7b" ||
		!strings.Contains(panelOf(m, "lab-sum"), "2.0 GiB") {
		t.Errorf("with fewer KV heads: got %+v, want 4 key/value heads in the field and the link, and 2.0 GiB", m.Data)
	}
	all["kv_heads"] = "5"
	if m = w.ask("set", all); m.Error == nil || m.Error.Field != "kv_heads" {
		t.Errorf("5 pairs for 32 heads: got %+v, want an error, Field = %q", m.Error, "kv_heads")
	}
}
