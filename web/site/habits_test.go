package site_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

// habits are the ways in which static hosts differ.
type habits struct {
	atRoot bool // the site is at the root of its host

	// The statuses of redirects. 0 means that the host sends the page without a redirect.
	folder  int // from /learn to /learn/
	slash   int // from /learn/ to /learn
	index   int // from /learn/index.html to its folder, with or without a slash as above
	html    int // from /learn/index.html to /learn/index
	missing int // the status of an address without a file: 404, or 200 for the home page

	shows404 bool // 404.html is sent for an address without a file

	types     map[string]string // by extension, if not the usual ones; "" refuses such files
	encoded   bool              // NAME.gz is sent as NAME with a content encoding
	packed    bool              // NAME is sent as NAME.gz with a content encoding
	zips      bool              // text files and programs are compressed on the fly
	noTag     bool              // no ETag
	noHead    bool              // HEAD is not allowed
	noCase    bool              // names are case-insensitive
	published func(name string) bool
	header    map[string]string
}

// asJekyll reports whether GitHub Pages publishes a file. By default, it processes files
// with Jekyll:
// https://docs.github.com/pages/setting-up-a-github-pages-site-with-jekyll/about-github-pages-and-jekyll
func asJekyll(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.ContainsAny(part[:1], "_.#") || strings.HasSuffix(part, "~") ||
			part == "node_modules" || part == "vendor"
	})
}

var (
	// tenMinutes is the header that GitHub and GitLab send to let browsers cache everything for ten
	// minutes.
	tenMinutes = map[string]string{"Cache-Control": "max-age=600"}
	// asked is the header that makes browsers revalidate each time.
	asked = map[string]string{
		"Cache-Control": "public, max-age=0, must-revalidate", "X-Content-Type-Options": "nosniff",
	}
	octets = map[string]string{
		".wasm": "binary/octet-stream", ".gz": "binary/octet-stream", ".webmanifest": "binary/octet-stream",
	}
)

// hosts are the hosts whose habits are known. https://github.com/slorber/trailing-slash-guide
// documents how they handle slashes.
var hosts = map[string]habits{
	"GitHub Pages": {
		folder: 301, missing: 404, shows404: true, zips: true, published: asJekyll, header: tenMinutes,
	},
	// https://docs.gitlab.com/user/project/pages/introduction/#serve-compressed-assets
	"GitLab Pages": {folder: 302, missing: 404, shows404: true, packed: true, header: tenMinutes},
	"Netlify": {
		atRoot: true, folder: 301, missing: 404, shows404: true, zips: true, noCase: true, header: asked,
	},
	// Netlify without pretty addresses, Render, Azure, and Vercel by default.
	"no redirects": {atRoot: true, missing: 404, zips: true, header: asked},
	// https://vercel.com/docs/project-configuration#cleanurls, with trailingSlash false.
	"Vercel without slashes": {
		atRoot: true, slash: 308, index: 308, missing: 404, shows404: true, zips: true, header: asked,
	},
	// https://developers.cloudflare.com/pages/configuration/serving-pages/
	"Cloudflare Pages": {
		atRoot: true, folder: 308, index: 308, missing: 404, shows404: true, zips: true, header: asked,
	},
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/IndexDocumentSupport.html
	"S3": {folder: 302, missing: 404, types: octets},
	// This server uses the machine's table of media types, which may not include one for manifests.
	"python3 -m http.server": {
		folder: 301, missing: 404, noTag: true, types: map[string]string{".webmanifest": "application/octet-stream"},
	},
	"nginx with gzip_static": {
		folder: 301, missing: 404, packed: true,
		types: map[string]string{".gz": "application/octet-stream", ".webmanifest": "application/octet-stream"},
	},
	// AddEncoding, as in https://httpd.apache.org/docs/2.4/mod/mod_mime.html#addencoding
	"Apache": {folder: 301, missing: 404, encoded: true},
	// https://github.com/vercel/serve-handler#cleanurls-booleanarray
	"npx serve": {atRoot: true, html: 301, missing: 404, shows404: true, zips: true},
	// IIS refuses files without a known type:
	// https://learn.microsoft.com/iis/configuration/system.webserver/staticcontent/mimemap
	"IIS": {
		folder: 301, missing: 404, noCase: true, noHead: true,
		types: map[string]string{".webmanifest": "", ".wasm": "", ".safetensors": "", ".br": ""},
	},
}

// onePage are the habits of hosts that treat a site as a single-page application and send its home
// page for all missing files. Examples are npx serve -s, and Cloudflare Pages for a site without
// 404.html.
var onePage = habits{atRoot: true, html: 301, missing: 200, zips: true}

