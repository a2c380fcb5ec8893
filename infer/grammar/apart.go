package grammar

import "slices"

// apart reports whether a shape excludes all other branches of its oneOf: no text of the shape may
// fit any of them. To ensure this, apart may make a property mandatory in generated texts. If it
// cannot prove that the branches are disjoint, compilation fails.
func (c compiler) apart(x *shape) bool {
	for _, other := range x.unlike {
		for _, y := range c.shapes([]*schema{other}) {
			if !c.refutes(x, y, true) {
				c.fail("the \"oneOf\" branches of %s might not be mutually exclusive: use "+
					"anyOf, or give each branch a required property with its own const", other.at)
				return false
			}
		}
	}
	return true
}

// refutes reports whether x excludes y: no text that is generated for x fits y. If force is set, it
// may make a property of x mandatory to ensure this.
func (c compiler) refutes(x *shape, y shape, force bool) bool {
	mine, listed := x.values()
	others, otherListed := y.values()
	if c.spend(1 + len(mine) + len(others)); listed && otherListed {
		return len(common(mine, others)) == 0
	}
	k := x.kinds()
	if listed {
		k = kindsOf(mine)
	}
	if k &= y.namedTypes(); otherListed {
		k &= kindsOf(others)
	}
	var chars, otherChars, items, otherItems span
	for _, s := range x.from {
		chars, items = chars.and(s.chars), items.and(s.items)
	}
	for _, s := range y.from {
		otherChars, otherItems = otherChars.and(s.chars), otherItems.and(s.items)
	}
	return k&(aNull|aBoolean) == 0 &&
		(k&aNumber == 0 || x.bounds().misses(y.bounds())) &&
		(k&aString == 0 || chars.misses(otherChars)) &&
		(k&anArray == 0 || items.misses(otherItems)) &&
		(k&anObject == 0 || (!listed || x.about()&anObject != 0) && c.refutesObjects(x, y, force))
}

func kindsOf(list []*value) (k kinds) {
	for _, v := range list {
		k |= v.kinds()
	}
	return k
}

// misses reports whether a and b are disjoint.
func (a span) misses(b span) bool {
	return a.bounded && a.most < b.least || b.bounded && b.most < a.least
}

// misses reports whether no number is within both bounds.
func (a bounds) misses(b bounds) bool {
	least, most := tighter(a.least, b.least, -1), tighter(a.most, b.most, 1)
	if least == nil || most == nil {
		return false
	}
	size := least.compare(most.decimal)
	return size > 0 || size == 0 && (least.open || most.open)
}

// refutesObjects is like refutes, but for objects. It reports whether x lacks a property that y
// requires, or has a property with a value that y does not allow.
func (c compiler) refutesObjects(x *shape, y shape, force bool) bool {
	names, required := x.names(), x.required()
	c.spend(len(names) + len(required))
	for _, name := range y.required() {
		if !x.open() && !slices.Contains(names, name) {
			return true
		}
	}
	var forced []string
	for _, name := range names {
		a, b := c.shapes(x.property(name)), c.shapes(y.property(name))
		refuted := len(a) > 0
		for _, a := range a {
			refuted = refuted && !slices.ContainsFunc(b, func(b shape) bool { return !c.refutes(&a, b, false) })
		}
		if _, must := slices.BinarySearch(required, name); refuted && must {
			return true
		}
		if refuted && force && forced == nil {
			forced = []string{name}
		}
	}
	x.forced = append(x.forced, forced...)
	return forced != nil
}
