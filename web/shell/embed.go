package shell

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// EmbedPath begins the addresses of pages that other sites may show in a frame.
const EmbedPath = "/embed"

// Anywhere, among the origins of [Embeds], lets every site show such pages.
const Anywhere = "*"

// frame is what a request for a page in another site's frame knows.
type frame struct {
	view  View
	whole string // the address of the whole page
}

type frameKey struct{}

func frameOf(ctx context.Context) (frame, bool) {
	f, ok := ctx.Value(frameKey{}).(frame)
	return f, ok
}

// Embedded reports whether a page is shown inside another site's page: without a header,
// to nobody that the server knows, and keeping nothing.
func Embedded(ctx context.Context) bool {
	_, ok := frameOf(ctx)
	return ok
}

// Within is an address of this program for a link or a form that stays in the frame of
// the page it is on, if that is in one.
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

// Embeds marks the requests for pages in the frames of other sites, and for the sockets of
// such pages (?embed=1), before anybody asks who sends them: they bring no cookie and
// get none. Browsers show these pages inside pages of the origins alone, by the policy
// that [Gate] has set, and all other pages inside of none. If there are origins, pages of all
// sites may load the files that are the same for everybody: a frame with a sandbox has no
// origin, but needs its styles. public is the address that others type, or "": pages say by
// it where oEmbed describes them, or else by their own.
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

// scriptPath is the address of the script that makes frames on other sites' pages.
const scriptPath = EmbedPath + "/viz.js"

// shared reports whether an address is that of a file which is the same for everybody.
func shared(path string) bool { return strings.HasPrefix(path, "/static/") || path == scriptPath }

// Framed marks a request for a page in the frame of another site, or for the live part of such
// a page, as [Embeds] does: for live parts that are asked for another way than by a socket.
// Every other request it returns as it is.
func Framed(r *http.Request) *http.Request {
	q := r.URL.Query()
	rest, below := strings.CutPrefix(r.URL.Path, EmbedPath+"/")
	if !below && (r.URL.Path != "/ws" || !q.Has("embed")) {
		return r
	}
	f := frame{view: ViewNamed(q.Get("view"), Story)}
	rest = strings.TrimSuffix(rest, "/") // a site's pages are folders, and viz.js asks for both alike
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

// offered is where a program learns by oEmbed how another page can show this one; "" on
// a server that lets no page.
func offered(ctx context.Context) string {
	at, _ := ctx.Value(offerKey{}).(string)
	return at
}

// Unframed is a request for a page in a frame as one for the page itself.
func Unframed(r *http.Request) *http.Request {
	q := r.URL.Query()
	q.Del("view")
	to := *r.URL
	to.Path, to.RawPath, to.RawQuery = strings.TrimPrefix(r.URL.Path, EmbedPath), "", q.Encode()
	inner := r.WithContext(r.Context()) // the same request elsewhere
	inner.URL = &to
	return inner
}

// framed is a page's frame as another site's page shows it.
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

// whole is the address of a page outside of the frame that it is in.
func whole(ctx context.Context) string {
	f, _ := frameOf(ctx)
	return f.whole
}
