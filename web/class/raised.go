package class

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Limits of the questions that members ask.
const (
	MaxRaised     = 140 // characters of a question
	MaxRaisedOwn  = 3   // questions of one member that the instructor has not put away
	MaxRaisedOpen = 100 // questions of all members that the instructor has not put away
	MaxOnWall     = 4   // questions that the wall shows at once

	MaxRaisedEver    = 1000 // questions of all members, including those that were put away or erased
	MaxRaisedOwnEver = 30   // the same, of one member
)

// Raised is a question that a member has asked the instructor. It does not identify the member.
type Raised struct {
	ID   int // within the room, starting at 1
	Text string
	Same int  // the question that it is grouped with; 0 if there is none
	Done bool // the instructor has put it and the questions grouped with it away
	Wall int  // its position on the wall, starting at 1; 0 if it is not there
}

// OnWall is a question that the wall shows.
type OnWall struct {
	ID    int
	Text  string
	Times int // how many questions are grouped, including this one
}

// Handle changes members' questions.
type Handle struct {
	Do        Handling
	Questions []int // ids
}

// Handling is what an instructor does with members' questions.
type Handling string

// PutAway removes a question from the list and the wall; PutBack undoes that, and also separates a
// question from its group. Group groups the questions with the first one. MoveUp and MoveDown change
// the order on the wall. Erase deletes questions and the ones grouped with them. PutAllAway needs no
// list.
const (
	Show     Handling = "show"
	Hide     Handling = "hide"
	MoveUp   Handling = "up"
	MoveDown Handling = "down"
	Group    Handling = "same"
	PutAway  Handling = "done"
	PutBack  Handling = "back"
	Erase    Handling = "erase"

	PutAllAway Handling = "clear"
)

// AllowQuestions lets members ask questions, or stops that.
type AllowQuestions struct{ On bool }

func (Handle) command()         {}
func (AllowQuestions) command() {}

// joiners are the zero-width non-joiner, which Persian and Hindi need, and the zero-width joiner, which
// emoji need, too.
const joiners = "\u200c\u200d"

// blanks are the symbols that are as blank as a space.
const blanks = "\u2800\U0001d159"

// isVisible reports whether a character of a line can be seen without another one.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !strings.ContainsRune(blanks, r) &&
		!unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// maxMarks is the maximum number of nonspacing marks on a character. Pointed Hebrew and Arabic need four;
// a pile of them would cover the lines above and below.
const maxMarks = 4

// fewMarks removes all nonspacing marks after the first [maxMarks] on each character.
func fewMarks(line string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				return -1
			}
		case r == ' ' || isVisible(r):
			marks = 0
		}
		return r
	}, line)
}

// CleanRaised cleans up the typed text of a question, like [OneLine]. It keeps joiners, which some
// languages and emoji need, and removes piles of marks. It returns a [*terms.Refusal] with [CodeAsk] if
// nothing in the text is visible, or if it is too long.
func CleanRaised(typed string) (string, error) {
	text := fewMarks(oneLine(typed, joiners))
	n := utf8.RuneCountInString(text)
	var e *terms.Refusal
	switch {
	case !strings.ContainsFunc(text, isVisible):
		e = terms.Refuse(CodeAsk, "class.refused.raised.empty")
	case n > MaxRaised:
		e = terms.Refuse(CodeAsk, "class.refused.raised.long", "n", n, "most", MaxRaised)
	default:
		return text, nil
	}
	e.Field = "text"
	return "", e
}

// handleInputs are the inputs of [Handle].
var handleInputs = terms.Inputs{
	{Key: "do", Kind: terms.KindChoice, Options: []string{
		string(Show), string(Hide), string(MoveUp), string(MoveDown), string(Group), string(PutAway), string(PutBack),
		string(Erase), string(PutAllAway),
	}},
	{Key: "question", Kind: terms.KindList, Min: 1, Max: MaxRaisedEver, Optional: true},
}

func handle(v terms.Values) Command {
	return Handle{Do: Handling(v["do"]), Questions: v.List("question")}
}
