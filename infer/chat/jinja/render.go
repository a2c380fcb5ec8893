package jinja

import (
	"context"
	"strings"
)

// Render renders the template with values, which may be strings, numbers, booleans, nil, lists
// ([]any, []Dict) and [Dict]. The error is an *[Error] or the context's error.
func (t *Template) Render(ctx context.Context, values map[string]any, l Limits) (text string, err error) {
	r := &render{ctx: ctx, limits: l, line: 1, out: &strings.Builder{}}
	defer caught(&err)
	s := &scope{values: map[string]any{}}
	for name, f := range globals {
		s.values[name] = f
	}
	for name, v := range values {
		s.values[name] = from(v)
	}
	r.run(t.body, &scope{values: map[string]any{}, outer: s})
	return r.out.String(), r.ended
}

// render is the state of one rendering. On failure, it panics with an *[Error], which
// [Template.Render] recovers.
type render struct {
	ctx    context.Context
	limits Limits
	work   int
	line   int
	calls  int // depth of macro calls
	out    *strings.Builder
	ended  error // the context's error
}

func (r *render) fail(format string, args ...any) { panic(fail(r.line, format, args...)) }

// spend counts n units of work, and fails if the limit is reached.
func (r *render) spend(n int) {
	before := r.work
	if r.work += n; r.work > r.limits.Work || n < 0 {
		r.fail("the template takes too many steps")
	}
	if before>>12 != r.work>>12 && r.ctx.Err() != nil {
		r.fail("rendering was canceled")
	}
}

// made counts the work of creating a string, before it is created.
func (r *render) made(bytes int) { r.spend(bytes/16 + 1) }

// write appends s to the output.
func (r *render) write(s string) {
	r.made(len(s))
	if r.out.Len()+len(s) > r.limits.Output {
		r.fail("the output is longer than %d bytes", r.limits.Output)
	}
	r.out.WriteString(s)
}

// capture returns what f writes, instead of adding it to the output.
func (r *render) capture(f func()) string {
	before := r.out
	r.out = &strings.Builder{}
	f()
	written := r.out.String()
	r.out = before
	return written
}

// scope holds names. Loops and macros have their own scopes, while branches and blocks share the
// enclosing scope, as in Jinja.
type scope struct {
	values map[string]any
	outer  *scope
}

func (s *scope) inner() *scope { return &scope{values: map[string]any{}, outer: s} }

func (s *scope) get(name string) any {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v
		}
	}
	return undefined{name}
}

type statement interface {
	run(r *render, s *scope) jumping
}

type expression interface {
	value(r *render, s *scope) any
}

// jumping specifies how a statement ended.
type jumping uint8

const (
	onward jumping = iota
	broken
	continued
)

// run runs statements until one of them jumps (break or continue).
func (r *render) run(list []statement, s *scope) jumping {
	for _, each := range list {
		r.spend(1)
		if j := each.run(r, s); j != onward {
			return j
		}
	}
	return onward
}

// eval returns the value of an expression.
func (r *render) eval(e expression, s *scope) any {
	r.spend(1)
	return e.value(r, s)
}

// output is text or an expression in {{ }}.
type output struct {
	of   expression
	line int
}

func (o output) run(r *render, s *scope) jumping {
	r.line = o.line
	r.write(r.str(r.eval(o.of, s)))
	return onward
}

// group is a list of statements.
type group []statement

func (g group) run(r *render, s *scope) jumping { return r.run(g, s) }

// jump is break or continue.
type jump bool

func (j jump) run(*render, *scope) jumping {
	if j {
		return broken
	}
	return continued
}

type branch struct {
	test expression // nil for else
	body []statement
}

type branches struct {
	list []branch
	line int
}

func (b branches) run(r *render, s *scope) jumping {
	for _, each := range b.list {
		r.line = b.line
		if each.test == nil || r.truth(r.eval(each.test, s)) {
			return r.run(each.body, s)
		}
	}
	return onward
}

// assignment is a set tag, which assigns the value of an expression or the output of a block.
type assignment struct {
	names     []string
	attribute string // of a namespace
	value     expression
	line      int
}

func (a assignment) run(r *render, s *scope) jumping {
	r.line = a.line
	v := r.eval(a.value, s)
	if a.attribute == "" {
		r.assign(s, a.names, v)
		return onward
	}
	n, ok := s.get(a.names[0]).(*namespace)
	if !ok {
		r.fail("cannot assign to an attribute of %s; only namespaces can be changed", a.names[0])
	}
	n.values[a.attribute] = v
	return onward
}

// assign assigns v to one name, or the items of v to several names.
func (r *render) assign(s *scope, names []string, v any) {
	if len(names) == 1 {
		s.values[names[0]] = v
		return
	}
	items := r.iterate(v)
	if len(items) != len(names) {
		r.fail("cannot unpack %d values into %d names", len(items), len(names))
	}
	for i, name := range names {
		s.values[name] = items[i]
	}
}

