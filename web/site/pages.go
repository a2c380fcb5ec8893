package site

import (
	"context"
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

// ofRun begins the addresses that mean nothing without a run.
const ofRun = "/export/"

var (
	// linked are the addresses that a page leads to, without their queries: those have no
	// files of their own.
	linked = regexp.MustCompile(` href="(/[^"?#]*)["?#]`)
	// asset are the addresses of files in pages and styles.
	asset = regexp.MustCompile(`"/static/([^"?]+)\?v=`)
)

// begin are the addresses from which links lead to all pages. Nobody new is led to a card, or
// to the page of embeds, but people share the addresses of both.
var begin = []string{"/", "/first", "/first/card", "/join", shell.EmbedPath}

// addPages adds all pages that somebody new can get to by links, and the files that these
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
		text, err := o.place().Page(page, p, false)
		if err != nil {
			return err
		}
		all[name] = []byte(text)
		d.Pages[strings.TrimSuffix(name, "index.html")] = name
	}
	module, err := static.Open("js/module/viz.js")
	if err != nil {
		return err
	}
	all["embed/viz.js"] = module.Data
	own := []string{static.Asset("css/tab.css"), static.Bundle("js/tab.js"), static.Asset("img/icon.svg")}
	return all.addAssets(fmt.Sprintf("%q", own), d)
}

// fetch returns a page of the server, or where it leads to; neither where the address is
// no page for everybody.
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
			return "", "", fmt.Errorf("%s leads to %w", p, err)
		}
		return "", u.Path, nil
	case answer.Status == http.StatusOK:
		return "", "", nil // a file that is made when it is asked for
	}
	return "", "", fmt.Errorf("the page %s: status %d: %s", p, answer.Status, answer.Body)
}

// addAssets adds the files that a text names, with the fonts of styles.
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
