package web

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tokenbytoken/viz/web/ui"
)

// axeRun asks axe-core for violations of WCAG 2.2 AA and the levels below, and
// gives one line for each: the rule, and the first element at fault.
const axeRun = `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes[0].target.join(" ") + " " + v.nodes[0].failureSummary))`

// axeColours asks for those of them that look at colours.
const axeColours = `axe.run({runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}, resultTypes: ["violations"]})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes[0].target.join(" ") + " " + v.nodes[0].failureSummary))`

// TestAccessible: axe-core finds nothing in any state of the storybook, at
// three sizes in two themes, and no page is wider than its window. A state is
// loaded once: its sizes and themes are all in the style sheets. Dark differs
// from light in its colours alone.
func TestAccessible(t *testing.T) {
	x := newSite(t, Limits{})
	b := openTab(t)
	script := axeScript(t)
	for _, s := range stories {
		b.run(s.Name, chromedp.Navigate(x.http.URL+ui.StoryBase+s.Name))
		b.until(isReady)
		b.run("axe-core", chromedp.Evaluate[chromedp.Void](script))
		for _, size := range sizes {
			for theme, rules := range map[string]string{"light": axeRun, "dark": axeColours} {
				at := fmt.Sprintf("%s at %d px, %s", s.Name, size.width, theme)
				b.run("screen", chromedp.EmulateViewport(size.width, size.height, size.options...), media(theme))
				b.until(fmt.Sprintf(`matchMedia('(width: %dpx) and (prefers-color-scheme: %s)').matches`, size.width, theme))
				faults, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](rules, chromedp.EvalAwaitPromise))
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				for _, f := range faults {
					t.Errorf("%s: %s", at, f)
				}
				if wide := eval[float64](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
					t.Errorf("%s: %g px wider than the window", at, wide)
				}
			}
		}
	}
}

// sizes of the windows that every state is looked at in.
var sizes = []struct {
	width, height int64
	options       []chromedp.EmulateViewportOption
}{
	{390, 844, []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateTouch}},
	{1440, 900, nil},
	{1920, 1080, nil},
}

// media sets the theme, and still ends for what moves.
func media(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: theme},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return err
	})
}

// axeScript returns axe-core, see testdata/axe/README.md.
func axeScript(t *testing.T) string {
	t.Helper()
	file, err := os.Open("../testdata/axe/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := io.Copy(&b, z); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
