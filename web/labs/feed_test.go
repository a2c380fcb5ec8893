package labs

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/wire"
)

// conn is a [wire.Conn] that is always ready and passes messages to a function.
type conn func(wire.Message) error

func (c conn) Send(m wire.Message) error { return c(m) }
func (conn) Ready() error                { return nil }

// visitor is a page at a lab's feed.
type visitor struct {
	t    *testing.T
	in   chan wire.Command
	out  chan wire.Message
	stop context.CancelFunc
	end  chan error
	n    uint64
}

func (s *site) open(name string) *visitor { return s.openFor("someone", name) }

func (s *site) openFor(learner, name string) *visitor {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f, err := s.pages.Feeds()["lab"](
		ctx, wire.Visit{Caller: admission.Caller{Learner: learner}, Query: url.Values{"name": {name}}},
	)
	if err != nil {
		s.t.Fatal(err)
	}
	w := &visitor{
		t: s.t, in: make(chan wire.Command, wire.Waiting), out: make(chan wire.Message, 4096), stop: cancel,
		end: make(chan error, 1),
	}
	go func() {
		w.end <- f.Serve(ctx, w.in, conn(func(m wire.Message) error { w.out <- m; return nil }))
	}()
	s.t.Cleanup(func() {
		cancel()
		if err := <-w.end; err != nil && !errors.Is(err, context.Canceled) {
			s.t.Error(err)
		}
	})
	return w
}

