package shell

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// EmbedPath is the address prefix of pages that other sites can show in a frame.
const EmbedPath = "/embed"

// Anywhere allows every site to show such pages, if it is one of the origins passed to [Embeds].
const Anywhere = "*"

// A frame describes a page in another site's frame.
type frame struct {
	view  View
	whole string // the address of the whole page
}

type frameKey struct{}

func frameOf(ctx context.Context) (frame, bool) {
	f, ok := ctx.Value(frameKey{}).(frame)
	return f, ok
}

// Embedded reports whether a page is shown inside another site's page. Such a page has no header,
// does not identify the visitor, and saves nothing.
func Embedded(ctx context.Context) bool {
	_, ok := frameOf(ctx)
	return ok
}

// Within returns an address for a link or a form. If the current page is in a frame, the address
// stays in that frame.
func Within(ctx context.Context, address string) string {
	f, ok := frameOf(ctx)
	if !ok {
		return address
	}
	u, err := url.Parse(EmbedPath + address)
	if err != nil || f.view == Story {
		return EmbedPath + address
	}
	q := u.Query()
	q.Set("view", string(f.view))
	u.RawQuery = q.Encode()
	return u.String()
}

// Embeds marks requests for pages that other sites show in frames, and for the sockets of such
// pages (?embed=1). It must come before the caller is identified, because no cookies are read or
// set for these requests. The policy that it sets makes browsers show these pages only inside pages
// of the given origins, and no other page in a frame. If there are any origins, pages of all sites
// can load the files that are the same for everyone, because a page in a sandboxed frame has no
// origin but needs its styles. public is the server's public address, or "". Pages use that address
// in the link to their oEmbed description.
func Embeds(origins []string, public string, next http.Handler) http.Handler {
	allowed := "frame-ancestors 'none'"
	if len(origins) > 0 {
		allowed = "frame-ancestors " + strings.Join(origins, " ")
	}
	public = strings.TrimSuffix(public, "/")
	policy := strings.Replace(contentPolicy, "frame-ancestors 'none'", allowed, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(origins) > 0 && shared(r.URL.Path) {
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		framed := Framed(r)
		if framed == r {
			if len(origins) > 0 && origins[0] != Anywhere {
				at := public + EmbedPath + "/oembed?" + url.Values{"url": {public + r.URL.RequestURI()}}.Encode()
				r = r.WithContext(context.WithValue(r.Context(), offerKey{}, at))
			}
			next.ServeHTTP(w, r)
			return
		}
		if r.URL.Path != "/ws" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		next.ServeHTTP(w, framed)
	})
}

// scriptPath is the address of the script that creates frames on other sites' pages.
const scriptPath = EmbedPath + "/viz.js"

// shared reports whether a path names a file that is the same for everyone.
func shared(path string) bool { return strings.HasPrefix(path, "/static/") || path == scriptPath }

// Framed marks a request, as [Embeds] does, if it is for a page that another site shows in a frame,
// or for the live part of such a page. Use it for live parts that do not use a socket. Framed
// returns any other request unchanged.
func Framed(r *http.Request) *http.Request {
	q := r.URL.Query()
	rest, below := strings.CutPrefix(r.URL.Path, EmbedPath+"/")
	if !below && (r.URL.Path != "/ws" || !q.Has("embed")) {
		return r
	}
	f := frame{view: ViewNamed(q.Get("view"), Story)}
	rest = strings.TrimSuffix(rest, "/") // in a static site, pages are folders
	if below {
		q.Del("view")
		f.whole = (&url.URL{Path: "/" + rest, RawQuery: q.Encode()}).String()
	}
	r = r.WithContext(context.WithValue(r.Context(), frameKey{}, f))
	if below && r.URL.Path != EmbedPath+"/"+rest {
		to := *r.URL
		to.Path, to.RawPath = EmbedPath+"/"+rest, ""
		r.URL = &to
	}
	return r
}

type offerKey struct{}

// offered returns the address of the page's oEmbed description, or "" if the server does not allow
// other sites to show the page.
func offered(ctx context.Context) string {
	at, _ := ctx.Value(offerKey{}).(string)
	return at
}

// Unframed converts a request for a page in a frame to a request for the page itself.
func Unframed(r *http.Request) *http.Request {
	q := r.URL.Query()
	q.Del("view")
	to := *r.URL
	to.Path, to.RawPath, to.RawQuery = strings.TrimPrefix(r.URL.Path, EmbedPath), "", q.Encode()
	inner := r.WithContext(r.Context()) // copy the request to change its address
	inner.URL = &to
	return inner
}

// framed returns s. If ctx belongs to a page in another site's frame, s is adapted for such a page.
func (s Of) framed(ctx context.Context) Of {
	if !Embedded(ctx) {
		return s
	}
	s.Class = strings.TrimSpace("embed " + s.Class)
	s.Styles = append(slices.Clone(s.Styles), "css/embed.css")
	s.Scripts = append(slices.Clone(s.Scripts), "js/embed.js")
	s.Keys = nil
	return s
}

// whole returns the address of a framed page outside its frame.
func whole(ctx context.Context) string {
	f, _ := frameOf(ctx)
	return f.whole
}
