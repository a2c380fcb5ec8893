package saved

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// What a file calls itself.
const (
	format  = "viz-progress"
	version = 1
)

// timeLayout is RFC 3339 in UTC with milliseconds, always of the same length.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Encode writes the file as JSON. People can read it: an entry stands on a
// line of its own.
func (f *File) Encode() ([]byte, error) {
	w := writer{}
	fmt.Fprintf(
		&w.out, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"exported\": %q", format, version, stamp(f.Exported),
	)
	w.list("visits", len(f.Visits), func(i int) any {
		v := f.Visits[i]
		return visitJSON{v.Section, stamp(v.First), stamp(v.Last), v.Times}
	})
	w.list("answers", len(f.Answers), func(i int) any {
		a := f.Answers[i]
		return answerJSON{a.ID, stamp(a.At), a.Kind, a.Item, a.Credit, a.Detail}
	})
	w.list("reviews", len(f.Reviews), func(i int) any {
		r := f.Reviews[i]
		return reviewJSON{r.ID, stamp(r.At), r.Card, r.Grade.String()}
	})
	w.list("predictions", len(f.Predictions), func(i int) any {
		p := f.Predictions[i]
		return predictionJSON{p.ID, stamp(p.At), p.Confidence, p.Right, p.Score}
	})
	w.list("settings", len(f.Settings), func(i int) any { return settingJSON(f.Settings[i]) })
	w.out.WriteString("\n}\n")
	return w.out.Bytes(), w.err
}

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// The entries of an export, in the order of their fields.
type (
	visitJSON struct {
		Section string `json:"section"`
		First   string `json:"first"`
		Last    string `json:"last"`
		Times   int    `json:"times"`
	}
	answerJSON struct {
		ID     string  `json:"id"`
		At     string  `json:"at"`
		Kind   string  `json:"kind"`
		Item   string  `json:"item"`
		Credit float64 `json:"credit"`
		Detail string  `json:"detail"`
	}
	reviewJSON struct {
		ID    string `json:"id"`
		At    string `json:"at"`
		Card  string `json:"card"`
		Grade string `json:"grade"`
	}
	predictionJSON struct {
		ID         string  `json:"id"`
		At         string  `json:"at"`
		Confidence float64 `json:"confidence"`
		Right      bool    `json:"right"`
		Score      float64 `json:"score"`
	}
	settingJSON struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// writer writes lists of entries, one a line.
type writer struct {
	out bytes.Buffer
	err error
}

func (w *writer) list(name string, n int, entry func(int) any) {
	fmt.Fprintf(&w.out, ",\n  %q: [", name)
	encoder := json.NewEncoder(&w.out)
	encoder.SetEscapeHTML(false) // the file is not a page, and would be twice as long
	for i := range n {
		if i > 0 {
			w.out.WriteString("    ,")
		} else {
			w.out.WriteString("\n     ")
		}
		if err := encoder.Encode(entry(i)); err != nil && w.err == nil { // ends the line
			w.err = err
		}
	}
	if n > 0 {
		w.out.WriteString("  ")
	}
	w.out.WriteString("]")
}
