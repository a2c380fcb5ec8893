package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// example is an export with one entry of each kind.
const example = `{
  "format": "viz-progress",
  "version": 1,
  "exported": "2026-11-21T09:00:00.123Z",
  "visits": [
     {"section":"loop#steps","first":"2026-11-20T08:00:00.000Z","last":"2026-11-20T09:00:00.000Z","times":3}
  ],
  "answers": [
     {"id":"a1","at":"2026-11-20T08:01:00.000Z","kind":"quiz","item":"q-order","credit":0.5,"detail":"<b>ä</b>"}
  ],
  "reviews": [
     {"id":"r1","at":"2026-11-20T08:02:00.000Z","card":"c-steps","grade":"good"}
  ],
  "predictions": [
     {"id":"p1","at":"2026-11-20T08:03:00.000Z","confidence":0.75,"right":true,"score":-0.2876820724517809}
  ],
  "settings": [
     {"name":"pace","value":"slow"}
  ]
}
`

// TestParseThenEncode: encoding a parsed file returns the original.
func TestParseThenEncode(t *testing.T) {
	f, err := Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 11, 20, hour, minute, 0, 0, time.UTC) }
	want := File{
		Exported: time.Date(2026, 11, 21, 9, 0, 0, 123e6, time.UTC),
		Visits:   []Visit{{"loop#steps", at(8, 0), at(9, 0), 3}},
		Answers: []Answered{
			{at(8, 1), Answer{ID: "a1", Item: "q-order", Kind: Quiz, Credit: 0.5, Detail: "<b>ä</b>"}},
		},
		Reviews: []Review{{"r1", at(8, 2), "c-steps", fsrs.Good}},
		Predictions: []Predicted{
			{at(8, 3), Prediction{ID: "p1", Confidence: 0.75, Right: true, Score: -0.2876820724517809}},
		},
		Settings: []Setting{{"pace", "slow"}},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("the example is parsed as %+v, want %+v", f, want)
	}
	out, err := f.Encode()
	if err != nil || string(out) != example {
		t.Errorf("the file is encoded as %s, %v; want %s", out, err, example)
	}
}

// TestParseRefuses: a file with any fault is refused with the location of the fault, and Parse
// returns no part of the file.
func TestParseRefuses(t *testing.T) {
	swap := func(old, new string) string {
		if !strings.Contains(example, old) {
			t.Fatalf("the example does not contain %s", old)
		}
		return strings.Replace(example, old, new, 1)
	}
	twice := `{"id":"r1","at":"2026-11-20T08:02:00.000Z","card":"c-steps","grade":"good"}`
	for _, c := range []struct{ data, want string }{
		{"", "not JSON"},
		{"null", "the file must be an object"},
		{"[]", "the file must be an object"},
		{"{}", "format is missing"},
		{example[:300], "not JSON at line 9"},
		{example + "x", "not JSON at line 21, column 1"},
		{swap("<b>", "\xff"), "invalid UTF-8 at line 9, column 103"},
		{swap("viz-progress", "anki"), `format must be "viz-progress"`},
		{swap(`"version": 1`, `"version": 2`), "version must be 1"},
		{swap(`"version": 1`, `"version": "1"`), "version must be a whole number"},
		{swap(`"version": 1`, `"version": 1, "version": 1`), "version appears more than once"},
		{swap(`"version": 1`, `"version": 1, "Version": 1`), `the file has an unknown field "Version"`},
		{swap("2026-11-21T09:00:00.123Z", "yesterday"), "exported must be a time"},
		{swap(`"times":3`, `"times":0`), "visits[0].times must be 1 or more"},
		{swap(`"times":3`, `"times":2.5`), "visits[0].times must be a whole number"},
		{swap(`"times":3`, `"times":null`), "visits[0].times must be a whole number"},
		{swap(`"times":3`, `"times":1e99`), "visits[0].times must be a whole number"},
		{swap("2026-11-20T09:00:00.000Z", "2026-11-20T07:00:00.000Z"), "visits[0].last must not be before first"},
		{swap("2026-11-20T09:00:00.000Z", "1999-11-20T07:00:00.000Z"), "visits[0].last must be a time"},
		{swap("2026-11-20T09:00:00.000Z", "2026-11-20T09:00:00Z"), "visits[0].last must be a time"},
		{swap("loop#steps", "loop steps"), "visits[0].section must be 1 to 128"},
		{swap(`"credit":0.5`, `"credit":1.5`), "answers[0].credit must be 0 to 1"},
		{swap(`"credit":0.5`, `"credit":"half"`), "answers[0].credit must be a number"},
		{swap(`"credit":0.5`, `"credit":1e999`), "answers[0].credit must be a number"},
		{swap(`"credit":0.5,`, ``), "answers[0].credit is missing"},
		{swap(`"kind":"quiz"`, `"kind":"exam"`), "answers[0].kind must be"},
		{
			swap(`"detail":"<b>ä</b>"`, `"detail":"`+strings.Repeat("ä", 101)+`"`),
			"answers[0].detail must be text of at most 200 bytes",
		},
		{swap(`"grade":"good"`, `"grade":3`), "reviews[0].grade must be a text"},
		{swap(`"grade":"good"`, `"grade":"fine"`), "reviews[0].grade must be again, hard, good or easy"},
		{swap(twice, twice+","+twice), "reviews[1] has the same name as reviews[0]: r1"},
		{swap(twice, `"r1"`), "reviews[0] must be an object"},
		{swap(`"confidence":0.75`, `"confidence":-1`), "predictions[0].confidence must be 0 to 1"},
		{swap(`"right":true`, `"right":1`), "predictions[0].right must be true or false"},
		{swap(`"score":-0.2876820724517809`, `"score":1`), "predictions[0].score must be -100 to 0"},
		{swap(`"value":"slow"`, `"value":""`), "settings[0].value must be text of 1 to 1000"},
		{swap(`"value":"slow"`, `"value":"slow","by":"ada"`), `settings[0] has an unknown field "by"`},
		{
			regexp.MustCompile(`(?s)"visits": \[.*?\]`).ReplaceAllString(example, `"visits": {}`),
			"visits must be a list",
		},
		{
			regexp.MustCompile(`(?s)"visits": \[.*?\]`).ReplaceAllString(example, `"visits": null`),
			"visits must be a list",
		},
		{strings.Repeat("[", 20000), "not JSON"},
		{
			swap(`"settings": [`, `"settings": [`+many(`{"name":"%d","value":"x"},`, MaxSettings)),
			"settings has 101 entries; at most 100",
		},
		{
			swap(`"reviews": [`, `"reviews": [`+strings.Repeat("0,", MaxEntries)),
			"reviews has 20001 entries; at most 20000",
		},
		{swap("slow", strings.Repeat("x", MaxFile)), "at most 33554432 are accepted"},
	} {
		got, err := Parse([]byte(c.data))
		if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), c.want) ||
			strings.HasSuffix(fmt.Sprint(err), " ") {
			t.Errorf("%.60q…: %v\nwant %s", c.data, err, c.want)
		}
		if !reflect.DeepEqual(got, File{}) {
			t.Errorf("a refused file (%s) gives %+v, want %+v", c.want, got, File{})
		}
	}
}

