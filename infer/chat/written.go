package chat

import (
	"regexp"
	"slices"
	"strings"
)

// Written are those of the names of added tokens that a template writes itself. In some
// vocabularies the tokens that begin a turn are not flagged as special, so that they would
// be found in what people type too; in a chat they must not be. A name that the template
// looks for in the messages, such as the end of a thought, is not among them: it would no
// longer find it. Nor is what has no brackets around it: a run of blanks may be a token.
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

// looksFor is the beginning of a call that looks for a text in another.
const looksFor = `\.(?:r?split|startswith|endswith|replace|r?find|r?index|count|[lr]?strip)\s*\(\s*`
