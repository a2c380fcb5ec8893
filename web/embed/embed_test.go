package embed_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/webtest"
)

const school = "https://school.example"

// get sends a request as a browser does for a page of the school's site.
func get(t *testing.T, client *http.Client, address string) (*http.Response, *goquery.Document) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	d, err := goquery.NewDocumentFromReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, d
}

// embedded lists the addresses of embedded pages, at least one of each kind.
var embedded = []string{
	"/embed/loop", "/embed/loop/?prompt=Once+upon+a+time", "/embed/loop?view=numbers",
	"/embed/learn/widget/cache-saves", "/embed/practice/softmax?level=2&seed=7",
}

// TestFramesAllowOnlyGivenOrigins: only pages below /embed can be shown in frames on other origins,
// and only on the configured origins. If no origins are configured, no page can be shown in a
// frame.
// Promise: Only the sites that you list can embed your server's pages.
func TestFramesAllowOnlyGivenOrigins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		origins []string
		want    string
	}{
		{nil, "frame-ancestors 'none'"},
		{[]string{school, "http://b.example:81"}, "frame-ancestors " + school + " http://b.example:81"},
	} {
		server := webtest.Serve(t, webtest.Options{Embeds: c.origins})
		for _, path := range embedded {
			answer, d := get(t, http.DefaultClient, server+path)
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: got status %s, want 200", path, answer.Status)
			}
			policy := answer.Header.Get("Content-Security-Policy")
			if !strings.HasSuffix(policy, "; "+c.want) || strings.Count(policy, "frame-ancestors") != 1 {
				t.Errorf(
					"%s: got policy %q, want it to end with %q and to name frame-ancestors once", path, policy, c.want,
				)
			}
			if n := d.Find("header.top, #keys").Length(); n != 0 {
				t.Errorf("%s has a header, want none in a frame", path)
			}
			const kept = "Nothing is saved here, and no cookies are set."
			whole, _, _ := strings.Cut(strings.TrimPrefix(path, "/embed"), "?")
			if to := d.Find(".alone a").AttrOr("href", ""); !strings.HasPrefix(to, strings.TrimSuffix(whole, "/")) {
				t.Errorf("%s: the link to the full page leads to %q, want %s", path, to, whole)
			}
			if say := d.Find(".embed__foot").Text(); !strings.Contains(say, kept) {
				t.Errorf("%s: the footer is %q, want it to contain %q", path, say, kept)
			}
		}
		may := "same-origin"
		if c.origins != nil {
			may = "cross-origin"
		}
		for path, may := range map[string]string{
			"/embed/viz.js": may, "/static/css/embed.css": may,
			"/embed/loop": "same-origin", "/progress": "same-origin",
		} {
			answer, _ := get(t, http.DefaultClient, server+path)
			got := answer.Header.Get("Cross-Origin-Resource-Policy")
			if answer.StatusCode != http.StatusOK || got != may {
				t.Errorf("origins %v, %s: pages of %q can load it, want %q", c.origins, path, got, may)
			}
		}
		for _, path := range []string{"/", "/loop", "/embed", "/practice/softmax"} {
			answer, _ := get(t, http.DefaultClient, server+path)
			if policy := answer.Header.Get("Content-Security-Policy"); path != "/embed" &&
				!strings.HasSuffix(policy, "frame-ancestors 'none'") {
				t.Errorf("%s may be framed: got %s, want frame-ancestors 'none'", path, policy)
			}
		}
	}
}

// TestOnlyListedPagesAreEmbedded: only the listed pages exist below /embed.
func TestOnlyListedPagesAreEmbedded(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	for _, path := range []string{
		"/embed/", "/embed/progress", "/embed/progress/export", "/embed/cards", "/embed/teach", "/embed/why",
		"/embed/ws",
		"/embed/embed/loop", "/embed//loop", "/embed/loop/x", "/embed/export/text", "/embed/static/js/module/viz.js",
		"/embed/practice", "/embed/../progress",
	} {
		answer, _ := get(t, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}, server+path)
		if to := answer.Header.Get("Location"); answer.StatusCode == http.StatusOK || strings.HasPrefix(to, "//") {
			t.Errorf(
				"%s: got status %s with location %q, want an error or a redirect within this server", path,
				answer.Status, to,
			)
		}
	}
}

