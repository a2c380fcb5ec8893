package static

import (
	"io/fs"
	"strings"
	"testing"
)

// TestHasRulesNameTheirTarget: after every change to a page, a browser checks which elements a rule
// with :has() might affect. If such a rule ends in * (or in nothing but a state), it might affect
// all elements. Such a rule once caused the whole Loop page to be restyled twice on every key
// press.
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
					t.Errorf("%s: %q ends in an element of any type; name its type or class", name, selector)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("found only %d selectors with :has()", seen)
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
			t.Errorf("names(%q) = %v, want %t", selector, !want, want)
		}
	}
}

// rulesOf returns the text before the opening brace of each rule.
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

// split splits a selector at separators that are not inside brackets.
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

// names reports whether a selector names the elements that it styles by their type, class, id or
// an attribute.
func names(selector string) bool {
	parts := split(strings.TrimSpace(selector), " \n>+~")
	last := parts[len(parts)-1]
	return last != "" && !strings.HasPrefix(last, "*") &&
		(last[0] != ':' || strings.HasPrefix(last, ":is(") || strings.HasPrefix(last, ":root"))
}
