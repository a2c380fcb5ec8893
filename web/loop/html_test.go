package loop

import (
	"bytes"
	"compress/gzip"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// states returns states of a run: one at every stage, and others that look back, have stopped, or
// have not begun. The prompt and a stop string contain markup, which must be shown as text.
func states(t *testing.T) map[string]*session.State {
	t.Helper()
	m := testmodel.Target(t)
	s := session.New(m, session.DefaultLimits())
	all := map[string]*session.State{"empty": s.State()}
	do := func(name string, c session.Command) {
		st, err := s.Apply(context.Background(), c)
		if err != nil {
			t.Fatalf("%#v: %v", c, err)
		}
		if name != "" {
			all[name] = st
		}
	}
	do("forward", session.Start{Prompt: `<script>alert(1)</script> Once upon a <b class="x">time</b> there was a`})
	stops := []string{`</answer>`, "\n\n"}
	do("", session.SetKnob("top_k", 5))
	do("", session.Set{Knobs: infer.Knobs{"max_tokens": 3}, Stop: &stops})
	for _, k := range infer.Kinds[1:] {
		do(k.String(), session.StepStage{})
	}
	do("", session.StepToken{})
	do("stopped", session.StepToken{})
	do("back", session.Seek{Step: 2, Stage: infer.KindFilter})
	u := 0.99
	do("", session.Seek{Step: 2, Stage: infer.KindSample})
	do("whatif", session.WhatIf{U: &u})
	do("nolook", session.SetLook{})
	least := all["whatif"].Dist.Order[4000]
	do("forced", session.Choose{Step: 2, Token: int(least)})
	do("finishing", session.Finish{})
	return all
}

// lang is the language of the pages in most tests.
var lang = stage.English

func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parse(t *testing.T, s string) *goquery.Document {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPanelsHaveOneElementAndID checks what the server and the page's script rely on: every
// panel is one element that has the panel's id, and the page contains it unchanged.
func TestPanelsHaveOneElementAndID(t *testing.T) {
	for name, st := range states(t) {
		for _, view := range []view{numbersView, storyView} {
			panelsFit(t, name+" in "+string(view), st, view)
		}
	}
}

// panelsFit checks that the page contains each panel of a view exactly as it is sent.
func panelsFit(t *testing.T, name string, st *session.State, view view) {
	t.Helper()
	v := NewPage(lang, st)
	v.View = view
	page := html(t, PageHTML(v))
	now, later := view.panels()
	for _, p := range append(slices.Clone(now), later...) {
		part := html(t, p.Render(lang, v))
		body := parse(t, "<body>"+part).Find("body")
		top := body.Children()
		if top.Length() != 1 || top.AttrOr("id", "") != p.ID || strings.TrimSpace(
			body.Clone().Children().Remove().End().Text(),
		) != "" {
			t.Errorf("%s: panel %s is not one element with that id: %.120q", name, p.ID, part)
		}
		if !strings.Contains(page, part) {
			t.Errorf("%s: panel %s is not on the page as it is sent alone", name, p.ID)
		}
	}
	for _, tok := range v.Strip.Tokens {
		if !strings.Contains(page, html(t, view.tokenHTML(lang, tok))) {
			t.Errorf("%s: token %s is not on the page", name, tok.ID)
		}
	}
}

// TestMarkupFollowsPolicyAndARIA checks that the markup meets the requirements of the security
// policy and of assistive technology.
func TestMarkupFollowsPolicyAndARIA(t *testing.T) {
	for name, st := range states(t) {
		d := parse(t, html(t, PageHTML(NewPage(lang, st))))
		ids := map[string]bool{}
		d.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id := e.AttrOr("id", "")
			if ids[id] {
				t.Errorf("%s: two elements have the id %s, want unique ids", name, id)
			}
			ids[id] = true
		})
		d.Find("*").Each(func(_ int, e *goquery.Selection) {
			for _, a := range e.Nodes[0].Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf(
						"%s: <%s> has the attribute %s, want no style and no handler", name, e.Nodes[0].Data, a.Key,
					)
				}
				for _, ref := range []string{"aria-labelledby", "aria-describedby", "for", "form"} {
					for _, id := range strings.Fields(a.Val) {
						if a.Key == ref && !ids[id] {
							t.Errorf("%s: %s refers to %s, which does not exist", name, ref, id)
						}
					}
				}
			}
		})
		if n := d.Find("style, script:not([src]), b.x").Length(); n != 0 {
			t.Errorf("%s: %d forbidden elements", name, n)
		}
		if d.Find("main").Length() != 1 || d.Find("header.top").Length() != 1 || d.Find("footer").Length() != 1 {
			t.Errorf("%s: a landmark is missing", name)
		}
		d.Find(`svg[role="img"], [role="img"]`).Each(func(_ int, e *goquery.Selection) {
			if e.AttrOr("aria-label", "") == "" {
				t.Errorf("%s: a picture has no text alternative: %s", name, e.AttrOr("class", ""))
			}
		})
		d.Find("button").Each(func(_ int, e *goquery.Selection) {
			if strings.TrimSpace(e.Text())+e.AttrOr("aria-label", "") == "" {
				t.Errorf("%s: a button has no name", name)
			}
		})
	}
}

