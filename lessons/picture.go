package lessons

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A PictureKind is a state of the growing picture, which shows how one sentence passes through the
// model that the program runs.
type PictureKind string

// The kinds, in the order in which the picture grows.
const (
	PictureText      PictureKind = "text"      // the sentence as typed
	PictureTokens    PictureKind = "tokens"    // the sentence split into tokens, each in its slot
	PictureColumns   PictureKind = "columns"   // a column above each token, with a cell for each block
	PictureAttention PictureKind = "attention" // how much one head reads from each earlier column
	PictureStream    PictureKind = "stream"    // the logit lens's reading of the last column after each block
	PictureScores    PictureKind = "scores"    // the last column's vector leaves at the top and becomes scores
	PictureShares    PictureKind = "shares"    // the scores become shares
	PictureCut       PictureKind = "cut"       // some shares are cut, and the others are rescaled
	PictureStrip     PictureKind = "strip"     // the kept tokens, laid end to end
	PictureDraw      PictureKind = "draw"      // a random number selects a token, which falls into the slot
	PictureCache     PictureKind = "cache"     // the old columns are cached, and one is new
	PictureEdit      PictureKind = "edit"      // an earlier word changes, which invalidates the columns after it
	PictureGuesses   PictureKind = "guesses"   // a draft's guesses after the sentence
)

// Sentence is the picture's sentence unless a lesson has its own.
const Sentence = "The wizard lived in a"

// The maximum lengths, in letters, of a lesson's own sentence and of a state's name, and
// the maximum number of states in a lesson.
const (
	sentenceMost = 40
	nameMost     = 16
	statesMost   = 8
)

// Picture is a point in a lesson at which the picture changes its state.
type Picture struct {
	Kind    PictureKind
	ID      string            // unique in the lesson
	Name    string            // a short name; "" for the kind's default name
	Params  map[string]string // checked by the kind's rules
	Caption string            // HTML: what to look at
}

func (Picture) block() {}

// Pictures returns the states of the lesson's picture in order, or nil if the lesson has no
// picture.
func (l *Lesson) Pictures() (list []Picture) {
	for _, s := range l.Sections {
		for _, b := range s.Blocks {
			if p, ok := b.(Picture); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// sentence parses the front matter's `picture: A sentence`.
func (l *loader) sentence(d *document) string {
	f, ok := d.front["picture"]
	if !ok {
		return Sentence
	}
	if n := utf8.RuneCountInString(f.value); n == 0 || n > sentenceMost {
		l.problems.add(f.at, "the picture's sentence has %d characters; want 1 to %d", n, sentenceMost)
	}
	return f.value
}

// picture parses `::: picture KIND key="value"`.
func (l *loader) picture(section *Section, p block) Block {
	a, err := parseAttrs(p.words)
	if err != nil {
		l.problems.add(p.at, "%v", err)
		return nil
	}
	if len(a.words) != 1 || a.id != "" {
		l.problems.add(p.at, "invalid picture; want ::: picture KIND key=\"value\"")
		return nil
	}
	pic := Picture{Kind: PictureKind(a.words[0]), Name: a.keys["name"], Params: a.keys}
	delete(a.keys, "name")
	if n := utf8.RuneCountInString(pic.Name); n > nameMost {
		l.problems.add(p.at, "the picture's name has %d characters; the limit is %d", n, nameMost)
	}
	inputs, ok := pictureInputs[pic.Kind]
	if !ok {
		l.problems.add(p.at, "unknown picture kind %q; want one of %s", pic.Kind, pictureKinds())
		return nil
	}
	for _, err := range checkInputs(inputs, a.keys) {
		l.problems.add(p.at, "picture %s: %v", pic.Kind, err)
	}
	if n := utf8.RuneCountInString(a.keys["to"]); n > sentenceMost {
		l.problems.add(p.at, "picture %s: to has %d characters; the limit is %d", pic.Kind, n, sentenceMost)
	}
	if l.states++; l.states == statesMost+1 {
		l.problems.add(p.at, "a lesson can have at most %d pictures", statesMost)
	}
	pic.ID = fmt.Sprintf("picture-%d", l.states)
	pic.Caption = l.body(section, p)
	return pic
}

// pictureKinds lists the kinds for an error message.
func pictureKinds() string {
	var names []string
	for kind := range pictureInputs {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
