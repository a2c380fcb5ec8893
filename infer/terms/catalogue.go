package terms

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Catalog holds the texts of one language, by key. It is read from files with lines such as:
//
//	# texts about stage 2
//	numbers.logits = Scores run from {min} to {max}.
//	class.votes.one = One vote was counted.
//	class.votes.other = {n} votes were counted.
//
// Names in braces are replaced by values. A line that begins with a space continues the text above
// it. A text that depends on a count has a variant for each of the language's CLDR plural
// categories, whose keys end in .zero, .one, .two, .few, .many or .other.
type Catalog struct {
	texts map[string][]Segment
}

// Segment is a part of a text: either words or the name of a value.
type Segment struct{ Words, Name string }

// ReadCatalog parses the texts in a file's contents. Its error names the line.
func ReadCatalog(file string) (Catalog, error) {
	whole := map[string]string{}
	last := ""
	for i, line := range strings.Split(file, "\n") {
		key, text, ok := strings.Cut(line, " = ")
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			last = ""
		case strings.HasPrefix(line, " ") && last != "":
			whole[last] += " " + strings.TrimSpace(line)
		case !ok || strings.ContainsAny(key, " {}"):
			return Catalog{}, fmt.Errorf("line %d is not “key = text”: %q", i+1, line)
		default:
			if _, twice := whole[key]; twice {
				return Catalog{}, fmt.Errorf("line %d: duplicate key %s", i+1, key)
			}
			whole[key], last = text, key
		}
	}
	c := Catalog{map[string][]Segment{}}
	for key, text := range whole {
		pieces, err := piecesOf(text)
		if err != nil {
			return Catalog{}, fmt.Errorf("%s: %w", key, err)
		}
		c.texts[key] = pieces
	}
	return c, nil
}

func piecesOf(text string) (list []Segment, err error) {
	for text != "" {
		words, rest, open := strings.Cut(text, "{")
		if words != "" {
			list = append(list, Segment{Words: words})
		}
		if !open {
			break
		}
		name, rest, closed := strings.Cut(rest, "}")
		if !closed || name == "" {
			return nil, fmt.Errorf("unclosed brace in %q", text)
		}
		list = append(list, Segment{Name: name})
		text = rest
	}
	return list, nil
}

// Has reports whether there is a text with the key.
func (c Catalog) Has(key string) bool { return c.texts[key] != nil }

// Keys lists the keys of all texts, in order.
func (c Catalog) Keys() []string { return slices.Sorted(maps.Keys(c.texts)) }

// Pieces returns the segments of the text with the given key. A key without a text is a bug in the
// program; Pieces then returns the key itself.
func (c Catalog) Pieces(key string) []Segment {
	if p, ok := c.texts[key]; ok {
		return p
	}
	return []Segment{{Words: key}}
}