// TestEmbeddedPagesSetNoCookies: an embedded page sets no cookie and ignores a learner's cookie.
// A drill that was done in a frame is not on the learner's progress page.
// Promise: Embedded pages set no cookies and keep nothing of what a reader does.
func TestEmbeddedPagesSetNoCookies(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	for _, path := range embedded {
		if answer, _ := get(t, http.DefaultClient, server+path); len(answer.Cookies()) != 0 {
			t.Errorf("%s sets %v, want 0 elements", path, answer.Cookies())
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get(t, client, server+"/practice")
	p, err := drill.New(terms.English, drill.Softmax, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"key": {"k"}, "do": {"check"}}
	for _, id := range p.Order() {
		form.Set(id, p.Answer(id))
	}
	been := func(path string) int {
		t.Helper()
		answer, err := client.PostForm(server+path+"/check?seed=7&level=1", form)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 0 {
			t.Fatalf(
				"%s: %s, %v, cookies %v; want no error, answer.StatusCode = %d, 0 elements", path, answer.Status, err,
				answer.Cookies(), http.StatusOK,
			)
		}
		if !strings.Contains(string(page), "is-done") {
			t.Errorf("%s: answers are not graded", path)
		}
		_, d := get(t, client, server+"/practice")
		return d.Find(".drills__been b").Length()
	}
	if n := been("/embed/practice/softmax"); n != 0 {
		t.Errorf("after a drill in a frame, %d drills are saved, want 0", n)
	}
	if n := been("/practice/softmax"); n != 1 {
		t.Errorf("after the same drill on its own page, %d are saved, want 1", n)
	}
}

// TestEmbeddedLinksStayInTheFrame: links within the embedded part stay in the frame, and every
// other link opens a new window.
func TestEmbeddedLinksStayInTheFrame(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	_, d := get(t, http.DefaultClient, server+"/embed/practice/softmax?level=1&seed=7")
	if to, _ := d.Find("base").Attr("target"); to != "_blank" {
		t.Errorf("links open in %q, want %q", to, "_blank")
	}
	for _, what := range []string{".levels a", `[data-key="n"]`, "#drill"} {
		d.Find(what).Each(func(_ int, s *goquery.Selection) {
			to := s.AttrOr("href", s.AttrOr("action", ""))
			if !strings.HasPrefix(to, "/embed/practice/softmax") || s.AttrOr("target", "") != "_self" {
				t.Errorf(
					"%s leads to %s in %q; want an address that begins with %q, %q", what, to, s.AttrOr("target", ""),
					"/embed/practice/softmax", "_self",
				)
			}
		})
	}
	if to := d.Find("[data-whole]").AttrOr("href", ""); to != "/practice/softmax?level=1&seed=7" {
		t.Errorf("the link to the whole page is %s, want %s", to, "/practice/softmax?level=1&seed=7")
	}
	_, d = get(t, http.DefaultClient, server+"/embed/loop?prompt=Once+upon&view=numbers")
	if view := d.Find("body").AttrOr("data-view", ""); view != "numbers" {
		t.Errorf("the Loop is in the view %q, want %q", view, "numbers")
	}
	if link := d.Find("body").AttrOr("data-link", ""); link == "" || d.Find("body").AttrOr("data-run", "") != "" {
		t.Error("the Loop in a frame has no link, or shows a learner's run")
	}
}

// TestModuleIsForGivenOrigins: only pages of the given origins can load the module.
func TestModuleIsForGivenOrigins(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	for _, c := range []struct {
		origin, path string
		status       int
		allowed      string
	}{
		{school, "/embed/viz.js", 200, school},
		{"HTTPS://School.example", "/embed/viz.js", 200, "HTTPS://School.example"},
		{"https://evil.example", "/embed/viz.js", 403, ""},
		{"null", "/embed/viz.js", 403, ""},
		{"", "/embed/viz.js", 200, ""},
		{school, "/embed/loop", 403, ""},
		{school, "/progress/export", 403, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || answer.Header.Get("Access-Control-Allow-Origin") != c.allowed {
			t.Errorf(
				"%q at %s: got %s, allowed %q; want %d, %q", c.origin, c.path, answer.Status,
				answer.Header.Get("Access-Control-Allow-Origin"), c.status, c.allowed,
			)
		}
		if c.status == 200 && !strings.Contains(string(text), "customElements.define('viz-loop'") {
			t.Errorf("%q gets %.80q, want the module that defines viz-loop", c.origin, text)
		}
	}
}

// TestOEmbedResponses: the response to an oEmbed request for a page that can be embedded contains a
// frame no larger than the request allows. For any other page, the response is an error. Text is
// escaped.
func TestOEmbedResponses(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	for _, c := range []struct {
		query  url.Values
		status int
		src    string
		w, h   string
	}{
		{url.Values{"url": {server + "/loop?log=abc"}}, 200, server + "/embed/loop?log=abc", "760", "640"},
		{
			url.Values{"url": {server + "/embed/practice/softmax?seed=7"}, "maxwidth": {"400"}, "maxheight": {"9999"}},
			200,
			server + "/embed/practice/softmax?seed=7", "400", "640",
		},
		{url.Values{"url": {server + `/loop?log="><b>`}}, 200, server + `/embed/loop?log="><b>`, "760", "640"},
		{url.Values{"url": {server + "/progress"}}, 404, "", "", ""},
		{url.Values{"url": {"https://evil.example/loop"}}, 404, "", "", ""},
		{url.Values{"url": {"//evil.example/loop"}}, 404, "", "", ""},
		{url.Values{}, 404, "", "", ""},
		{url.Values{"url": {server + "/loop"}, "maxwidth": {"10"}}, 400, "", "", ""},
		{url.Values{"url": {server + "/loop"}, "format": {"xml"}}, 501, "", "", ""},
	} {
		answer, err := http.Get(server + "/embed/oembed?" + c.query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Version, Type, HTML string }
		if answer.StatusCode == http.StatusOK {
			err = json.NewDecoder(answer.Body).Decode(&got)
		}
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status {
			t.Errorf("%v: %s, %v; want no error, answer.StatusCode = %d", c.query, answer.Status, err, c.status)
			continue
		}
		if c.status != http.StatusOK {
			continue
		}
		d, err := goquery.NewDocumentFromReader(strings.NewReader(got.HTML))
		if err != nil {
			t.Fatal(err)
		}
		f := d.Find("iframe")
		if f.Length() != 1 || d.Find("b").Length() != 0 || f.AttrOr("src", "") != c.src ||
			f.AttrOr("width", "") != c.w || f.AttrOr("height", "") != c.h ||
			got.Version != "1.0" || got.Type != "rich" {
			t.Errorf(
				"%v: got %+v, want version 1.0 of type rich with one frame of %q, %s by %s", c.query, got, c.src, c.w,
				c.h,
			)
		}
	}
}

// TestPagesAdvertiseOEmbed: on a server that allows embedding, each page that can be embedded links
// to an oEmbed description of itself.
func TestPagesAdvertiseOEmbed(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	const link = `link[type="application/json+oembed"]`
	_, d := get(t, http.DefaultClient, server+"/practice/softmax?level=2&seed=7")
	answer, err := http.Get(server + d.Find(link).AttrOr("href", "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct{ HTML string }
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil ||
		!strings.Contains(got.HTML, server+"/embed/practice/softmax?level=2&amp;seed=7") {
		t.Errorf(
			"got %v, %+v; want no error, HTML with %q", err, got, server+"/embed/practice/softmax?level=2&amp;seed=7",
		)
	}
	for _, address := range []string{
		server + "/practice", server + "/embed/loop", webtest.Serve(t, webtest.Options{}) + "/loop",
	} {
		if _, d := get(t, http.DefaultClient, address); d.Find(link).Length() != 0 {
			t.Errorf("%s has an oEmbed link, want none", address)
		}
	}
	if _, d := get(t, http.DefaultClient, server+"/loop"); d.Find(link).Length() != 1 {
		t.Error("the Loop has no oEmbed link")
	}
}

// TestEmbedPageListsElements: the embedding page lists an HTML element for each page that can be
// embedded, and it names the allowed sites.
func TestEmbedPageListsElements(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{Embeds: []string{school}})
	_, d := get(t, http.DefaultClient, server+"/embed")
	if n := d.Find(".embeds li").Length(); n < 20 {
		t.Errorf("%d items are listed, want at least 20", n)
	}
	d.Find(".embeds a").Each(func(_ int, s *goquery.Selection) {
		if answer, _ := get(t, http.DefaultClient, server+s.AttrOr("href", "")); answer.StatusCode != http.StatusOK {
			t.Errorf("link %s: got status %s, want 200", s.AttrOr("href", ""), answer.Status)
		}
	})
	if say := d.Find("main").Text(); !strings.Contains(say, school) {
		t.Error("the page does not name the allowed sites")
	}
	_, d = get(t, http.DefaultClient, webtest.Serve(t, webtest.Options{})+"/embed")
	if say := fmt.Sprint(d.Find("main").Text()); !strings.Contains(say, "-embed-origins") {
		t.Error("the page does not explain how to allow a site")
	}
}
