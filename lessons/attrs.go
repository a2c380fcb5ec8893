package lessons

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// attrs holds the attributes after a directive's name or in a heading's braces: `#id word key=value
// key="two words"`.
type attrs struct {
	id    string
	words []string
	keys  map[string]string
}

// idForm matches ids, which are used in addresses.
var idForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// parseAttrs parses attributes. Within quotes, \" stands for a quotation mark and \n for a newline.
func parseAttrs(text string) (attrs, error) {
	a := attrs{keys: map[string]string{}}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word := text
		if i := strings.IndexAny(text, " \t="); i >= 0 {
			word = text[:i]
		}
		text = text[len(word):]
		if !strings.HasPrefix(text, "=") {
			if id, ok := strings.CutPrefix(word, "#"); ok {
				if a.id != "" {
					return a, fmt.Errorf("multiple ids: %q and %q", a.id, id)
				}
				a.id = id
			} else {
				a.words = append(a.words, word)
			}
			continue
		}
		value, rest, err := attrValue(text[1:])
		if err != nil {
			return a, fmt.Errorf("%s: %w", word, err)
		}
		if !keyForm.MatchString(word) {
			return a, fmt.Errorf("invalid setting name %q", word)
		}
		if _, twice := a.keys[word]; twice {
			return a, fmt.Errorf("duplicate setting %q", word)
		}
		a.keys[word], text = value, rest
	}
	return a, nil
}

// attrValue parses a value, quoted or up to the next space.
func attrValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		if i := strings.IndexAny(text, " \t"); i >= 0 {
			return text[:i], text[i:], nil
		}
		return text, "", nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("missing closing quote")
}

// only returns an error that names the first disallowed key in alphabetical order. It returns nil
// if all keys are allowed.
func (a attrs) only(allowed ...string) error {
	var wrong []string
	for k := range a.keys {
		known := false
		for _, w := range allowed {
			known = known || w == k
		}
		if !known {
			wrong = append(wrong, k)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	sort.Strings(wrong)
	if len(allowed) == 0 {
		return fmt.Errorf("unknown setting %q", wrong[0])
	}
	return fmt.Errorf("unknown setting %q; want one of %s", wrong[0], strings.Join(allowed, ", "))
}
