package main

import (
	"regexp"
	"slices"
)

var networkClients = regexp.MustCompile(`^(net\.(Dial.*|Lookup.*|Resolver|DefaultResolver)|crypto/tls\.Dial.*|` +
	`net/http\.(Get|Head|Post|PostForm|Client|DefaultClient|Transport|DefaultTransport)|` +
	`.*/websocket\.(Dial.*|DefaultDialer))$`)

// nothingDialsOut: only the commands that measure a server, or that call the server that uses a
// data folder, open connections. The rest of the program contains no network client.
var nothingDialsOut = guard{
	name: "NothingDialsOut", least: 300,
	reads: func(s *source) bool {
		return s.ext() == ".go" && !s.test() &&
			!s.among("cmd/viz/control.go", "web/load", "web/browser", "web/webtest", "testdata")
	},
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, use := range s.uses {
				if networkClients.MatchString(use.text) {
					list = append(list, s.finds(use.line, use.text, "no client of a network"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a.go", `import "net"; var d net.Dialer`)},
		{1, code("infer/a.go", `import "net/http"; func f() { http.Get("") }`)},
		{1, code("infer/a.go", `import web "net/http"; var c = web.DefaultClient`)},
		{1, code("web/a.go", `import "crypto/tls"; func f() { tls.DialWithDialer() }`)},
		{1, code("web/a.go", `import "github.com/gorilla/websocket"; var d = websocket.DefaultDialer`)},
		{0, code("web/a.go", `import ("net"; "net/http"); var l net.Listener; var s http.Server`)},
		{0, code("web/load/a.go", `import "net"; var d net.Dialer`)},
	},
}

var otherHosts = regexp.MustCompile(`(?i)(?:\bsrc\s*=|url\(|@import|\bimport\b[^;\n]*from|fetch\(|new WebSocket\(|` +
	`<link[^>]*href\s*=)\s*["'(]?\s*(?:https?:)?//[a-z0-9]`)

// pagesNameNoOtherHost: no script, style or template loads anything from another host. The
// namespaces of SVG and MathML are only names, and links load nothing until they are clicked.
var pagesNameNoOtherHost = guard{
	name: "PagesNameNoOtherHost", least: 80,
	reads: func(s *source) bool {
		return s.among("static", "web") &&
			slices.Contains([]string{".js", ".css", ".templ", ".html", ".svg"}, s.ext())
	},
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, at := range otherHosts.FindAllStringIndex(s.text, -1) {
				list = append(list, s.finds(lineAt(s.text, at[0]), s.text[at[0]:at[1]], "an address of the program"))
			}
		}
		return list
	},
	examples: []guardExample{
		{1, map[string]string{"web/a.templ": `<script src="https://cdn.example/a.js">`}},
		{1, map[string]string{"static/css/a.css": `background: url(//cdn.example/a.png)`}},
		{1, map[string]string{"static/js/a.js": `import { a } from 'https://cdn.example/a.js'`}},
		{1, map[string]string{"web/a.html": `<link rel="icon" href="http://cdn.example/a">`}},
		{0, map[string]string{"static/a.svg": `<svg xmlns="http://www.w3.org/2000/svg">`}},
		{0, map[string]string{"web/a.templ": `<a href="https://go.dev">`}},
		{0, map[string]string{"web/a.templ": `<script src="/static/a.js">`}},
	},
}
