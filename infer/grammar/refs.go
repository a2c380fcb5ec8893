package grammar

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// reader parses the schemas in a text. It parses each schema only once, even if there are several
// references to it.
type reader struct {
	*budget
	root *value
	read map[*value]*schema // nil while it is being read
}

// child parses a schema within another schema. elsewhere is set if an enclosing schema has an $id,
// so references below it do not refer to this text.
func (r *reader) child(v *value, at string, elsewhere bool) *schema {
	s, known := r.read[v]
	switch {
	case r.err != nil:
		return &schema{}
	case known && s == nil:
		r.fail("%s refers to itself through \"$ref\"; recursion is not supported", at)
		return &schema{}
	case known:
		return s
	}
	r.read[v] = nil
	s = &schema{at: at}
	switch {
	case v.kind == 't':
	case v.kind == 'f':
		s.never = true
	case v.kind != '{':
		r.fail("%s must be an object, true or false", at)
	case v.twice:
		r.fail("%s must be an object without duplicate keywords", at)
	default:
		elsewhere = elsewhere || v != r.root && v.hasID()
		for _, f := range v.fields {
			r.keyword(s, f, elsewhere)
		}
	}
	r.read[v] = s
	return s
}

// keyword parses one keyword of a schema.
func (r *reader) keyword(s *schema, f field, elsewhere bool) {
	if k, ok := leaves[f.name]; ok {
		r.check(s, f, k.read(s, f.value))
		s.about |= k.about
		return
	}
	one := func(at string) *schema { return r.child(f.value, at, elsewhere) }
	list := func(at string) (list []*schema) {
		if f.kind != '[' || len(f.list) == 0 {
			r.check(s, f, errKind)
		}
		for _, v := range f.list {
			list = append(list, r.child(v, at, elsewhere))
		}
		return list
	}
	switch f.name {
	case "properties":
		s.about |= anObject
		r.properties(s, f, elsewhere)
	case "additionalProperties":
		s.about |= anObject
		s.further = one("an additional property of " + s.at)
	case "propertyNames":
		s.about |= anObject
		s.names = one("a property name of " + s.at)
	case "prefixItems":
		s.about |= anArray
		s.prefix = list("an item of " + s.at)
	case "items":
		s.about |= anArray
		s.rest = one("an item of " + s.at)
	case "allOf":
		s.all = append(s.all, list(s.at)...)
	case "anyOf":
		s.any = append(s.any, list(s.at))
	case "oneOf":
		s.one = append(s.one, list(s.at))
	case "$ref":
		if to := r.target(s, f, &elsewhere); to != nil {
			s.all = append(s.all, r.child(to, s.at, elsewhere))
		}
	default:
		if !isAnnotation(f.name) {
			r.check(s, f, errUnsupported)
		}
	}
}

// check records err, which is nil unless there is something wrong with a keyword's value.
func (r *reader) check(s *schema, f field, err error) {
	switch {
	case r.err != nil || err == nil:
	case errors.Is(err, errUnsupported):
		r.fail("%s has the keyword %q, which is not supported", s.at, short(f.name))
	case errors.Is(err, errKind):
		r.fail("%s of %s has the invalid value %s", f.name, s.at, short(f.String()))
	default:
		r.err = err
	}
}

func (r *reader) properties(s *schema, f field, elsewhere bool) {
	if f.kind != '{' || f.twice {
		r.fail("\"properties\" of %s must be an object without duplicate keys", s.at)
		return
	}
	s.properties = map[string]*schema{}
	for _, p := range f.fields {
		s.listed = append(s.listed, p.name)
		s.properties[p.name] = r.child(p.value, strconv.Quote(short(p.name)), elsewhere)
	}
}

// target returns the value that a reference within the text refers to.
func (r *reader) target(s *schema, f field, elsewhere *bool) *value {
	pointer, err := url.PathUnescape(f.text)
	if f.kind != '"' || err != nil || *elsewhere || pointer != "#" && !strings.HasPrefix(pointer, "#/") {
		r.fail("%s has a \"$ref\" to %s; a reference must point into the same schema, such as #/$defs/name, "+
			"and must not be inside a subschema with an $id", s.at, short(f.String()))
		return nil
	}
	to := r.root
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		*elsewhere = *elsewhere || to != r.root && to.hasID()
		next := to.get(name)
		if n, err := strconv.Atoi(name); err == nil && to.kind == '[' && 0 <= n && n < len(to.list) {
			next = to.list[n]
		}
		if next == nil {
			r.fail("%s has a \"$ref\" to %s, which does not exist in the schema", s.at, terms.Quoted(short(f.text)))
			return nil
		}
		to = next
	}
	return to
}
