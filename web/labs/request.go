package labs

import (
	"maps"
	"strings"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// The bill's request is on the page twice: as fields, and as the JSON that a program would send.
// Whichever was changed last counts. The form also contains the JSON as it was sent to the page, so
// that the server can detect a change without storing anything.

// A requestError is an error in the JSON. It is shown next to the JSON.
type requestError struct{ error }

func (e requestError) Unwrap() error { return e.error }

// adopt replaces the inputs with the values in the JSON if the JSON was edited.
func (a *asked) adopt(w stage.Words, i lab.Info) error {
	if !hasRequest(i) || !a.hasJSON || same(a.request, a.was) {
		return nil
	}
	r, err := lab.ParseRequest(w.Language, []byte(a.request))
	if err != nil {
		return requestError{err}
	}
	maps.Copy(a.raw, r.Values())
	return nil
}

func same(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// requestText explains what is wrong with the JSON.
func requestText(w stage.Words, err error) string {
	if r := refusedOf(err); r != nil {
		return w.T("error.range", "field", r.Field, "got", r.Got, "want", r.Want)
	}
	return terms.RefusalOf(err).In(w.Language)
}

// inputs returns the fields that the page should show now, with their values.
func inputs(i lab.Info, v terms.Values) map[string]string {
	if !hasRequest(i) {
		return nil
	}
	fields := maps.Clone(v)
	fields[fieldRequest] = lab.RequestOf(v).JSON()
	fields[fieldWas] = fields[fieldRequest]
	return fields
}

// hasRequest reports whether a lab also shows its settings as a request.
func hasRequest(i lab.Info) bool { return i.Name == "bill" }
