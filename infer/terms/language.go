package terms

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/languages"
)

// Language is a language for pages, messages and the terminal. Its texts include the names of
// stages, stop conditions and settings, units, and nouns that follow a count. Digits and signs are
// the same in all languages. Functions in this package that do not take a language use [English].
type Language struct {
	// Tag is the language's tag in HTML: "en".
	Tag    string
	words  Catalog
	plural func(n int) string
	stages []Stage
	stops  []Stop
	knobs  []Knob
}

// English is the program's own language.
var English = mustRead(languages.English)

// Texts returns the texts of a language: the contents of all files in its folder. In most files, all
// keys begin with the file's name.
func Texts(tag string) (string, error) {
	folder, err := languages.Words(tag)
	if err != nil {
		return "", err
	}
	list, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, name := range list {
		b, err := fs.ReadFile(folder, name)
		if err != nil {
			return "", err
		}
		all.Write(b)
		all.WriteByte('\n')
	}
	return all.String(), nil
}

func mustRead(tag string) *Language {
	texts, err := Texts(tag)
	if err != nil {
		panic(err) // cannot happen: the texts are embedded
	}
	l, err := ReadLanguage(tag, texts)
	if err != nil {
		panic(err)
	}
	return l
}

// Languages returns the languages for which the program has texts, [English] first.
func Languages() []*Language {
	list := []*Language{English}
	for _, tag := range languages.Tags()[1:] {
		list = append(list, mustRead(tag))
	}
	return list
}

// LanguageOf returns the language with the given tag, or [English] if there is none.
func LanguageOf(tag string) *Language {
	for _, l := range Languages() {
		if l.Tag == tag {
			return l
		}
	}
	return English
}

// languageKey is the context key for the language.
type languageKey struct{}

// With returns a context with the language of a request's pages and messages.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, languageKey{}, l)
}

// In returns the language of a context, or [English] if it has none.
func In(ctx context.Context) *Language {
	if l, ok := ctx.Value(languageKey{}).(*Language); ok {
		return l
	}
	return English
}

// ReadLanguage returns a language with the given texts, whose format is described at [Catalog].
func ReadLanguage(tag, texts string) (*Language, error) {
	words, err := ReadCatalog(texts)
	if err != nil {
		return nil, fmt.Errorf("invalid texts for language %q: %w", tag, err)
	}
	l := &Language{Tag: tag, words: words, plural: pluralOf(tag)}
	for _, key := range stageKeys {
		l.stages = append(l.stages, Stage{
			Key: key, Name: l.T("stage." + key), Short: l.T("stage." + key + ".short"),
		})
	}
	for _, key := range stopKeys {
		of := func(what string) string { return l.T("stop." + key + what) }
		l.stops = append(l.stops, Stop{
			Key: key, Name: of(""), Short: of(".short"), A: of(".a"), Done: of(".done"), Why: of(".why"),
		})
	}
	for _, k := range knobs {
		k.Label, k.The = l.T("knob."+k.Key), l.T("knob."+k.Key+".the")
		k.Help, k.Want = l.T("knob."+k.Key+".help"), PhraseOf("knob."+k.Key+".want")
		k.Name = l.T("knob." + k.Key + ".name")
		if k.Unit != "" {
			k.Unit = l.T("noun."+k.Unit, "n", 0)
		}
		k.wantNumber = PhraseOf("want.number", "want", k.Want)
		if k.Whole() {
			k.wantNumber = PhraseOf("want.whole", "want", k.Want)
		}
		if alone := "knob." + k.Key + ".want.alone"; l.Has(alone) {
			k.wantNumber = PhraseOf(alone)
		}
		l.knobs = append(l.knobs, k)
	}
	return l, nil
}

// Has reports whether the language has a text with the given key.
func (l *Language) Has(key string) bool { return l.words.Has(key) || l.words.Has(key+".other") }

// Pieces returns the segments of the text with the given key. If the text has variants, the first
// int among the values selects one. For a key without a text, Pieces returns the key itself.
func (l *Language) Pieces(key string, with ...any) []Segment {
	if i, ok := l.words.find(key); ok {
		return l.words.pieces(i)
	}
	for _, v := range with {
		if n, ok := v.(int); ok {
			if i, ok := l.words.find(key + "." + l.plural(n)); ok {
				return l.words.pieces(i)
			}
			break
		}
	}
	if i, ok := l.words.find(key + ".other"); ok {
		return l.words.pieces(i)
	}
	return []Segment{{Words: key}} // a bug in the program
}

// T returns a text with values filled in by name: T("unit.ms", "n", "1.8"). A value is a string, an
// int, which is formatted by [Count], something with an In method, such as a [Phrase] or a
// [*Refusal], a function that returns the value in a language, or a [fmt.Stringer].
func (l *Language) T(key string, with ...any) string {
	return l.Fill(l.Pieces(key, with...), with...)
}

// Fill returns the segments of a text as plain text, with values as in [Language.T].
func (l *Language) Fill(pieces []Segment, with ...any) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Words)
		for i := 0; p.Name != "" && i+1 < len(with); i += 2 {
			if with[i] == p.Name {
				b.WriteString(l.value(with[i+1]))
			}
		}
	}
	return b.String()
}

// Under returns the texts whose keys begin with a prefix, by key. It does not replace names in
// braces.
func (l *Language) Under(prefix string) map[string]string { return l.words.Under(prefix) }

// value converts a value to plain text that can be filled into another text.
func (l *Language) value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return Count(v)
	case interface{ In(l *Language) string }:
		return v.In(l)
	case func(*Language) string:
		return v(l)
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}

// ValueText converts a value to plain English text that can be filled into another text.
func ValueText(v any) string { return English.value(v) }

// Stage returns the n-th stage, from 1 to [Stages].
func (l *Language) Stage(n int) Stage { return l.stages[n-1] }

// Stop returns the stop reason with the given key, or an empty Stop if there is none.
func (l *Language) Stop(key string) Stop {
	for _, s := range l.stops {
		if s.Key == key {
			return s
		}
	}
	return Stop{}
}

// Knobs returns all knobs, in the order in which they act and are shown.
func (l *Language) Knobs() []Knob { return slices.Clip(l.knobs) } // so that append copies the list

// Knob returns the knob with the given key. It returns false if there is none.
func (l *Language) Knob(key string) (Knob, bool) {
	for _, k := range l.knobs {
		if k.Key == key {
			return k, true
		}
	}
	return Knob{}, false
}
