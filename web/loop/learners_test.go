package loop

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestCookieDecidesWhoseRun: the cookie is signed, is kept, and identifies the owner of a run.
// Promise: Only the browser that started a run can open it on the server.
func TestCookieDecidesWhoseRun(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	resp, _ := x.get("/loop")
	cookies := resp.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("got %d cookies, want 1", len(cookies))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %s, want HttpOnly = true, SameSite = %d, Path = %q", c, http.SameSiteLaxMode, "/")
	}
	if resp, _ := x.get("/loop"); len(resp.Cookies()) != 0 {
		t.Error("a known learner got a new cookie")
	}
	id, mac, _ := strings.Cut(c.Value, ".")
	for _, forged := range []string{id, id + ".", "x" + c.Value, id + "." + mac[1:] + "A", "", "."} {
		if resp, _ := x.stranger().get("/loop", "Cookie", c.Name+"="+forged); len(resp.Cookies()) != 1 {
			t.Errorf("the forged cookie %q was accepted", forged)
		}
	}

	run := x.dial(wire.ProtocolHTML, "")
	run.do(`{"cmd":"start","prompt":"Once upon a time"}`)
	if resp, body := x.get("/loop?run=" + run.run); resp.StatusCode != 200 ||
		!strings.Contains(body, `data-run="`+run.run+`"`) {
		t.Errorf("the learner's own run: got %d, want resp.StatusCode = 200, body with %q", resp.StatusCode,
			`data-run="`+run.run+`"`)
	}
	for name, y := range map[string]*site{"another browser": x.stranger(), "unknown": x} {
		id := run.run
		if name == "unknown" {
			id = "AAAAAAAAAAAAAAAAAAAAAA"
		}
		resp, body := y.get("/loop?run=" + id)
		if resp.StatusCode != 404 || !strings.Contains(body, "There is no such run here") ||
			strings.Contains(body, "Once upon a time</") {
			t.Errorf(
				"%s: got %d, or the page tells too much or too little; want resp.StatusCode = 404, body "+
					"with %q, body without %q",
				name, resp.StatusCode, "There is no such run here", "Once upon a time</",
			)
		}
		c := y.dial(wire.ProtocolJSON, "?had=1&run="+id)
		if c.run == id || c.told == nil || c.told.Code != terms.CodeExpired || c.where() != "0 none" {
			t.Errorf(
				"%s: socket joined %s at %s with error %+v; want c.run other than %s, an error, Code = %q, "+
					"c.where() = %s",
				name, c.run, c.where(), c.told, id, terms.CodeExpired, "0 none",
			)
		}
		c.do(`{"cmd":"start","prompt":"Mine"}`)
	}
	if st := x.runOf(run.run).Latest(); st.Prompt != "Once upon a time" {
		t.Errorf("the run now has the prompt %q, want %q", st.Prompt, "Once upon a time")
	}
}
