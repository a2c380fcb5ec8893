package classroom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/stage"
)

// fallStrip is the strip of a draw with the numbers of the class on it: each piece as wide
// as its share, each number where it fell, and below it the name of who drew it.
type fallStrip struct {
	Pieces []fallPiece
	Falls  []fall
	High   string // of the names, as an SVG length
	More   int    // names that there is no space for
}

// fallPiece is the share of one option.
type fallPiece struct {
	X, W  string // SVG lengths
	Class string
	Text  stage.Text // empty where it does not fit
}

// fall is one number, and its name where there is one and space for it.
type fall struct {
	Key    string // the same for as long as the draw lasts
	X      string // SVG length
	Name   string
	Anchor string // on which side of X the name is: "start", "middle" or "end"
	Y      string // of its line of names, as an SVG length
	High   string // how far its tick reaches
}

// How many characters and lines of names a screen has space for.
type fallSpace struct{ chars, lines int }

var (
	phoneFalls = fallSpace{44, 4}
	wallFalls  = fallSpace{84, 3}
)

const fallLine = 1.4 // em from one line of names to the next

// falls lays the numbers of a draw on its strip; nil where they are not shown.
func (q *poll) falls(space fallSpace) *fallStrip {
	if len(q.Poll.Falls) == 0 {
		return nil
	}
	s := &fallStrip{}
	at := 0.0
	for _, o := range q.Options {
		piece := fallPiece{X: sized(at), W: sized(o.Q), Class: stage.Ramp(o.Q), Text: o.Label}
		if o.Rest {
			piece.Class = "is-rest"
		}
		if float64(utf8.RuneCountInString(o.Label.String())+1) > o.Q*float64(space.chars) {
			piece.Text = nil
		}
		s.Pieces = append(s.Pieces, piece)
		at += o.Q
	}
	taken := make([][]span, space.lines)
	used := 0
	for _, f := range q.Poll.Falls {
		one := fall{Key: q.ID + "." + strconv.Itoa(f.ID), X: sized(f.U), High: em(0.4)}
		if line, ok := one.name(f, space, taken); ok {
			one.Y, one.High = em(fallLine*float64(line+1)), em(fallLine*float64(line)+0.4)
			used = max(used, line+1)
		} else if f.Name != "" {
			s.More++
		}
		s.Falls = append(s.Falls, one)
	}
	s.High = em(fallLine*float64(used) + 0.6)
	return s
}

// span is a part of a line of names, as shares of its length.
type span struct{ from, to float64 }

// name finds the first line with space for a name at its number, and takes it.
func (one *fall) name(f class.Fall, space fallSpace, taken [][]span) (line int, ok bool) {
	if f.Name == "" {
		return 0, false
	}
	long := (lengthOf(f.Name) + 1) / float64(space.chars)
	at := span{f.U - long/2, f.U + long/2}
	one.Anchor = "middle"
	switch {
	case at.from < 0:
		one.Anchor, at = "start", span{f.U, f.U + long}
	case at.to > 1:
		one.Anchor, at = "end", span{f.U - long, f.U}
	}
	for line := range taken {
		i, _ := slices.BinarySearchFunc(taken[line], at, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		if i > 0 && taken[line][i-1].to > at.from || i < len(taken[line]) && taken[line][i].from < at.to {
			continue
		}
		taken[line] = slices.Insert(taken[line], i, at)
		one.Name = f.Name
		return line, true
	}
	return 0, false
}

// lengthOf is how long a name is, in characters of an ordinary width.
func lengthOf(name string) float64 {
	long := 0.0
	for _, r := range name {
		switch {
		case r >= 0x1100: // of a script with square characters, or a picture
			long += 2
		case strings.ContainsRune("MWmw@", r):
			long += 1.7
		case unicode.IsUpper(r):
			long += 1.25
		default:
			long++
		}
	}
	return long
}

// em writes a length of an SVG in the size of its text.
func em(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) + "em" }

// whoSees says, where a name is chosen, who will see it.
func whoSees(v *class.View) string {
	if v.NamesFall {
		return "Your name in this class; everybody sees it where your number falls"
	}
	return "Your name in this class; only the instructor sees it"
}
