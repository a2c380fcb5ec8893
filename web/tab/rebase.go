package tab

import (
	"path"
	"strings"
)

// Rebase rewrites the addresses in HTML that begin at the program's root so that they begin with
// another root: "../" on a page one level down, or "/course/" on a site at that path. Page addresses
// get a trailing slash, because static hosts serve pages as folders.
//
// Quotes in users' texts are escaped, so an attribute's name followed by =" is always markup and
// never text.
func Rebase(html, root string) string {
	var b strings.Builder
	b.Grow(len(html) + len(html)/64)
	for {
		i := strings.Index(html, `="/`)
		if i < 0 {
			b.WriteString(html)
			return b.String()
		}
		value := i + len(`="`)
		end := strings.IndexByte(html[value:], '"')
		if end < 0 || !isAddress(html[:i]) {
			b.WriteString(html[:value])
			html = html[value:]
			continue
		}
		b.WriteString(html[:value])
		b.WriteString(Address(html[value:value+end], root))
		html = html[value+end:]
	}
}

// RebaseStyles is like [Rebase], but for style sheets, which contain the addresses of fonts.
func RebaseStyles(css, root string) string { return strings.ReplaceAll(css, `url("/`, `url("`+root) }

// isAddress reports whether html ends in the name of an attribute whose value is an address.
func isAddress(html string) bool {
	i := strings.LastIndexAny(html, " \n\t")
	switch html[i+1:] {
	case "href", "src", "action", "formaction":
		return i >= 0
	}
	return false
}

// Address converts one of the program's addresses, such as "/learn/kv-cache#why", to an address
// below a root. An address that does not begin with exactly one slash is returned unchanged.
func Address(address, root string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") {
		return address
	}
	rest := ""
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address, rest = address[:i], address[i:]
	}
	if isPage(address) {
		address += "/"
	}
	return root + address[1:] + rest
}

// isPage reports whether p is the path of a page (without the slash at its end) rather than
// of a file.
func isPage(p string) bool { return !strings.HasSuffix(p, "/") && path.Ext(p) == "" }

// RootFrom returns the root of a site relative to an address below it, given in the form that
// browsers send: "./" from "" and "no.html", "../../" from "learn/kv-cache/?q=1".
func RootFrom(address string) string {
	p, _, _ := strings.Cut(address, "?")
	if depth := strings.Count(p, "/"); depth > 0 {
		return strings.Repeat("../", depth)
	}
	return "./"
}
