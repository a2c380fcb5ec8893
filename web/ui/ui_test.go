package ui

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/view"
)

// states are a run at every stage, looked back on, stopped, and not begun. The
// prompt and a stop string are markup, which must stay text.
func states(t *testing.T) map[string]*session.State {
	t.Helper()
	c, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
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
	do("forward", session.Start{Prompt: `<script>alert(1)</script> Once upon a <b class="x">time</b>`})
	stops, three := []string{`</answer>`, "\n\n"}, 3
	do("", session.SetStop{Strings: &stops, MaxTokens: &three})
	for _, k := range infer.Kinds[1:] {
		do(k.String(), session.StepStage{})
	}
	do("", session.StepToken{})
	do("stopped", session.StepToken{})
	do("back", session.Seek{Step: 2, Stage: infer.KindFilter})
	return all
}

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

// TestPanels asserts what the server and the page's script build upon: every
// panel is one element with its id, and is part of the page as it stands there.
func TestPanels(t *testing.T) {
	for name, st := range states(t) {
		v := view.NewLoop(st)
		page := html(t, LoopPage(v))
		for _, p := range Panels {
			part := html(t, p.Render(v))
			body := parse(t, part).Find("body")
			top := body.Children()
			if top.Length() != 1 || top.AttrOr("id", "") != p.ID || strings.TrimSpace(body.Clone().Children().Remove().End().Text()) != "" {
				t.Errorf("%s: panel %s is not one element with that id: %.120q", name, p.ID, part)
			}
			if !strings.Contains(page, part) {
				t.Errorf("%s: panel %s is not on the page as it is sent alone", name, p.ID)
			}
		}
		for _, tok := range v.Strip.Tokens {
			if !strings.Contains(page, html(t, StripToken(tok))) {
				t.Errorf("%s: token %s is not on the page", name, tok.ID)
			}
		}
	}
}

// TestMarkup asserts what the security policy and assistive technology need.
func TestMarkup(t *testing.T) {
	for name, st := range states(t) {
		d := parse(t, html(t, LoopPage(view.NewLoop(st))))
		ids := map[string]bool{}
		d.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id := e.AttrOr("id", "")
			if ids[id] {
				t.Errorf("%s: two elements have the id %s", name, id)
			}
			ids[id] = true
		})
		d.Find("*").Each(func(_ int, e *goquery.Selection) {
			for _, a := range e.Nodes[0].Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s> has the attribute %s", name, e.Nodes[0].Data, a.Key)
				}
				for _, ref := range []string{"aria-labelledby", "aria-describedby", "for", "form"} {
					for _, id := range strings.Fields(a.Val) {
						if a.Key == ref && !ids[id] {
							t.Errorf("%s: %s refers to %s, which is not there", name, ref, id)
						}
					}
				}
			}
		})
		if n := d.Find("style, script:not([src]), b.x").Length(); n != 0 {
			t.Errorf("%s: %d elements that must not be there", name, n)
		}
		if d.Find("main").Length() != 1 || d.Find("header.top").Length() != 1 || d.Find("footer").Length() != 1 {
			t.Errorf("%s: a landmark is missing", name)
		}
		d.Find(`svg[role="img"], [role="img"]`).Each(func(_ int, e *goquery.Selection) {
			if e.AttrOr("aria-label", "") == "" {
				t.Errorf("%s: a picture has no words: %s", name, e.AttrOr("class", ""))
			}
		})
		d.Find("button").Each(func(_ int, e *goquery.Selection) {
			if strings.TrimSpace(e.Text())+e.AttrOr("aria-label", "") == "" {
				t.Errorf("%s: a button has no name", name)
			}
		})
	}
}

// TestWorkedRows asserts that every row brings its worked line.
func TestWorkedRows(t *testing.T) {
	all := states(t)
	for _, name := range []string{"logits", "softmax", "filter", "sample", "back"} {
		d := parse(t, html(t, LoopPage(view.NewLoop(all[name]))))
		rows := d.Find("tr[data-row]")
		if rows.Length() != view.RowsShown || rows.Find("template").Length() != view.RowsShown {
			t.Errorf("%s: %d rows with %d worked lines", name, rows.Length(), rows.Find("template").Length())
		}
	}
}

func TestAssets(t *testing.T) {
	page := html(t, LoopPage(view.NewLoop(states(t)["empty"])))
	total := len(page)
	seen := map[string]bool{}
	parse(t, page).Find("link[href], script[src]").Each(func(_ int, e *goquery.Selection) {
		url := e.AttrOr("href", e.AttrOr("src", ""))
		name, version, ok := strings.Cut(strings.TrimPrefix(url, "/static/"), "?v=")
		if !ok || len(version) != 12 {
			t.Errorf("%s carries no version: is the file missing?", url)
			return
		}
		b, err := fs.ReadFile(static.FS(), name)
		if err != nil {
			t.Error(err)
		}
		if !seen[name] {
			total += len(b)
		}
		seen[name] = true
	})
	// Fonts 70 KB, styles 50 KB, page 17 KB; the scripts' own modules come on top.
	if total > 170<<10 {
		t.Errorf("the first page and its files take %d bytes", total)
	}
}
