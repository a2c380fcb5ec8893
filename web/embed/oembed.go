package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
)

// These are the width and height, in pixels, of a frame created from an oEmbed response. Unlike the
// frames that the module creates, such a frame cannot grow with its content.
const (
	frameWidth  = 760
	frameHeight = 640
	leastSide   = 200
)

// An answer is an oEmbed 1.0 response of type rich (oembed.com).
type answer struct {
	Version  string `json:"version"`
	Type     string `json:"type"`
	Provider string `json:"provider_name"`
	At       string `json:"provider_url"`
	Title    string `json:"title"`
	HTML     string `json:"html"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// oEmbed handles GET /embed/oembed?url=…&maxwidth=…&maxheight=….
func (o *Room) oEmbed(w http.ResponseWriter, r *http.Request) {
	q, l := r.URL.Query(), terms.In(r.Context())
	if cmp.Or(q.Get("format"), "json") != "json" {
		shell.Text(w, http.StatusNotImplemented, l.T("embed.json"))
		return
	}
	base := shell.AddressOf(r)
	title, path := o.embeddable(r.Context(), q.Get("url"), base)
	if path == "" {
		shell.Text(w, http.StatusNotFound, l.T("embed.nothing"))
		return
	}
	width, ok := side(q.Get("maxwidth"), frameWidth)
	height, fine := side(q.Get("maxheight"), frameHeight)
	if !ok || !fine {
		shell.Text(w, http.StatusBadRequest, l.T("embed.sides", "least", leastSide))
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(answer{ // the client may have disconnected
		Version: "1.0", Type: "rich", Provider: shell.Name, At: base.String() + "/", Title: title,
		HTML: frameHTML(base.String()+path, title, width, height), Width: width, Height: height,
	})
}

// side returns the width or height of a frame in pixels: usual or, if it is smaller, the maximum
// that the request gives (most, which may be empty).
func side(most string, usual int) (n int, ok bool) {
	if most == "" {
		return usual, true
	}
	n, err := strconv.Atoi(most)
	return min(n, usual), err == nil && n >= leastSide
}

// embeddable returns the title, in the language of ctx, of the page at one of this server's
// addresses, and the address of that page's version for frames. Both are "" if the page cannot be
// embedded.
func (o *Room) embeddable(ctx context.Context, address string, base *url.URL) (title, path string) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return "", ""
	}
	own := u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host)
	if !own && (u.Scheme != "" || u.Host != "") {
		return "", ""
	}
	of := strings.TrimPrefix(u.Path, shell.EmbedPath)
	for _, p := range o.groups(ctx) {
		for _, one := range p.List {
			if one.Address == of {
				to := url.URL{Path: shell.EmbedPath + of, RawQuery: u.RawQuery}
				return one.Name, to.String()
			}
		}
	}
	return "", ""
}

// frameHTML returns the iframe for a page.
func frameHTML(src, title string, width, height int) string {
	return fmt.Sprintf(
		`<iframe src="%s" title="%s" width="%d" height="%d" loading="lazy" sandbox="allow-scripts `+
			`allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"></iframe>`,
		html.EscapeString(src), html.EscapeString(title), width, height,
	)
}
