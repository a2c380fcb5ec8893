package terms

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
)

// Language is a language of pages, messages and the terminal: the names of stages, stops and
// settings, units, and nouns after a count. Digits and signs are the same in all languages.
// Functions of this package without a language use [English].
type Language struct {
	// Tag is the language's name in HTML: "en".
	Tag    string
	words  Catalog
	stages []Stage
	stops  []Stop
	knobs  []Knob
}

// Each language has a file of texts.
//
//go:embed words
var files embed.FS

// English is the program's own language.
var English = mustRead("en")

// Texts returns the contents of the file that holds a language's texts.
func Texts(tag string) (string, error) {
	b, err := files.ReadFile("words/" + tag + ".txt")
	return string(b), err
}

func mustRead(tag string) *Language {
	text, err := Texts(tag)
	if err != nil {
		panic(err) // embedded
	}
	l, err := ReadLanguage(tag, text)
	if err != nil {
		panic(err)
	}
	return l
}

// ReadLanguage returns a language with the given texts, which have the format described at
// [Catalog].
func ReadLanguage(tag, texts string) (*Language, error) {
	words, err := ReadCatalog(texts)
	if err != nil {
		return nil, fmt.Errorf("the words of %s: %w", tag, err)
	}
	l := &Language{Tag: tag, words: words}
	for _, key := range stageKeys {
		l.stages = append(l.stages, Stage{
			Key: key, Name: words.Text("stage." + key), Short: words.Text("stage." + key + ".short"),
		})
	}
	for _, key := range stopKeys {
		of := func(what string) string { return words.Text("stop." + key + what) }
		l.stops = append(l.stops, Stop{
			Key: key, Name: of(""), Short: of(".short"), A: of(".a"), Done: of(".done"), Why: of(".why"),
		})
	}
	for _, k := range knobs {
		k.Label, k.The = words.Text("knob."+k.Key), words.Text("knob."+k.Key+".the")
		k.Help, k.Want = words.Text("knob."+k.Key+".help"), words.Text("knob."+k.Key+".want")
		k.Name = words.Text("knob." + k.Key + ".name")
		if k.Unit != "" {
			k.Unit = words.Text("noun." + k.Unit)
		}
		k.wantNumber = words.Text("want.number", "want", k.Want)
		if k.Whole() {
			k.wantNumber = words.Text("want.whole", "want", k.Want)
		}
		if alone := "knob." + k.Key + ".want.alone"; words.Has(alone) {
			k.wantNumber = words.Text(alone)
		}
		l.knobs = append(l.knobs, k)
	}
	return l, nil
}

// Stage returns the n-th stage, from 1 to [Stages].
func (l *Language) Stage(n int) Stage { return l.stages[n-1] }

// Stop returns the stop reason with a key, or an empty Stop if there is none.
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

// Knob returns the knob with a key. It returns false if there is none.
func (l *Language) Knob(key string) (Knob, bool) {
	for _, k := range l.knobs {
		if k.Key == key {
			return k, true
		}
	}
	return Knob{}, false
}

// The returns the beginning of a sentence about a field: "The seed", "Top-k". For an unknown field,
// it returns the field itself.
func (l *Language) The(field string) string {
	if k, ok := l.Knob(field); ok {
		return k.The
	}
	if key := "field." + field; l.words.Has(key) {
		return l.words.Text(key)
	}
	return field
}

// Sentence returns a [RangeError] as a sentence for pages, with the field's name for users:
// "Top-k is -1; it must be 0 (off) or more."
func (l *Language) Sentence(e *RangeError) string {
	return l.words.Text("error.range", "field", cmp.Or(e.Subject, l.The(e.Field)), "got", e.Got, "want", e.Want)
}
