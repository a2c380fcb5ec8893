package tab

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/tokenbytoken/viz/web/shell"
)

// A Door connects the pages of a site with the program's server. It converts the pages' requests to
// HTTP requests, and adapts the responses to the site's address.
type Door struct {
	// Handler handles every request.
	Handler http.Handler
	Site
	// Host is the host name in the requests, and Path is the path of the site on its host, with a
	// slash at both ends.
	Host, Path string
	// Greet, if not nil, returns the cookie that identifies the sender of a request. It returns nil
	// if the request already has one or should remain anonymous. Until the program runs, the pages
	// of a site are files, so a live part may send the first request.
	Greet func(r *http.Request) *http.Cookie
	// Keep, if not nil, is called with all cookies whenever any of them has changed.
	Keep func(cookies []byte)

	mu      sync.Mutex
	cookies map[string]string // cookies of the only learner; a service worker cannot set cookies in the browser
}

// An Ask is a request from a page. URL is relative to the site: "learn/kv-cache/?x=1".
type Ask struct {
	Method, URL string
	Header      map[string]string
	Body        []byte
}

// An Answer is the response to an [Ask].
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Bring restores cookies that Keep received earlier.
func (d *Door) Bring(cookies []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if json.Unmarshal(cookies, &d.cookies) != nil {
		d.cookies = nil // a new visitor
	}
}

// Told reports whether the cookies contain more than the learner's id. If they do not, the learner
// has not done anything yet and sees the same pages as any new visitor.
func (d *Door) Told() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.cookies {
		if !strings.HasPrefix(name, shell.LearnerCookie) {
			return true
		}
	}
	return false
}

// Request converts a page's request to an HTTP request for the server.
func (d *Door) Request(ctx context.Context, a Ask) (*http.Request, error) {
	u, err := url.ParseRequestURI("/" + a.URL) // url.Parse would treat "//name" as a host
	if err != nil {
		return nil, err
	}
	if u.Path != "/" {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	}
	u.Scheme, u.Host = "http", d.Host
	r, err := http.NewRequestWithContext(ctx, a.Method, u.String(), bytes.NewReader(a.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range a.Header {
		r.Header.Set(name, value)
	}
	r.RequestURI, r.RemoteAddr = u.RequestURI(), "127.0.0.1:1" // the machine's own address
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, value := range d.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	if d.Greet == nil {
		return r, nil
	}
	if c := d.Greet(r); c != nil {
		d.set([]*http.Cookie{c})
		r.AddCookie(c)
	}
	return r, nil
}

// Answer handles a page's request and returns the response.
func (d *Door) Answer(ctx context.Context, a Ask) (Answer, error) {
	r, err := d.Request(ctx, a)
	if err != nil {
		return Answer{}, err
	}
	got := d.Serve(r)
	d.keep(got.Header)
	if to := got.Header.Get("Location"); to != "" {
		got.Header.Set("Location", Address(to, d.Path))
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
		page := string(got.Body)
		if strings.Contains(page, htmlMark) {
			if page, err = d.Page(page, r.URL.Path, RootFrom(a.URL), true); err != nil {
				return Answer{}, err
			}
		} else { // a fragment for the page that requested it
			page = Rebase(page, d.Path)
		}
		got.Body = []byte(page)
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/css") {
		got.Body = []byte(RebaseStyles(string(got.Body), d.Path))
	}
	return got, nil
}

// Serve passes a request to the server and returns the response.
func (d *Door) Serve(r *http.Request) Answer {
	w := &answering{header: http.Header{}, status: http.StatusOK}
	d.Handler.ServeHTTP(w, r)
	return Answer{Status: w.status, Header: w.header, Body: w.body.Bytes()}
}

// keep stores the cookies of a response.
func (d *Door) keep(h http.Header) {
	got := (&http.Response{Header: h}).Cookies()
	h.Del("Set-Cookie")
	if len(got) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(got)
}

// set changes the cookies. d.mu must be held.
func (d *Door) set(cookies []*http.Cookie) {
	if d.cookies == nil {
		d.cookies = map[string]string{}
	}
	before := maps.Clone(d.cookies)
	for _, c := range cookies {
		if c.MaxAge < 0 {
			delete(d.cookies, c.Name)
			continue
		}
		d.cookies[c.Name] = c.Value
	}
	if maps.Equal(before, d.cookies) || d.Keep == nil {
		return
	}
	if text, err := json.Marshal(d.cookies); err == nil { // this never fails for strings
		d.Keep(text)
	}
}

// answering is a response that is being written.
type answering struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (w *answering) Header() http.Header { return w.header }

func (w *answering) WriteHeader(status int) {
	if !w.wrote && status >= http.StatusOK {
		w.status, w.wrote = status, true
	}
}

func (w *answering) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
