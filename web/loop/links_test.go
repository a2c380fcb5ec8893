package loop

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// branched plays a run, changes its settings, chooses a token by hand, and then goes back to an
// earlier stage.
func branched(t *testing.T, c *client, x *site) *session.State {
	t.Helper()
	c.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"token"}`)
	c.do(fmt.Sprintf(`{"cmd":"choose","step":2,"token":%d}`, second(c.state(x), 2)))
	c.do(`{"cmd":"set","temperature":1.2,"seed":7}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"token"}`)
	c.do(`{"cmd":"seek","step":2,"stage":"filter"}`)
	return c.state(x)
}

// shownBy returns a page's strip and stage panel.
func shownBy(t *testing.T, page string) string {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, id := range []string{"strip-prompt", genID, "panel", "rail", "peek"} {
		html, err := goquery.OuterHtml(doc.Find("#" + id))
		if err != nil || html == "" {
			t.Fatalf("the page has no #%s (%v)", id, err)
		}
		parts = append(parts, html)
	}
	return strings.Join(parts, "\n")
}

// TestLinksOpenOverHTTP opens links over plain HTTP. They show the live run if this server has it,
// and otherwise the run that the link describes.
func TestLinksOpenOverHTTP(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	st := branched(t, c, x)
	link := url.QueryEscape(c.last.Data.Link)
	_, own := x.get("/loop?run=" + c.run)
	for _, browser := range []*site{x, x.stranger()} {
		for _, query := range []string{"log=" + link, "run=" + c.run + "&log=" + link, "run=gone&log=" + link} {
			resp, page := browser.get("/loop?" + query)
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%.20s: status %d, want %d", query, resp.StatusCode, http.StatusOK)
			}
			if browser.jar == x.jar && strings.HasPrefix(query, "run="+c.run) {
				continue // the live run, which also has measured times and branches
			}
			if timeless(t, shownBy(t, page)) != timeless(t, shownBy(t, own)) {
				t.Errorf(
					"%.20s: the page shows\n%s\nwant the same as on the page of the run itself:\n%s", query,
					timeless(t, shownBy(t, page)), timeless(t, shownBy(t, own)),
				)
			}
			if !strings.Contains(page, `data-link="`+session.LinkOf(st)+`"`) {
				t.Errorf("%.20s: the page does not carry the link", query)
			}
		}
	}
	// The live run takes precedence over the link, even if it has continued since.
	c.do(`{"cmd":"step"}`)
	if _, page := x.get("/loop?run=" + c.run + "&log=" + link); !strings.Contains(
		page, `data-link="`+session.LinkOf(c.state(x))+`"`,
	) {
		t.Error("the page shows the link, not the live run")
	}
	// The link takes precedence over a run without a text. A page that is closed while it is
	// reconnecting leaves such a run behind.
	empty := x.dial(wire.ProtocolHTML, "")
	if _, page := x.get("/loop?run=" + empty.run + "&log=" + link); !strings.Contains(
		page, `data-link="`+session.LinkOf(st)+`"`,
	) {
		t.Error("the page shows a run without a text, not the link")
	}
}

// timeless removes the measured times, which differ from run to run.
func timeless(t *testing.T, html string) string {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(doc.Text())
	kept := words[:0]
	for i, w := range words {
		unit := ""
		if i+1 < len(words) {
			unit = words[i+1]
		}
		if _, err := strconv.ParseFloat(w, 64); err == nil &&
			(strings.HasPrefix(unit, "ms") || strings.HasPrefix(unit, "µs") || strings.HasPrefix(unit, "s")) {
			continue
		}
		kept = append(kept, w)
	}
	return strings.Join(kept, " ")
}

// edited returns a link whose JSON has been changed.
func edited(t *testing.T, link, from, to string) string {
	t.Helper()
	plain := inflate(t, link)
	if !strings.Contains(plain, from) {
		t.Fatalf("no %q in %s", from, plain)
	}
	return deflate(t, strings.Replace(plain, from, to, 1))
}

// TestBadLinksAreExplained: for each bad link, the page gives a plain explanation, has the right
// status and can be used. The socket sends the same explanation.
func TestBadLinksAreExplained(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	branched(t, c, x)
	good := c.last.Data.Link
	for name, tc := range map[string]struct {
		link   string
		status int
		say    string
	}{
		"cut short":       {good[:len(good)/2], http.StatusBadRequest, "damaged or was cut short"},
		"not a link":      {"hello", http.StatusBadRequest, "damaged"},
		"another version": {edited(t, good, `"v":1`, `"v":2`), http.StatusBadRequest, "another version"},
		"another model": {
			edited(t, good, `"m":"`+x.Model.Hash()[:4], `"m":"zzzz`), http.StatusConflict, "a model other than",
		},
		"beyond its end":  {edited(t, good, `"at":[2,4]`, `"at":[9,4]`), http.StatusBadRequest, "edited by hand"},
		"too many steps":  {edited(t, good, `"n":3`, `"n":99999`), http.StatusBadRequest, "edited by hand"},
		"a token too far": {edited(t, good, `"c":[[2,`, `"c":[[2,9`), http.StatusBadRequest, "edited by hand"},
		"a long prompt": {
			edited(t, good, `"p":"Once`, `"p":"`+strings.Repeat("x", 5000)), http.StatusBadRequest, "rompt",
		},
	} {
		resp, page := x.stranger().get("/loop?log=" + url.QueryEscape(tc.link))
		if resp.StatusCode != tc.status || !strings.Contains(page, tc.say) ||
			!strings.Contains(page, `id="prompt-form"`) {
			t.Errorf("%s: status %d, want %d and a text with %q", name, resp.StatusCode, tc.status, tc.say)
		}
		e := c.refused(fmt.Sprintf(`{"cmd":"open","link":%q}`, tc.link))
		if !strings.Contains(e.Message, tc.say) {
			t.Errorf("%s: the socket answers %q, want %q", name, e.Message, tc.say)
		}
		if resp, text := x.get("/export/text?log=" + url.QueryEscape(tc.link)); resp.StatusCode != tc.status ||
			!strings.Contains(text, tc.say) {
			t.Errorf(
				"%s: the export is %d %q; want %d, text with %q", name, resp.StatusCode, text, tc.status, tc.say,
			)
		}
	}
	if resp, page := x.get("/loop?run=nothing"); resp.StatusCode != http.StatusNotFound ||
		!strings.Contains(page, "There is no such run here") {
		t.Errorf(
			"a run that is not here: got %d, want resp.StatusCode = %d, page with %q", resp.StatusCode,
			http.StatusNotFound, "There is no such run here",
		)
	}
	c.do(`{"cmd":"step"}`) // the run is unchanged
}

// TestClientSurvivesServerRestart: a client reconnects to a server that has no record of its
// run.
func TestClientSurvivesServerRestart(t *testing.T) {
	t.Parallel()
	a := newSite(t, limits{})
	c := a.dial(wire.ProtocolHTML, "")
	branched(t, c, a)
	link, where, tokens := c.last.Data.Link, c.where(), c.tokens
	a.stop()
	b := newSiteAt(t, limits{}, a.http.Listener.Addr().String())
	again := b.dial(wire.ProtocolHTML, "?run="+c.run)
	if again.run == c.run || again.last.Data.Cursor.Step != 0 {
		t.Fatalf(
			"the new server has run %s at %s; want again.run other than %s, again.last.Data.Cursor.Step = 0", again.run,
			again.where(), c.run,
		)
	}
	again.do(fmt.Sprintf(`{"cmd":"open","link":%q}`, link))
	if again.where() != where || again.last.Data.Link != link {
		t.Fatalf("after reconnecting, the client is at %s, want %s", again.where(), where)
	}
	if len(again.tokens) != len(tokens) {
		t.Fatalf("got %d tokens, want %d", len(again.tokens), len(tokens))
	}
	for i := range tokens {
		if normal(t, tokens[i]) != normal(t, again.tokens[i]) {
			t.Errorf("token %d is\n%s\nwant the same as before\n%s", i+1, again.tokens[i], tokens[i])
		}
	}
	sameAsFresh(t, b, wire.ProtocolHTML, again)
}

// TestExportsInEveryFormat saves a run in every format, both from the live run and from its link.
// The files are the same.
// Promise: A run can be saved as a text, a table, a chart and a trace.
func TestExportsInEveryFormat(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	st := branched(t, c, x)
	get := func(name, query string) (http.Header, string) {
		t.Helper()
		resp, body := x.get("/export/" + name + "?" + query)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, want %d: %s", name, resp.StatusCode, http.StatusOK, body)
		}
		return resp.Header, body
	}
	byLink := "log=" + url.QueryEscape(c.last.Data.Link)
	for name, ending := range map[string]string{
		"text": ".txt", "table": ".csv", "table-comma": "-decimal-comma.csv", "chart": ".svg", "trace": ".jsonl",
	} {
		h, live := get(name, "run="+c.run)
		want := `attachment; filename="once-upon-a-time-seed-7` + ending + `"`
		if got := h.Get("Content-Disposition"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if _, replayed := get(name, byLink); name != "trace" && live != replayed {
			t.Errorf("%s of the link is\n%.300s\nwant the same as of the live run\n%.300s", name, replayed, live)
		}
	}
	want := "Once upon a time"
	for _, step := range st.Steps {
		want += step.Text
	}
	if _, text := get("text", "run="+c.run); text != want {
		t.Errorf("text %q, want %q", text, want)
	}

	// The trace equals the messages on a JSON socket: all stages, with rows of twenty tokens.
	js := x.dial(wire.ProtocolJSON, "?run="+c.run)
	_, trace := get("trace", "run="+c.run)
	lines := strings.Split(strings.TrimSpace(trace), "\n")
	if len(lines) != len(js.stages) {
		t.Fatalf("the trace has %d lines, but the socket was sent %d objects", len(lines), len(js.stages))
	}
	for i := range lines {
		if lines[i] != string(js.stages[i]) {
			t.Errorf(
				"line %d is\n%.300s, want %.300s\nthe socket\n%.300s", i+1, lines[i], string(js.stages[i]),
				js.stages[i],
			)
		}
	}

	_, table := get("table", "run="+c.run)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(table, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+st.Model.Config().Vocab || strings.Join(rows[0], ",") != "rank,id,text,z,p,cum,kept,cut_by,q" {
		t.Fatalf("got %d rows under %q, want one for each token under the ranks' header", len(rows), rows[0])
	}
	first := st.Dist.Order[0]
	if r := rows[1]; r[0] != "1" || r[1] != fmt.Sprint(first) ||
		r[4] != strconv.FormatFloat(st.Dist.P[first], 'g', -1, 64) || r[6] != "true" {
		t.Errorf(
			"first row %q, want [0] = %q, [1] = %q, [4] = %q, [6] = %q", r, "1", first,
			strconv.FormatFloat(st.Dist.P[first], 'g', -1, 64), "true",
		)
	}
	_, commas := get("table-comma", "run="+c.run)
	comma := csv.NewReader(strings.NewReader(strings.TrimPrefix(commas, "\ufeff")))
	comma.Comma = ';'
	if r, err := comma.ReadAll(); err != nil || len(r) != len(rows) || r[1][2] != rows[1][2] ||
		r[1][4] != strings.Replace(rows[1][4], ".", ",", 1) || r[1][4] == rows[1][4] {
		t.Errorf(
			"with decimal commas: got %d rows, %v; want %d, with a comma in place of the point", len(r), err, len(rows),
		)
	}
	for _, r := range rows[1:] {
		if r[2] != "" && strings.ContainsAny(r[2][:1], "=+-@\t\r") {
			t.Errorf("token %s may be taken for a formula: got %q, want it marked as text", r[1], r[2])
		}
	}
	var golden1 bytes.Buffer
	if err := tableRows(terms.NewSheet(&golden1, terms.SheetPipe), handmade(t, infer.KindFilter)); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.csv.golden", strings.Join(strings.SplitAfterN(golden1.String(), "\n", 41)[:40], ""))
	var chart bytes.Buffer
	if err := writeChart(t.Context(), &chart, handmade(t, infer.KindCache)); err != nil {
		t.Fatal(err)
	}
	golden(t, "chart.svg.golden", chart.String())
}

// TestTableWithTopTokenCut: under typical-p, which cuts the most probable tokens here, the table
// shows for each token whether it is kept, the reason if it is cut, and the probability of drawing
// it.
func TestTableWithTopTokenCut(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	run := session.New(m, session.DefaultLimits())
	settings := infer.Settings{Settings: sampling.Pure, Seed: 1, Stop: infer.Stop{MaxTokens: 4}}
	settings.TypicalP = 0.2
	for _, c := range append(session.Begin(settings, "Once upon a time there was a"), session.StepToken{}) {
		if _, err := run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := tableRows(terms.NewSheet(&b, terms.SheetPipe), run.State()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	kept, sum := 0, 0.0
	for _, r := range rows[1:] {
		q, err := strconv.ParseFloat(r[8], 64)
		if err != nil {
			t.Fatal(err)
		}
		if sum += q; r[6] == "true" {
			kept++
		}
		if (r[6] == "true") != (q > 0) || (r[6] == "true") != (r[7] == "") {
			t.Errorf(
				"rank %s: got kept %s, cut by %q, q %s; want a rule only where it is cut, and q only where it is kept",
				r[0], r[6], r[7], r[8],
			)
		}
	}
	if first := rows[1]; first[6] != "false" || first[7] != "typical_p" || kept != 11 || !(math.Abs(sum-1) <= 1e-12) {
		t.Errorf(
			"%d are kept, q sums to %v; the first row is %q; want first[6] = %q, first[7] = %q, kept = 11, sum ≈ 1",
			kept, sum, first, "false", "typical_p",
		)
	}
}

// TestTableShowsPenalizedScores: the table has the scores used for the draw and, in its last
// column, the scores from the model.
func TestTableShowsPenalizedScores(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	run := session.New(m, session.DefaultLimits())
	settings := infer.DefaultSettings()
	settings.RepetitionPenalty = 2
	for _, c := range append(session.Begin(settings, "Once upon a time"), session.StepToken{}) {
		if _, err := run.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := tableRows(terms.NewSheet(&b, terms.SheetPipe), run.State()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, r := range rows[1:] {
		if r[3] != r[9] {
			changed++
		}
	}
	if prompt := m.Encode("Once upon a time"); rows[0][9] != "z_raw" || changed != len(prompt) {
		t.Errorf("%d scores have changed, of %d tokens; the last column is %s", changed, len(prompt), rows[0][9])
	}
}

// TestExportsNotReadyAreRefused: an export that is not available yet is refused with a status.
func TestExportsNotReadyAreRefused(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	expect := func(path string, status int, say string) {
		t.Helper()
		if resp, text := x.get(path); resp.StatusCode != status || !strings.Contains(text, say) {
			t.Errorf("%s: got %d %q, want %d and a text with %q", path, resp.StatusCode, text, status, say)
		}
	}
	expect("/export/text?run="+c.run, http.StatusConflict, "no text yet")
	expect("/export/picture?run="+c.run, http.StatusNotFound, "no such export")
	expect("/export/text", http.StatusNotFound, "There is no such run here")
	c.do(`{"cmd":"start","prompt":"Hi"}`)
	expect("/export/table?run="+c.run, http.StatusConflict, "no table at the forward stage")
	expect("/export/chart?run="+c.run, http.StatusConflict, "finish one turn")
	if resp, _ := x.stranger().get("/export/text?run=" + c.run); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a stranger got the run: got %d, want %d", resp.StatusCode, http.StatusNotFound)
	}
	for prompt, want := range map[string]string{
		"Hi": "hi", "": "text", "Grüße!": "gr-e", "🦉": "text",
		strings.Repeat("ab ", 50): strings.Repeat("ab-", 13) + "a",
	} {
		st := *c.state(x)
		st.Prompt = prompt
		if got := fileName(&st); got != want+"-seed-42" {
			t.Errorf("the file of %.20q is called %q, want %s-seed-42", prompt, got, want)
		}
	}
}
