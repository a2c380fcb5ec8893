package tab

import "testing"

func TestRebaseLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ html, root, want string }{
		{`<a href="/learn">`, "../", `<a href="../learn/">`},
		{`<a class="x" href="/">`, "./", `<a class="x" href="./">`},
		{`<a href="/loop?log=a/b&amp;x=1#top">`, "/some/", `<a href="/some/loop/?log=a/b&amp;x=1#top">`},
		{`<link href="/static/css/base.css?v=1">`, "../../", `<link href="../../static/css/base.css?v=1">`},
		{
			`<form action="/cards/review"><button formaction="/quiz">`, "/s/",
			`<form action="/s/cards/review/"><button formaction="/s/quiz/">`,
		},
		{"<img\nsrc=\"/static/img/icon.svg\">", "./", "<img\nsrc=\"./static/img/icon.svg\">"},
		// These are not addresses of the program.
		{`<a href="#why"><a href="https://example.org/"><a href="//host/x"><b title="/learn">`, "../", ""},
		{`<kbd data-key="/">`, "../", ""},
		{`<p>href=&#34;/learn&#34;</p>`, "../", ""},
		{`<a href="/learn`, "../", ""}, // cut short
		{``, "../", ""},
	} {
		want := c.want
		if want == "" {
			want = c.html
		}
		if got := Rebase(c.html, c.root); got != want {
			t.Errorf("%s below %s is %s, want %s", c.html, c.root, got, want)
		}
	}
}

func TestRootFrom(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "./", "?q=a/b": "./", "loop/": "../", "learn/kv-cache/?q=a/b": "../../",
		"no.html": "./", "learn/no.html": "../", "learn/no.html/": "../../", "a%2Fb/": "../", "a//b/": "../../../",
	} {
		if got := RootFrom(address); got != want {
			t.Errorf("the root from %q is %s, want %s", address, got, want)
		}
	}
}
