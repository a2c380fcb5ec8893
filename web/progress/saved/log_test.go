package saved

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/lessons/fsrs"
)

// TestRecordDataIsAFileLine: a record's data is the same as the entry's line in a file, and reading
// it gives the same entry.
func TestRecordDataIsAFileLine(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 123e6, time.UTC)
	f := File{Exported: at}
	for _, e := range []Entry{
		Visit{"loop#steps", at, at.Add(time.Hour), 3},
		Answered{at, Answer{"a1", "q-order", Quiz, 0.1, `<b>"ä"</b>`}},
		Review{"r1", at, "c-steps", fsrs.Hard},
		Predicted{at, Prediction{"p1", 0.75, true, -0.2876820724517809}},
		Setting{"pace", "slow"},
	} {
		data, err := Data(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(e.Type(), data)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%s is read as %+v, %v; was %+v", data, again, err, e)
		}
		f.Put(again)
		file, err := f.Encode()
		if err != nil || !strings.Contains(string(file), string(data)+"\n") {
			t.Errorf("the file does not contain the line %s, %v", data, err)
		}
	}
}

// TestUnreadableRecordsAreErrors: if data is not a valid entry, reading it returns an error. It
// never panics or returns a zero entry.
func TestUnreadableRecordsAreErrors(t *testing.T) {
	for kind, data := range map[string]string{
		TypeVisit:      `{"section":"a#b","first":"yesterday","last":"2026-11-21T09:00:00.000Z","times":1}`,
		TypeAnswer:     `{"id":1}`,
		TypeReview:     `{"id":"r","at":"2026-11-21T09:00:00.000Z","card":"c","grade":"fine"}`,
		TypePrediction: `null and more`,
		TypeSetting:    `{`,
		"vote":         `{}`,
	} {
		if e, err := Read(kind, []byte(data)); err == nil {
			t.Errorf("%s %s is read as %+v, want an error", kind, data, e)
		}
	}
}

// TestSortByTimeThenID: entries are sorted by time, then by id.
func TestSortByTimeThenID(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var f File
	for _, id := range []string{"b", "c", "a"} {
		when := at
		if id == "c" {
			when = at.Add(-time.Second)
		}
		f.Put(Visit{Section: id})
		f.Put(Answered{when, Answer{ID: id}})
		f.Put(Review{ID: id, At: when})
		f.Put(Predicted{when, Prediction{ID: id}})
		f.Put(Setting{Name: id})
	}
	f.Sort()
	var got []string
	for i := range 3 {
		got = append(got, f.Visits[i].Section+f.Answers[i].ID+f.Reviews[i].ID+f.Predictions[i].ID+f.Settings[i].Name)
	}
	if want := []string{"accca", "baaab", "cbbbc"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the entries are sorted as %v, want %v", got, want)
	}
}
