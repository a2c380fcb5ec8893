package site_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/brotli"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/site"
	"github.com/tokenbytoken/viz/web/site/image"
	"github.com/tokenbytoken/viz/web/tab"
	"github.com/tokenbytoken/viz/web/webtest"
)

// light returns the options of a site whose program and models are a few bytes, since their
// content does not matter.
func light(t *testing.T, handler http.Handler) site.Options {
	t.Helper()
	model := fstest.MapFS{"config.json": {Data: []byte("{}")}}
	return site.Options{
		Handler: handler, Host: webtest.SiteHost, Program: []byte("\x00asm"), Exec: []byte("// go"),
		Target: site.Model{Name: "a", Files: model}, Draft: site.Model{Name: "b", Files: model}, Take: nothing,
	}
}

// nothing replaces [image.Take] and returns a dummy image.
func nothing(context.Context, image.Input) (*image.Image, error) {
	return &image.Image{Program: []byte("\x00asm"), Memory: []byte("memory")}, nil
}

// server returns a server like the one in "viz site".
func server(t *testing.T) http.Handler {
	t.Helper()
	course, _ := webtest.CourseWithOwn(t)
	return webtest.SiteServer(t, course)
}

func made(t *testing.T, o site.Options) map[string][]byte {
	t.Helper()
	all, _, err := o.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSiteIsReproducible: two servers produce the same site, byte for byte.
// Promise: Two builds of a static site are the same, byte for byte.
func TestSiteIsReproducible(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	o := light(t, server(t))
	other := light(t, server(t))
	o.Quick, other.Quick = true, true // each file is compressed separately
	one, two := made(t, o), made(t, other)
	for name := range maps.Keys(one) {
		if !bytes.Equal(one[name], two[name]) {
			t.Errorf("%s differs between two sites: %s", name, parting(one[name], two[name]))
		}
	}
	if len(one) != len(two) {
		t.Errorf("one site has %d files, another %d", len(one), len(two))
	}
}

// parting returns excerpts of two files, which start shortly before the first difference.
func parting(one, two []byte) string {
	i := 0
	for i < min(len(one), len(two)) && one[i] == two[i] {
		i++
	}
	i = max(0, i-100)
	return fmt.Sprintf("%.300q and %.300q", one[i:], two[i:])
}

// TestFirstVisitDownloadSize: a browser loads less than 14.6 MB before the model can run. With the
// page's own files, the total is less than 15 MB. The draft model is not included.
// Promise: The first visit to a static site loads less than 15 MB.
func TestFirstVisitDownloadSize(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	first := 0
	for name := range webtest.SiteWithLessons(t).Files {
		whole, packed := strings.CutSuffix(name, ".gz")
		if !strings.HasPrefix(name, "program/") || !packed {
			continue
		}
		zipped, err := site.Zip(webtest.SiteWithLessons(t).Files[whole].Data, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, len(zipped))
		first += len(zipped)
	}
	if first > 14_600_000 {
		t.Errorf("a first visit loads %d bytes, want at most 14_600_000", first)
	}
}

// local matches the addresses in pages.
var local = regexp.MustCompile(` (?:href|src|action)="([^"#?]*)`)

// TestSiteIncludesOwnLessons: an instructor's files are in the program's image.
func TestSiteIncludesOwnLessons(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	for want, texts := range map[string]map[string]string{
		"": nil, `{"01-mine.md":"Mine."}`: {"01-mine.md": "Mine."},
	} {
		o := light(t, server(t))
		o.Quick, o.Lessons = true, texts
		o.Take = func(_ context.Context, in image.Input) (*image.Image, error) {
			if string(in.Lessons) != want {
				t.Errorf("the program gets the lessons %s, want %s", in.Lessons, want)
			}
			return nothing(t.Context(), in)
		}
		made(t, o)
	}
}

// TestSiteIsSelfContained: every page has a policy, and addresses that stay on the site, whatever
// the site's path. There are files at these addresses, unless the program handles them. The
// compressed version of a file contains the same data.
func TestSiteIsSelfContained(t *testing.T) {
	t.Parallel()
	o := light(t, server(t))
	all := made(t, o)
	checkMissing(t, all, o)
	checkAnswers(t, o)
	pages := 0
	for name, data := range all {
		if !asJekyll(name) || name != strings.ToLower(name) {
			t.Errorf("some hosts drop or rename %s", name)
		}
		switch path.Ext(name) {
		case ".gz":
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, r, all[strings.TrimSuffix(name, ".gz")])
		case ".br":
			same(t, name, brotli.NewReader(bytes.NewReader(data)), all[strings.TrimSuffix(name, ".br")])
		case ".html":
			pages++
			if name != "404.html" {
				checkPage(t, all, name, string(data))
			}
		}
	}
	for _, want := range []string{
		"index.html", "loop/index.html", "first/index.html", "first/card/index.html", "learn/kv-cache/index.html",
		"practice/softmax/index.html", "labs/cache/index.html", "quiz/index.html", "predict/index.html",
		"assigned/index.html",
		"reference/index.html", "glossary/index.html", "search/index.html", "teach/index.html",
		"teach/study/index.html", "teach/study/sheet/index.html",
		"embed/index.html", "embed/loop/index.html", "embed/practice/softmax/index.html", "embed/viz.js",
		"404.html", "404.js", "worker.js", "worker.js.gz", "worker.js.br", "manifest.webmanifest",
	} {
		if all[want] == nil {
			t.Errorf("the site lacks %s", want)
		}
	}
	if !strings.Contains(string(all["teach/index.html"]), "A class needs a server") {
		t.Error("the page about classes does not say that they need a server")
	}
	if pages < 40 {
		t.Errorf("the site has %d pages, want at least 40", pages)
	}
}

