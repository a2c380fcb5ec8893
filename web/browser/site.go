package browser

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A Site is a static site in whose pages the program runs. Its pages have the same addresses as a
// server's, except that they are below a path and have a slightly different form. Tests use its
// pages like a server's: if a selector names one of the program's addresses, such as "/learn", or a
// script reads location.pathname, the tab converts between the two forms.
type Site struct {
	// URL is the site's address, without a slash at its end, and Path is its path on the host, with
	// a slash at both ends.
	URL, Path string
	// Address converts one of the program's addresses to an address below a root: "/learn" becomes
	// "../learn/".
	Address func(address, root string) string
	// Ready is a script that is true on a page while the program runs.
	Ready string
	// New contains the statements that a new visitor's first page runs before it is reloaded. They
	// may return a promise.
	New string
}

// sites are the sites in use, by address.
var sites sync.Map

// Through registers a site until the test ends. Tabs that open an address below the site's URL then
// use the site.
func Through(t testing.TB, s Site) {
	sites.Store(s.URL, &s)
	t.Cleanup(func() { sites.Delete(s.URL) })
}

// siteAt returns the site to which an address belongs, or nil.
func siteAt(url string) (found *Site) {
	sites.Range(func(at, s any) bool {
		if rest, ok := strings.CutPrefix(url, at.(string)); ok && (rest == "" || rest[0] == '/') {
			found = s.(*Site)
		}
		return found == nil
	})
	return found
}

// at converts an address below the site's URL from the form that a server uses to the form that the
// site uses.
func (s *Site) at(url string) string {
	rest, ok := strings.CutPrefix(url, s.URL)
	if !ok {
		return url
	}
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return s.Address(rest, s.URL+"/")
}

var (
	// address matches a selector's condition on an address. The quotes can be escaped.
	address = regexp.MustCompile(`\[(href|action)(\^?)=(\\?["'])(/[^"'\\]*)\\?["']\]`)
	// pathname matches the expression that scripts use to get their path.
	pathname = regexp.MustCompile(`\blocation\.pathname\b`)
)

// roots are the relative addresses of the home page, by depth.
var roots = []string{"./", "../", "../../", "../../../", "../../../../"}

// script replaces the program's addresses in a script or a selector with the site's. A nil site
// returns it unchanged.
func (s *Site) script(text string) string {
	if s == nil {
		return text
	}
	text = address.ReplaceAllStringFunc(text, func(condition string) string {
		m := address.FindStringSubmatch(condition)
		name, begins, quote, to := m[1], m[2], m[3], m[4]
		var any []string
		for _, root := range append(roots, s.Path) {
			at := root + to[1:]
			if begins == "" {
				at = s.Address(to, root)
			}
			any = append(any, "["+name+begins+"="+quote+at+quote+"]")
		}
		return ":is(" + strings.Join(any, ", ") + ")"
	})
	here := `(location.pathname.replace("` + s.Path + `", "/").replace(/(.)\/$/, "$1"))`
	return pathname.ReplaceAllLiteralString(text, here)
}

// own converts an address on a site's page to the form that the program uses. A nil site
// returns it unchanged.
func (s *Site) own(address string) string {
	if s == nil {
		return address
	}
	for _, root := range append(roots, s.Path) {
		if rest, ok := strings.CutPrefix(address, root); ok && !strings.HasPrefix(rest, ".") {
			end := strings.IndexAny(rest+"?", "?#")
			return "/" + strings.TrimSuffix(rest[:end], "/") + rest[end:]
		}
	}
	return address
}

// arrive waits until the program runs in a site's page.
func (tab *Tab) arrive() {
	tab.t.Helper()
	if tab.site != nil {
		tab.Wait("the program", tab.site.Ready)
	}
}
