package jinja

type (
	constant    struct{ of any }
	variable    string
	conditional struct{ then, test, otherwise expression } // `otherwise` is nil if there is no else
	logical     struct {
		left, right expression
		or          bool
	}
	negation   struct{ of expression }
	comparison struct {
		first expression
		rest  []compared
	}
	compared struct {
		operator string
		with     expression
	}
	arithmetic struct {
		operator    string
		left, right expression
	}
	sign struct {
		of    expression
		minus bool
	}
	sequence struct {
		items []expression
		tuple bool
	}
	mapping [][2]expression
	member  struct {
		of   expression
		name string
	}
	item  struct{ of, at expression }
	slice struct {
		of    expression
		parts [3]expression // from, to, step; nil if omitted
	}
	call struct {
		of         expression
		positional []expression
		named      []argument
		line       int
	}
	filtered struct {
		of         expression
		name       string
		filter     filter
		positional []expression
		named      []argument
		line       int
	}
	tested struct {
		of        expression
		name      string
		test      test
		arguments []expression
		not       bool
	}
)

func (e constant) value(*render, *scope) any { return e.of }

func (e variable) value(_ *render, s *scope) any { return s.get(string(e)) }

func (e conditional) value(r *render, s *scope) any {
	switch {
	case r.truth(r.eval(e.test, s)):
		return r.eval(e.then, s)
	case e.otherwise != nil:
		return r.eval(e.otherwise, s)
	}
	return undefined{"the value of an if without else"}
}

func (e logical) value(r *render, s *scope) any {
	left := r.eval(e.left, s)
	if r.truth(left) == e.or {
		return left
	}
	return r.eval(e.right, s)
}

func (e negation) value(r *render, s *scope) any { return !r.truth(r.eval(e.of, s)) }

func (e comparison) value(r *render, s *scope) any {
	left := r.eval(e.first, s)
	for _, c := range e.rest {
		right := r.eval(c.with, s)
		if !r.compare(c.operator, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (e arithmetic) value(r *render, s *scope) any {
	left := r.eval(e.left, s)
	return r.arithmetic(e.operator, left, r.eval(e.right, s))
}

func (e sign) value(r *render, s *scope) any {
	v := r.eval(e.of, s)
	if !e.minus {
		return r.arithmetic("+", int64(0), v)
	}
	return r.arithmetic("-", int64(0), v)
}

func (e sequence) value(r *render, s *scope) any {
	l := &list{tuple: e.tuple, items: make([]any, len(e.items))}
	for i, each := range e.items {
		l.items[i] = r.eval(each, s)
	}
	return l
}

func (e mapping) value(r *render, s *scope) any {
	d := newDict()
	for _, pair := range e {
		d.set(r.key(r.eval(pair[0], s)), r.eval(pair[1], s))
	}
	return d
}

func (e member) value(r *render, s *scope) any { return r.member(r.eval(e.of, s), e.name) }

func (e item) value(r *render, s *scope) any {
	of := r.eval(e.of, s)
	return r.item(of, r.eval(e.at, s))
}

func (e slice) value(r *render, s *scope) any {
	of := r.eval(e.of, s)
	var parts [3]any
	for i, p := range e.parts {
		if p != nil {
			parts[i] = r.eval(p, s)
		}
	}
	return r.slice(of, parts)
}

func (e call) value(r *render, s *scope) any {
	of := r.eval(e.of, s)
	a := r.arguments(s, e.positional, e.named)
	r.line = e.line
	f, ok := of.(function)
	if !ok {
		r.known(of)
		r.fail("%s cannot be called", typeOf(of))
	}
	return f(r, a)
}

func (e filtered) value(r *render, s *scope) any {
	of := r.eval(e.of, s)
	a := r.arguments(s, e.positional, e.named)
	r.line = e.line
	v := e.filter(r, of, a)
	a.finish(r, e.name)
	return v
}

func (e tested) value(r *render, s *scope) any {
	of := r.eval(e.of, s)
	a := r.arguments(s, e.arguments, nil)
	is := e.test(r, of, a)
	a.finish(r, e.name)
	return is != e.not
}
