package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

func morph(id, html string) Panel { return Panel{ID: id, Op: Morph, HTML: html} }

// TestJoinKeepsTheNewest: merging messages loses nothing but older states.
func TestJoinKeepsTheNewest(t *testing.T) {
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
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestReadIsStrict: unknown fields and values of the wrong type are refused.
func TestReadIsStrict(t *testing.T) {
	inputs := terms.Inputs{terms.Optional(terms.IntInput("t", 0, 9)), FormInput}
	for fields, code := range map[string]terms.Code{
		``: "", `{}`: "", `{"t":5,"values":{"a":"b"}}`: "",
		`{"t":"much"}`: terms.CodeRange, `{"values":{"a":1}}`: terms.CodeRange, `{"values":"a"}`: terms.CodeRange,
		`{"values":null}`: terms.CodeRange, `{"u":1}`: terms.CodeUnknown, `{`: terms.CodeFormat,
		`{"T":5}`: terms.CodeUnknown, `{"t":5,"Values":{"a":"b"}}`: terms.CodeUnknown,
	} {
		v, err := Command{Name: "set", Fields: json.RawMessage(fields)}.Read(inputs)
		var e *terms.Refusal
		if got := terms.Code(""); errors.As(err, &e) {
			got = e.Code
			if e.Message == "" || got != code {
				t.Errorf("%s: got %+v, want code %q", fields, e, code)
			}
		} else if err != nil || code != "" {
			t.Errorf("%s: got %v, want code %q", fields, err, code)
		} else if len(fields) > 9 && (v.Int("t") != 5 || FormOf(v)["a"] != "b") {
			t.Errorf("%s: got %q, want t = 5 and the form's a = b", fields, v)
		}
	}
}

// FuzzReadCommand: a message is either refused, or it is one object without duplicate fields. In
// that case, the part receives the same fields that another decoder returns.
func FuzzReadCommand(f *testing.F) {
	f.Add([]byte(`{"cmd":"set","n":7,"values":{"t":"0.5"}}`))
	f.Add([]byte(`{"cmd":"set","n":1,"n":2}`))
	f.Add([]byte(`{"cmd":"set","a":[{"b":1},{"b":2,"\u0062":3}]}`))
	f.Add([]byte(`{"cmd":"a","b":"\ud83d"}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		if !utf8.Valid(message) {
			return // closes the connection
		}
		c, err := ReadCommand(message)
		if err != nil {
			return
		}
		// A colon outside of strings follows each field name.
		var fields map[string]any
		if err := json.Unmarshal(message, &fields); err != nil {
			t.Fatalf("%q is accepted, but another decoder fails: %v", message, err)
		}
		if got, want := colons(message), names(fields); got != want {
			t.Errorf("%q is accepted with %d field names, but another decoder finds %d", message, got, want)
		}
		delete(fields, "cmd")
		delete(fields, "n")
		delete(fields, "t")
		if _, err := c.Read(terms.Inputs{terms.Optional(terms.TextInput("t"))}); err == nil && len(fields) > 0 {
			t.Errorf("%q is read with more fields than t, want them refused", message)
		}
	})
}

// colons counts the colons of valid JSON that are outside of strings.
func colons(text []byte) (n int) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			inside = !inside
		case c == ':' && !inside:
			n++
		}
	}
	return n
}

// names counts the fields of all objects within a value.
func names(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, w := range v {
			n += 1 + names(w)
		}
	case []any:
		for _, w := range v {
			n += names(w)
		}
	}
	return n
}
