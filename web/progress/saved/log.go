package saved

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// The types of records in a learner's log. A record's data is the entry as encoded in a file.
const (
	TypeVisit      = "visit"
	TypeAnswer     = "answer"
	TypeReview     = "review"
	TypePrediction = "prediction"
	TypeSetting    = "setting"
)

// Entry is one entry of a file: a [Visit], [Answered], [Review], [Predicted] or
// [Setting].
type Entry interface {
	Type() string // the type of its record
	json() any    // the JSON object that represents it
	sound() bool  // whether its values are valid
}

// Type implements [Entry].
func (Visit) Type() string     { return TypeVisit }
func (Answered) Type() string  { return TypeAnswer }
func (Review) Type() string    { return TypeReview }
func (Predicted) Type() string { return TypePrediction }
func (Setting) Type() string   { return TypeSetting }

func (v Visit) json() any { return visitJSON{v.Section, stamp(v.First), stamp(v.Last), v.Times} }

func (a Answered) json() any {
	return answerJSON{a.ID, stamp(a.At), a.Kind, a.Item, a.Credit, a.Detail}
}

func (r Review) json() any { return reviewJSON{r.ID, stamp(r.At), r.Card, r.Grade.String()} }

func (p Predicted) json() any {
	return predictionJSON{p.ID, stamp(p.At), p.Confidence, p.Right, p.Score}
}

func (s Setting) json() any { return settingJSON(s) }

// mostTimes is the maximum number of visits to a section.
const mostTimes = 1 << 40

func (v Visit) sound() bool {
	return Name(v.Section) && someTime(v.First) && someTime(v.Last) && !v.Last.Before(v.First) &&
		v.Times >= 1 && v.Times <= mostTimes
}
func (a Answered) sound() bool  { return a.Check() == nil && someTime(a.At) }
func (r Review) sound() bool    { return Key(r.ID) && Name(r.Card) && someTime(r.At) }
func (p Predicted) sound() bool { return p.Check() == nil && someTime(p.At) }
func (s Setting) sound() bool   { return Key(s.Name) && Plain(s.Value, MaxSetting) }

// Sound reports whether [Read] would accept an entry.
func Sound(e Entry) bool { return e.sound() }

// Data returns an entry encoded as the data of a record.
func Data(e Entry) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e.json()); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Read returns the entry in a record's data. Each entry was checked before it was saved, so an
// invalid entry means that the data is damaged.
func Read(kind string, data []byte) (Entry, error) {
	e, err := readForm(kind, data)
	if err == nil && !e.sound() {
		return nil, fmt.Errorf("invalid entry of type %q", kind)
	}
	return e, err
}

func readForm(kind string, data []byte) (Entry, error) {
	switch kind {
	case TypeVisit:
		return decode(data, func(x visitJSON, at moments) Entry {
			return Visit{x.Section, at.read(x.First), at.read(x.Last), x.Times}
		})
	case TypeAnswer:
		return decode(data, func(x answerJSON, at moments) Entry {
			return Answered{at.read(x.At), Answer{x.ID, x.Item, x.Kind, x.Credit, x.Detail}}
		})
	case TypeReview:
		return decode(data, func(x reviewJSON, at moments) Entry {
			g, err := fsrs.ParseGrade(x.Grade)
			at.note(err)
			return Review{x.ID, at.read(x.At), x.Card, g}
		})
	case TypePrediction:
		return decode(data, func(x predictionJSON, at moments) Entry {
			return Predicted{at.read(x.At), Prediction{x.ID, x.Confidence, x.Right, x.Score}}
		})
	case TypeSetting:
		return decode(data, func(x settingJSON, _ moments) Entry { return Setting(x) })
	}
	return nil, fmt.Errorf("unknown entry type %q", kind)
}

// moments parses times and keeps the first error.
type moments struct{ err *error }

func (m moments) note(err error) {
	if err != nil && *m.err == nil {
		*m.err = err
	}
}

func (m moments) read(text string) time.Time {
	t, err := time.Parse(timeLayout, text)
	m.note(err)
	return t
}

func decode[J any](data []byte, make func(J, moments) Entry) (Entry, error) {
	var x J
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, err
	}
	var err error
	e := make(x, moments{&err})
	return e, err
}

// Put adds to the file an entry returned by [Read].
func (f *File) Put(e Entry) {
	switch e := e.(type) {
	case Visit:
		f.Visits = append(f.Visits, e)
	case Answered:
		f.Answers = append(f.Answers, e)
	case Review:
		f.Reviews = append(f.Reviews, e)
	case Predicted:
		f.Predictions = append(f.Predictions, e)
	case Setting:
		f.Settings = append(f.Settings, e)
	}
}

// Sort sorts the entries into the order that a file must have.
func (f *File) Sort() {
	slices.SortFunc(f.Visits, func(a, b Visit) int { return strings.Compare(a.Section, b.Section) })
	slices.SortFunc(f.Answers, func(a, b Answered) int { return Earlier(a.At, b.At, a.ID, b.ID) })
	slices.SortFunc(f.Reviews, func(a, b Review) int { return Earlier(a.At, b.At, a.ID, b.ID) })
	slices.SortFunc(f.Predictions, func(a, b Predicted) int { return Earlier(a.At, b.At, a.ID, b.ID) })
	slices.SortFunc(f.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
}

// Earlier compares entries by their times, and entries with the same time by their ids.
func Earlier(a, b time.Time, idA, idB string) int {
	if c := a.Compare(b); c != 0 {
		return c
	}
	return strings.Compare(idA, idB)
}
