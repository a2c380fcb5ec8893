package chat

import (
	"regexp"
	"slices"
	"strings"
)

// Written returns the names of added tokens that the template itself inserts. Some vocabularies do
// not flag the tokens that begin a turn as special, so these tokens would also be found in text
// typed by users, which must not happen in a chat. A name that the template searches for in the
// messages, such as the end of a thought, is excluded, because the search would otherwise not find
// it. Names without brackets are also excluded, because a sequence of blanks can be a token.
func Written(source string, names []string) []string {
	var list []string
	for _, name := range names {
		if len(name) < 3 || !strings.Contains(source, name) {
			continue
		}
		first, last := strings.IndexByte("<[", name[0]), strings.IndexByte(">]", name[len(name)-1])
		if first < 0 || first != last {
			continue
		}
		quoted := regexp.QuoteMeta(name)
		looked := regexp.MustCompile(`(?:` + looksFor + `|[=!]=\s*|\bin\s+)["'][^"'\n]*` + quoted +
			`|` + quoted + `[^"'\n]*["']\s*(?:(?:not\s+)?in\b|[=!]=)`)
		if !looked.MatchString(source) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// looksFor matches the start of a method call that searches a string for another string.
const looksFor = `\.(?:r?split|startswith|endswith|replace|r?find|r?index|count|[lr]?strip)\s*\(\s*`
