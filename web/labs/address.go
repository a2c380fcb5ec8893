package labs

import (
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// The names of the form fields that are not inputs of the lab.
const (
	fieldGuess   = "guess"        // the prediction: a choice's key
	fieldAgain   = "guess_again"  // the guessed time of the last token if all tokens are read again, in milliseconds
	fieldCached  = "guess_cached" // the guessed time with the cache, in milliseconds
	fieldRun     = "run"          // set by the Run button
	fieldSure    = "sure"         // set by the button that confirms a long run
	fieldPress   = "press"        // a number for each press of a run button, set by the page's script
	fieldModel   = "model"        // the first digits of the hash of the model that the link was made with
	fieldTable   = "table"        // the name of the table to download
	fieldDecimal = "decimal"      // the decimal sign of a download: "comma" for spreadsheets that use decimal commas
	fieldRequest = "request"      // the bill's JSON, kept in sync with the other fields
	fieldWas     = "was"          // the bill's JSON as last sent to the page
	fieldOwn     = "own"          // the model whose numbers the page shows
)

// fieldPreset is the input that selects the model whose numbers are used.
const fieldPreset = "preset"

// asked is the request that a form or an address contains.
type asked struct {
	raw       terms.Values // inputs as typed
	guess     string
	press     string
	model     string
	run, sure bool
	// The bill's request as JSON: the current text, and the text as it was sent to the page.
	request, was string
	hasJSON      bool
	own          string
}

// read separates the form's own fields from the lab's inputs. [terms.Inputs.Read] later rejects
// fields that are neither.
func read(fields map[string]string) asked {
	a := asked{raw: terms.Values{}}
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

// fieldsOf returns the fields of an address. If a name occurs several times, the last value counts.
func fieldsOf(q url.Values) map[string]string {
	fields := map[string]string{}
	for name, list := range q {
		fields[name] = list[len(list)-1]
	}
	return fields
}

// queryOf returns a query that contains the values that differ from the lab's defaults.
func queryOf(i lab.Info, v terms.Values) url.Values {
	q := url.Values{}
	for _, p := range i.Inputs {
		if x, ok := v[p.Key]; ok && x != p.Default {
			q.Set(p.Key, x)
		}
	}
	return q
}

// linkOf returns a link that opens a lab with these values, so that the run can be reproduced.
func linkOf(i lab.Info, v terms.Values) string {
	return addressOf("/labs/"+i.Name, queryOf(i, v))
}

// sharedOf is like linkOf, but its link also identifies the model. A server with another model can
// therefore point out the difference on its page.
func (p *Pages) sharedOf(i lab.Info, v terms.Values) string {
	q := queryOf(i, v)
	q.Set(fieldModel, p.modelMark())
	return addressOf("/labs/"+i.Name, q)
}

// modelMark returns enough of the model's hash to distinguish the model from others.
func (p *Pages) modelMark() string { return p.Target.Hash()[:12] }

// rowsOf returns the address from which a run's table can be downloaded as CSV. decimal is "comma"
// for numbers with a decimal comma.
func rowsOf(i lab.Info, v terms.Values, table, decimal string) string {
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