// A host is a static host with its habits.
type host struct {
	habits
	files atomic.Pointer[fstest.MapFS]
	at    string      // the site's path
	down  atomic.Bool // send nothing
}

// change replaces the host's files.
func (h *host) change(files fstest.MapFS) { h.files.Store(&files) }

// file returns a file of the site, or nil.
func (h *host) file(name string) *fstest.MapFile { return (*h.files.Load())[name] }

// serveAs serves files as a host would, until the test ends, and returns their address.
func serveAs(t *testing.T, files fstest.MapFS, as habits) (*host, string) {
	t.Helper()
	h := &host{habits: as, at: under}
	h.change(files)
	if as.atRoot {
		h.at = "/"
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return h, s.URL + h.at
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.down.Load() {
		panic(http.ErrAbortHandler)
	}
	if h.noHead && r.Method == http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, h.at)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if h.noCase {
		name = strings.ToLower(name)
	}
	if to, status := h.leads(name); status != 0 {
		http.Redirect(w, r, h.at+to, status)
		return
	}
	for _, file := range []string{name, path.Join(name, "index.html"), name + ".html"} {
		if h.has(file) {
			h.send(w, r, file, http.StatusOK)
			return
		}
	}
	if h.missing == http.StatusOK {
		h.send(w, r, "index.html", http.StatusOK)
		return
	}
	if h.shows404 {
		h.send(w, r, "404.html", http.StatusNotFound)
		return
	}
	http.Error(w, "no such file", h.missing)
}

// has reports whether the host has a file to send.
func (h *host) has(name string) bool {
	kind, odd := h.types[path.Ext(name)]
	return h.file(name) != nil && (!odd || kind != "") && (h.published == nil || h.published(name))
}

// leads returns where the host redirects requests for an address, and with what status. The status
// is 0 if the host does not redirect.
func (h *host) leads(name string) (to string, status int) {
	folder := strings.TrimSuffix(name, "/")
	if page, ok := strings.CutSuffix("/"+name, "/index.html"); ok {
		switch page = strings.TrimPrefix(page, "/"); {
		case h.html != 0:
			return strings.TrimSuffix(name, ".html"), h.html
		case h.slash != 0:
			return page, h.index
		}
		return strings.TrimPrefix(page+"/", "/"), h.index
	}
	if page, ok := strings.CutSuffix("/"+name, "/index"); ok && h.html != 0 {
		return strings.TrimPrefix(page, "/"), h.html
	}
	switch {
	case name == "" || !h.has(folder+"/index.html"):
		return "", 0
	case name == folder:
		return folder + "/", h.folder
	}
	return folder, h.slash
}

// send sends a file.
func (h *host) send(w http.ResponseWriter, r *http.Request, name string, status int) {
	data, head := h.file(name).Data, w.Header()
	for key, value := range h.header {
		head.Set(key, value)
	}
	if !h.noTag {
		tag := sha256.Sum256(data)
		head.Set("ETag", fmt.Sprintf(`W/"%x"`, tag[:8]))
	}
	if tag := r.Header.Get("If-None-Match"); tag != "" && tag == head.Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	plain, isZip := strings.CutSuffix(name, ".gz")
	switch {
	case isZip && h.encoded:
		head.Set("Content-Encoding", "x-gzip")
		head.Set("Content-Type", h.typeOf(plain))
	case !isZip && h.packed && h.file(name+".gz") != nil:
		head.Set("Content-Encoding", "gzip")
		head.Set("Content-Type", h.typeOf(name))
		data = h.file(name + ".gz").Data
	case !isZip && h.zips && h.shrinks(name):
		head.Set("Content-Encoding", "gzip")
		head.Set("Content-Type", h.typeOf(name))
		data = zipped(data)
	default:
		head.Set("Content-Type", h.typeOf(name))
	}
	head.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the browser may have disconnected
	}
}

// typeOf returns the media type that the host sends for a file.
func (h *host) typeOf(name string) string {
	ending := path.Ext(name)
	if kind, ok := h.types[ending]; ok {
		return kind
	}
	switch ending {
	case ".gz":
		return "application/gzip"
	case ".wasm":
		return "application/wasm"
	case ".webmanifest":
		return "application/manifest+json"
	}
	if kind := mime.TypeByExtension(ending); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// shrinks reports whether the host compresses a file on the fly.
func (h *host) shrinks(name string) bool {
	return slices.Contains([]string{".html", ".css", ".js", ".json", ".svg", ".wasm"}, path.Ext(name))
}

// zipped returns data compressed with gzip at its fastest level.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
	_, _ = w.Write(data)                            // a buffer accepts all writes
	_ = w.Close()
	return b.Bytes()
}
