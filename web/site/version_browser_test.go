package site_test

import (
	"bytes"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// versionOf matches the site's version in the worker's script.
var versionOf = regexp.MustCompile(`"version":"[0-9a-f]+"`)

// ofLabs returns a style sheet that lab pages use, but the Loop and the glossary do not.
func ofLabs(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	page := func(name string) string { return string(files[name+"/index.html"].Data) }
	others := page("loop") + page("glossary")
	for _, m := range regexp.MustCompile(`"[./]*(static/[^"?]+[.]css)`).FindAllStringSubmatch(page("labs"), -1) {
		if !strings.Contains(others, m[1]) {
			return m[1]
		}
	}
	t.Fatal("labs have no styles of their own")
	return ""
}

// newer returns the files of another version of a site, in which a lesson has different words and a
// style sheet has a different end.
func newer(t *testing.T, files fstest.MapFS, styles string) fstest.MapFS {
	t.Helper()
	next := maps.Clone(files)
	change := func(name string, change func(text []byte) []byte) {
		t.Helper()
		was := files[name].Data
		next[name] = &fstest.MapFile{Data: change(was)}
		if bytes.Equal(next[name].Data, was) {
			t.Fatalf("%s is the same in both versions", name)
		}
	}
	change("worker.js", func(text []byte) []byte {
		return versionOf.ReplaceAll(text, []byte(`"version":"0123456789ab"`))
	})
	change("learn/stopping/index.html", func(text []byte) []byte {
		return bytes.Replace(text, []byte("</h1>"), []byte(" Again</h1>"), 1)
	})
	change(styles, func(text []byte) []byte { return append(bytes.Clone(text), "\n/* again */"...) })
	return next
}

// keptText returns a script that stores the worker's cached text of a file in window.text.
func keptText(name string) string {
	return `return (async () => {
		const cache = await caches.open((await caches.keys()).at(-1));
		const answer = await cache.match("` + under + name + `", { ignoreSearch: true });
		window.text = await answer?.text() ?? "";
	})()`
}

// TestNewVersionReplacesTheOld: a host allows browsers to cache all files for ten minutes, and a
// new version of the site is published within that time. Open pages of the old version still work,
// and offer the new version with a button. Pressing the button on one page reloads all pages, and
// the page with a run restores the run. After that, all files come from the new version, and none
// from the browser's cache.
// Promise: Open pages of a site offer its new version with a button, and using it loses no run.
func TestNewVersionReplacesTheOld(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	old := webtest.SiteWithLessons(t).Files
	host, url := serveAs(t, old, hosts["GitHub Pages"])
	tab := browser.Open(t, browser.Laptop, url+"loop/?prompt=The+wizard+lived+in+a")
	live := runs + ` && document.documentElement?.dataset.conn === "live"`
	tab.Wait("a live page", live)
	tab.Keys("n")
	tab.Wait("a token", `document.querySelectorAll("#strip-gen > *").length === 1`)
	tab.Wait("all files", allKept)
	if at := tab.Manifest(); at != url+"manifest.webmanifest" {
		t.Errorf("a page that the program answers has the manifest %q, want %q", at, url+"manifest.webmanifest")
	}
	other := tab.Another(browser.Laptop, url+"glossary/")
	other.Wait("the program", runs)

	styles := ofLabs(t, old)
	host.change(newer(t, old, styles))
	tab.Await(`return navigator.serviceWorker.getRegistration().then((r) => r.update())`)
	for _, page := range []*browser.Tab{tab, other} {
		page.WaitText(".tab-line p", "A new version is ready.")
		page.Eval(`window.ofTheOld = true`)
	}
	tab.Keys("n")
	tab.Wait("another token of the same run", `document.querySelectorAll("#strip-gen > *").length === 2`)
	other.Click(".tab-line button")
	for _, page := range []*browser.Tab{tab, other} {
		page.Wait("the page again", `!window.ofTheOld`)
	}
	other.Wait("the program", runs)
	tab.Wait("a connection", live)
	tab.Wait("the run", `document.querySelectorAll("#strip-gen > *").length === 2`)
	for _, page := range []*browser.Tab{tab, other} {
		page.Wait("no message about versions", `!document.querySelector(".tab-line")`)
	}
	tab.Wait("only one version", `(caches.keys().then((names) => { window.names = names.join(); }),
		window.names?.endsWith("0123456789ab") && !window.names.includes(","))`)
	tab.Wait("all files of the new version", allKept)
	for name, want := range map[string]string{
		"learn/stopping/index.html": " Again</h1>", styles: "/* again */",
	} {
		tab.Await(keptText(name))
		if text := browser.Value[string](tab, "text"); !strings.Contains(text, want) {
			t.Errorf("the old version of %s is kept: got %.80q, want it to contain %q", name, text, want)
		}
	}
}
