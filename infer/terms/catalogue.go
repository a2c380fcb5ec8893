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
// categories, whose keys end in .zero, .one, .two, .few, .many or .other.
type Catalog struct {
	// entries are the texts with their keys, as in the files, sorted by key. (A map would take much
	// more of the image from which the program starts in a browser.)
	entries []string
}

// find returns the index of the entry with a key, or of the first entry with a larger key.
func (c Catalog) find(key string) (at int, ok bool) {
	return slices.BinarySearchFunc(c.entries, key, func(entry, key string) int {
		n := min(len(entry), len(key))
		if d := strings.Compare(entry[:n], key); d != 0 {
			return d
		}
		if strings.HasPrefix(entry[n:], " = ") {
			return 0
		}
		return 1 // the entry has a longer key
	})
}

// oneLine returns a text without the line breaks of the file.
func oneLine(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	return strings.ReplaceAll(text, "\n ", " ")
}

// Segment is a part of a text: either words or the name of a value.
type Segment struct{ Words, Name string }

// ReadCatalog parses the texts in the contents of files. Its error names the line.
func ReadCatalog(files ...string) (Catalog, error) {
	var c Catalog
	for _, file := range files {
		if err := c.read(file); err != nil {
			return Catalog{}, err
		}
	}
	slices.SortFunc(c.entries, func(a, b string) int { return strings.Compare(keyOf(a), keyOf(b)) })
	for i, entry := range c.entries {
		key, text, _ := strings.Cut(entry, " = ")
		if i > 0 && keyOf(c.entries[i-1]) == key {
			return Catalog{}, fmt.Errorf("duplicate key %s", key)
		}
		if _, err := piecesOf(text); err != nil {
			return Catalog{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	c.entries = slices.Clip(c.entries)
	return c, nil
}

// read adds the entries of a file.
func (c *Catalog) read(file string) error {
	begin, at := -1, 0 // where the last entry begins, or -1 if no line can continue it
	number := 0
	for line := range strings.Lines(file) {
		number++
		at += len(line)
		key, _, ok := strings.Cut(line, " = ")
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			begin = -1
		case strings.HasPrefix(line, " ") && begin >= 0:
			c.entries[len(c.entries)-1] = strings.TrimSuffix(file[begin:at], "\n")
		case !ok || strings.ContainsAny(key, " {}"):
			return fmt.Errorf("line %d is not “key = text”: %q", number, strings.TrimSuffix(line, "\n"))
		default:
			begin = at - len(line)
			c.entries = append(c.entries, strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}

func keyOf(entry string) string {
	key, _, _ := strings.Cut(entry, " = ")
	return key
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
func (c Catalog) Has(key string) bool {
	_, ok := c.find(key)
	return ok
}

// Keys lists the keys of all texts, in order.
func (c Catalog) Keys() []string {
	list := make([]string, len(c.entries))
	for i, entry := range c.entries {
		list[i] = keyOf(entry)
	}
	return list
}

// Under returns the texts whose keys begin with a prefix, by key.
func (c Catalog) Under(prefix string) map[string]string {
	list := map[string]string{}
	at, _ := c.find(prefix)
	for ; at < len(c.entries) && strings.HasPrefix(c.entries[at], prefix); at++ {
		key, text, _ := strings.Cut(c.entries[at], " = ")
		list[key] = oneLine(text)
	}
	return list
}

// Pieces returns the segments of the text with the given key. A key without a text is a bug in the
// program; Pieces then returns the key itself.
func (c Catalog) Pieces(key string) []Segment {
	at, ok := c.find(key)
	if !ok {
		return []Segment{{Words: key}}
	}
	pieces, _ := piecesOf(oneLine(c.entries[at][len(key)+len(" = "):])) // checked by ReadCatalog
	return pieces
}
