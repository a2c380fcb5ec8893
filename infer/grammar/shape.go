package grammar

import "slices"

// shape is one way to satisfy a set of schemas: a text must fit every schema in `from`. Their
// allOf, anyOf and oneOf have been resolved.
type shape struct {
	from   []*schema
	unlike []*schema // the branches of a oneOf that were not chosen and must not fit
	forced []string  // properties that are always generated, so no branch in `unlike` fits
}

// shapes returns the possible ways to satisfy all of the given schemas together.
func (c compiler) shapes(all []*schema) []shape {
	list := []shape{{}}
	for _, s := range all {
		list = c.with(list, s)
	}
	return list
}

// with adds a schema to each shape in list, and returns the resulting shapes.
func (c compiler) with(list []shape, s *schema) []shape {
	if s.never || c.over() {
		return nil
	}
	list = slices.Clone(list)
	for i, x := range list {
		c.spend(1 + len(x.from))
		list[i].from = append(slices.Clip(x.from), s)
	}
	for _, other := range s.all {
		list = c.with(list, other)
	}
	for _, branches := range s.any {
		var next []shape
		for _, b := range branches {
			next = append(next, c.with(list, b)...)
			c.limit(s, "anyOf", len(next))
		}
		list = next
	}
	for _, branches := range s.one {
		var next []shape
		for i, b := range branches {
			for _, x := range c.with(list, b) {
				x.unlike = slices.Concat(x.unlike, branches[:i], branches[i+1:])
				next = append(next, x)
			}
			c.limit(s, "oneOf", len(next))
		}
		list = next
	}
	return list
}

// limit records an error if n, the number of shapes, is too large.
func (c compiler) limit(s *schema, keyword string, n int) {
	if n > maxShapes {
		c.fail("the keyword %q of %s, with its siblings, results in more than %d cases", keyword, s.at, maxShapes)
	}
}

// namedTypes returns the types that the schemas name.
func (x shape) namedTypes() kinds {
	k := kinds(allKinds)
	for _, s := range x.from {
		if s.types != 0 {
			k &= s.types
		}
	}
	return k
}

// kinds returns the types that are generated: the named types or, if none are named, the types that
// keywords restrict.
func (x shape) kinds() kinds {
	named := slices.ContainsFunc(x.from, func(s *schema) bool { return s.types != 0 })
	if about := x.about(); !named && about != 0 {
		return about
	}
	return x.namedTypes()
}

// values returns the values that have a named type and are listed by every enum and const.
func (x shape) values() (list []*value, listed bool) {
	for _, s := range x.from {
		for _, values := range s.values {
			if !listed {
				list, listed = values, true
				continue
			}
			list = common(list, values)
		}
	}
	k := x.namedTypes()
	return slices.DeleteFunc(slices.Clone(list), func(v *value) bool { return v.kinds()&k == 0 }), listed
}

// common returns the values that two lists have in common.
func common(list, other []*value) []*value {
	has := map[string]bool{}
	for _, v := range other {
		has[v.key] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(v *value) bool { return !has[v.key] })
}

// kinds returns the set that contains only the value's type.
func (v *value) kinds() kinds {
	switch v.kind {
	case 'n':
		return aNull
	case 't', 'f':
		return aBoolean
	case '"':
		return aString
	case '[':
		return anArray
	case '{':
		return anObject
	}
	if d, ok := decimalOf(v.text); ok && d.fraction == "" {
		return anInteger
	}
	return aFraction
}

// about returns the types that keywords other than enum and const restrict.
func (x shape) about() (k kinds) {
	for _, s := range x.from {
		k |= s.about
	}
	return k
}

// unlisted returns the shape with types in place of its lists of allowed values.
func (x shape) unlisted() shape {
	free := shape{forced: x.forced}
	for _, s := range x.from {
		s := *s
		s.values = nil
		free.from = append(free.from, &s)
	}
	free.from = append(free.from, &schema{types: x.namedTypes()})
	return free
}

// bounds returns the constraints on numbers.
func (x shape) bounds() bounds {
	b := bounds{integer: x.kinds()&aFraction == 0}
	for _, s := range x.from {
		b.least, b.most = tighter(b.least, s.least, -1), tighter(b.most, s.most, 1)
		b.multiples = append(b.multiples, s.multiples...)
	}
	return b
}

// item returns the schemas that item i must satisfy.
func (x shape) item(i int) (all []*schema) {
	for _, s := range x.from {
		switch {
		case i < len(s.prefix):
			all = append(all, s.prefix[i])
		case s.rest != nil:
			all = append(all, s.rest)
		}
	}
	return x.orAny(all)
}

// orAny returns its argument or, if it is empty, the schema that accepts everything.
func (x shape) orAny(all []*schema) []*schema {
	if all == nil {
		return []*schema{{at: x.from[0].at}}
	}
	return all
}

// hasRest reports whether any schema restricts the items after the first ones.
func (x shape) hasRest() bool {
	return slices.ContainsFunc(x.from, func(s *schema) bool { return s.rest != nil })
}

// names returns the listed properties and all required properties that are not listed.
func (x shape) names() (list []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for _, s := range x.from {
		for _, name := range s.listed {
			add(name)
		}
	}
	for _, name := range x.required() {
		add(name)
	}
	return list
}

// required returns the names of the properties that are always generated, without duplicates.
func (x shape) required() []string {
	list := slices.Clone(x.forced)
	for _, s := range x.from {
		list = append(list, s.required...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// property returns the schemas of a property: the schemas listed for its name and, from schemas
// that do not list it, the schemas for further properties.
func (x shape) property(name string) (all []*schema) {
	for _, s := range x.from {
		if p := s.properties[name]; p != nil {
			all = append(all, p)
		} else if s.further != nil {
			all = append(all, s.further)
		}
	}
	return x.orAny(all)
}

// further returns the schemas of properties that are not listed.
func (x shape) further() (all []*schema) {
	for _, s := range x.from {
		if s.further != nil {
			all = append(all, s.further)
		}
	}
	return all
}

// open reports whether unlisted properties are generated. They are generated if a schema describes
// them, or if an object needs more properties than are listed.
func (x shape) open() bool {
	all := x.further()
	if all == nil {
		return x.size().least > len(x.names())
	}
	return !slices.ContainsFunc(all, func(s *schema) bool { return s.never })
}

// size returns the allowed number of properties.
func (x shape) size() (n span) {
	for _, s := range x.from {
		n = n.and(s.size)
	}
	return n
}

// naming returns the schemas that names must fit, or none if names are unrestricted. Names are
// strings.
func (x shape) naming() (all []*schema) {
	for _, s := range x.from {
		if s.names != nil {
			all = append(all, s.names)
		}
	}
	if all != nil {
		all = append(all, &schema{at: x.from[0].at, types: aString})
	}
	return all
}
