package grammar_test

import (
	"encoding/json"
	"math/big"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// validator checks values against a schema as the standard describes it, keyword by keyword, for
// the keywords that this package compiles. It does not use automata.
type validator struct {
	t       testing.TB
	root    any
	formats bool // whether to check formats
}

// decoded decodes JSON, keeping the literals of numbers.
func decoded(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// validates reports whether a text is JSON that a schema accepts, including formats.
func validates(t testing.TB, schema string, text []byte) bool {
	t.Helper()
	if !utf8.Valid(text) || !json.Valid(text) {
		return false
	}
	root := decoded(t, []byte(schema))
	return validator{t, root, true}.valid(root, decoded(t, text))
}

func rational(x any) *big.Rat {
	n, ok := x.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// equal compares values as JSON Schema does: 1 equals 1.0.
func equal(a, b any) bool {
	if x, y := rational(a), rational(b); x != nil && y != nil {
		return x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, x := range a {
			if y, has := b[name]; !has || !equal(x, y) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func (c validator) valid(schema, v any) bool {
	if is, ok := schema.(bool); ok {
		return is
	}
	s := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok && !c.valid(c.target(ref), v) {
		return false
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(x any) bool { return equal(x, v) }) {
		return false
	}
	if x, ok := s["const"]; ok && !equal(x, v) {
		return false
	}
	if !c.typed(s["type"], v) || !c.combined(s, v) {
		return false
	}
	switch v := v.(type) {
	case json.Number:
		return c.number(s, rational(v))
	case string:
		return c.text(s, v)
	case []any:
		return c.array(s, v)
	case map[string]any:
		return c.object(s, v)
	}
	return true
}

// target resolves a reference within the schema.
func (c validator) target(ref string) any {
	pointer, err := url.PathUnescape(ref)
	if err != nil || !strings.HasPrefix(pointer, "#") {
		c.t.Fatalf("unexpected reference to %s", ref)
	}
	at := c.root
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if list, ok := at.([]any); ok {
			i, _ := strconv.Atoi(name)
			at = list[i]
		} else {
			at = at.(map[string]any)[name]
		}
	}
	return at
}

func (c validator) typed(types, v any) bool {
	list, ok := types.([]any)
	switch {
	case types == nil:
		return true
	case !ok:
		list = []any{types}
	}
	return slices.ContainsFunc(list, func(t any) bool {
		switch v.(type) {
		case nil:
			return t == "null"
		case bool:
			return t == "boolean"
		case json.Number:
			return t == "number" || t == "integer" && rational(v).IsInt()
		case string:
			return t == "string"
		case []any:
			return t == "array"
		}
		return t == "object"
	})
}

// combined checks allOf, anyOf and oneOf.
func (c validator) combined(s map[string]any, v any) bool {
	count := func(keyword string) (valid, all int) {
		list, _ := s[keyword].([]any)
		for _, branch := range list {
			if c.valid(branch, v) {
				valid++
			}
		}
		return valid, len(list)
	}
	of, all := count("allOf")
	some, any := count("anyOf")
	one, several := count("oneOf")
	return of == all && (any == 0 || some > 0) && (several == 0 || one == 1)
}

func (c validator) number(s map[string]any, x *big.Rat) bool {
	holds := func(keyword string, f func(bound *big.Rat) bool) bool {
		bound := rational(s[keyword])
		return bound == nil || f(bound)
	}
	return holds("minimum", func(b *big.Rat) bool { return x.Cmp(b) >= 0 }) &&
		holds("exclusiveMinimum", func(b *big.Rat) bool { return x.Cmp(b) > 0 }) &&
		holds("maximum", func(b *big.Rat) bool { return x.Cmp(b) <= 0 }) &&
		holds("exclusiveMaximum", func(b *big.Rat) bool { return x.Cmp(b) < 0 }) &&
		holds("multipleOf", func(b *big.Rat) bool { return new(big.Rat).Quo(x, b).IsInt() })
}

// within reports whether n is between the minimum and the maximum that two keywords specify.
func within(s map[string]any, least, most string, n int) bool {
	x := big.NewRat(int64(n), 1)
	a, b := rational(s[least]), rational(s[most])
	return (a == nil || x.Cmp(a) >= 0) && (b == nil || x.Cmp(b) <= 0)
}

func (c validator) text(s map[string]any, text string) bool {
	if p, ok := s["pattern"].(string); ok && !matchesECMA(c.t, p, text) {
		return false
	}
	if f, ok := s["format"].(string); ok && c.formats && !hasFormat(f, text) {
		return false
	}
	return within(s, "minLength", "maxLength", utf8.RuneCountInString(text))
}

var (
	ecma     = goja.New()
	compiled = map[string]goja.Callable{}
)

// matchesECMA reports whether a pattern matches text in a JavaScript engine.
func matchesECMA(t testing.TB, pattern, text string) bool {
	if strings.Contains(pattern, `\p{`) { // goja does not support character properties
		return regexp.MustCompile(pattern).MatchString(text)
	}
	f := compiled[pattern]
	if f == nil {
		made, err := ecma.RunString("(p) => { let r; try { r = new RegExp(p, 'u') } catch { r = new RegExp(p) }; " +
			"return s => r.test(s) }")
		if err != nil {
			t.Fatal(err)
		}
		outer, _ := goja.AssertFunction(made)
		inner, err := outer(goja.Undefined(), ecma.ToValue(pattern))
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		f, _ = goja.AssertFunction(inner)
		compiled[pattern] = f
	}
	is, err := f(goja.Undefined(), ecma.ToValue(text))
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	return is.ToBoolean()
}

// Patterns for the formats that the standard library cannot parse.
var (
	uuids     = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	hostnames = regexp.MustCompile(`^(?i)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	pointers  = regexp.MustCompile(`^(/([^~/]|~[01])*)*$`)
	durations = regexp.MustCompile(
		`^P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))?|` +
			`T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))$`)
)

func hasFormat(format, text string) bool {
	parsed := func(layout, text string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	}
	switch format {
	case "date":
		return parsed(time.DateOnly, text)
	case "time":
		return parsed(time.RFC3339Nano, "2000-01-01T"+text)
	case "date-time":
		return parsed(time.RFC3339Nano, text)
	case "uuid":
		return uuids.MatchString(text)
	case "ipv4":
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is4()
	case "ipv6":
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is6() && a.Zone() == ""
	case "hostname", "idn-hostname":
		return hostnames.MatchString(text) && len(text) < 254
	case "email", "idn-email":
		a, err := mail.ParseAddress(text)
		return err == nil && a.Address == text && a.Name == "" && len(text) < 254
	case "uri", "iri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "uri-reference", "iri-reference", "uri-template":
		_, err := url.Parse(text)
		return err == nil
	case "json-pointer":
		return pointers.MatchString(text)
	case "relative-json-pointer":
		rest := strings.TrimLeft(text, "0123456789")
		n, err := strconv.Atoi(strings.TrimSuffix(text, rest))
		return err == nil && strconv.Itoa(n)+rest == text && (rest == "#" || pointers.MatchString(rest))
	case "duration":
		return durations.MatchString(text)
	}
	return true
}

func (c validator) array(s map[string]any, list []any) bool {
	prefix, _ := s["prefixItems"].([]any)
	rest, has := s["items"]
	for i, x := range list {
		switch {
		case i < len(prefix):
			if !c.valid(prefix[i], x) {
				return false
			}
		case has && !c.valid(rest, x):
			return false
		}
	}
	return within(s, "minItems", "maxItems", len(list))
}

func (c validator) object(s, v map[string]any) bool {
	properties, _ := s["properties"].(map[string]any)
	further, closed := s["additionalProperties"]
	names, named := s["propertyNames"]
	for name, x := range v {
		if named && !c.valid(names, name) {
			return false
		}
		if p, ok := properties[name]; ok {
			if !c.valid(p, x) {
				return false
			}
		} else if closed && !c.valid(further, x) {
			return false
		}
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, has := v[name.(string)]; !has {
			return false
		}
	}
	return within(s, "minProperties", "maxProperties", len(v))
}
