package static

import (
	"io/fs"
	"strings"
	"testing"
)

// A browser looks at every change of a page for what a rule with :has() may
// change by it. If such a rule ends in * (or in nothing but a state), that is
// every element: all of the Loop was styled again, twice, at every press of a key.
func TestHasRulesNameTheirTarget(t *testing.T) {
	seen := 0
	files, err := fs.Glob(embedded, "css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rulesOf(string(text)) {
			for _, selector := range split(rule, ",") {
				if !strings.Contains(selector, ":has(") {
					continue
				}
				seen++
				if !names(selector) {
					t.Errorf("%s: %q ends in an element of any kind; name its kind or class", name, selector)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d selectors with :has() were found", seen)
	}
	for selector, want := range map[string]bool{
		".a:has(.b) > *":              false,
		".a:has(.b) :not(.c)":         false,
		".a:has(> *)":                 true,
		".a:has(.b) ~ :is(td, .c)":    true,
		".a:has(.b, .c) td.now:hover": true,
		":root:has(.b)":               true,
	} {
		if names(selector) != want {
			t.Errorf("%q names what it styles: %v, want names(selector) = %t", selector, !want, want)
		}
	}
}

// rulesOf returns what stands before each { that opens a rule.
func rulesOf(css string) []string {
	var rules []string
	for _, part := range strings.Split(string(plain([]byte(css))), "{") {
		if i := strings.LastIndexAny(part, ";}"); i >= 0 {
			part = part[i+1:]
		}
		if part = strings.TrimSpace(part); !strings.HasPrefix(part, "@") {
			rules = append(rules, part)
		}
	}
	return rules
}

// split cuts a selector at any of the separators that are outside of brackets.
func split(selector, separators string) []string {
	parts, depth := []string{""}, 0
	for _, r := range selector {
		switch {
		case strings.ContainsRune("([", r):
			depth++
		case strings.ContainsRune(")]", r):
			depth--
		}
		if depth == 0 && strings.ContainsRune(separators, r) {
			parts = append(parts, "")
		} else {
			parts[len(parts)-1] += string(r)
		}
	}
	return parts
}

// names reports whether what a selector styles has a name: a kind, a class, an id,
// an attribute.
func names(selector string) bool {
	parts := split(strings.TrimSpace(selector), " \n>+~")
	last := parts[len(parts)-1]
	return last != "" && !strings.HasPrefix(last, "*") &&
		(last[0] != ':' || strings.HasPrefix(last, ":is(") || strings.HasPrefix(last, ":root"))
}
