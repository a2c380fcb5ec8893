package live_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/live"
	"github.com/tokenbytoken/viz/web/session"
)

func morph(id, html string) live.Panel { return live.Panel{ID: id, Op: live.Morph, HTML: html} }

// TestJoin: of what waits only the newest is told, and nothing of what must be.
func TestJoin(t *testing.T) {
	row := live.Panel{ID: "rows", Op: live.Append, HTML: "<li>1</li>"}
	row2 := live.Panel{ID: "rows", Op: live.Append, HTML: "<li>2</li>"}
	for name, c := range map[string]struct{ first, next, want live.Message }{
		"the newer of two": {
			live.Message{Ack: 1, Panels: []live.Panel{morph("a", "1"), morph("b", "1")}, Data: "old"},
			live.Message{Ack: 2, Panels: []live.Panel{morph("a", "2")}, Data: "new"},
			live.Message{Ack: 2, Panels: []live.Panel{morph("b", "1"), morph("a", "2")}, Data: "new"},
		},
		"done stays, ack never falls, data is kept": {
			live.Message{Ack: 3, Done: true, Data: "kept"},
			live.Message{Panels: []live.Panel{morph("a", "1")}},
			live.Message{Ack: 3, Done: true, Data: "kept", Panels: []live.Panel{morph("a", "1")}},
		},
		"rows are added up": {
			live.Message{Panels: []live.Panel{row}},
			live.Message{Panels: []live.Panel{row2}},
			live.Message{Panels: []live.Panel{row, row2}},
		},
		"a new list makes rows before it void": {
			live.Message{Panels: []live.Panel{row}},
			live.Message{Panels: []live.Panel{morph("rows", "<ul></ul>")}},
			live.Message{Panels: []live.Panel{morph("rows", "<ul></ul>")}},
		},
		"what is taken away needs no making": {
			live.Message{Panels: []live.Panel{morph("a", "1")}},
			live.Message{Panels: []live.Panel{{ID: "a", Op: live.Remove}}},
			live.Message{Panels: []live.Panel{{ID: "a", Op: live.Remove}}},
		},
	} {
		if got := c.first.Join(c.next); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestDecodeIsStrict: a command's fields are those that its feed knows.
func TestDecodeIsStrict(t *testing.T) {
	var into struct {
		T    float64           `json:"t"`
		Text map[string]string `json:"text"`
	}
	for fields, code := range map[string]string{
		``: "", `{}`: "", `{"t":0.5,"text":{"a":"b"}}`: "",
		`{"t":"much"}`: live.Range, `{"text":{"a":1}}`: live.Range, `{"u":1}`: live.Unknown, `{`: live.Unknown,
	} {
		err := live.Command{Name: "set", Fields: json.RawMessage(fields)}.Decode(&into)
		var e *live.Error
		if got := ""; errors.As(err, &e) {
			got = e.Code
			if e.Message == "" || got != code {
				t.Errorf("%s: %+v, want code %q", fields, e, code)
			}
		} else if err != nil || code != "" {
			t.Errorf("%s: %v, want code %q", fields, err, code)
		}
	}
}

// TestErrorOf: refusals keep their code, field and range.
func TestErrorOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want live.Error
	}{
		{&live.Error{Code: live.Busy, Message: "Wait."}, live.Error{Code: live.Busy, Message: "Wait."}},
		{
			session.FieldError("temperature", "-1", "0 to 100"),
			live.Error{
				Code: live.Range, Field: "temperature", Want: "0 to 100",
				Message: "Temperature is -1; it must be 0 to 100.",
			},
		},
		{
			terms.NewRangeError("gamma", 9, "1 to 8"),
			live.Error{Code: live.Range, Field: "gamma", Want: "1 to 8", Message: "gamma is 9; it must be 1 to 8."},
		},
		{
			errors.New("a row is short"),
			live.Error{Code: live.Model, Message: "The model could not go on: a row is short."},
		},
	} {
		if got := live.ErrorOf(c.err); *got != c.want {
			t.Errorf("%v: %+v, want %+v", c.err, *got, c.want)
		}
	}
}
