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

// fallStrip is the strip of a draw with the numbers of the class. Each segment is as wide as its
// option's share. Each number is shown at its position in the strip, and the name of the member who
// drew it is shown below it.
type fallStrip struct {
	Segments []fallSegment
	Falls    []fall
	High     string // height of the names, as an SVG length
	More     int    // number of names that do not fit
}

// fallSegment is the segment of the strip for one option.
type fallSegment struct {
	X, W  string // SVG lengths
	Class string
	Text  stage.Text // empty if it does not fit
}

// fall is one number, with the member's name if there is one and it fits.
type fall struct {
	Key    string // identifies the number during the whole draw
	X      string // SVG length
	Name   string
	Anchor string // the point of the name that is at X: "start", "middle" or "end"
	Y      string // the vertical position of its name, as an SVG length
	High   string // length of its tick
}

// fallSpace is the space for names on a screen: the number of characters per line and the
// number of lines.
type fallSpace struct{ chars, lines int }

var (
	phoneFalls = fallSpace{44, 4}
	wallFalls  = fallSpace{84, 3}
)

const fallLine = 1.4 // distance between lines of names, in em

// falls lays out the numbers of a draw on its strip, or returns nil if they are not shown.
func (q *poll) falls(space fallSpace) *fallStrip {
	if len(q.Poll.Falls) == 0 {
		return nil
	}
	s := &fallStrip{}
	at := 0.0
	for _, o := range q.Options {
		segment := fallSegment{X: sized(at), W: sized(o.Q), Class: stage.Ramp(o.Q), Text: o.Label}
		if o.Rest {
			segment.Class = "is-rest"
		}
		if float64(utf8.RuneCountInString(o.Label.String())+1) > o.Q*float64(space.chars) {
			segment.Text = nil
		}
		s.Segments = append(s.Segments, segment)
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

// span is an occupied part of a line of names, in fractions of the line's length.
type span struct{ from, to float64 }

// name finds the first line that has space for a name below its number, and marks that space
// as taken.
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

// lengthOf returns the approximate width of a name, in average character widths.
func lengthOf(name string) float64 {
	long := 0.0
	for _, r := range name {
		switch {
		case r >= 0x1100: // a character of a script with wide characters, or an emoji
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

// em formats an SVG length in units of the font size.
func em(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) + "em" }

// whoSees returns the key of the text that describes who will see a name, for the form in which
// members choose it.
func whoSees(v *class.View) string {
	if v.NamesFall {
		return "class.name.everybody"
	}
	return "class.name.instructor"
}