// captured is the output of a block.
type captured struct{ body []statement }

func (c *captured) value(r *render, s *scope) any {
	return r.capture(func() { r.run(c.body, s.inner()) })
}

// loop is the variable named loop, which is available inside a for loop.
type loop struct {
	items []any
	at    int
	depth int
}

func (l *loop) get(name string) any {
	neighbor := func(i int) any {
		if i < 0 || i >= len(l.items) {
			return undefined{name}
		}
		return l.items[i]
	}
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1)
	case "index0":
		return int64(l.at)
	case "revindex":
		return int64(n - l.at)
	case "revindex0":
		return int64(n - l.at - 1)
	case "first":
		return l.at == 0
	case "last":
		return l.at == n-1
	case "length":
		return int64(n)
	case "depth":
		return int64(l.depth)
	case "depth0":
		return int64(l.depth - 1)
	case "previtem":
		return neighbor(l.at - 1)
	case "nextitem":
		return neighbor(l.at + 1)
	case "cycle":
		return function(func(r *render, a *arguments) any {
			if len(a.positional) == 0 {
				r.fail("cycle needs at least one value")
			}
			return a.positional[l.at%len(a.positional)]
		})
	}
	return undefined{"loop." + name}
}

type forEach struct {
	names     []string
	over      expression
	test      expression // selects the items; nil for all
	body      []statement
	otherwise []statement // executed if there are no items
	line      int
}

func (f forEach) run(r *render, s *scope) jumping {
	r.line = f.line
	items := r.iterate(r.eval(f.over, s))
	if f.test != nil {
		var picked []any
		for _, item := range items {
			inner := s.inner()
			r.assign(inner, f.names, item)
			if r.truth(r.eval(f.test, inner)) {
				picked = append(picked, item)
			}
		}
		items = picked
	}
	if len(items) == 0 {
		return r.run(f.otherwise, s.inner())
	}
	l := &loop{items: items, depth: 1}
	if outer, ok := s.get("loop").(*loop); ok {
		l.depth = outer.depth + 1
	}
	for i, item := range items {
		r.spend(1)
		l.at = i
		inner := s.inner()
		inner.values["loop"] = l
		r.assign(inner, f.names, item)
		if r.run(f.body, inner) == broken {
			break
		}
	}
	return onward
}

// macro is a part of a template that the rest of the template can call.
type macro struct {
	name       string
	parameters []argument
	body       []statement
}

// definition is a statement that defines a macro.
type definition struct {
	of   *macro
	line int
}

func (d definition) run(_ *render, s *scope) jumping {
	s.values[d.of.name] = function(func(r *render, a *arguments) any { return d.of.call(r, s, a) })
	return onward
}

func (m *macro) call(r *render, s *scope, a *arguments) any {
	if r.calls++; r.calls > maxCalls {
		r.fail("more than %d nested macro calls", maxCalls)
	}
	line := r.line
	inner := s.inner()
	for i, p := range m.parameters {
		if v, given := a.take(i, p.name); given {
			inner.values[p.name] = v
		} else if p.value != nil {
			inner.values[p.name] = r.eval(p.value, inner)
		} else {
			inner.values[p.name] = undefined{p.name}
		}
	}
	a.finish(r, m.name)
	written := r.capture(func() { r.run(m.body, inner) })
	r.calls--
	r.line = line
	return written
}

// argument is a named argument with its value, or a parameter with its default.
type argument struct {
	name  string
	value expression
}

// arguments holds the arguments of a call, positional and named.
type arguments struct {
	positional []any
	named      map[string]any
	taken      int // number of positional arguments taken
}

func (r *render) arguments(s *scope, positional []expression, named []argument) *arguments {
	a := &arguments{}
	for _, e := range positional {
		a.positional = append(a.positional, r.eval(e, s))
	}
	for _, n := range named {
		if a.named == nil {
			a.named = map[string]any{}
		}
		if _, twice := a.named[n.name]; twice {
			r.fail("duplicate argument %s", n.name)
		}
		a.named[n.name] = r.eval(n.value, s)
	}
	return a
}

// take returns the argument at a position, which may have been passed by name instead.
func (a *arguments) take(place int, name string) (v any, given bool) {
	if place < len(a.positional) {
		a.taken = max(a.taken, place+1)
		return a.positional[place], true
	}
	if v, given = a.named[name]; given {
		delete(a.named, name)
	}
	return v, given
}

// finish fails if any argument has not been taken.
func (a *arguments) finish(r *render, of string) {
	if a.taken < len(a.positional) {
		r.fail("%s takes at most %d arguments, got %d", of, a.taken, len(a.positional))
	}
	for name := range a.named {
		r.fail("%s has no argument %s", of, name)
	}
}
