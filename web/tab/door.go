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

// Door is the way from the pages of a site to the server that runs beside them: it makes
// requests of what a page asks, and gives back answers that fit where the site is.
type Door struct {
	// Handler answers every request.
	Handler http.Handler
	Place
	// Host is the name that the requests carry, and Path where the site is on its host,
	// with a slash at both ends.
	Host, Path string
	// Greet, where not nil, returns the cookie by which the sender of a request is known from then
	// on, or nil if it brings one or is to stay nobody. A page of a site was a file until the program
	// ran, so that its live parts may be the first to ask.
	Greet func(r *http.Request) *http.Cookie
	// Keep, where not nil, is called when the cookies have changed, with all of them.
	Keep func(cookies []byte)

	mu      sync.Mutex
	cookies map[string]string // of the one learner here; a service worker can set none in the browser
}

// Ask is a request of a page. URL is relative to the site: "learn/kv-cache/?x=1".
type Ask struct {
	Method, URL string
	Header      map[string]string
	Body        []byte
}

// Answer is what a page gets.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Bring sets the cookies that Keep was called with earlier.
func (d *Door) Bring(cookies []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if json.Unmarshal(cookies, &d.cookies) != nil {
		d.cookies = nil // somebody new
	}
}

// Told reports whether the cookies say more of the visitor than which learner that is: for
// one who has done nothing yet, pages are as they are for everybody.
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

// Request is the request that the server gets for what a page asks.
func (d *Door) Request(ctx context.Context, a Ask) (*http.Request, error) {
	u, err := url.ParseRequestURI("/" + a.URL) // Parse takes "//name" for a host
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

// Answer answers what a page asks.
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
		} else { // a part of whichever page has asked for it
			page = Rebase(page, d.Path)
		}
		got.Body = []byte(page)
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/css") {
		got.Body = []byte(RebaseStyles(string(got.Body), d.Path))
	}
	return got, nil
}

// Serve answers a request as the server does.
func (d *Door) Serve(r *http.Request) Answer {
	w := &answering{header: http.Header{}, status: http.StatusOK}
	d.Handler.ServeHTTP(w, r)
	return Answer{Status: w.status, Header: w.header, Body: w.body.Bytes()}
}

// keep takes the cookies out of an answer.
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

// set changes the cookies, while d.mu is held.
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
	if text, err := json.Marshal(d.cookies); err == nil { // it never fails for strings
		d.Keep(text)
	}
}

// answering is an answer in the making.
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
