// Package jinja renders the templates in which models describe their chats: the part of
// the Jinja language that published chat templates use, with the settings of Hugging
// Face's transformers (trim_blocks, lstrip_blocks, loop controls, immutable values, and
// the functions raise_exception, strftime_now and tojson).
//
// A template comes with a model's files and is not trusted. It reaches nothing but the
// values that it is given: no files, no other templates, no attributes of Go values. All
// that it does is counted ([Limits]): each expression and statement, each byte of each
// text that it makes, how deep it nests and calls itself. So the worst template ends with
// an error after a fraction of a second. Whatever else Jinja has (include, import, extends,
// block, call, and filters and tests that no chat needs) is refused by name when the
// template is parsed.
//
// It goes in three steps, a file or two each: tokens (lex.go), a tree (parse.go,
// expression.go, nodes.go), and its evaluation (render.go and the others: values and their
// operators, texts, filters, tests, methods).
package jinja

import "fmt"

// Error is a fault of a template, or of what it was given.
type Error struct {
	Line    int // of the template, from 1
	Message string
	// Raised is set where the template itself refused what it was given, with its own
	// words, by raise_exception.
	Raised bool
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Limits bound what rendering may take.
type Limits struct {
	Work   int // expressions, statements, and 16 bytes each of all texts that are made
	Output int // bytes
}

// Bounds of a template itself.
const (
	maxSource = 256 << 10 // bytes
	maxDepth  = 100       // of expressions and statements in one another
	maxChain  = 1000      // operators of one kind, filters or calls one after another
	maxCalls  = 50        // macros that have called one another
	maxRange  = 100_000   // numbers of a range, as in Jinja's sandbox
)

// A value of a template is one of: undefined, nil, bool, int64, float64, string, *list,
// *dict, *namespace, *loop, function.
type (
	undefined struct{ name string } // of what is missing
	list      struct {
		items []any
		tuple bool
	}
	dict struct {
		keys   []any // in order
		values map[any]any
	}
	namespace struct{ values map[string]any }
	function  func(r *render, a *arguments) any
)

// Dict is a dictionary that a template is given, in order.
type Dict []Pair

// Pair is an entry of a [Dict].
type Pair struct {
	Key   string
	Value any
}

// from turns what a caller gives into a value.
func from(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		l := &list{items: make([]any, len(v))}
		for i, item := range v {
			l.items[i] = from(item)
		}
		return l
	case []Dict:
		l := &list{items: make([]any, len(v))}
		for i, item := range v {
			l.items[i] = from(item)
		}
		return l
	case Dict:
		d := newDict()
		for _, p := range v {
			d.set(p.Key, from(p.Value))
		}
		return d
	case nil, bool, string, float64, function:
		return v
	}
	panic(fmt.Sprintf("jinja: a value of type %T", v))
}

func newDict() *dict { return &dict{values: map[any]any{}} }

func (d *dict) set(key, value any) {
	if _, had := d.values[key]; !had {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
}
