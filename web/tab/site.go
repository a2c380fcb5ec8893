package tab

import (
	"fmt"
	"html"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/shell"
)

// Policy is the content security policy of a site's pages. A static host does not send it, so each
// page contains it in a meta element, where frame-ancestors has no effect.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'"

// A Site describes where a site is published.
type Site struct {
	// Public is the site's public address, which ends with a slash. It is used for previews of the
	// site's links; "" if it is not known.
	Public string
}

// These strings mark the places in the frame of a page (web/shell) where a site's page has
// additional content.
const (
	htmlMark = `<html lang=`
	headMark = `<meta charset="utf-8">`
)

// Page converts a page of the server, whose path is p, to a page of the site. The page's addresses
// begin with root, and its head contains the policy, the manifest and the script that starts the
// program. running is true if the program serves the page, and false if the page is a file.
func (place Site) Page(page, p, root string, running bool) (string, error) {
	if strings.Count(page, htmlMark) != 1 || strings.Count(page, headMark) != 1 {
		return "", fmt.Errorf("page %s must contain %s and %s exactly once", p, htmlMark, headMark)
	}
	state := ""
	if running {
		state = ` data-running`
	}
	page = Rebase(page, root)
	page = strings.Replace(page, htmlMark, `<html data-root="`+root+`"`+state+` lang=`, 1)
	return strings.Replace(page, headMark, headMark+place.head(page, p, root), 1), nil
}

// head returns the additional content for the head of a site's page.
func (place Site) head(page, p, root string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<meta http-equiv="Content-Security-Policy" content="%s">`, Policy)
	fmt.Fprintf(&b, `<link rel="manifest" href="%smanifest.webmanifest">`, root)
	fmt.Fprintf(&b, `<link rel="stylesheet" href="%s">`, Address(static.Asset("css/tab.css"), root))
	script := static.Bundle("js/tab.js")
	fmt.Fprintf(&b, `<script type="module" src="%s"></script>`, Address(script, root))
	fmt.Fprintf(&b, `<template data-texts>%s</template>`, shell.ScriptTexts(terms.English, script))
	if place.Public == "" {
		return b.String()
	}
	at := html.EscapeString(Address(p, place.Public))
	fmt.Fprintf(&b, `<link rel="canonical" href="%s"><meta property="og:url" content="%s">`, at, at)
	if _, after, ok := strings.Cut(page, "<title>"); ok {
		title, _, _ := strings.Cut(after, "</title>")
		fmt.Fprintf(&b, `<meta property="og:title" content="%s">`, html.EscapeString(html.UnescapeString(title)))
	}
	return b.String()
}
