package terms

import (
	"fmt"
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
// categories. The keys of these variants end in .zero, .one, .two, .few, .many or .other.
type Catalog struct {
	file string
	// texts holds the offsets in the file of the lines "key = text", sorted by key. A map of
	// strings would take up much more of the memory image from which the program starts in a
	// browser.
	texts []int32
}

// key returns the key in the line that begins at the given offset in the file.
func (c Catalog) key(at int32) string {
	key, _, _ := strings.Cut(c.file[at:], " = ")
	return key
}

// text returns the text in the line that begins at the given offset in the file, and in the lines
// that continue it.
func (c Catalog) text(at int32) string {
	_, text, _ := strings.Cut(c.file[at:], " = ")
	end := 0
	for line := range strings.Lines(text) {
		if end > 0 && !strings.HasPrefix(line, " ") {
			break
		}
		end += len(line)
	}
	return strings.ReplaceAll(strings.TrimSuffix(text[:end], "\n"), "\n ", " ")
}

// find returns the index of the text with the given key or, if there is none, of the first text
// with a larger key.
func (c Catalog) find(key string) (i int, ok bool) {
	return slices.BinarySearchFunc(c.texts, key, func(at int32, key string) int {
		line := c.file[at:]
		n := min(len(line), len(key))
		if d := strings.Compare(line[:n], key); d != 0 {
			return d
		}
		if strings.HasPrefix(line[n:], " = ") {
			return 0
		}
		return 1 // the line has a longer key
	})
}

// Segment is a part of a text: either words, or the name of a value to fill in.
type Segment struct{ Words, Name string }

// ReadCatalog parses the texts in a file's contents. Its error names the line or the text.
func ReadCatalog(file string) (Catalog, error) {
	type text struct {
		key string
		at  int
	}
	var texts []text
	number, at := 0, 0
	open := false // the line can continue a text
	for line := range strings.Lines(file) {
		number++
		key, _, ok := strings.Cut(line, " = ")
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			open = false
		case strings.HasPrefix(line, " ") && open: // part of the text above
		case !ok || strings.ContainsAny(key, " {}"):
			return Catalog{}, fmt.Errorf(
				"line %d does not have the form “key = text”: %q", number, strings.TrimSuffix(line, "\n"),
			)
		default:
			texts = append(texts, text{key, at})
			open = true
		}
		at += len(line)
	}
	slices.SortFunc(texts, func(a, b text) int { return strings.Compare(a.key, b.key) })
	c := Catalog{file, make([]int32, len(texts))}
	for i, t := range texts {
		if i > 0 && texts[i-1].key == t.key {
			return Catalog{}, fmt.Errorf("duplicate key %s", t.key)
		}
		c.texts[i] = int32(t.at)
		if _, err := piecesOf(c.text(c.texts[i])); err != nil {
			return Catalog{}, fmt.Errorf("%s: %w", t.key, err)
		}
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
			return nil, fmt.Errorf("unclosed or empty braces in %q", text)
		}
		list = append(list, Segment{Name: name})
		text = rest
	}
	return list, nil
}

// Has reports whether there is a text with the key.
func (c Catalog) Has(key string) bool {
	_, ok := c.find(key)
	return ok
}

// Keys lists the keys of all texts, in order.
func (c Catalog) Keys() []string {
	list := make([]string, len(c.texts))
	for i, at := range c.texts {
		list[i] = c.key(at)
	}
	return list
}

// Under returns the texts whose keys begin with a prefix, by key. It does not replace names in
// braces.
func (c Catalog) Under(prefix string) map[string]string {
	list := map[string]string{}
	i, _ := c.find(prefix)
	for ; i < len(c.texts) && strings.HasPrefix(c.file[c.texts[i]:], prefix); i++ {
		list[c.key(c.texts[i])] = c.text(c.texts[i])
	}
	return list
}

// Pieces returns the segments of the text with the given key. A key without a text is a bug in the
// program; Pieces then returns the key itself.
func (c Catalog) Pieces(key string) []Segment {
	if i, ok := c.find(key); ok {
		return c.pieces(i)
	}
	return []Segment{{Words: key}}
}

// pieces returns the segments of the i-th text.
func (c Catalog) pieces(i int) []Segment {
	pieces, _ := piecesOf(c.text(c.texts[i])) // checked by ReadCatalog
	return pieces
}
