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

// A PictureNeed is a claim about the sentence in the text or caption of a state. A learner's own
// sentence is shown in the state only if the claim is true of it.
type PictureNeed string

// The needs. A state without a need can show any sentence.
const (
	NeedsLesson   PictureNeed = "lesson"   // the text is about the lesson's sentence
	NeedsNeighbor PictureNeed = "neighbor" // the head looks mostly at the token before the last
	NeedsStart    PictureNeed = "start"    // the head looks at almost nothing but the start mark
	NeedsClose    PictureNeed = "close"    // the best scores lie close together
	NeedsColder   PictureNeed = "colder"   // the two most likely tokens have more than at T = 1
	NeedsHotter   PictureNeed = "hotter"   // the tokens without rows of their own have more than at T = 1
	NeedsFewer    PictureNeed = "fewer"    // fewer tokens are kept than at T = 1
	NeedsAnother  PictureNeed = "another"  // the draw differs from the lesson's draw before it
	NeedsKept     PictureNeed = "kept"     // the round has all its guesses, and the first one is accepted
	NeedsRefused  PictureNeed = "refused"  // the round has all its guesses, and the first one is refused
)

// pictureNeeds maps each need to the kind of its states; "" stands for all kinds.
var pictureNeeds = map[PictureNeed]PictureKind{
	NeedsLesson: "", NeedsNeighbor: PictureAttention, NeedsStart: PictureAttention, NeedsClose: PictureScores,
	NeedsColder: PictureShares, NeedsHotter: PictureShares, NeedsFewer: PictureCut, NeedsAnother: PictureDraw,
	NeedsKept: PictureGuesses, NeedsRefused: PictureGuesses,
}

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
	Needs   PictureNeed
	Caption string // HTML: what to look at
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

// TakesSentence reports whether a state of the lesson's picture can show a learner's own sentence. An
// instructor's lesson and a lesson with a sentence of its own are about their sentences.
func (l *Lesson) TakesSentence(p Picture) bool {
	return !l.Own && l.Sentence == Sentence && p.Needs != NeedsLesson
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
	pic.Needs = PictureNeed(a.keys["needs"])
	delete(a.keys, "name")
	delete(a.keys, "needs")
	if n := utf8.RuneCountInString(pic.Name); n > nameMost {
		l.problems.add(p.at, "the picture's name has %d characters; the limit is %d", n, nameMost)
	}
	inputs, ok := pictureInputs[pic.Kind]
	if !ok {
		l.problems.add(p.at, "unknown picture kind %q; want one of %s", pic.Kind, pictureKinds())
		return nil
	}
	if of, ok := pictureNeeds[pic.Needs]; pic.Needs != "" && (!ok || of != "" && of != pic.Kind) {
		l.problems.add(p.at, "picture %s: unknown need %q", pic.Kind, pic.Needs)
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
