package grammar

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// object builds a part that reads an object: first its listed properties in order, where optional
// ones may be missing, and then other properties if they are allowed.
func (c compiler) object(x shape, depth int, next int32) int32 {
	size, names, required := x.size(), x.names(), x.required()
	fits := c.fitting(x, depth)
	closed := c.bytes('}', '}', next)
	// The object continues at the node `first` if no property has been read yet, and otherwise at
	// `later`. Both begin as the closing brace; the unlisted properties and then the listed ones,
	// from the last to the first, are put in front.
	first, later := closed, closed
	if size.least > max(1, len(required)) {
		return c.fail(
			"%s has the keyword \"minProperties\", which may be at most 1 or the number of required properties",
			x.from[0].at,
		)
	}
	if size.least > len(required) {
		first = dead
	}
	if size.bounded && size.most < len(names) {
		return c.fail(
			"%s has the keyword \"maxProperties\", which must allow all listed properties", x.from[0].at,
		)
	}
	if x.open() {
		most := -1
		if size.bounded {
			most = size.most - len(names)
		}
		first, later = c.others(x, most, depth, first, later)
	}
	for i := len(names) - 1; i >= 0 && !c.over(); i-- {
		name := names[i]
		value := c.value(x.property(name), depth+1, later)
		here := c.literal(quoted(name), c.separator(":", value))
		if !fits(name) {
			here = dead
		}
		after := c.separator(",", here)
		if _, must := slices.BinarySearch(required, name); must {
			first, later = here, after
		} else {
			first, later = c.either(here, first), c.either(after, later)
		}
	}
	return c.bytes('{', '{', first)
}

// fitting returns a function that reports whether the schemas' propertyNames allow a name.
func (c compiler) fitting(x shape, depth int) func(name string) bool {
	all := x.naming()
	if len(all) == 0 {
		return func(string) bool { return true }
	}
	b := c.beside()
	fits := b.matcher(compiler{b}.value(all, depth+1, end))
	return func(name string) bool {
		c.spend(len(name))
		return fits(quoted(name))
	}
}

// others builds a part that reads at most `most` unlisted properties. The object continues at the
// node `first` if no property has been read yet, and otherwise at `later`. The results are the
// corresponding nodes before the unlisted properties.
func (c compiler) others(x shape, most, depth int, first, later int32) (_, _ int32) {
	listed := x.names()
	names := []automaton{c.alone(func(b *builder, next int32) int32 {
		return b.bytes('"', '"', b.except(listed, b.bytes('"', '"', next)))
	})}
	if all := x.naming(); len(all) > 0 {
		names = append(names, c.alone(func(b *builder, next int32) int32 {
			return compiler{b}.value(all, depth+1, next)
		}))
	}
	// If a name is repeated, the last value counts. This is harmless, since every value fits.
	one := func(next int32) int32 {
		return c.all(names, c.separator(":", c.value(x.orAny(x.further()), depth+1, next)))
	}
	if most < 0 {
		var begin int32
		later = c.loop(func(self int32) int32 {
			begin = one(self)
			return c.either(c.separator(",", begin), later)
		})
		return c.either(begin, first), later
	}
	for i := 0; i < most && !c.over(); i++ {
		here := one(later)
		first, later = c.either(here, first), c.either(c.separator(",", here), later)
	}
	return first, later
}

// except builds a part that reads the characters of a string that is not in the list.
func (b *builder) except(list []string, next int32) int32 {
	c := patternBuilder{b, true}
	anything := b.repeat(b.character, 0, -1, next)
	var from func(list []string) int32 // builds the rest of a name that is not in list
	from = func(list []string) int32 {
		if len(list) == 0 || b.over() {
			return anything
		}
		ends := false
		after := map[rune][]string{}
		for _, name := range list {
			if name == "" {
				ends = true
				continue
			}
			r, n := utf8.DecodeRuneInString(name)
			after[r] = append(after[r], name[n:])
		}
		var paths []int32
		others := slices.Clone(anyCharacter)
		for _, r := range slices.Sorted(maps.Keys(after)) {
			paths = append(paths, c.class([]rune{r, r}, from(after[r])))
			others = without(others, r)
		}
		paths = append(paths, c.class(others, anything))
		if !ends {
			paths = append(paths, next)
		}
		return b.either(paths...)
	}
	return from(list)
}

// without removes a character from a set of ranges.
func without(ranges []rune, r rune) (list []rune) {
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if r < lo || hi < r {
			list = append(list, lo, hi)
			continue
		}
		if lo < r {
			list = append(list, lo, r-1)
		}
		if r < hi {
			list = append(list, r+1, hi)
		}
	}
	return list
}