// checkMissing checks the page for addresses without a file, which must work at any depth. Either
// its links contain the site's path, or it loads 404.js before everything else and looks for this
// script in every folder above.
func checkMissing(t *testing.T, all map[string][]byte, o site.Options) {
	t.Helper()
	page := string(all["404.html"])
	first := strings.Index(page, `<script src="404.js"></script><script src="../404.js"></script><script src="../../`)
	if load := regexp.MustCompile(`<link|<script`).FindStringIndex(page); load == nil || first != load[0] {
		t.Errorf("404.html loads 404.js at byte %d, want it before everything else, at %v", first, load)
	}
	page = regexp.MustCompile(`<script src="[./]*404[.]js"></script>`).ReplaceAllString(page, "")
	checkPage(t, all, "404.html", page) // for an address at the top of the site

	o.Public = "https://example.org/a/course/"
	page, err := o.Missing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range local.FindAllStringSubmatch(page, -1) {
		if m[1] != "" && !strings.HasPrefix(m[1], "/a/course/") {
			t.Errorf("404.html of %s leads to %s, want an address that begins with /a/course/", o.Public, m[1])
		}
	}
	checkPage(t, all, "404.html", strings.ReplaceAll(page, `="/a/course/`, `="./`))
	if !strings.Contains(page, `<header class="top">`) {
		t.Error("404.html lacks the header that all pages share")
	}
}

// uses maps selectors of elements that load something to the directive of the policy that must
// allow it.
var uses = map[string]string{
	`script[src]`: "script-src", `link[rel="stylesheet"]`: "style-src", `link[rel="icon"], img[src]`: "img-src",
	`link[as="font"]`: "font-src", `link[rel="manifest"]`: "manifest-src", `form[action]`: "form-action",
	`script[src*="tab.js"]`: "worker-src", // it registers the worker
	`body`:                  "connect-src",
}

// checkAnswers checks that pages generated by the program can load everything that they refer to,
// under the policy in the page and under the server's own policy, which comes with the response.
func checkAnswers(t *testing.T, o site.Options) {
	t.Helper()
	door := &tab.Door{Handler: o.Handler, Host: o.Host, Path: "/some/"}
	for _, address := range []string{"", "progress/", "no/such/page/", "embed/practice/softmax/?level=1&seed=7"} {
		got, err := door.Answer(t.Context(), tab.Ask{Method: http.MethodGet, URL: address})
		if err != nil {
			t.Fatal(err)
		}
		page, err := goquery.NewDocumentFromReader(bytes.NewReader(got.Body))
		if err != nil {
			t.Fatal(err)
		}
		inPage := page.Find(`meta[http-equiv="Content-Security-Policy"]`).AttrOr("content", "")
		for _, policy := range []string{inPage, got.Header.Get("Content-Security-Policy")} {
			for selector, directive := range uses {
				if page.Find(selector).Length() > 0 && !slices.Contains(sources(policy, directive), "'self'") {
					t.Errorf(
						"%q has %s, but its policy forbids it: got %s, want %s 'self'",
						address, selector, policy, directive,
					)
				}
			}
		}
		if root := page.Find("html").AttrOr("data-root", ""); root != tab.RootFrom(address) {
			t.Errorf("%q has the root %q, want %q", address, root, tab.RootFrom(address))
		}
	}
}

// sources returns the sources that a policy allows for a directive, or for one of its fallbacks.
func sources(policy, directive string) []string {
	standIn := "default-src"
	if directive == "worker-src" {
		standIn = "script-src"
	}
	for _, name := range []string{directive, standIn} {
		for part := range strings.SplitSeq(policy, ";") {
			if words := strings.Fields(part); len(words) > 0 && words[0] == name {
				return words[1:]
			}
		}
	}
	return nil
}

func same(t *testing.T, name string, r io.Reader, want []byte) {
	t.Helper()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s does not decompress to its original: %d bytes of %d, %v", name, len(got), len(want), err)
	}
}

// answered are the prefixes of the addresses that only the program can handle.
var answered = []string{
	"export", "cards/export", "progress/", "view", "quiz", "predict", "first/", "cards/review", "labs/", "learn/",
	"practice/", "embed/",
}

func checkPage(t *testing.T, all map[string][]byte, name, page string) {
	t.Helper()
	if !strings.Contains(page, "<meta http-equiv=\"Content-Security-Policy\"") || strings.Contains(page, "<script>") {
		t.Errorf("%s has no policy, or an inline script", name)
	}
	if strings.Contains(strings.ToLower(page), "this server") {
		t.Errorf("%s says %q, want nothing about a server", name, "this server")
	}
	for _, m := range local.FindAllStringSubmatch(page, -1) {
		to := m[1]
		if to == "" || strings.HasPrefix(to, "https://") {
			continue
		}
		at := path.Join(path.Dir(name), to)
		if strings.HasPrefix(to, "/") || strings.HasPrefix(at, "..") {
			t.Errorf("%s leads out of the site: %s, want relative addresses within it", name, to)
			continue
		}
		if strings.HasSuffix(to, "/") || to == "." {
			at = path.Join(at, "index.html")
		}
		mayAnswer := slices.ContainsFunc(answered, func(p string) bool { return strings.HasPrefix(at, p) })
		if all[at] == nil && !mayAnswer {
			t.Errorf("%s leads to %s, but there is no %s", name, to, at)
		}
	}
}

// TestFolderMustBeEmpty: Write does not write into a folder with other files.
func TestFolderMustBeEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := site.WriteFile(dir+"/other.txt", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	_, err := site.Write(t.Context(), dir, site.Options{})
	if err == nil || !strings.Contains(err.Error(), "other.txt") {
		t.Errorf("a folder with a file in it: got error %v, want an error containing %q", err, "other.txt")
	}
}
