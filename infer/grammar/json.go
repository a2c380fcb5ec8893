package grammar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// value is a JSON value. Objects keep their names in order.
type value struct {
	kind   byte   // its first byte in JSON: n, t or f, 0 for a number, ", [ or {
	text   string // the contents of a string, or the literal of another scalar
	list   []*value
	fields []field
	twice  bool   // the object has a duplicate name
	key    string // set for constants: equal constants have equal keys
}

type field struct {
	name string
	*value
}

// parseJSON parses text, which must be valid JSON.
func parseJSON(text []byte) *value {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return readJSON(d)
}

func readJSON(d *json.Decoder) *value {
	token, _ := d.Token() // no error, since the text is valid
	switch t := token.(type) {
	case bool:
		if t {
			return &value{kind: 't', text: "true"}
		}
		return &value{kind: 'f', text: "false"}
	case json.Number:
		return &value{kind: '0', text: t.String()}
	case string:
		return &value{kind: '"', text: t}
	case json.Delim:
		v := &value{kind: byte(t)}
		names := map[string]bool{}
		for d.More() {
			if t == '[' {
				v.list = append(v.list, readJSON(d))
				continue
			}
			token, _ := d.Token()
			name, _ := token.(string)
			v.fields = append(v.fields, field{name, readJSON(d)})
			v.twice = v.twice || names[name]
			names[name] = true
		}
		_, _ = d.Token() // the closing bracket
		return v
	}
	return &value{kind: 'n', text: "null"}
}

// get returns a field of an object, or nil.
func (v *value) get(name string) *value {
	for _, f := range v.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// hasID reports whether a schema has an $id.
func (v *value) hasID() bool {
	id := v.get("$id")
	return id != nil && id.kind == '"'
}

// String returns the value as JSON on one line, formatted like the texts generated for schemas.
func (v *value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *value) write(b *strings.Builder) {
	switch v.kind {
	case '"':
		b.WriteString(quoted(v.text))
	case '[':
		b.WriteByte('[')
		for i, x := range v.list {
			if i > 0 {
				b.WriteByte(',')
			}
			x.write(b)
		}
		b.WriteByte(']')
	case '{':
		b.WriteByte('{')
		for i, f := range v.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(f.name) + ":")
			f.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.text)
	}
}

// quoted returns text as a JSON string with as few escapes as possible.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' {
			b.WriteString(escaped(r))
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// settle sets the key of a value and reports whether the value has one. A number with a huge
// exponent does not.
func (v *value) settle() bool {
	switch v.kind {
	case '0':
		d, ok := decimalOf(v.text)
		v.key = fmt.Sprint(d)
		return ok
	case '[':
		for _, x := range v.list {
			if !x.settle() {
				return false
			}
			v.key += "," + x.key
		}
		v.key = "[" + v.key + "]"
	case '{':
		var keys []string
		for _, f := range v.fields {
			if !f.settle() {
				return false
			}
			keys = append(keys, quoted(f.name)+f.key)
		}
		slices.Sort(keys)
		v.key = "{" + strings.Join(keys, ",") + "}"
	default:
		v.key = v.String()
	}
	return true
}
