#!/usr/bin/env python3
"""Renders a hundred generated chats with published chat templates, and single lines of the
language, with Jinja and the settings of Hugging Face's transformers. golden.json holds the
chats, the beginning of the SHA-256 of each rendered text, and the lines with their results.

Needs Debian's python3-jinja2 (3.1.6). From the root of the repository:

    python3 testdata/chat/make.py

sources.json lists the sources and licenses of the templates.
"""
import glob, hashlib, json, os, random
from datetime import datetime
from jinja2 import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

here = os.path.dirname(os.path.abspath(__file__))


def raise_exception(message):
    raise TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
environment.filters["tojson"] = tojson
environment.globals["raise_exception"] = raise_exception
environment.globals["strftime_now"] = lambda format: datetime(2026, 11, 26, 9, 5, 7).strftime(format)

PIECES = [
    "Hello", "  two spaces before", "a line\nand another", "trailing blanks  \n\n", "\n\nleading lines", "Größe 12 µm",
    "日本語の文", "🦊 and 🏡", "<think>hidden\n</think>\n\nshown", "</think>", "<tool_response>x</tool_response>",
    "{{ not a tag }} {% if %}", "quotes ' and \" and \\ backslash", "tab\there", "", " ", "0", "x" * 300,
    "Who lives here?", "A fox, I think.", "[INST] typed [/INST]", "<|im_end|>\n<|im_start|>system", "</s><s>",
    "<｜User｜>", "1.5e3 %d %s", "ends with <", "|> begins",
]


def chats():
    rng = random.Random(19)
    for n in range(100):
        messages = []
        if n % 3 == 0:
            messages.append({"role": "system", "content": rng.choice(PIECES)})
        for turn in range(rng.randrange(1, 7)):
            role = ["user", "assistant"][turn % 2] if n % 10 else rng.choice(["user", "assistant", "system"])
            content = " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 4)))
            messages.append({"role": role, "content": content})
        yield messages


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Features of the language, one per line.
SNIPPETS = r"""
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % -3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 1.5 + 1 }} {{ 1e20 }} {{ 0.1 + 0.2 }} {{ 1_000 }}
{{ -7.5 // 2 }} {{ 7.5 % 2 }} {{ 1e-5 }} {{ 100000000000000000.0 }} {{ 3 * 'ab' }} {{ [1, 2] * 2 }} {{ True + 1 }} {{ -2 ** 2 }}
{{ 'a' ~ 1 ~ none ~ true ~ missing }} {{ 'a' 'b' }} {{ "a\tb\u00e9\x41\q" }} {{ 'it\'s' }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ [1] == [1] }} {{ (1,) == [1] }} {{ none == missing }}
{{ 'ell' in 'Hello' }} {{ 1 in [2, 1] }} {{ 'a' in {'a': 1} }} {{ 'a' not in 'bcd' }} {{ not 'a' in 'a' }} {{ 1 in missing }}
{{ 1 if missing else 2 }} {{ 'x' if false }} {{ missing or 'other' }} {{ '' and 'a' }} {{ 0 or none }} {{ not missing }}
{{ [1, 'two', 3.0, none, true, ['x'], {'k': "it's"}, (1,), (1, 2)] }} {{ {} }} {{ [] }} {{ () }} {{ "a\nb" | list }}
{{ 'Grüße'[1] }} {{ 'Grüße'[-1] }} {{ 'Grüße'[1:3] }} {{ 'Grüße'[::-1] }} {{ [1,2,3,4][1:] }} {{ [1,2,3,4][:-1] }} {{ [1,2,3,4][::2] }} {{ [1,2,3][-9:9] }} {{ [1,2,3][5] }}
{{ {'a': {'b': 2}}.a.b }} {{ {'a': {'b': 2}}['a']['b'] }} {{ [[1, 2]].0.1 }} {{ {'items': 3}['items'] }} {{ 'abc'.missing }}
{% for a, b in [(1, 2), (3, 4)] %}{{ a }}-{{ b }};{% endfor %}{% for x in [] %}a{% else %}none{% endfor %}
{% for x in [1,2,3,4] if x is even %}{{ loop.index }}/{{ loop.length }}:{{ x }}{{ ',' if not loop.last }}{% endfor %}
{% for x in 'abc' %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('o', 'e') }}{{ loop.depth }} {% endfor %}
{% for x in [1,2,3,4] %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for k, v in {'b': 1, 'a': 2}.items() %}{{ k }}{{ v }}{% endfor %} {% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %} {{ {'b': 1, 'a': 2} | dictsort }}
{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 3 %}{% endif %}{{ x }}
{% set ns = namespace(n=0, s='') %}{% for i in range(5) %}{% set ns.n = ns.n + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.n }} {{ ns.s }} {{ ns.none_such is defined }}
{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set t = 1, %}{{ t }} {% set text %}in {{ a }} block{% endset %}{{ text }} {% set loud | upper | replace('B', '!') %}ab{% endset %}{{ loud }}
{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }} {{ m(b=1, a=0) }} {{ m() }}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }} {% set y = 7 %}{% macro g() %}{{ y }}{% endmacro %}{{ g() }}
{{ '  x y ' | trim }}|{{ 'xxaxx'.strip('x') }}|{{ '  a'.lstrip() }}|{{ 'a  '.rstrip() }}|{{ 'aXbX' | replace('X', '-') }}|{{ 'aXbX'.replace('X', '-', 1) }}|{{ 'ab'.replace('', '.') }}
{{ 'a,b,,c'.split(',') }} {{ ' a  b c '.split() }} {{ 'a b c'.split(' ', 1) }} {{ ' a b  c '.split(none, 1) }} {{ 'a\nb\r\nc\n'.splitlines() }} {{ 'abc'.split('</think>')[-1] }}
{{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'é€a'.find('a') }} {{ 'abc'.count('b') }} {{ 'x'.join(['a', 'b']) }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('bc') }}
{{ 'hELLO wORLD' | capitalize }} {{ 'ab' | upper }} {{ 'AB' | lower }} {{ 'AB'.capitalize() }} {{ (12 | string) + 'x' }} {{ 'prefix-a'.removeprefix('prefix-') }} {{ 'a.b'.removesuffix('.b') }}
{{ [1, 2, 3] | length }} {{ 'né' | count }} {{ {} | length }} {{ missing | length }} {{ [1,2,3] | first }} {{ [1,2,3] | last }} {{ [1, 2] | join(', ') }} {{ [] | first }} {{ 'abc' | list }}
{{ missing | default('d') }} {{ '' | default('d') }} {{ '' | default('d', true) }} {{ none | default('d', boolean=true) }} {{ '' | d('x', true) }}
{{ [{'r': 'u', 'n': 1}, {'r': 'a'}] | selectattr('r', 'equalto', 'u') | list }} {{ [{'r': 1}, {}] | selectattr('r', 'defined') | list }} {{ [{'r': 1}, {}] | rejectattr('r') | list }}
{{ [1, 0, 2] | select | list }} {{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('gt', 1) | list }} {{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }} {{ ['a', 'b'] | map('upper') | join }}
{{ ['a', 'B', 'b', 'a'] | unique | list }} {{ [3, 1] | reverse | list }} {{ 'abc' | reverse }} {{ '12' | int }} {{ 'x' | int(5) }} {{ 3.9 | int }} {{ '1.5' | float }} {{ -3 | abs }}
{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(1, blank=true) }}
{{ {'a': [1, 2.5, none, true, 'é"\n\x01']} | tojson }} {{ [] | tojson }} {{ {'b': 1, 'a': {}} | tojson(indent=2) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ [1, 2] | tojson(separators=(',', ':')) }}
{{ none is none }} {{ missing is defined }} {{ missing is undefined }} {{ 'a' is string }} {{ {} is mapping }} {{ [] is iterable }} {{ 'a' is sequence }} {{ 1 is number }} {{ true is number }} {{ true is boolean }} {{ 1 is integer }} {{ true is integer }}
{{ 1.0 is float }} {{ 3 is divisibleby 3 }} {{ 3 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 1 is not none }} {{ 'a' is in ['a'] }} {{ true is true }} {{ 1 is true }} {{ 'AB' is upper }} {{ 2 is odd or 2 is even }}
{{ strftime_now('%d %b %Y') }} {{ strftime_now('%A, %B %d, %y %H:%M:%S %j %p %I %%') }} {{ range(3) | list }} {{ range(1, 8, 3) | list }} {{ range(3, 0, -1) | list }} {{ dict(a=1).a }}
a {#- c -#} b {# c #} c {%- if true -%} d {%- endif %} e {%+ if true %} f {% endif +%} g {{- 'h' -}} i {% raw %}{{ x }}{% endraw %} {{ '{{' }}
{% if 1 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 0 %}b{% else %}c{% endif %}{% generation %}g{% endgeneration %}
{{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 2) }} {{ {'a': 1, 'b': 2}.keys() | list }} {{ {'a': 1}.values() | list }} {{ {'a': 1} | items | list }}
""".strip("\n").split("\n")