// ask sends a command and returns its answer, the next message.
func (w *visitor) ask(name string, values map[string]string) wire.Message {
	w.t.Helper()
	fields := []byte("{}")
	if values != nil {
		var err error
		if fields, err = json.Marshal(map[string]any{"values": values}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.n++
	w.in <- wire.Command{Name: name, N: w.n, Fields: fields}
	return w.until("the answer", func(m wire.Message) bool { return m.Ack == w.n })
}

func (w *visitor) until(what string, is func(wire.Message) bool) wire.Message {
	w.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case m := <-w.out:
			if is(m) {
				return m
			}
		case <-late:
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (w *visitor) done() wire.Message {
	w.t.Helper()
	return w.until("the end of the run", func(m wire.Message) bool { return m.Done })
}

// panelOf is a panel of a message, "" if it has none.
func panelOf(m wire.Message, id string) string {
	at := slices.IndexFunc(m.Panels, func(p wire.Panel) bool { return p.ID == id })
	if at < 0 {
		return ""
	}
	return m.Panels[at].HTML
}

// values are a lab's small settings and more.
func values(name string, more ...string) map[string]string {
	v := map[string]string{}
	q, _ := url.ParseQuery(small[name])
	for k := range q {
		v[k] = q.Get(k)
	}
	for i := 0; i < len(more); i += 2 {
		v[more[i]] = more[i+1]
	}
	return v
}

// TestFeedRunsEveryLab: each lab runs over its feed; the report is kept, so a
// reloaded page shows it.
func TestFeedRunsEveryLab(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, l := range lab.All() {
		i := l.Info()
		t.Run(i.Name, func(t *testing.T) {
			s.t = t
			w := s.open(i.Name)
			guessed, asks := choice{none, ""}, len(faces[i.Name].Choices) > 0
			if asks {
				guessed = faces[i.Name].Choices[1]
			}
			m := w.ask("set", values(i.Name, "run", "1", "sure", "1", "guess", guessed.Key))
			if m.Error != nil || !strings.Contains(panelOf(m, "lab-run"), "Measuring") {
				t.Fatalf("not begun: %+v", m)
			}
			data, ok := m.Data.(feedData)
			if !ok || !strings.HasPrefix(data.Link, "/labs/"+i.Name) {
				t.Fatalf("no link: %+v", m.Data)
			}
			end := w.done()
			results := panelOf(end, "lab-results")
			if strings.Contains(results, "You said") != asks || !strings.Contains(results, guessed.Words) ||
				!strings.Contains(results, `class="part"`) {
				t.Errorf("results: %s", results[:min(len(results), 800)])
			}
			if page := s.get(data.Link, 200); page.Find(".about").Length() != 1 {
				t.Error("the report was not kept")
			}
		})
	}
}

// TestPredictionComesFirst: nothing runs before a prediction was made or
// declined.
func TestPredictionComesFirst(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("draw")
	for _, guess := range []string{"", "nonsense"} {
		m := w.ask("set", values("draw", "run", "1", "guess", guess))
		if !strings.Contains(panelOf(m, "guess-error"), "First say what you expect") || panelOf(m, "lab-run") != "" {
			t.Errorf("%q: %+v", guess, m)
		}
	}
	if m := w.ask("set", values("draw", "run", "1", "guess", none)); panelOf(m, "lab-run") == "" {
		t.Errorf("declining is refused: %+v", m)
	}
	if html := panelOf(w.done(), "lab-results"); strings.Contains(html, "You said") ||
		!strings.Contains(html, "The distance falls from") {
		t.Error("without a prediction the finding alone is told")
	}
}

// TestLargeRunAsksFirst: a long run sends its estimate first, and runs only
// when asked again; cancelled, it keeps its results.
func TestLargeRunAsksFirst(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	large := map[string]string{"tokens": "400", "repeats": "50", "guess": none, "run": "1"}
	m := w.ask("set", large)
	if html := panelOf(m, "lab-note"); !strings.Contains(html, "This takes about") ||
		!strings.Contains(html, "Run it anyway") || panelOf(m, "lab-run") != "" {
		t.Fatalf("not asked: %s", html)
	}
	large["sure"] = "1"
	delete(large, "run")
	if m = w.ask("set", large); !strings.Contains(panelOf(m, "lab-run"), "Measuring") {
		t.Fatalf("not begun: %+v", m)
	}
	w.until(
		"first rows",
		func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-results"), "Cost of each token") },
	)
	w.ask("cancel", nil)
	end := w.done()
	if html := panelOf(end, "lab-run"); !strings.Contains(html, "Cancelled after") {
		t.Errorf("the run says %s", html)
	}
	if html := panelOf(end, "lab-results"); !strings.Contains(html, "ended early") || !strings.Contains(html, "<svg") {
		t.Error("what was measured was not kept")
	}
}

// TestErrorNextToTheField: a value out of range is explained next to its
// field, and a good one removes the message.
func TestErrorNextToTheField(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	m := w.ask("set", values("cache", "tokens", "0"))
	if m.Error == nil || m.Error.Field != "tokens" || m.Error.Code != terms.CodeRange {
		t.Fatalf("%+v", m.Error)
	}
	if got := panelOf(m, "err-tokens"); !strings.Contains(
		got, "Tokens to write is 0; it must be a whole number from 1 to 2048 tokens.",
	) {
		t.Errorf("beside the field: %s", got)
	}
	if got := panelOf(m, "err-prompt"); !strings.Contains(got, "></p>") {
		t.Errorf("beside another: %s", got)
	}
	m = w.ask("set", values("cache"))
	if got := panelOf(m, "err-tokens"); m.Error != nil || !strings.Contains(got, "></p>") {
		t.Errorf("still told: %s", got)
	}
	if m = w.ask("jump", nil); m.Error == nil || m.Error.Code != terms.CodeUnknown {
		t.Errorf("an unknown command: %+v", m)
	}
}

// TestRequestInStep: the bill's fields and its JSON follow each other,
// whichever changed.
func TestRequestInStep(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("bill")
	first := w.ask("set", map[string]string{}).Data.(feedData).Inputs
	if first["max_tokens"] != "96" || !strings.Contains(first["request"], `"max_tokens": 96`) {
		t.Fatalf("%v", first)
	}
	byField := w.ask(
		"set", map[string]string{"max_tokens": "12", "request": first["request"], "was": first["was"]},
	).Data.(feedData).Inputs
	if !strings.Contains(byField["request"], `"max_tokens": 12`) {
		t.Errorf("the JSON does not follow: %s", byField["request"])
	}
	edited := strings.Replace(byField["request"], `"max_tokens": 12`, `"max_tokens": 7`, 1)
	byJSON := w.ask(
		"set", map[string]string{"max_tokens": "12", "request": edited, "was": byField["was"]},
	).Data.(feedData).Inputs
	if byJSON["max_tokens"] != "7" || byJSON["request"] != edited {
		t.Errorf("the fields do not follow: %v", byJSON)
	}
	for bad, say := range map[string]string{
		`{"prompt": `:            "request is",
		`{"max_tokens": 0}`:      "max_tokens is 0",
		`{"colour": "blue"}`:     "colour is not a field of a request",
		`{"temperature": "hot"}`: `temperature is "hot"`,
	} {
		m := w.ask("set", map[string]string{"request": bad, "was": byJSON["was"]})
		if m.Error == nil || m.Error.Field != "request" || !strings.Contains(
			panelOf(m, "err-request"), strings.ReplaceAll(say, `"`, "&#34;"),
		) {
			t.Errorf("%s: %+v, %s", bad, m.Error, panelOf(m, "err-request"))
		}
	}
}

// TestQuickResultsFollow: after a quick run, a change runs the lab again
// automatically; before the first run it does not.
func TestQuickResultsFollow(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("draw")
	if m := w.ask("set", values("draw", "draws", "200")); panelOf(m, "lab-run") != "" {
		t.Fatal("it ran before it was asked to")
	}
	w.ask("set", values("draw", "draws", "200", "run", "1", "guess", none))
	w.done()
	w.ask("set", values("draw", "draws", "300", "guess", none))
	if html := panelOf(w.done(), "lab-results"); !strings.Contains(html, "300 draws") {
		t.Error("the results do not follow")
	}
}

// TestPricesNeedNoRun: what follows from numbers alone is answered immediately
// from what was measured; the rest is not.
func TestPricesNeedNoRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.open("bill")
	w.ask("set", values("bill", "input_price", "3", "run", "1", "guess", none))
	w.done()
	m := w.ask("set", values("bill", "input_price", "1000000", "guess", none))
	if m.Error == nil || m.Error.Field != "input_price" {
		t.Errorf("a price beyond its range: %+v", m.Error)
	}
	m = w.ask("set", values("bill", "input_price", "5000", "guess", none))
	// 8 prompt tokens at $5,000 a million are 4 cents.
	if html := panelOf(m, "lab-lead") + panelOf(m, "lab-results"); !strings.Contains(html, "<b>8</b>") ||
		!strings.Contains(html, "<b>$0.04</b>") || strings.Contains(panelOf(m, "lab-run"), "Measuring") {
		t.Errorf("not repriced: %s", html[:min(len(html), 600)])
	}
	if page := s.get(m.Data.(feedData).Link, 200); !strings.Contains(text(page.Find("#s-ticks")), "$0.04") {
		t.Error("it was not kept")
	}
	m = w.ask("set", values("bill", "seed", "5", "guess", none))
	// It runs, or, after a slow run, waits until asked.
	if html := panelOf(m, "lab-run"); panelOf(m, "lab-results") != "" || !strings.Contains(html, "Measuring") &&
		!strings.Contains(html, "changed since") {
		t.Error("another seed was answered without a run")
	}
}

// TestBillAtOnce: before anything runs, every tile of the bill changes what the
// request may cost; afterwards a tile changes the first screen at once, and
// what was measured stays.
func TestBillAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.get("/labs/bill?max_tokens=10", 200)
	// 8 tokens read at $3 a million, 10 written at $15: $0.000024 + $0.00015.
	if got := text(page.Find("#lab-sum")); !strings.Contains(got, "$0.000174") ||
		!strings.Contains(got, "$17.40 a day") { // 100,000 such requests
		t.Errorf("the sum is %q", got)
	}
	if got := text(page.Find("#lab-follows")); got != "tokens read 8" {
		t.Errorf("the tile that follows says %q", got)
	}
	w := s.open("bill")
	for _, c := range []struct{ name, value, follows, sum string }{
		{"max_tokens", "20", "<b>8</b>", "$0.000324"},        // 8·3 + 20·15
		{"output_price", "30", "<b>8</b>", "$0.000264"},      // 8·3 + 8·30
		{"input_price", "0", "<b>8</b>", "$0.00012"},         // 8·15
		{"prompt", "Once", "<b>2</b>", "$0.000126"},          // with the start mark: 2·3 + 8·15
		{"requests", "1000000", "<b>8</b>", "$144.00 a day"}, // $0.000144 each
	} {
		m := w.ask("set", values("bill", c.name, c.value))
		if !strings.Contains(panelOf(m, "lab-follows"), c.follows) || !strings.Contains(panelOf(m, "lab-sum"), c.sum) {
			t.Errorf("%s %s: %s, %s", c.name, c.value, panelOf(m, "lab-follows"), panelOf(m, "lab-sum"))
		}
		if !strings.Contains(panelOf(m, "lab-lead"), "only a run can tell") {
			t.Errorf("%s: the chart does not say what is unknown", c.name)
		}
	}
	w.ask("set", values("bill", "run", "1", "guess", "stop"))
	if m := w.done(); !strings.Contains(panelOf(m, "lab-lead"), "in all") {
		t.Errorf("after the run: %s", panelOf(m, "lab-lead"))
	}
	m := w.ask("set", values("bill", "max_tokens", "20", "guess", "stop"))
	if !strings.Contains(panelOf(m, "lab-sum"), "$0.000324") || panelOf(m, "lab-results") != "" {
		t.Errorf("a tile after the run: %s", panelOf(m, "lab-sum"))
	}
}

// TestClaimOfPrices: prices that refute the lab's claim are called that.
func TestClaimOfPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out float64
		say     string
	}{
		{3, 15, "A token written costs as much as 5 tokens read."},
		{4, 5, "A token written costs as much as 1.25 tokens read."},
		{3, 3, "as much as one read: the claim is false."},
		{3, 1, "less than one read: the claim is false."},
		{0, 1, "reading is free"},
		{0, 0, "nothing costs anything"},
	} {
		b := &lab.Bill{Prices: lab.Prices{Input: c.in, Output: c.out}, BreakEven: c.out / max(c.in, 1e-9)}
		if got := pricesSay(b); !strings.Contains(got, c.say) {
			t.Errorf("$%v and $%v: %q", c.in, c.out, got)
		}
	}
}

