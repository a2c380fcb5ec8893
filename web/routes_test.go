package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// The messages for addresses that cannot be used.
const (
	noPage      = "<h1>There is no page at this address.</h1>"
	noFile      = "There is no file at this address."
	noExport    = "There is no such export."
	learnNoPage = "There is no page here."
	readOnly    = "This address accepts only GET and HEAD requests."
	noForms     = "This address does not accept forms."
)

// answers lists odd and ordinary requests with the server's response to each: the status, the
// Location of a redirect or the allowed methods of a 405, and words from the body.
var answers = []struct {
	method, target string
	status         int
	header, says   string
}{
	{"GET", "/", 200, "", "Start a sentence. Watch a language model finish it."},
	{"POST", "/", 405, "GET, HEAD", noForms},
	{"GET", "/loop", 200, "", "The loop: how a language model writes"},
	{"GET", "/l%6fop", 200, "", "The loop: how a language model writes"},
	{"HEAD", "/loop", 200, "", ""},
	{"POST", "/loop", 405, "GET, HEAD", readOnly},
	{"OPTIONS", "/loop", 405, "GET, HEAD", readOnly},
	{"GET", "/loop/", 404, "", noPage},
	{"GET", "/model", 200, "", "The model on this site"},
	{"POST", "/model", 405, "GET, HEAD", noForms},
	{"GET", "/model/x", 404, "", learnNoPage},
	{"GET", "/loop/x", 404, "", noPage},
	{"GET", "/Loop", 404, "", noPage},
	{"GET", "/loop;x", 404, "", noPage},
	{"GET", "/loop%2F", 404, "", noPage},
	{"GET", "/loop%00", 404, "", noPage},
	{"POST", "/view", 400, "", "There is no such view."}, // a form without a view
	{"GET", "/view", 405, "POST", "This address accepts only POST requests."},
	{"PUT", "/view", 405, "POST", "This address accepts only POST requests."},
	{"POST", "/view/", 404, "", noPage},
	{"GET", "/%2e%2e/loop", 404, "", noPage},
	{"GET", "/nothing", 404, "", noPage},
	{"POST", "/nothing", 404, "", noPage},
	{"HEAD", "/nothing", 404, "", ""},
	{"DELETE", "/ws", 405, "GET, HEAD", readOnly},
	{"POST", "/healthz", 405, "GET, HEAD", readOnly},
	{"GET", "/storybook", 404, "", noPage}, // without -storybook
	{"GET", "/storybook/x", 404, "", noPage},
	{"POST", "/storybook/x", 405, "GET, HEAD", readOnly},

	// Paths with empty or dotted parts redirect to the cleaned address.
	{"GET", "//", 307, "/", ""},
	{"GET", "//loop", 307, "/loop", ""},
	{"GET", "/../loop", 307, "/loop", ""},
	{"GET", "/loop/..", 307, "/", ""},
	{"GET", "///learn?x=1", 307, "/learn?x=1", ""},
	{"POST", "//learn", 307, "/learn", ""},
	{"GET", "/labs//cache", 307, "/labs/cache", ""},
	{"GET", "//evil.example/loop", 307, "/evil.example/loop", ""}, // a redirect to this server, not to another one
	{"GET", "/\\evil.example", 404, "", noPage},
	{"GET", "*", 400, "", ""},

	{"GET", "/static/js/loop.js", 200, "", "// The Loop page."},
	{"GET", "/static/js%2Floop.js", 200, "", "// The Loop page."},
	{"GET", "/static%2Fjs/loop.js", 404, "", noPage},
	{"GET", "/static//js/loop.js", 307, "/static/js/loop.js", ""},
	{"GET", "/static/x/../js/loop.js", 307, "/static/js/loop.js", ""},
	{"GET", "/static/../go.mod", 307, "/go.mod", ""},
	{"GET", "/go.mod", 404, "", noPage},
	{"GET", "/static/%2e%2e/static.go", 404, "", noFile},
	{"GET", "/static/js/loop.js/", 404, "", noFile},
	{"GET", "/static/js", 404, "", noFile},
	{"GET", "/static/", 404, "", noFile},
	{"GET", "/static", 404, "", noPage},
	{"POST", "/static/js/loop.js", 405, "GET, HEAD", readOnly},
	{"POST", "/static", 404, "", noPage},
	{"GET", "/export/text", 404, "", "There is no such run here: it has expired"},
	{"GET", "/export/x", 404, "", noExport},
	{"GET", "/export/a/b", 404, "", noExport},
	{"GET", "/export/", 404, "", noExport},
	{"GET", "/export", 404, "", noPage},
	{"POST", "/export/text", 405, "GET, HEAD", readOnly},

	// Each package refuses unknown addresses below its own path.
	{"GET", "/learn", 200, "", "One token at a time"},
	{"GET", "/learn/", 404, "", learnNoPage},
	{"GET", "/learn/nothing", 404, "", "There is no such lesson."},
	{"GET", "/learn/a/b", 404, "", learnNoPage},
	{"GET", "/learn/check/x", 404, "", learnNoPage}, // accepts a form
	{"GET", "/learn/../loop", 307, "/loop", ""},
	{"GET", "/learning", 404, "", noPage},
	{"GET", "/learn%2Fx", 404, "", noPage},
	{"POST", "/learn", 405, "GET, HEAD", noForms},
	{"POST", "/learn/a/b", 405, "GET, HEAD", noForms},
	{"PUT", "/learn/visit", 405, "GET, HEAD, POST", noForms},
	{"DELETE", "/learn/check/x", 405, "POST", noForms},
	{"DELETE", "/predict", 405, "GET, HEAD, POST", noForms},
	{"GET", "/practice/x", 404, "", "There is no such drill."},
	{"GET", "/progress/", 404, "", learnNoPage},
	{"GET", "/first", 200, "", "Start a sentence."},
	{"POST", "/first", 405, "GET, HEAD", noForms},
	{"GET", "/first/", 404, "", learnNoPage},
	{"GET", "/first/next", 404, "", learnNoPage}, // accepts a form
	{"GET", "/first?scene=x", 400, "", "This address does not work."},
	{"GET", "/first/card", 200, "", "The card is made from this page’s address"},
	{"GET", "/first/card.svg", 400, "", "This address does not work."},
	{"GET", "/first/card.png", 400, "", "This address does not work."},
	{"GET", "/why", 200, "", "Why this token?"},
	{"GET", "/why?off=L9", 400, "", "L1 to L6"},
	{"POST", "/why", 405, "GET, HEAD", noForms},
	{"GET", "/labs/cache", 200, "", "The KV cache"},
	{"GET", "/labs/cache/rows.csv", 200, "", "step,positions"},
	{"GET", "/labs/", 404, "", "There is no such lab."},
	{"GET", "/labs/cache/x", 404, "", "There is no such lab."},
	{"POST", "/labs/cache", 405, "GET, HEAD", "The labs answer GET and HEAD only."},
	{"GET", "/teach", 200, "", "Lead a class through the loop"},
	{"PATCH", "/teach", 405, "GET, HEAD, POST", noForms},
	{"GET", "/teach/study", 200, "", "Measure what the course changes"},
	{"GET", "/teach/study/sheet?n=x", 200, "", "30 sheets, one for each participant."},
	{"POST", "/teach/study", 405, "GET, HEAD", noForms},
	{"GET", "/teaching", 404, "", noPage},
	{"GET", "/join", 200, "", "Join a class"},
	{"GET", "/class", 404, "", "You can join a class with the code"},
	{"GET", "/class/ABCD", 404, "", "Join a class"},
	{"GET", "/class/ABCD/", 404, "", "You can join a class with the code"},
	{"POST", "/class/ABCD/do", 403, "", "For the instructor."},
	{"DELETE", "/class/ABCD/do", 405, "POST", noForms},
	{"GET", "/tour", 404, "", "You can join a class with the code"},
	{"GET", "/tour/x", 404, "", "There is no such tour."},
}

// TestRouteResponses checks the response to each request in answers. It sends the targets byte for
// byte, since an HTTP client would normalize the odd ones.
func TestRouteResponses(t *testing.T) {
	t.Parallel()
	host := strings.TrimPrefix(webtest.Serve(t, webtest.Options{}), "http://")
	for _, want := range answers {
		t.Run(want.method+" "+want.target, func(t *testing.T) {
			got, body := request(t, host, want.method, want.target)
			if got.StatusCode != want.status {
				t.Errorf("status %d, want %d", got.StatusCode, want.status)
			}
			if header := got.Header.Get("Location") + got.Header.Get("Allow"); header != want.header {
				t.Errorf("Location or Allow is %q, want %q", header, want.header)
			}
			if !strings.Contains(body, want.says) {
				t.Errorf("got the body %q, want %q in it", body, want.says)
			}
			if want.says == noPage && !strings.Contains(body, `<header class="top">`) {
				t.Errorf("got %.80q, want a page with the header that all pages share", body)
			}
			if got.Header.Get("Content-Security-Policy") == "" {
				t.Error("the response lacks the gate's headers")
			}
		})
	}
}

// request sends a request with exactly the given target.
func request(t *testing.T, host, method, target string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(
		c, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", method, target, host,
	); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
