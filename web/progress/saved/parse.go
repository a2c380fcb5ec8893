package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// Parse parses a file. It checks that the file has exactly the defined fields, that each is of the
// right type and within its range, and that no key occurs twice. Errors are [ErrInput] with the
// location of the error, such as reviews[3].grade, with indexes starting at 0.
//
// Parse does not check whether the sections, questions and cards exist in the course, since the
// file may come from an earlier or later version of the course.
func Parse(data []byte) (File, error) {
	data, err := wellFormed(data)
	if err != nil {
		return File{}, err
	}
	var p parser
	top := p.object(
		"", data, "format", "version", "exported", "visits", "answers", "reviews", "predictions", "settings",
	)
	p.is(
		"format", top, p.text("format", top) == format,
		fmt.Sprintf("must be %q; this is not a saved progress file", format),
	)
	p.is(
		"version", top, p.whole("version", top) == version,
		fmt.Sprintf("must be %d; the file was written by a different version of this program", version),
	)
	f := File{Exported: p.time("exported", top)}
	f.Visits = entries(&p, top, "visits", p.visit, func(v Visit) string { return v.Section })
	f.Answers = entries(&p, top, "answers", p.answer, func(a Answered) string { return a.ID })
	f.Reviews = entries(&p, top, "reviews", p.review, func(r Review) string { return r.ID })
	f.Predictions = entries(&p, top, "predictions", p.prediction, func(x Predicted) string { return x.ID })
	f.Settings = entries(&p, top, "settings", p.setting, func(x Setting) string { return x.Name })
	if p.err == nil && len(f.Settings) > MaxSettings {
		p.fail("settings", "has %d entries; at most %d are accepted", len(f.Settings), MaxSettings)
	}
	if p.err != nil {
		return File{}, p.err
	}
	return f, nil
}

// wellFormed checks that data is JSON of an accepted size, and returns it in UTF-8, since an editor
// may have saved the file in another encoding.
func wellFormed(data []byte) ([]byte, error) {
	if len(data) > MaxFile {
		return nil, Refuse("the file has %d bytes; at most %d are accepted", len(data), MaxFile)
	}
	var bad *files.UTF8Error
	text, err := files.Text(data)
	if errors.As(err, &bad) { // encoding/json would replace invalid bytes with U+FFFD
		return nil, Refuse("the file contains invalid UTF-8 at %s", place(data, bad.At))
	} else if err != nil {
		return nil, Refuse("the file %v", err)
	}
	data = []byte(text)
	var raw json.RawMessage
	err = json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, Refuse("the file is not JSON at %s: %v", place(data, int(syntax.Offset)-1), err)
	} else if err != nil {
		return nil, Refuse("the file is not JSON: %v", err)
	}
	return data, nil
}

// place describes the position of a byte, for messages.
func place(data []byte, offset int) string {
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// An object is a JSON object with its location and its fields.
type object struct {
	at     string
	fields map[string]json.RawMessage
}

func (o object) place(field string) string { return strings.TrimPrefix(o.at+"."+field, ".") }

// A parser parses data that is known to be JSON. After the first error, which it records, it stops
// parsing.
type parser struct{ err error }

func (p *parser) fail(at, format string, args ...any) {
	if p.err == nil {
		p.err = Refuse("%s %s", at, fmt.Sprintf(format, args...))
	}
}

// is records an error about a field if ok is false. must describes the condition that the field
// must meet.
func (p *parser) is(field string, o object, ok bool, must string) {
	if !ok {
		p.fail(o.place(field), "%s", must)
	}
}

// object parses an object that must have exactly the given fields.
func (p *parser) object(at string, data json.RawMessage, fields ...string) object {
	o := object{at, make(map[string]json.RawMessage, len(fields))}
	here := at
	if here == "" {
		here = "the file"
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); p.err != nil || err != nil || t != json.Delim('{') {
		p.fail(here, "must be an object")
		return o
	}
	for d.More() {
		t, err := d.Token()
		var value json.RawMessage
		name, _ := t.(string)
		if err != nil || d.Decode(&value) != nil {
			p.fail(here, "is invalid")
			return o
		}
		if _, twice := o.fields[name]; twice {
			p.fail(o.place(name), "appears more than once")
		}
		if !slices.Contains(fields, name) {
			p.fail(here, "has an unknown field %.50q", name)
		}
		o.fields[name] = value
	}
	for _, name := range fields {
		if _, found := o.fields[name]; !found {
			p.fail(o.place(name), "is missing")
		}
	}
	return o
}

// entries parses a list of objects. Their names, as returned by the function name, must be
// distinct.
func entries[T any](
	p *parser, top object, list string, read func(at string, raw json.RawMessage) T, name func(T) string,
) []T {
	var raw []json.RawMessage
	if p.err != nil || !array(top.fields[list]) || json.Unmarshal(top.fields[list], &raw) != nil {
		p.fail(list, "must be a list")
		return nil
	}
	if len(raw) > MaxEntries {
		p.fail(list, "has %d entries; at most %d are accepted", len(raw), MaxEntries)
		return nil
	}
	all, seen := make([]T, 0, len(raw)), make(map[string]int, len(raw))
	for i, r := range raw {
		at := fmt.Sprintf("%s[%d]", list, i)
		entry := read(at, r)
		if p.err != nil {
			return nil
		}
		if first, twice := seen[name(entry)]; twice {
			p.fail(at, "has the same name as %s[%d]: %s", list, first, name(entry))
			return nil
		}
		seen[name(entry)] = i
		all = append(all, entry)
	}
	return all
}

func array(data json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) }

