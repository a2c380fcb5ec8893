package labs

import (
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/lab"
)

// Fields of the form that are not parameters of the lab.
const (
	fieldGuess   = "guess"        // the prediction: a choice's key
	fieldAgain   = "guess_again"  // the guess for the last token, with all tokens read again
	fieldCached  = "guess_cached" // and with the cache; both in milliseconds
	fieldRun     = "run"          // set by the Run button
	fieldSure    = "sure"         // set by the button that runs even if it takes long
	fieldPress   = "press"        // a number for each press of that button, from the page's script
	fieldModel   = "model"        // the beginning of the hash of the link's model
	fieldTable   = "table"        // of a download
	fieldDecimal = "decimal"      // of a download: comma, for spreadsheets that read numbers so
	fieldRequest = "request"      // the bill's JSON, in sync with the other fields
	fieldWas     = "was"          // the same as sent to the page
	fieldOwn     = "own"          // the model whose own numbers the page shows
)

// fieldPreset is the parameter that chooses a model whose numbers are used.
const fieldPreset = "preset"

// asked is the request in a form or an address.
type asked struct {
	raw       lab.Values // parameters as typed
	guess     string
	press     string
	model     string
	run, sure bool
	// The bill's request as JSON, and as it was sent to the page.
	request, was string
	hasJSON      bool
	own          string
}

// read sorts fields. Fields that are neither parameters nor the form's own are left for
// [lab.Info.Parse] to reject.
func read(fields map[string]string) asked {
	a := asked{raw: lab.Values{}}
	for name, value := range fields {
		switch name {
		case fieldGuess:
			a.guess = value
		case fieldRun:
			a.run = value != ""
		case fieldSure:
			a.sure, a.run = value != "", a.run || value != ""
		case fieldModel:
			a.model = value
		case fieldPress:
			a.press = value
		case fieldRequest:
			a.request, a.hasJSON = value, true
		case fieldWas:
			a.was = value
		case fieldOwn:
			a.own = value
		case fieldTable, fieldDecimal, fieldAgain, fieldCached:
		default:
			a.raw[name] = strings.ReplaceAll(value, "\r\n", "\n") // forms send CRLF
		}
	}
	a.guess = withDrawn(a.guess, fields[fieldAgain], fields[fieldCached])
	return a
}

// fieldsOf returns the fields of an address, the last value for each name.
func fieldsOf(q url.Values) map[string]string {
	fields := map[string]string{}
	for name, list := range q {
		fields[name] = list[len(list)-1]
	}
	return fields
}

// queryOf returns the values that differ from the lab's defaults, for an
// address.
func queryOf(i lab.Info, v lab.Values) url.Values {
	q := url.Values{}
	for _, p := range i.Params {
		if x, ok := v[p.Name]; ok && x != p.Default {
			q.Set(p.Name, x)
		}
	}
	return q
}

// linkOf returns the address of a lab with these values, which reproduces a
// run.
func linkOf(i lab.Info, v lab.Values) string {
	return addressOf("/labs/"+i.Name, queryOf(i, v))
}

// sharedOf is linkOf for sharing: it includes the model, so that a page with
// another model can say so.
func (p *Pages) sharedOf(i lab.Info, v lab.Values) string {
	q := queryOf(i, v)
	q.Set(fieldModel, p.modelMark())
	return addressOf("/labs/"+i.Name, q)
}

// modelMark is enough of the model's hash to distinguish it.
func (p *Pages) modelMark() string { return p.Target.Hash()[:12] }

// rowsOf returns the address of a run's table as CSV; decimal is "comma" for numbers with one.
func rowsOf(i lab.Info, v lab.Values, table, decimal string) string {
	q := queryOf(i, v)
	q.Set(fieldTable, table)
	if decimal != "" {
		q.Set(fieldDecimal, decimal)
	}
	return addressOf("/labs/"+i.Name+"/rows.csv", q)
}

func addressOf(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
