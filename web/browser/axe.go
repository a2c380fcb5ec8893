package browser

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/chromedp/chromedp"
)

// axeRun asks axe-core for violations of WCAG 2.2 AA and the levels below, and
// gives one line for each: the rule, and the first element at fault.
const axeRun = `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes[0].target.join(" ") + " " + v.nodes[0].failureSummary))`

// Axe has axe-core look at the page and returns what it finds. path is that of
// testdata/axe/axe.min.js.gz, seen from the test.
func (tab *Tab) Axe(path string) []string {
	tab.t.Helper()
	script, err := unzipped(path)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.do("load axe-core", chromedp.Evaluate[chromedp.Void](script))
	return ask(tab, "axe-core", chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
}

func unzipped(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	all, err := io.ReadAll(z)
	return string(all), err
}
