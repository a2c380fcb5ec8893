package stage

import (
	"embed"
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Words describes and renders stages in one language. All views of this package, and all components
// with text, are returned by its methods, so that the whole page is in one language. The texts of a
// language are in the file words/TAG.txt and in a file in infer/terms. [terms.Catalog] describes
// the format. Texts can contain **bold** and *variable*.
type Words struct {
	*terms.Language
	texts terms.Catalog
}

//go:embed words
var files embed.FS

// English is the program's own language.
var English = mustRead(terms.English)

// Texts returns the file with a language's texts.
func Texts(tag string) (string, error) {
	b, err := files.ReadFile("words/" + tag + ".txt")
	return string(b), err
}

func mustRead(l *terms.Language) Words {
	texts, err := Texts(l.Tag)
	if err != nil {
		panic(err) // the file is part of the program
	}
	w, err := ReadWords(l, texts)
	if err != nil {
		panic(err)
	}
	return w
}

// ReadWords returns the words of a language from its texts.
func ReadWords(l *terms.Language, texts string) (Words, error) {
	c, err := terms.ReadCatalog(texts)
	if err != nil {
		return Words{}, fmt.Errorf("texts of the stages in %s: %w", l.Tag, err)
	}
	return Words{l, c}, nil
}

// T returns a text with values filled in by name: T("peek.at", "n", "20").
func (w Words) T(key string, with ...any) string { return w.Rich(key, with...).String() }

// Rich returns a sentence with values filled in by name. A value is a string, a token (which
// becomes a chip), a [Span] or another sentence.
func (w Words) Rich(key string, with ...any) Rich {
	var r Rich
	for _, p := range w.texts.Pieces(key) {
		if p.Name == "" {
			r = append(r, marked(p.Words)...)
			continue
		}
		for i := 0; i+1 < len(with); i += 2 {
			if with[i] == p.Name {
				r = append(r, rich(with[i+1])...)
			}
		}
	}
	return r
}

// marked returns the spans of a text with **bold** and *variable*.
func marked(text string) (r Rich) {
	for i, part := range strings.Split(text, "**") {
		if i%2 == 1 {
			r = append(r, bold(part))
			continue
		}
		for j, part := range strings.Split(part, "*") {
			if part != "" {
				r = append(r, Span{S: part, Style: map[bool]Style{true: Variable}[j%2 == 1]})
			}
		}
	}
	return r
}

// list joins a list as "a, b and c".
func (w Words) list(items []string) string {
	s := ""
	for i, x := range items {
		switch {
		case i == 0:
			s = x
		case i == len(items)-1:
			s = w.T("list.last", "list", s, "last", x)
		default:
			s = w.T("list.next", "list", s, "next", x)
		}
	}
	return s
}