func (p *parser) visit(at string, raw json.RawMessage) Visit {
	o := p.object(at, raw, "section", "first", "last", "times")
	v := Visit{p.name("section", o), p.time("first", o), p.time("last", o), p.whole("times", o)}
	p.is("last", o, !v.Last.Before(v.First), "must not be before first")
	p.is("times", o, v.Times >= 1, "must be 1 or more")
	return v
}

func (p *parser) answer(at string, raw json.RawMessage) Answered {
	o := p.object(at, raw, "id", "at", "kind", "item", "credit", "detail")
	a := Answered{p.time("at", o), Answer{
		ID: p.text("id", o), Item: p.text("item", o), Kind: p.text("kind", o), Credit: p.number("credit", o),
		Detail: p.text("detail", o),
	}}
	p.valid(o, a.Check())
	return a
}

func (p *parser) review(at string, raw json.RawMessage) Review {
	o := p.object(at, raw, "id", "at", "card", "grade")
	r := Review{ID: p.text("id", o), At: p.time("at", o), Card: p.name("card", o)}
	p.is("id", o, Key(r.ID), WantKey)
	g, err := fsrs.ParseGrade(p.text("grade", o))
	p.is("grade", o, err == nil, "must be again, hard, good or easy")
	r.Grade = g
	return r
}

func (p *parser) prediction(at string, raw json.RawMessage) Predicted {
	o := p.object(at, raw, "id", "at", "confidence", "right", "score")
	x := Predicted{p.time("at", o), Prediction{
		ID: p.text("id", o), Confidence: p.number("confidence", o), Right: p.truth("right", o),
		Score: p.number("score", o),
	}}
	p.valid(o, x.Check())
	return x
}

func (p *parser) setting(at string, raw json.RawMessage) Setting {
	o := p.object(at, raw, "name", "value")
	x := Setting{p.text("name", o), p.text("value", o)}
	p.is("name", o, Key(x.Name), WantKey)
	p.is(
		"value", o, x.Value != "" && Plain(x.Value, MaxSetting),
		fmt.Sprintf("must be text of 1 to %d bytes without control characters", MaxSetting),
	)
	return x
}

// valid records the error of an entry's check, if any. The error begins with the name of the field.
func (p *parser) valid(o object, err error) {
	if err != nil && p.err == nil {
		p.err = Refuse("%s", o.place(strings.TrimPrefix(err.Error(), ErrInput.Error()+": ")))
	}
}

func (p *parser) name(field string, o object) string {
	s := p.text(field, o)
	p.is(field, o, Name(s), WantName)
	return s
}

func (p *parser) text(field string, o object) (s string) {
	p.scalar(field, o, &s, "a text")
	return s
}

func (p *parser) number(field string, o object) (x float64) {
	p.scalar(field, o, &x, "a number")
	return x
}

func (p *parser) whole(field string, o object) (n int) {
	p.scalar(field, o, &n, "a whole number")
	return n
}

func (p *parser) truth(field string, o object) (b bool) {
	p.scalar(field, o, &b, "true or false")
	return b
}

// scalar parses a field into the variable that to points to. It refuses null.
func (p *parser) scalar(field string, o object, to any, kind string) {
	if p.err != nil {
		return
	}
	raw := o.fields[field]
	if err := json.Unmarshal(raw, to); err != nil || string(bytes.TrimSpace(raw)) == "null" {
		p.fail(o.place(field), "must be %s", kind)
	}
}

// The range of accepted times. Other times come from a broken clock or an attack.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func someTime(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }

// Bounded returns the valid time nearest to t, so that entries are saved even if the server's clock
// is wrong.
func Bounded(t time.Time) time.Time {
	if t.Before(earliest) {
		return earliest
	}
	if !t.Before(latest) {
		return latest.Add(-time.Second)
	}
	return t
}

func (p *parser) time(field string, o object) time.Time {
	t, err := time.Parse(timeLayout, p.text(field, o))
	p.is(
		field, o, err == nil && someTime(t),
		"must be a time such as 2026-11-21T09:30:00.000Z, from the year 2000 to 2199",
	)
	return t
}