func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestFullestExportFits: the largest possible export, with the longest possible entries and as many
// of them as allowed, is accepted. The test encodes only some of the entries, and extrapolates the
// size of the whole file.
func TestFullestExportFits(t *testing.T) {
	const part = 100
	at, long, quotes := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), strings.Repeat(
		"x", MaxID-6,
	), strings.Repeat(`"`, MaxDetail)
	id := func(i int) string { return fmt.Sprintf("%s%06d", long, i) }
	entries, settings := File{Exported: at}, File{Exported: at}
	for i := range part {
		entries.Visits = append(entries.Visits, Visit{id(i), at, at, math.MaxInt})
		entries.Answers = append(
			entries.Answers, Answered{at, Answer{id(i), id(i), Check, 0.12345678901234567, quotes}},
		)
		entries.Reviews = append(entries.Reviews, Review{id(i), at, id(i), fsrs.Again})
		entries.Predictions = append(
			entries.Predictions, Predicted{at, Prediction{id(i), 0.12345678901234567, false, -12.345678901234567}},
		)
	}
	for i := range MaxSettings {
		settings.Settings = append(settings.Settings, Setting{id(i), strings.Repeat(`"`, MaxSetting)})
	}
	size := func(f File) int {
		data, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); err != nil {
			t.Error(err)
		}
		return len(data)
	}
	if total := size(entries)*(MaxEntries/part) + size(settings); total > MaxFile {
		t.Errorf("the largest export has %d bytes, want at most %d, the limit for imports", total, MaxFile)
	}
}

// FuzzParse: for any input, Parse returns a file or a refusal. A file that it accepts stays the
// same when it is encoded and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(strings.ReplaceAll(example, "\n", "")))
	f.Add(
		[]byte(
			`{"format":"viz-progress","version":1,"exported":"2026-11-21T09:00:00.000Z","visits":[],"answers":[],` +
				`"reviews":[],"predictions":[],"settings":[]}`,
		),
	)
	f.Add([]byte(`{"format":[{"\ud800":null}]}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrInput) || !Plain(strings.ReplaceAll(err.Error(), "\n", " "), 2000) {
				t.Fatalf("the file is refused with %q, want a plain input error", err)
			}
			return
		}
		out, err := got.Encode()
		if err != nil || !json.Valid(out) {
			t.Fatalf("the file is encoded as %s, %v; want JSON, <nil>", out, err)
		}
		again, err := Parse(out)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("parsed again, the file is %+v, %v; was %+v", again, err, got)
		}
	})
}
