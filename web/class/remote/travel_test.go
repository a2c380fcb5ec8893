package remote

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/room"
)

// TestViewEncodingIsComplete: a view sent between servers arrives with all its fields.
func TestViewEncodingIsComplete(t *testing.T) {
	t.Parallel()
	from := &class.View{}
	x := reflect.ValueOf(from).Elem()
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		fill(x.Field(i))
	}
	from.Epoch, from.Code = 7, "K7Q4MX"
	text, err := encode(from)
	if err != nil {
		t.Fatal(err)
	}
	f := &relay{Face: room.NewFace(from.Code, [32]byte{}), news: make(chan struct{}, 1)}
	f.arrived(text)
	if f.incoming == nil {
		t.Fatal("the view has not arrived")
	}
	got := f.incoming.View
	if got.Epoch != 7 {
		t.Errorf("epoch %d, want 7", got.Epoch)
	}
	y := reflect.ValueOf(got).Elem()
	for i := range x.NumField() {
		f := x.Type().Field(i)
		if f.IsExported() && !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			t.Errorf("%s: %v, want %v", f.Name, y.Field(i), x.Field(i))
		}
	}
}

var clockTime = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// fill sets a value, including all its fields and elements, to nonzero values.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(clockTime) {
			v.Set(reflect.ValueOf(clockTime))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	default:
		panic(fmt.Sprint("unexpected type in a view: ", v.Type()))
	}
}

// TestMalformedRelayRequestsAreRefused: malformed requests get a reply and have no effect.
func TestMalformedRelayRequestsAreRefused(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a := u.server("a")
	l := a.teach(class.Options{})
	f := a.shared().relayOf(l.Code())
	args, err := json.Marshal(presenting{Who: classtest.Instructor, Secret: l.Secret}) // without a command
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		fmt.Sprintf(`{"room":%q,"term":1,"op":"present","args":%s}`, l.Code(), args),
		"", "null", "[]", "{", fmt.Sprintf(`{"room":%q,"term":1,"op":"vote","args":7}`, l.Code()),
		fmt.Sprintf(`{"room":%q,"term":1,"op":"no","args":{}}`, l.Code()), `{"room":"","term":1,"op":"vote","args":{}}`,
		fmt.Sprintf(`{"room":%q,"term":9,"op":"vote","args":{}}`, l.Code()), strings.Repeat("x", MaxRequest+1),
		fmt.Sprintf(`{"room":%q,"term":1,"op":"present","args":{}}`, l.Code()),
		fmt.Sprintf(`{"room":%q,"term":1,"op":"pages","args":{"Server":"x","N":1}}`, l.Code()),
	} {
		if text := a.shared().answer(t.Context(), []byte(bad)); !json.Valid(text) {
			t.Errorf("%.60s is answered with %q, want JSON", bad, text)
		}
	}
	for _, bad := range []string{"", "null", "{}", "[]", `{"View":{"Code":"other"}}`} {
		f.arrived([]byte(bad))
	}
	if _, err := a.enters(l, 1).Standing(t.Context(), classtest.Learner(1)); err != nil {
		t.Errorf("the room afterwards: %v", err)
	}
}

// TestHubWithoutDriverDefersToNextOwner: a hub without a driver can own a room briefly to
// end or remove it. It leaves all other requests to the next owner, since it cannot open a
// run.
func TestHubWithoutDriverDefersToNextOwner(t *testing.T) {
	t.Parallel()
	u := newUnion(t)
	a := u.server("a")
	code := a.teach(class.Options{}).Code()
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	tool := u.server("tool")
	tool.Config().Driver = nil
	r, err := tool.shared().Lookup(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	here, lease, err := r.(*relay).locate(t.Context(), time.Time{})
	if err != nil || here == nil {
		t.Fatalf("got %v, %v; want non-nil, <nil>", here, err)
	}
	data, err := json.Marshal(request{code, lease.Term, opWake.name, json.RawMessage("{}")})
	if err != nil {
		t.Fatal(err)
	}
	var p reply
	if err := json.Unmarshal(tool.shared().answer(t.Context(), data), &p); err != nil || !p.Moved {
		t.Errorf("it replies %+v, %v; want Moved set, <nil>", p, err)
	}
}
