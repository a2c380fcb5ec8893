package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// toJSON implements Hugging Face's tojson: Python's json.dumps with ensure_ascii off.
func toJSON(r *render, v any, a *arguments) any {
	w := &jsonWriter{r: r, item: ", ", pair: ": "}
	if ascii, given := a.take(0, "ensure_ascii"); given && r.truth(ascii) {
		r.fail("tojson with ensure_ascii is not supported")
	}
	if n, given := a.take(1, "indent"); given && n != nil {
		w.indent, w.item = strings.Repeat(" ", r.times(1, r.wholeOf(n))), ","
		w.lines = true
	}
	if s, given := a.take(2, "separators"); given && s != nil {
		marks := r.iterate(s)
		if len(marks) != 2 {
			r.fail("tojson requires two separators")
		}
		w.item, w.pair = r.textOf(marks[0]), r.textOf(marks[1])
	}
	if v, given := a.take(3, "sort_keys"); given {
		w.sorted = r.truth(v)
	}
	w.write(v, 0)
	return w.b.String()
}

// jsonWriter writes values as JSON.
type jsonWriter struct {
	r          *render
	b          strings.Builder
	item, pair string
	indent     string
	lines      bool // each item on its own line
	sorted     bool
}

func (w *jsonWriter) newline(depth int) {
	if w.lines {
		w.r.made(len(w.indent) * depth)
		w.b.WriteByte('\n')
		w.b.WriteString(strings.Repeat(w.indent, depth))
	}
}

func (w *jsonWriter) write(v any, depth int) {
	w.r.made(len(w.item) + len(w.pair))
	switch v := v.(type) {
	case nil:
		w.b.WriteString("null")
	case bool:
		w.b.WriteString(strconv.FormatBool(v))
	case int64:
		w.b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		w.b.WriteString(map[string]string{"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[floatText(v)])
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			w.b.WriteString(floatText(v))
		}
	case string:
		w.text(v)
	case *list:
		w.brackets("[", "]", len(v.items), depth, func(i int) { w.write(v.items[i], depth+1) })
	case *dict:
		keys := v.keys
		if w.sorted {
			keys = slices.SortedFunc(slices.Values(keys), w.r.order)
		}
		w.brackets("{", "}", len(keys), depth, func(i int) {
			w.text(w.r.textOf(keys[i]))
			w.b.WriteString(w.pair)
			w.write(v.values[keys[i]], depth+1)
		})
	default:
		w.r.known(v)
		w.r.fail("cannot encode %s as JSON", typeOf(v))
	}
}

func (w *jsonWriter) brackets(opening, closing string, n, depth int, each func(int)) {
	w.b.WriteString(opening)
	for i := range n {
		if i > 0 {
			w.b.WriteString(w.item)
		}
		w.newline(depth + 1)
		each(i)
	}
	if n > 0 {
		w.newline(depth)
	}
	w.b.WriteString(closing)
}

func (w *jsonWriter) text(s string) {
	w.r.made(2 * len(s))
	w.b.WriteByte('"')
	for _, c := range s {
		if i := strings.IndexRune("\"\\\n\r\t\b\f", c); i >= 0 && c < utf8.RuneSelf {
			w.b.WriteByte('\\')
			w.b.WriteByte(`"\nrtbf`[i])
		} else if c < 0x20 {
			fmt.Fprintf(&w.b, `\u%04x`, c)
		} else {
			w.b.WriteRune(c)
		}
	}
	w.b.WriteByte('"')
}
