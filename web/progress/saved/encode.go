package saved

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// The values that identify the format.
const (
	format  = "viz-progress"
	version = 1
)

// timeLayout is RFC 3339 in UTC with milliseconds, with a fixed length.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Encode returns the file as JSON. Each entry is on its own line, so that people can read
// the file.
func (f *File) Encode() ([]byte, error) {
	w := writer{}
	fmt.Fprintf(
		&w.out, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"exported\": %q", format, version, stamp(f.Exported),
	)
	list(&w, "visits", f.Visits)
	list(&w, "answers", f.Answers)
	list(&w, "reviews", f.Reviews)
	list(&w, "predictions", f.Predictions)
	list(&w, "settings", f.Settings)
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

// A writer writes lists of entries, with one entry per line.
type writer struct {
	out bytes.Buffer
	err error
}

// list writes one of the file's lists.
func list[E Entry](w *writer, name string, entries []E) {
	fmt.Fprintf(&w.out, ",\n  %q: [", name)
	encoder := json.NewEncoder(&w.out)
	encoder.SetEscapeHTML(false) // HTML escaping is not needed, and it could double the length of the file
	for i, e := range entries {
		if i > 0 {
			w.out.WriteString("    ,")
		} else {
			w.out.WriteString("\n     ")
		}
		if err := encoder.Encode(e.json()); err != nil && w.err == nil { // writes the entry and a line break
			w.err = err
		}
	}
	if len(entries) > 0 {
		w.out.WriteString("  ")
	}
	w.out.WriteString("]")
}
