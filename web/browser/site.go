package browser

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Site is a static site in whose pages the program runs, which has the addresses of a
// server below a path and in other forms. Tests go through its pages as through a
// server's: where they name an address of the program, such as "/learn", in a selector or
// as location.pathname, the tab takes that of the site.
type Site struct {
	// URL is the site's address, without a slash at its end, and Path where it is on its
	// host, with a slash at both ends.
	URL, Path string
	// Address is an address of the program below a root: "/learn" is "../learn/".
	Address func(address, root string) string
	// Ready is a script that is true on a page when the program runs.
	Ready string
	// New are statements that a new visitor's first page runs, after which it is loaded
	// again. They may return a promise.
	New string
}

// sites are those that tests go through, by their addresses.
var sites sync.Map

// Through has tabs that open an address below a site's go through it, until the test ends.
func Through(t testing.TB, s Site) {
	sites.Store(s.URL, &s)
	t.Cleanup(func() { sites.Delete(s.URL) })
}

// siteAt is the site to which an address belongs, or nil.
func siteAt(url string) (found *Site) {
	sites.Range(func(at, s any) bool {
		if rest, ok := strings.CutPrefix(url, at.(string)); ok && (rest == "" || rest[0] == '/') {
			found = s.(*Site)
		}
		return found == nil
	})
	return found
}

// at is where the site has what a server has at an address below the site's.
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
	// address is a condition on an address in a selector, whose quotes may be within others.
	address = regexp.MustCompile(`\[(href|action)(\^?)=(\\?["'])(/[^"'\\]*)\\?["']\]`)
	// pathname is how scripts ask where they are.
	pathname = regexp.MustCompile(`\blocation\.pathname\b`)
)

// roots are how pages of a site lead to its home page, by how deep they are.
var roots = []string{"./", "../", "../../", "../../../", "../../../../"}

// script is a script or a selector with the site's addresses instead of the program's. A nil
// site leaves it as it is.
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

// own is an address that a site's page has, as the program has it. A nil site leaves it as it is.
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
