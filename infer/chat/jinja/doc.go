// Package jinja renders chat templates: it implements the part of the Jinja language that
// published chat templates use, with the settings of Hugging Face's transformers
// (trim_blocks, lstrip_blocks, loop controls, immutable values, and the functions
// raise_exception, strftime_now and tojson).
//
// A template comes with a model's files and is untrusted. It can access only the values passed to
// it: no files, no other templates, and no attributes of Go values. All its work is limited
// ([Limits]): the number of expressions and statements, the total size of the strings that it
// creates, and the depth of nesting and of calls. So even the worst template fails within a
// fraction of a second. Everything else in Jinja (include, import, extends, block, call, and
// filters and tests that chats do not need) is rejected when the template is parsed, with an error
// that names it.
//
// There are three steps: splitting the template into tokens (lex.go), parsing them into a tree
// (parse.go, expression.go, nodes.go), and evaluating the tree (render.go and the other files:
// values and their operators, strings, filters, tests and methods).
package jinja

import "fmt"

// Error is an error in a template, or in the values passed to it.
type Error struct {
	Line    int // of the template, from 1
	Message string
	// Raised is set if the template itself rejected its values with raise_exception. Message is
	// then the template's own message.
	Raised bool
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Limits holds the maximum amounts of work and output for one rendering.
type Limits struct {
	Work   int // expressions, statements, and units of 16 bytes of all created strings
	Output int // bytes
}

// Limits for a template itself.
const (
	maxSource = 256 << 10 // bytes
	maxDepth  = 100       // depth of nested expressions and statements
	maxChain  = 1000      // operators of one kind, filters or calls in a row
	maxCalls  = 50        // nested macro calls
	maxRange  = 100_000   // numbers in a range, as in Jinja's sandbox
)

// A template value is undefined, nil, a bool, int64, float64 or string, a *list, *dict, *namespace
// or *loop, or a function.
type (
	undefined struct{ name string } // name of the missing value
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

// Dict is a dictionary passed to a template. Its entries keep their order.
type Dict []Pair

// Pair is an entry of a [Dict].
type Pair struct {
	Key   string
	Value any
}

// from converts a value passed by the caller to a template value.
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