# Blocks at the beginnings of lines, and newlines after blocks.
SNIPPETS += [
    "  {% if true %}\n  a\n    {# c #}\n  b\r\n {{ 1 }}\n{% endif %}\n\n  {%- for x in [1, 2] %}\n\t{{ x }}\n  {% endfor %}\nend\n",
    "{% raw %}\n {% x %}\n  {% endraw %}\ny\n\n",
    "{%- set a = '{%' %}\n{{ a }}\n  {%+ if 1 %}\nx{% endif %} \n{{ 2 }}\n",
]

with open(os.path.join(here, "sources.json")) as f:
    sources = json.load(f)
everything = list(chats())
golden = {}
for name, source in sources.items():
    with open(os.path.join(here, name + ".jinja"), newline="") as f:
        template = environment.from_string(f.read())
    golden[name] = []
    for n, messages in enumerate(everything):
        try:
            golden[name].append(digest(template.render(
                messages=messages, tools=None, documents=None, add_generation_prompt=True, **source["tokens"])))
        except TemplateError as error:
            golden[name].append("refused: " + str(error))


def lines(items):
    return ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items)


with open(os.path.join(here, "golden.json"), "w") as f:
    f.write('{\n "chats": [\n  ' + lines(everything) + '\n ],\n "texts": {\n  ')
    f.write(",\n  ".join(json.dumps(name) + ": " + json.dumps(texts) for name, texts in golden.items()))
    f.write('\n },\n "lines": [\n  ' + lines([s, environment.from_string(s).render()] for s in SNIPPETS) + "\n ]\n}\n")
print({name: len([t for t in texts if t.startswith("refused")]) for name, texts in golden.items()})
