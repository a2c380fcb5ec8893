package session

import (
	"reflect"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

// TestFormsAndMessagesParseAlike: a form and JSON with the same fields either result in the same
// command or are refused because of the same field.
func TestFormsAndMessagesParseAlike(t *testing.T) {
	for _, c := range []struct {
		name, json string
		form       map[string]string
	}{
		{"start", `{"prompt":"one\ntwo"}`, map[string]string{"prompt": "one\r\ntwo"}},
		{"seek", `{"step":2,"stage":"filter"}`, map[string]string{"step": "2", "stage": "4"}},
		{"seek", `{"step":2,"stage":"filter"}`, map[string]string{"step": "2", "stage": "filter"}},
		{"seek", `{"step":2,"stage":"eighth"}`, map[string]string{"step": "2", "stage": "8"}},
		{"seek", `{"step":2,"stage":"half"}`, map[string]string{"step": "2", "stage": "2.5"}},
		{"seek", `{"step":2,"stage":"half"}`, map[string]string{"step": "2", "stage": "400%"}},
		{"set", `{"temperature":0.5,"top_k":3}`, map[string]string{"temperature": "0,5", "top_k": "3", "top_p": ""}},
		{"set", `{"temperature":"hot"}`, map[string]string{"temperature": "hot"}},
		{"set", `{"max_tokens":3}`, map[string]string{"max_tokens": "3"}},
		{"stop", `{"max_tokens":3,"stop":["a","\n"]}`, map[string]string{"max_tokens": "3", "stop": "a\n\\n"}},
		{"stop", `{"stop":"a"}`, map[string]string{"stop": "a"}},
		{"choose", `{"step":1}`, map[string]string{"step": "1"}},
		{"look", `{"on":true}`, map[string]string{"on": "true"}},
		{"look", `{"on":"maybe"}`, map[string]string{"on": "maybe"}},
		{"whatif", `{"u":0.25}`, map[string]string{"u": "0.25"}},
		{"redraw", `{"seed":1.5}`, map[string]string{"seed": "1.5"}},
		{"speed", `{"speed":"max"}`, map[string]string{"speed": "max"}},
		{"step", `{"withhold":true}`, map[string]string{"withhold": "true"}},
		{"step", `{"withhold":"perhaps"}`, map[string]string{"withhold": "perhaps"}},
		{"step", `{}`, map[string]string{"withhold": ""}},
		{"draw", `{}`, nil},
		{"play", `{}`, nil},
		{"play", `{"fast":true}`, map[string]string{"fast": "true"}},
	} {
		fields, bad := terms.JSONFields([]byte(c.json))
		if bad != nil {
			t.Fatalf("JSONFields: got refusal %v, want none", bad)
		}
		a, known, errA := Commands.Read(c.name, fields)
		b, _, errB := Commands.Read(c.name, terms.TextFields(c.form))
		switch {
		case !known:
			t.Errorf("there is no command %s", c.name)
		case (errA == nil) != (errB == nil), errA != nil && (errA.Field != errB.Field || errA.Code != errB.Code):
			t.Errorf("%s %s is refused with %v, want the refusal of the form, %v", c.name, c.json, errA, errB)
		case errA == nil && !reflect.DeepEqual(a, b):
			t.Errorf("%s %s is parsed as %+v, want the command of the form, %+v", c.name, c.json, a, b)
		}
	}
	message, _ := terms.JSONFields([]byte(`{"prompt":"one\r\ntwo"}`))
	if c, _, err := Commands.Read("start", message); err != nil || !reflect.DeepEqual(c, Start{Prompt: "one\r\ntwo"}) {
		t.Errorf("a message with a carriage return: got %+v, %v; want it kept", c, err)
	}
	if c, known, err := Commands.Read("dance", terms.TextFields(nil)); known || c != nil || err != nil {
		t.Errorf("the command dance: got %v, %v, %v; want nil, false, <nil>", c, known, err)
	}
}