// TestEveryRowHasItsWorkedLine checks that every row of the table has a worked line.
func TestEveryRowHasItsWorkedLine(t *testing.T) {
	all := states(t)
	for _, name := range []string{"logits", "softmax", "filter", "sample", "back"} {
		d := parse(t, html(t, PageHTML(NewPage(lang, all[name]))))
		rows, lines := d.Find("tr[data-row]"), d.Find("#work-lines > div")
		if rows.Length() != stage.RowsShown || lines.Length() != stage.RowsShown {
			t.Errorf(
				"%s: got %d rows with %d worked lines; want %d, %d", name, rows.Length(), lines.Length(),
				stage.RowsShown, stage.RowsShown,
			)
		}
		rows.Each(func(i int, row *goquery.Selection) {
			if of := lines.Eq(i).AttrOr("data-of", "none"); of != row.AttrOr("data-row", "") {
				t.Errorf("%s: row %d has the line of %s, want its own", name, i, of)
			}
		})
	}
}

// TestQueryAnswersFitThePage checks that the answer to every query is one element, that the page
// has an element with the same id, and that the answer's HTML is safe.
func TestQueryAnswersFitThePage(t *testing.T) {
	all := states(t)
	st := all["forward"]
	for id, parts := range map[string][]templ.Component{
		"peek": {lang.PeekHTML(lang.NewPeek(all["forced"], 2)), lang.PeekHTML(lang.NewPeek(st, 99))},
		"found": {
			lang.FoundHTML(lang.NewFound(all["forced"], 2, "the")), lang.FoundHTML(lang.NewFound(st, 1, "<b>")),
			lang.FoundHTML(lang.NewFound(all["forced"], 1, "<b>")),
		},
		"head-detail": {
			lang.HeadHTML(lang.NewHead(st, 1, 1)), lang.HeadHTML(lang.NewHead(st, 9, 9)),
			lang.HeadHTML(stage.HeadDetail{}),
		},
		"inside": {
			lang.InsideHTML(lang.NewInside(st, 1)), lang.InsideHTML(lang.NewInside(st, 9)),
			lang.InsideHTML(stage.Inside{}),
		},
		"map-zoom": {
			lang.ZoomHTML(lang.NewZoom(st, stage.ZoomTo{Block: 1})), lang.ZoomHTML(stage.Zoom{}),
			lang.ZoomHTML(lang.NewZoom(st, stage.ZoomTo{Block: 2, Head: 3, Sum: true})),
			lang.ZoomHTML(lang.NewZoom(st, stage.ZoomTo{Block: 9, Head: 9})),
			lang.ZoomHTML(lang.NewZoom(all["forced"], stage.ZoomTo{Block: 1})),
		},
	} {
		if parse(t, html(t, PageHTML(NewPage(lang, st)))).Find("#"+id).Length() != 1 {
			t.Errorf("the page has no place for #%s", id)
		}
		for i, part := range parts {
			d := parse(t, html(t, part)).Find("body")
			if d.Children().Length() != 1 || d.Children().AttrOr("id", "") != id || d.Find("b > b").Length() != 0 {
				t.Errorf("answer %d is not a single #%s: %.200q", i, id, html(t, part))
			}
		}
	}
	d := parse(t, html(t, lang.InsideHTML(lang.NewInside(st, 6))))
	if d.Find("svg.bars").Length() != 4 || d.Find(".ins__heads tr").Length() != 6 ||
		d.Find(".ins__says li").Length() != infer.ReadOut {
		t.Error("block 6 is incomplete")
	}
}

// TestHeatmapsHaveTextTwins checks that every heatmap has an equivalent in words and that every
// head has a worked line.
func TestHeatmapsHaveTextTwins(t *testing.T) {
	all := states(t)
	d := parse(t, html(t, PageHTML(NewPage(lang, all["forward"]))))
	heads, lines := d.Find("button[data-head]"), d.Find("#work-lines > div")
	if maps := d.Find("canvas[data-heat]").Length(); maps != 6 || heads.Length() != 36 || lines.Length() != 36 {
		t.Errorf(
			"got %d heatmaps, %d heads, %d worked lines; want 6, 36, 36", maps, heads.Length(), lines.Length(),
		)
	}
	heads.Each(func(_ int, e *goquery.Selection) {
		if !strings.Contains(e.AttrOr("aria-label", ""), " reads ") {
			t.Errorf(
				"head %s is called %q, want it to contain %q", e.AttrOr("data-head", ""), e.AttrOr("aria-label", ""),
				" reads ",
			)
		}
	})
	d = parse(t, html(t, PageHTML(NewPage(lang, all["nolook"]))))
	if d.Find("canvas").Length() != 0 {
		t.Error("the draw stage has canvases")
	}
}

