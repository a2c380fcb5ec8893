package first_test

import (
	"bytes"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

// TestCardIsTheText: for every run, the card has exactly the run's text.
func TestCardIsTheText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	rapid.Check(t, func(r *rapid.T) {
		prompt := rapid.SampledFrom(session.Openings).Draw(r, "opening").Text
		if rapid.Bool().Draw(r, "odd") {
			prompt = rapid.StringMatching(`[a-zA-Zäß🦉<>&"' .]{1,40}`).Draw(r, "prompt")
		}
		run := session.New(testmodel.Target(t), session.DefaultLimits())
		st := run.State()
		for _, c := range []session.Command{
			session.SetKnob("seed", float64(rapid.IntRange(1, 9999).Draw(r, "seed"))),
			session.SetKnob("temperature", rapid.SampledFrom([]float64{0, 0.7, 1.9}).Draw(r, "t")),
			session.Start{Prompt: prompt},
		} {
			var err error
			if st, err = run.Apply(t.Context(), c); err != nil {
				r.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 12).Draw(r, "tokens") {
			if next, err := run.Apply(t.Context(), session.StepToken{}); err == nil {
				st = next
			}
		}
		want := st.Prompt
		for _, step := range st.Steps {
			want += step.Text
		}
		p := s.open("/first/card?" + url.Values{"log": {session.LinkOf(st)}}.Encode())
		var got strings.Builder
		p.Find(".keep .prose > span").Each(func(_ int, part *goquery.Selection) { got.WriteString(part.Text()) })
		if p.status != 200 || got.String() != want {
			r.Fatalf("got status %d, the card %q; want 200, the run's text %q", p.status, got.String(), want)
		}
	})
}

// TestCardDownloads: anyone with a card's link can save the card as SVG and as PNG. An
// unfinished run has no card.
func TestCardDownloads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.to("end").press(main)
	text := strings.Join(strings.Fields(p.Find(".keep .prose").Text()), "")
	for _, a := range []struct{ extension, kind string }{
		{".svg", "image/svg+xml; charset=utf-8"}, {".png", "image/png"},
	} {
		address := p.Find(`.keep__share a[href*="card`+a.extension+`"]`).AttrOr("href", "")
		resp, err := s.another().Get(s.url + address)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != a.kind {
			t.Fatalf(
				"%s: status %d, %s, %v; want 200, %s, <nil>", a.extension, resp.StatusCode,
				resp.Header.Get("Content-Type"), err, a.kind,
			)
		}
		want := `attachment; filename="token-by-token` + a.extension + `"`
		if d := resp.Header.Get("Content-Disposition"); d != want {
			t.Errorf("%s is sent as %s, want %s", a.extension, d, want)
		}
		if a.extension == ".png" {
			if picture, err := png.Decode(bytes.NewReader(body)); err != nil || picture.Bounds().Dx() < 800 {
				t.Errorf("the picture: got %v, want no error, picture.Bounds().Dx() at least 800", err)
			}
			continue
		}
		d, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		drawn := strings.Join(strings.Fields(d.Find("text").Text()), "")
		if !strings.Contains(drawn, text) {
			t.Errorf("the drawing has the text %q, want it to contain the card's text %q", drawn, text)
		}
	}
	for _, path := range []string{"/first/card.svg", "/first/card.png"} {
		link, _ := linkAt(t, 1, begins, oneStage)
		if p := s.open(path + "?" + url.Values{"log": {link}}.Encode()); p.status != http.StatusBadRequest {
			t.Errorf("%s of a run that has not ended: status %d", path, p.status)
		}
	}
}

// TestCardWarnsOfMissingGlyphs: if a card's PNG has boxes in place of missing glyphs, the card's
// page shows a warning.
func TestCardWarnsOfMissingGlyphs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for prompt, boxes := range map[string]bool{"A small fox": false, "A small 🦊": true} {
		link, _ := linkAt(t, 3, prompt, session.StepToken{})
		card := s.open("/first/card?" + url.Values{"log": {link}}.Encode())
		if said := strings.Contains(card.Find(".keep__share").Text(), "boxes"); said != boxes {
			t.Errorf("the page for %q mentions boxes: %v, want %v", prompt, said, boxes)
		}
	}
}
