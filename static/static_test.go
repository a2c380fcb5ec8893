package static

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestScriptBundle runs a bundle. Modules must come after the modules that they import, must be
// included only once even if two modules import them, and must not have clashing names.
func TestScriptBundle(t *testing.T) {
	j := newJoiner(func(name string) ([]byte, error) {
		text, ok := map[string]string{
			"js/first.js": "import { count, Box } from './parts/count.js';\nconst own = 'first';\nsaid.push(own + " +
				"count() + new Box().own);\n",
			"js/second.js": "import { count } from './parts/count.js';\nimport { late } from './late.js';\nconst own " +
				"= 'second';\nsaid.push(own + count() + late);\n",
			"js/late.js": "export const late = '!';\n",
			"js/parts/count.js": "const own = 'box';\nlet n = 0;\nsaid.push('count');\nexport function " +
				"count() { return ++n; }\n" +
				"class Box { own = own; }\nexport { Box };\n",
		}[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	})
	for _, name := range []string{"js/first.js", "js/second.js"} {
		if _, err := j.add(name); err != nil {
			t.Fatal(err)
		}
	}
	vm := goja.New()
	got, err := vm.RunString("'use strict'; const said = [];\n" + j.out.String() + "said.join(' ')")
	if err != nil {
		t.Fatalf("%v in\n%s", err, j.out.String())
	}
	if want := "count first1box second2!"; got.String() != want {
		t.Errorf("the bundle recorded %q, want %q", got, want)
	}
}

// TestUnbundleableScriptsAreRefused: bundling code that would break when joined is an error.
func TestUnbundleableScriptsAreRefused(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"import x from './b.js';\n", "unsupported"},
		{"import * as b from './b.js';\n", "unsupported"},
		{"import { b as c } from './b.js';\n", "unsupported"},
		{"import './b.js';\n", "unsupported"},
		{"import { b } from './b.js';\nsay(b);\nimport { b as c } from './b.js';\n", "unsupported"},
		{"say(1);\nimport { b } from './b.js';\n", "unsupported"},
		{"say(`a\nb`);\n", "unsupported"},
		{"import { own } from './b.js';\n", "is not exported by"},
		{"let n = 1;\nexport { n };\n", "unsupported"},
		{"import { b } from 'b';\n", "unsupported"},
		{"export default 3;\n", "unsupported"},
		{"export let n = 1;\n", "unsupported"},
		{"import { a } from './a.js';\n", "import cycle"},
		{"import { c } from './nothing.js';\n", "not exist"},
	} {
		j := newJoiner(func(name string) ([]byte, error) {
			switch name {
			case "js/a.js":
				return []byte(tc.text), nil
			case "js/b.js":
				return []byte("export const b = 1;\nconst own = 2;\n"), nil
			}
			return nil, fs.ErrNotExist
		})
		if _, err := j.add("js/a.js"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.text, err, tc.want)
		}
	}
}

// TestEveryScriptBundles: each embedded script uses only forms that can be
// joined, and the result is a valid program.
func TestEveryScriptBundles(t *testing.T) {
	names, err := fs.Glob(embedded, "js/*.js")
	if err != nil || len(names) < 20 {
		t.Fatalf("got %d scripts, %v; want at least 20, <nil>", len(names), err)
	}
	for _, name := range append(names, "") {
		parts := []string{name}
		if name == "" {
			parts = names
		}
		data, err := scripts(parts)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := goja.Compile(name, string(data), true); err != nil {
			t.Error(err)
		}
	}
}

func TestStyleCommentsAreRemoved(t *testing.T) {
	const css = "a/* x { */b { c: d } /* two\nlines */\ne { f: \"*/\" }"
	if got := string(plain([]byte(css))); got != "a b { c: d }  \ne { f: \"*/\" }" {
		t.Errorf("string(plain([]byte(css))) = %q, want %q", got, "a b { c: d }  \ne { f: \"*/\" }")
	}
}

func TestStyleBundle(t *testing.T) {
	f, err := Open(strings.TrimPrefix(strings.Split(Bundle("css/tokens.css", "css/base.css"), "?")[0], "/static/"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, _ := fs.ReadFile(embedded, "css/tokens.css")
	if !bytes.HasPrefix(f.Data, plain(tokens)) || !bytes.Contains(f.Data, []byte("@font-face")) {
		t.Error("a style is missing from the bundle, or the styles are in the wrong order")
	}
	if bytes.Contains(f.Data, []byte("/*")) {
		t.Error("the bundle has comments")
	}
	// A font must be preloaded from the address in the styles, or it would be fetched twice.
	if font := Asset("fonts/inter-latin-wght-normal.woff2"); !bytes.Contains(f.Data, []byte(`url("`+font+`")`)) {
		t.Errorf("the style sheet does not contain %s", font)
	}
	z, err := gzip.NewReader(bytes.NewReader(f.Zipped()))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, f.Data) {
		t.Errorf("compressed and decompressed: %d bytes, %v; want %d", len(plain), err, len(f.Data))
	}
	if again := Bundle("css/tokens.css", "css/base.css"); again != f.Address() {
		t.Errorf("got the address %s, then %s, want the same", f.Address(), again)
	}
}

// TestUnknownFilesAreNotRemembered: for made-up addresses, Open returns an error, does not panic,
// and keeps nothing in memory.
func TestUnknownFilesAreNotRemembered(t *testing.T) {
	for _, name := range []string{
		"", "css", "css/", "css/nothing.css", "../static.go", "/css/base.css", "bundle/", "bundle/.css", "bundle/base",
		"bundle/base+base.css", "bundle/base+.css", "bundle/base+nothing.css", "bundle/icon.svg", "bundle/../base.css",
		"bundle/vendor/../base.css", "bundle/base+shell.js",
	} {
		if f, err := Open(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			if st, _ := fs.Stat(embedded, name); st == nil || !st.IsDir() {
				t.Errorf("Open(%q) = %v, %v; want fs.ErrNotExist or fs.ErrInvalid", name, f, err)
			}
		}
	}
	if _, err := Open("bundle/paper+base.css"); err != nil {
		t.Error(err)
	}
	if _, ok := known.Load("bundle/paper+base.css"); ok {
		t.Error("a bundle that only a client requested is kept in memory")
	}
}
