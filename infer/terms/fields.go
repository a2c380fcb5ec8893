package terms

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fields holds a command's fields as sent by a client: JSON values, or strings from a form. Its
// methods parse and remove the fields one by one, and store the first error. Any fields left at the
// end are unexpected.
type Fields struct {
	raw   map[string]json.RawMessage // JSON, or plain text if texts is set
	texts bool
	err   *Refusal
}

// TextFields returns the fields of a form. An empty field counts as missing.
func TextFields(form map[string]string) *Fields {
	f := &Fields{raw: map[string]json.RawMessage{}, texts: true}
	for name, text := range form {
		if text != "" {
			f.raw[name] = json.RawMessage(text)
		}
	}
	return f
}

// JSONFields returns a message's fields. The message must be a single JSON object of valid Unicode,
// and no object in it may have duplicate fields.
func JSONFields(message []byte) (*Fields, *Refusal) {
	f := &Fields{}
	if err := json.Unmarshal(message, &f.raw); err != nil || f.raw == nil {
		return nil, Refuse(CodeFormat, "error.json", "example", `{"cmd":"step","n":1}`)
	}
	if HalfCharacter(message) {
		return nil, Refuse(CodeFormat, "error.half")
	}
	if name, twice := repeated(message); twice {
		return nil, Refuse(CodeFormat, "error.twice", "field", Quoted(name))
	}
	return f, nil
}

// Err returns the first error in the fields read so far, or nil.
func (f *Fields) Err() *Refusal { return f.err }

// Has reports whether a field is given and has not been read.
func (f *Fields) Has(name string) bool { _, ok := f.raw[name]; return ok }

// Rest returns the unread fields by name, each as received.
func (f *Fields) Rest() map[string]json.RawMessage { return f.raw }

// Unexpected returns a refusal for the alphabetically first unread field, or nil if there is none.
// `of` names the object in which the field was sent, and `takes` lists the fields that this object
// may have.
func (f *Fields) Unexpected(of, takes string) *Refusal {
	if f.err != nil || len(f.raw) == 0 {
		return f.err
	}
	name := slices.Min(slices.Collect(maps.Keys(f.raw)))
	f.err = Refuse(CodeUnknown, "error.field", "of", of, "field", Quoted(name),
		"fields", strings.TrimPrefix(takes+", cmd, n", ", "))
	f.err.Field, f.err.Want = Clip([]byte(name)), takes
	return f.err
}

// Read reads the value of an input, in canonical form. If the field is missing, it returns the
// input's default. If there is no default either, ok is false, which is an error unless the input
// is optional. ok is also false after an error. In a form, a missing text counts as empty and a
// missing boolean as false, since forms omit unchecked boxes.
func (f *Fields) Read(in Input) (value string, ok bool) {
	raw, given := f.raw[in.Key]
	delete(f.raw, in.Key)
	if !given || f.texts && in.Number() && strings.TrimSpace(string(raw)) == "" {
		return f.missing(in)
	}
	var err error
	if f.texts {
		value, err = in.Parse(fromForm(string(raw)))
	} else {
		value, err = in.parseJSON(raw)
	}
	if err != nil {
		if f.err == nil {
			f.err = RefusalOf(err)
		}
		return "", false
	}
	return value, true
}

// ReadAll reads the values of several inputs. Inputs for which [Fields.Read] returns false have no
// value.
func (f *Fields) ReadAll(list Inputs) Values {
	v := Values{}
	for _, in := range list {
		if value, ok := f.Read(in); ok {
			v[in.Key] = value
		}
	}
	return v
}

func (f *Fields) missing(in Input) (value string, ok bool) {
	switch {
	case in.Default != "":
		return in.Default, true
	case in.Optional:
		return "", false
	case f.texts && in.Kind == KindBool:
		return "false", true
	}
	err := in.Refuse(PhraseOf("got.missing"))
	if f.texts && (in.Kind == KindText || in.Kind == KindLines) {
		_, err = in.Parse("")
	}
	if f.err == nil && err != nil {
		f.err = RefusalOf(err)
	}
	return "", err == nil
}

// Text reads a required text.
func (f *Fields) Text(name string) string {
	value, _ := f.Read(TextInput(name))
	return value
}

// Whole reads a required whole number from least to most.
func (f *Fields) Whole(name string, least, most int64) int64 {
	value, _ := f.Read(IntInput(name, float64(least), float64(most)))
	return int64(Values{name: value}.Float(name))
}

// Truth reads a required boolean.
func (f *Fields) Truth(name string) bool {
	value, _ := f.Read(BoolInput(name))
	return value == "true"
}

// HalfCharacter reports whether valid JSON text has a surrogate escape without its other half. The
// decoder would replace it with U+FFFD, so the run's text would differ from the text that the
// learner sent.
func HalfCharacter(text []byte) bool {
	high := false // the previous escape is the first half of a pair
	for i := 0; i < len(text); {
		var unit uint64
		n := 1
		if text[i] == '\\' {
			n = 2
			if text[i+1] == 'u' {
				n = 6
				unit, _ = strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
			}
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if high != low {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
		i += n
	}
	return high
}

// repeated returns the name of a field that occurs twice in one object, at any depth of valid JSON
// text. The decoder would keep the last value, while other programs keep the first.
func repeated(text []byte) (name string, found bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	// open holds the names seen so far in each object that is still open, and nil for each
	// list.
	var open []map[string]bool
	for wantName := false; ; {
		token, err := d.Token()
		if err != nil {
			return "", false // end of the text, which is valid
		}
		if key, text := token.(string); text && wantName {
			seen := open[len(open)-1]
			if seen[key] {
				return key, true
			}
			seen[key], wantName = true, false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		wantName = len(open) > 0 && open[len(open)-1] != nil
	}
}

// Clip shortens a value for a message. It cuts at a character boundary.
func Clip(raw json.RawMessage) string {
	const most = 40
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
