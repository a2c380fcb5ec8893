package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
)

var limits = Limits{Work: 1 << 20, Output: 1 << 16}

// TestHostileTemplates checks that templates that would run forever, or exhaust the memory or the
// stack, end with an error.
// Promise: No chat template can run forever or use up the memory.
func TestHostileTemplates(t *testing.T) {
	t.Parallel()
	values := map[string]any{"messages": []Dict{{{"content", strings.Repeat("ab ", 1000)}}}}
	again := func(from, step, then string) string {
		return "{% set n = namespace(s=" + from + ") %}" +
			"{% for a in range(99) %}{% set n.s = " + step + " %}{% endfor %}" + then
	}
	for source, want := range map[string]string{
		"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}": "too many steps",
		again("'x'", "n.s + n.s", ""):                          "too many steps",
		again("'x'", "n.s ~ n.s", ""):                          "too many steps",
		again("[1]", "n.s + n.s", ""):                          "too many steps",
		again("[1]", "[n.s, n.s]", "{{ n.s }}"):                "too many steps",
		again("[1]", "[n.s, n.s]", "{{ n.s == n.s }}"):         "too many steps",
		again("[1]", "[n.s, n.s]", "{{ n.s | tojson }}"):       "too many steps",
		again("'ab'", "n.s | replace('', n.s)", ""):            "too many steps",
		"{{ 'x' * 99999999999 }}":                              "too many steps",
		"{{ 'xx' * 9223372036854775807 }}":                     "too many steps",
		"{{ [1] * 9999999999 }}":                               "too many steps",
		"{{ 'a' | indent(999999999) }}":                        "too many steps",
		"{{ [1] | tojson(indent=99999999) }}":                  "too many steps",
		"{{ range(100001) }}":                                  "more than 100000 numbers",
		"{% for a in range(9999) %}{{ messages }}{% endfor %}": "longer than 65536 bytes",
		"{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}":      "macro calls",
		"{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}": "macro calls",
		"{{ 2 ** 99 }}":                        "too large",
		"{{ 9223372036854775807 + 1 }}":        "too large",
		"{{ -9223372036854775807 - 9 }}":       "too large",
		"{{ 4611686018427387904 * 2 }}":        "too large",
		"{{ 1 % 0 }}":                          "division by zero",
		"{{ 1 // 0 }}":                         "division by zero",
		"{{ 1 / 0 }}":                          "division by zero",
		"{{ none.x.y }}":                       "undefined",
		"{{ missing.x }}":                      "\"missing\" is undefined",
		"{{ missing() }}":                      "\"missing\" is undefined",
		"{{ messages.append(1) }}":             "\"append\" is undefined",
		"{{ messages[0].update({}) }}":         "\"update\" is undefined",
		"{{ ''.__class__.__mro__ }}":           "undefined",
		"{{ messages[0].content.format(1) }}":  "\"format\" is undefined",
		"{{ '%s' % 1 }}":                       "formatting with % is not supported",
		"{{ 1 + 'a' }}":                        "cannot combine",
		"{{ 1 < 'a' }}":                        "cannot compare",
		"{% set a.b = 1 %}":                    "only namespaces can be changed",
		"{% for a, b in [1] %}{% endfor %}":    "cannot iterate",
		"{% for a, b in [(1,)] %}{% endfor %}": "cannot unpack 1 values into 2 names",
		"{{ 'a' | trim(1, 2) }}":               "trim takes at most 1 arguments, got 2",
		"{{ 'a' | trim(x=2) }}":                "trim has no argument x",
		"{{ [1] | map('nothing') }}":           "the filter \"nothing\" is not supported",
		"{{ [1] | select('nothing') }}":        "the test \"nothing\" is not supported",
		"{{ range }}":                          "cannot print a function",
		"{{ strftime_now('%Q') }}":             "\"strftime_now\" is undefined",
		"{{ [1, 2][::0] }}":                    "step",
		"{{ {}[[]] }}":                         "cannot be used as a key",
	} {
		template, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		text, err := template.Render(context.Background(), values, limits)
		if fault := (*Error)(nil); !errors.As(err, &fault) || !strings.Contains(err.Error(), want) || fault.Raised {
			t.Errorf("%s: %.80q, %v, want %s", source, text, err, want)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	template, _ := Parse("{% for a in range(99999) %}{% endfor %}")
	if _, err := template.Render(ended, nil, limits); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("rendered with a canceled context: got error %v, want an error containing %q", err, "canceled")
	}
}

// TestRefusedTemplates checks that templates with invalid or unsupported syntax are rejected.
func TestRefusedTemplates(t *testing.T) {
	t.Parallel()
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for source, want := range map[string]string{
		"{% include 'x' %}":                                 `line 1: the tag "include" is not supported`,
		"\n{% import 'x' as y %}":                           `line 2: the tag "import" is not supported`,
		"{% from 'x' import y %}":                           `the tag "from" is not supported`,
		"{% extends 'x' %}":                                 `the tag "extends" is not supported`,
		"{% block x %}{% endblock %}":                       `the tag "block" is not supported`,
		"{% call x() %}{% endcall %}":                       `the tag "call" is not supported`,
		"{% for a in b recursive %}{% endfor %}":            "recursive loops are not supported",
		"{{ a | attr('b') }}":                               `the filter "attr" is not supported`,
		"{{ a is callable }}":                               `the test "callable" is not supported`,
		"{{ f(*a) }}":                                       "not supported",
		"{{ " + many("(", 99999) + many(")", 99999) + " }}": "more than 100",
		"{{ " + many("-", 99999) + "1 }}":                   "more than 100",
		"{{ " + many("not ", 9999) + "1 }}":                 "more than 100",
		"{{ 1" + many("+1", 9999) + " }}":                   "more than 1000",
		"{{ a" + many(".b", 9999) + " }}":                   "more than 1000",
		"{{ a" + many("|trim", 9999) + " }}":                "more than 1000",
		"{{ 1" + many(" if 1", 9999) + " }}":                "more than 1000",
		many("{% if 1 %}", 9999):                            "more than 100",
		many("x", maxSource+1):                              "262145 bytes long",
		"{% if 1 %}":                                        "missing endif",
		"{% for a in b %}{% endif %}":                       "got endif, want else or endfor",
		"{% endfor %}":                                      "unexpected ",
		"{% break %}":                                       "outside a loop",
		"{% for a in b %}{% macro c() %}{% break %}{% endmacro %}{% endfor %}": "outside a loop",
		"{{ a":                       "unclosed tag",
		"{{ 'a }}":                   "unclosed string",
		"{# a":                       "unclosed comment",
		"{% raw %}":                  "raw without endraw",
		"{{ a ] }}":                  "unmatched",
		"{{ ( }}":                    "unmatched",
		"{{ }}":                      "missing expression",
		"{{ a b }}":                  `got "b", want the end of the tag`,
		"{{ 99999999999999999999 }}": "too large",
		"{{ 1e999 }}":                "too large",
		"{{ a ? b }}":                "unexpected",
		`{{ "\ud800" }}`:             "does not represent a character",
		`{{ "\x4" }}`:                "hexadecimal",
		"{% set %}":                  "want a name",
		"{% for 1 in a %}":           "want a name",
		"{{ a[] }}":                  "missing index",
	} {
		var fault *Error
		if _, err := Parse(source); !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", source, err, want)
		}
	}
}
