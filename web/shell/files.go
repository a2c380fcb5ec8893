package shell

import (
	"bytes"
	"cmp"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
)

// types maps file extensions to media types. It replaces the machine's own table, in which some of
// them may be missing or different.
var types = map[string]string{
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".png":   "image/png",
	".ico":   "image/x-icon",
	".woff2": "font/woff2",
	".txt":   "text/plain; charset=utf-8",
}

// MountFiles registers the routes of the static files.
func MountFiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /static/{name...}", file)
	mux.HandleFunc("/static", NotFound) // the mux would redirect this address to the folder, which is not a page
}

// file handles GET /static/NAME. If an address contains the hash of the file's content, it always
// returns the same bytes, which can be cached forever. For any other address, browsers revalidate
// the file each time, which costs an empty response.
func file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	f, err := static.Open(name)
	if err != nil { // no such file, or a folder
		Text(w, http.StatusNotFound, terms.In(r.Context()).T("shell.file.none"))
		return
	}
	ending := path.Ext(name)
	kind := cmp.Or(types[ending], mime.TypeByExtension(ending), "application/octet-stream")
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("ETag", `W/"`+f.Version+`"`) // weak, because the same content may be sent with or without compression
	h.Set("Cache-Control", "no-cache")
	if r.URL.RequestURI() == f.Address() {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data := f.Data
	// If ServeContent might send only a part, the file is sent uncompressed.
	partly := r.Header.Get("Range") != "" || r.Header.Get("If-Match") != ""
	if z := f.Zipped(); z != nil && shrinks(kind) && acceptsGzip(w) && !partly {
		data = z
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(z)))
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// shrinks reports whether a type of content benefits from compression.
func shrinks(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "jsonl") ||
		kind == "image/svg+xml"
}
