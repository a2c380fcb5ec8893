package browser

import (
	"testing"
)

// TestSiteAddresses: a server's selectors, scripts and addresses are converted to a static site's,
// and addresses from a site's page are converted back.
func TestSiteAddresses(t *testing.T) {
	t.Parallel()
	s := &Site{
		URL: "http://host/some/course", Path: "/some/course/",
		Address: func(address, root string) string { return root + "(" + address[1:] + ")" },
	}
	for _, c := range []struct{ give, want string }{
		{s.at("http://host/some/course"), "http://host/some/course/()"},
		{s.at("http://host/some/course/learn?x=1"), "http://host/some/course/(learn?x=1)"},
		{s.at("http://elsewhere/learn"), "http://elsewhere/learn"},
		{
			s.script(`main a[href="/learn"] b`),
			`main a:is([href="./(learn)"], [href="../(learn)"], [href="../../(learn)"], [href="../../../(learn)"], ` +
				`[href="../../../../(learn)"], [href="/some/course/(learn)"]) b`,
		},
		{ // in a string within a script, with only the beginning of an address
			s.script(`f("a[href^=\"/why?\"]")`),
			`f("a:is([href^=\"./why?\"], [href^=\"../why?\"], [href^=\"../../why?\"], [href^=\"../../../why?\"], ` +
				`[href^=\"../../../../why?\"], [href^=\"/some/course/why?\"])")`,
		},
		{s.script(`a[href$="loop"]`), `a[href$="loop"]`},
		{
			s.script(`location.pathname === "/x"`),
			`(location.pathname.replace("/some/course/", "/").replace(/(.)\/$/, "$1")) === "/x"`,
		},
		{s.own("../../learn/kv-cache/?a=b#c"), "/learn/kv-cache?a=b#c"},
		{s.own("/some/course/"), "/"},
		{s.own("./"), "/"},
		{s.own("https://example.org/"), "https://example.org/"},
		{(*Site)(nil).own("../x/"), "../x/"},
		{(*Site)(nil).script(`a[href="/learn"]`), `a[href="/learn"]`},
	} {
		if c.give != c.want {
			t.Errorf("%q\nwant %q", c.give, c.want)
		}
	}
}
