package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func morph(id, html string) Panel { return Panel{ID: id, Op: Morph, HTML: html} }

// TestJoin: of what waits only the newest is told, and nothing of what must be.
func TestJoin(t *testing.T) {
	row := Panel{ID: "rows", Op: Append, HTML: "<li>1</li>"}
	row2 := Panel{ID: "rows", Op: Append, HTML: "<li>2</li>"}
	for name, c := range map[string]struct{ first, next, want Message }{
		"the newer of two": {
			Message{Ack: 1, Panels: []Panel{morph("a", "1"), morph("b", "1")}, Data: "old"},
			Message{Ack: 2, Panels: []Panel{morph("a", "2")}, Data: "new"},
			Message{Ack: 2, Panels: []Panel{morph("b", "1"), morph("a", "2")}, Data: "new"},
		},
		"done stays, ack never falls, data is kept": {
			Message{Ack: 3, Done: true, Data: "kept"},
			Message{Panels: []Panel{morph("a", "1")}},
			Message{Ack: 3, Done: true, Data: "kept", Panels: []Panel{morph("a", "1")}},
		},
		"rows are added up": {
			Message{Panels: []Panel{row}},
			Message{Panels: []Panel{row2}},
			Message{Panels: []Panel{row, row2}},
		},
		"a new list makes rows before it void": {
			Message{Panels: []Panel{row}},
			Message{Panels: []Panel{morph("rows", "<ul></ul>")}},
			Message{Panels: []Panel{morph("rows", "<ul></ul>")}},
		},
		"what is taken away needs no making": {
			Message{Panels: []Panel{morph("a", "1")}},
			Message{Panels: []Panel{{ID: "a", Op: Remove}}},
			Message{Panels: []Panel{{ID: "a", Op: Remove}}},
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
	for fields, code := range map[string]terms.Code{
		``: "", `{}`: "", `{"t":0.5,"text":{"a":"b"}}`: "",
		`{"t":"much"}`: terms.CodeRange, `{"text":{"a":1}}`: terms.CodeRange,
		`{"u":1}`: terms.CodeUnknown, `{`: terms.CodeUnknown,
	} {
		err := Command{Name: "set", Fields: json.RawMessage(fields)}.Decode(&into)
		var e *terms.Refusal
		if got := terms.Code(""); errors.As(err, &e) {
			got = e.Code
			if e.Message == "" || got != code {
				t.Errorf("%s: %+v, want code %q", fields, e, code)
			}
		} else if err != nil || code != "" {
			t.Errorf("%s: %v, want code %q", fields, err, code)
		}
	}
}