// TestStaleResultsSaySo: results on the page are never mistaken for those of
// the form's values.
func TestStaleResultsSaySo(t *testing.T) {
	t.Parallel()
	w := newSite(t).open("cache")
	run := values("cache", "run", "1", "guess", none)
	w.ask("set", run)
	if html := panelOf(w.done(), "lab-run"); strings.Contains(html, "changed since") ||
		!strings.Contains(html, "Done in") {
		t.Errorf("at its end: %s", html)
	}
	// Too slow to follow automatically.
	other := map[string]string{"tokens": "400", "repeats": "50", "guess": none}
	if html := panelOf(w.ask("set", other), "lab-run"); !strings.Contains(html, "changed since") {
		t.Errorf("after a change: %s", html)
	}
	w.ask("set", map[string]string{"tokens": "400", "repeats": "49", "guess": none, "run": "1", "sure": "1"})
	w.until("first rows", func(m wire.Message) bool { return panelOf(m, "lab-results") != "" })
	w.ask("set", other)
	w.ask("cancel", nil)
	if html := panelOf(w.done(), "lab-run"); !strings.Contains(html, "Cancelled after") ||
		!strings.Contains(html, "changed since") {
		t.Errorf("changed while it ran: %s", html)
	}
}

// TestOneAtATime: a second measurement waits and says so, and leaving the queue
// frees its place.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, leave, err := s.pages.queue.Enter(context.Background(), admission.Caller{Learner: "someone"}, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := s.open("draw"), s.open("draw")
	first.ask("set", values("draw", "run", "1", "guess", none))
	first.until(
		"its place", func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-run"), "yours is next") },
	)
	second.ask("set", values("draw", "run", "1", "guess", none))
	second.until("its place", func(m wire.Message) bool {
		return strings.Contains(panelOf(m, "lab-run"), "2 measurements are before yours")
	})
	first.ask("cancel", nil)
	if html := panelOf(first.done(), "lab-trouble"); !strings.Contains(html, "Cancelled while it waited") {
		t.Errorf("the one that left says %s", html)
	}
	second.until(
		"its new place", func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-run"), "yours is next") },
	)
	leave()
	if html := panelOf(second.done(), "lab-results"); !strings.Contains(html, "10 draws") {
		t.Error("the one that waited did not run")
	}
	if n := s.pages.queue.Len(); n != 0 {
		t.Errorf("%d measurements run or wait", n)
	}
}

