package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/wire"
)

func morph(id, html string) wire.Panel { return wire.Panel{ID: id, Op: wire.Morph, HTML: html} }

// TestJoin: of what waits only the newest is told, and nothing of what must be.
func TestJoin(t *testing.T) {
	row := wire.Panel{ID: "rows", Op: wire.Append, HTML: "<li>1</li>"}
	row2 := wire.Panel{ID: "rows", Op: wire.Append, HTML: "<li>2</li>"}
	for name, c := range map[string]struct{ first, next, want wire.Message }{
		"the newer of two": {
			wire.Message{Ack: 1, Panels: []wire.Panel{morph("a", "1"), morph("b", "1")}, Data: "old"},
			wire.Message{Ack: 2, Panels: []wire.Panel{morph("a", "2")}, Data: "new"},
			wire.Message{Ack: 2, Panels: []wire.Panel{morph("b", "1"), morph("a", "2")}, Data: "new"},
		},
		"done stays, ack never falls, data is kept": {
			wire.Message{Ack: 3, Done: true, Data: "kept"},
			wire.Message{Panels: []wire.Panel{morph("a", "1")}},
			wire.Message{Ack: 3, Done: true, Data: "kept", Panels: []wire.Panel{morph("a", "1")}},
		},
		"rows are added up": {
			wire.Message{Panels: []wire.Panel{row}},
			wire.Message{Panels: []wire.Panel{row2}},
			wire.Message{Panels: []wire.Panel{row, row2}},
		},
		"a new list makes rows before it void": {
			wire.Message{Panels: []wire.Panel{row}},
			wire.Message{Panels: []wire.Panel{morph("rows", "<ul></ul>")}},
			wire.Message{Panels: []wire.Panel{morph("rows", "<ul></ul>")}},
		},
		"what is taken away needs no making": {
			wire.Message{Panels: []wire.Panel{morph("a", "1")}},
			wire.Message{Panels: []wire.Panel{{ID: "a", Op: wire.Remove}}},
			wire.Message{Panels: []wire.Panel{{ID: "a", Op: wire.Remove}}},
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
		err := wire.Command{Name: "set", Fields: json.RawMessage(fields)}.Decode(&into)
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