// TestSettingsCanBeTypedAndDragged checks that every setting can be typed as well as dragged, and
// that the strip is a single tab stop.
func TestSettingsCanBeTypedAndDragged(t *testing.T) {
	all := states(t)
	d := parse(t, html(t, PageHTML(NewPage(lang, all["stopped"]))))
	for _, f := range []string{FieldTemperature, FieldTopK, FieldTopP, FieldMinP} {
		if n := d.Find(`input[data-set="` + f + `"]`).Length(); n != 2 {
			t.Errorf("%s has %d inputs, want a slider and a field", f, n)
		}
	}
	if n := d.Find(`#strip-gen [tabindex="0"]`).Length(); n != 1 {
		t.Errorf("%d tokens are reached by the Tab key, want 1", n)
	}
	if d.Find(`#transport [data-cmd*=goon]`).Length() != 1 {
		t.Error("a stopped run cannot continue")
	}
	for name, hidden := range map[string]bool{"empty": false, "forward": true} {
		_, is := parse(t, html(t, PageHTML(NewPage(lang, all[name])))).Find("#prompt-box").Attr("hidden")
		if is != hidden {
			t.Errorf("%s: the prompt box is hidden: got %v, want %v", name, is, hidden)
		}
	}
	d = parse(t, html(t, PageHTML(NewPage(lang, all["finishing"]))))
	if d.Find("#progress [data-cmd*=pause]").Length() != 1 {
		t.Error("a run to the end cannot be canceled")
	}
}

// TestNarrowScreensFoldCutRows checks that narrow screens fold all but four of the rows for cut
// tokens, and show how many are folded.
func TestNarrowScreensFoldCutRows(t *testing.T) {
	d := parse(t, html(t, PageHTML(NewPage(lang, states(t)["filter"]))))
	cut, fold := d.Find("tbody tr.is-cut").Length(), d.Find("tbody tr.is-fold").Length()
	if cut < 5 || fold != cut-4 || !strings.Contains(
		d.Find(".more").Text(), "Show "+strconv.Itoa(fold)+" more cut tokens",
	) {
		t.Errorf(
			"of %d cut rows %d are folded: %q; want at least 5, of which %d, and %q", cut, fold,
			d.Find(".more").Text(), cut-4, "Show "+strconv.Itoa(fold)+" more cut tokens",
		)
	}
}

func TestEmptyPageState(t *testing.T) {
	st := states(t)["empty"]
	v := NewPage(lang, st)
	v.Link = "ab-c_"
	d := parse(t, html(t, PageHTML(v)))
	if _, hidden := d.Find("#conn").Attr("hidden"); !hidden || d.Find("body").AttrOr("data-link", "") != "ab-c_" {
		t.Error("the page starts with a lost connection, or without its link")
	}
	book := parse(t, html(t, storybookPage(
		[]story{newStory("B", "one"), newStory("A", "two"), newStory("B", "three")},
	)))
	if got := book.Find("h2").Text(); got != "BA" || book.Find(`a[href="/storybook/three"]`).Length() != 1 {
		t.Errorf("the storybook lists %q, want BA with a link to each story", got)
	}
}

func TestPageAssetsAreSmall(t *testing.T) {
	page := html(t, PageHTML(NewPage(lang, states(t)["empty"])))
	total := zipped(t, []byte(page))
	seen := map[string]bool{}
	parse(t, page).Find("link[href], script[src]").Each(func(_ int, e *goquery.Selection) {
		url := e.AttrOr("href", e.AttrOr("src", ""))
		name, version, ok := strings.Cut(strings.TrimPrefix(url, "/static/"), "?v=")
		if !ok || len(version) != 12 {
			t.Errorf("%s carries no version: is the file missing?", url)
			return
		}
		f, err := static.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if !seen[name] {
			total += zipped(t, f.Data)
		}
		seen[name] = true
	})
	// Compressed: fonts 70 KB, scripts 27 KB, styles 18 KB, page 10 KB.
	if total > 134<<10 || len(seen) > 6 {
		t.Errorf(
			"the first page takes %d bytes and %d files: %v; want at most 134<<10, at most 6", total, len(seen),
			slices.Collect(maps.Keys(seen)),
		)
	}
}

// zipped returns the compressed size of a file in bytes.
func zipped(t *testing.T, b []byte) int {
	t.Helper()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.Len()
}
