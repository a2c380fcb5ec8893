package site

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/tab"
)

// ofRun is the prefix of addresses that require a run.
const ofRun = "/export/"

var (
	// linked matches the addresses of a page's links, without queries, because addresses that
	// differ only in their queries share a file.
	linked = regexp.MustCompile(` href="(/[^"?#]*)["?#]`)
	// asset matches the addresses of files in pages and styles.
	asset = regexp.MustCompile(`"/static/([^"?]+)\?v=`)
)

// begin lists the addresses from which links lead to all pages. For a new visitor, no link leads to
// a card or to the page about embedding, but people share the addresses of both.
var begin = []string{"/", "/first", "/first/card", "/join", shell.EmbedPath}

// addPages adds all pages that a new visitor can reach by links, and the files that these pages
// load.
func (o Options) addPages(ctx context.Context, all files, d *described) error {
	door := &tab.Door{Handler: o.Handler, Host: o.Host, Path: "/"}
	var queue []string
	seen := map[string]bool{}
	add := func(p string) {
		if !seen[p] && path.Ext(p) == "" && !strings.HasPrefix(p, ofRun) {
			seen[p] = true
			queue = append(queue, p)
		}
	}
	for _, p := range begin {
		add(p)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		page, to, err := fetch(ctx, door, p)
		if err != nil {
			return err
		}
		if to != "" {
			add(to)
		}
		if page == "" {
			continue
		}
		for _, m := range linked.FindAllStringSubmatch(page, -1) {
			add(m[1])
		}
		if err := all.addAssets(page, d); err != nil {
			return err
		}
		name := path.Join(strings.TrimPrefix(p, "/"), "index.html")
		text, err := o.tabSite().Page(page, p, tab.RootFrom(tab.Address(p, "")), false)
		if err != nil {
			return err
		}
		all[name] = []byte(text)
		d.Pages[strings.TrimSuffix(name, "index.html")] = name
	}
	if err := o.addMissing(ctx, door, all, d); err != nil {
		return err
	}
	module, err := static.Open("js/module/viz.js")
	if err != nil {
		return err
	}
	all["embed/viz.js"] = module.Data
	own := []string{static.Asset("css/tab.css"), static.Bundle("js/tab.js"), static.Asset("img/icon.svg")}
	return all.addAssets(fmt.Sprintf("%q", own), d)
}

// depth is the maximum depth of an unknown address, in folders below the site's root, at which
// 404.html can still find the site. Valid addresses are at most four folders deep.
const depth = 8

// addMissing adds 404.html, the page that many hosts send for an address without a file. The depth
// at which it is shown is unknown, so its addresses begin with the site's path. If the site's
// address is unknown, 404.js finds the path.
func (o Options) addMissing(ctx context.Context, door *tab.Door, all files, d *described) error {
	const name = "404.html"
	r, err := door.Request(chance.Steady(ctx), tab.Ask{Method: http.MethodGet, URL: name})
	if err != nil {
		return err
	}
	answer := door.Serve(r)
	if answer.Status != http.StatusNotFound {
		return fmt.Errorf("page %s: got status %d, want %d", name, answer.Status, http.StatusNotFound)
	}
	page := string(answer.Body)
	if err := all.addAssets(page, d); err != nil {
		return err
	}
	root := tab.RootFrom(name)
	if o.Public != "" {
		public, err := url.Parse(o.Public)
		if err != nil {
			return err
		}
		root = public.EscapedPath()
	}
	page, err = tab.Site{}.Page(page, "/"+name, root, false)
	if err == nil && o.Public == "" {
		if all["404.js"], err = worker.ReadFile("worker/404.js"); err == nil {
			page, err = findsRoot(page)
		}
	}
	all[name] = []byte(page)
	return err
}

// findsRoot inserts 404.js before everything else that a page loads, and allows the script to set
// the root of the page's addresses.
func findsRoot(page string) (string, error) {
	const first, policy = `<link rel="manifest"`, "base-uri 'none'"
	if strings.Count(page, first) != 1 || strings.Count(page, policy) != 1 {
		return "", errors.New("404.html must contain exactly one manifest link and exactly one base-uri 'none'")
	}
	scripts := ""
	for i := range depth {
		scripts += `<script src="` + strings.Repeat("../", i) + `404.js"></script>`
	}
	page = strings.Replace(page, policy, "base-uri 'self'", 1)
	return strings.Replace(page, first, scripts+first, 1), nil
}

// fetch requests an address from the server. It returns the page or the address to which it
// redirects. If the address is not a page that is the same for everyone, it returns neither.
func fetch(ctx context.Context, door *tab.Door, p string) (page, to string, err error) {
	r, err := door.Request(chance.Steady(ctx), tab.Ask{Method: http.MethodGet, URL: strings.TrimPrefix(p, "/")})
	if err != nil {
		return "", "", err
	}
	answer := door.Serve(r)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.Status == http.StatusOK && kind == "text/html":
		return string(answer.Body), "", nil
	case answer.Status >= 300 && answer.Status < 400:
		u, err := url.Parse(answer.Header.Get("Location"))
		if err != nil {
			return "", "", fmt.Errorf("invalid redirect from %s: %w", p, err)
		}
		return "", u.Path, nil
	case answer.Status == http.StatusOK:
		return "", "", nil // a file that is generated on request
	}
	return "", "", fmt.Errorf("page %s: status %d: %s", p, answer.Status, answer.Body)
}

// addAssets adds the files that a text refers to, including the fonts of style sheets.
func (f files) addAssets(text string, d *described) error {
	for _, m := range asset.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if d.Files["static/"+name] {
			continue
		}
		file, err := static.Open(name)
		if err != nil {
			return err
		}
		d.Files["static/"+name] = true
		data := file.Data
		if path.Ext(name) == ".css" {
			if err := f.addAssets(string(data), d); err != nil {
				return err
			}
			up := strings.Repeat("../", strings.Count("static/"+name, "/"))
			data = []byte(tab.RebaseStyles(string(data), up))
		}
		f["static/"+name] = data
	}
	return nil
}