// TestShortBeforeLong: someone with many measurements delays another by one of them,
// which ends early and keeps what it has.
func TestShortBeforeLong(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.queue = admission.NewQueue(admission.DefaultLimits().Labs, time.Millisecond)
	long := s.open("draw")
	long.ask("set", values("draw", "run", "1", "guess", none, "draws", "100000", "repeats", "200"))
	long.until("progress", func(m wire.Message) bool { return strings.Contains(panelOf(m, "lab-run"), "Measuring") })
	short := s.openFor("another", "draw")
	short.ask("set", values("draw", "run", "1", "guess", none))
	if html := panelOf(short.done(), "lab-results"); !strings.Contains(html, "10 draws") {
		t.Error("the short one did not run")
	}
	if html := panelOf(long.done(), "lab-run"); !strings.Contains(html, "Ended after") {
		t.Errorf("the long one says %s", html)
	}
}

// TestNoSuchLab: unknown labs are refused, both as a feed and as a page.
func TestNoSuchLab(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.pages.Feeds()["lab"](context.Background(), wire.Visit{Query: url.Values{"name": {"alchemy"}}})
	if e := new(terms.Refusal); !errors.As(err, &e) || e.Code != terms.CodeUnknown {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"/labs/alchemy", "/labs/alchemy/rows.csv", "/labs/cache/deep"} {
		s.get(path, 404)
	}
	s.get("/labs/cache/rows.csv?table=none&"+small["cache"], 404)
	if w := s.do("POST", "/labs/cache"); w.Code != 405 || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestMemoryAnswersAtOnce: what follows from numbers alone needs no run. Another
// model brings its own numbers, and a changed one stays until then.
func TestMemoryAnswersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	// 2 × 32 × 32 × 128 × 2 bytes × 4,096 tokens × 8 chats is 16 GiB.
	page := s.get("/labs/memory", 200)
	if got := text(page.Find("#lab-sum")); !strings.Contains(got, "16.0 GiB") ||
		!strings.Contains(got, "17,179,869,184 bytes") {
		t.Errorf("the sum is %q", got)
	}
	if got := text(page.Find(".lab__verdict")); !strings.Contains(got, "Too much for this card, by 4.6 GiB") ||
		!strings.Contains(got, "room for 5 chats") {
		t.Errorf("it says %q", got)
	}
	if got, _ := page.Find(`[name="kv_heads"]`).Attr("value"); got != "32" {
		t.Errorf("%q KV heads", got)
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
		t.Errorf("another model: %s", html)
	}
	all["own"], all["kv_heads"] = "mistral-7b", "4"
	m = w.ask("set", all)
	if data, ok = m.Data.(feedData); !ok || data.Inputs["kv_heads"] != "4" ||
		data.Link != "/labs/memory?kv_heads=4&preset=mistral-7b" ||
		!strings.Contains(panelOf(m, "lab-sum"), "2.0 GiB") {
		t.Errorf("shared further: %+v", m.Data)
	}
	all["kv_heads"] = "5"
	if m = w.ask("set", all); m.Error == nil || m.Error.Field != "kv_heads" {
		t.Errorf("5 pairs for 32 heads: %+v", m.Error)
	}
}
