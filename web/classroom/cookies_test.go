package classroom_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestInstructorSurvivesStrayCookies: if another host in the domain has set cookies with the same
// names, and the browser sends those cookies first, the instructor can still open the room. Over
// HTTPS, the instructor's old cookie is replaced.
func TestInstructorSurvivesStrayCookies(t *testing.T) {
	t.Parallel()
	base := webtest.Serve(t, webtest.Options{
		Access: classroom.Access{URL: "https://class.example"}, Hosts: []string{"class.example"},
	})
	p, code := instructor(t, base, url.Values{})
	room, err := url.Parse(base + "/class/" + code)
	if err != nil {
		t.Fatal(err)
	}
	var name, secret string
	for _, c := range p.client.Jar.Cookies(room) {
		if strings.HasPrefix(c.Name, "viz-room-"+code) {
			name, secret = c.Name, c.Value
		}
	}
	if secret == "" {
		t.Fatalf("got the cookies %v, want the room's among them", p.client.Jar.Cookies(room))
	}
	present := func(host, cookies string) *http.Response {
		r, err := http.NewRequest(http.MethodGet, room.String()+"/present", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set("Cookie", cookies); host != "" {
			r.Host = host
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	stray := name + "=AAAAAAAAAAAAAAAAAAAAAA; " + name + "=x; "
	for cookies, want := range map[string]int{
		stray + name + "=" + secret: 200, name + "=" + secret + "; " + stray: 200, stray: 403,
	} {
		if got := present("", cookies).StatusCode; got != want {
			t.Errorf("cookies %s: status %d, want %d", cookies, got, want)
		}
	}
	set := map[string]*http.Cookie{}
	for _, c := range present("class.example", stray+name+"="+secret).Cookies() {
		set[c.Name] = c
	}
	if renewed, old := set["__Secure-"+name], set[name]; renewed == nil || old == nil ||
		renewed.Value != secret || !renewed.Secure || renewed.Path != "/class/"+code ||
		old.MaxAge >= 0 || old.Path != renewed.Path {
		t.Errorf("over HTTPS, the response to an old cookie sets %v, want a secure cookie in its place", set)
	}
	res := present("class.example", stray+"__Secure-"+name+"="+secret)
	if res.StatusCode != 200 {
		t.Errorf("with the new cookie: status %d, want 200", res.StatusCode)
	}
	for _, c := range res.Cookies() {
		if strings.Contains(c.Name, "viz-room") {
			t.Errorf("the response to the new cookie sets %v, want Name without %q", c, "viz-room")
		}
	}
}
