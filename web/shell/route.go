package shell

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Routes maps the addresses of a package, as patterns of [http.ServeMux] with methods ("GET
// /learn/{slug}"), to their handlers.
type Routes map[string]http.HandlerFunc

// Unknown holds the keys of a package's responses to requests for unknown addresses below the
// package's own. NoForms is the response to requests that would change something. Head and Say are
// the heading and the text of the response to all other requests.
type Unknown struct{ NoForms, Head, Say string }

// Route registers a package's routes. Each route's first part, such as /learn, belongs to the
// package: for all other addresses below it, the response is the package's error page.
func (b Base) Route(mux *http.ServeMux, none Unknown, all ...Routes) {
	rooms := map[string]bool{}
	for _, routes := range all {
		for pattern, handle := range routes {
			mux.Handle(pattern, inTime(handle))
			rooms[firstPart(pattern)] = true
		}
	}
	nothing := inTime(b.elsewhere(mux, none))
	for room := range rooms {
		mux.Handle("/"+room, nothing)
		if room != "{$}" {
			mux.Handle("/"+room+"/", nothing)
		}
	}
}

// firstPart returns the part of a pattern between its first two slashes.
func firstPart(pattern string) string {
	_, path, _ := strings.Cut(pattern, "/")
	part, _, _ := strings.Cut(path, "/")
	return part
}

func (b Base) elsewhere(mux *http.ServeMux, none Unknown) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l := terms.In(r.Context())
		if !Changes(r) {
			b.Refuse(w, r, http.StatusNotFound, l.T(none.Head), l.T(none.Say))
			return
		}
		allowed := Allowed(mux, r)
		if len(allowed) == 0 { // a request that changes nothing gets the error page
			allowed = ReadOnly
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		b.Refuse(w, r, http.StatusMethodNotAllowed, l.T("shell.unchanged.head"), l.T(none.NoForms))
	}
}

// formWait is how long a form may take to arrive. It allows for an import of several MiB over a
// slow network.
const formWait = 20 * time.Second

// Await sets the deadline for the arrival of a form to [formWait] from now.
func Await(w http.ResponseWriter) {
	// Not every writer supports deadlines: in tests, writers have no connection.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formWait))
}

// formStall is the maximum time between two bytes of a form that is arriving.
const formStall = 10 * time.Second

// A Body is the body of a request, which may arrive slowly but must not stall. If a part of the
// body or the whole body takes too long, reading it fails with [os.ErrDeadlineExceeded].
type Body struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	until   time.Time
}

// NewBody returns the body of r. Each part of it may take up to stall, and the whole body up to
// total.
func NewBody(w http.ResponseWriter, r *http.Request, stall, total time.Duration) *Body {
	return &Body{r.Body, http.NewResponseController(w), stall, time.Now().Add(total)}
}

// Read implements [io.Reader]. At the end of the body, it removes the deadline, because the server
// continues to read from the connection to notice when the client disconnects.
func (b *Body) Read(p []byte) (int, error) {
	by := time.Now().Add(b.stall)
	if by.After(b.until) {
		by = b.until
	}
	_ = b.control.SetReadDeadline(by) // in tests, writers have no connection
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// inTime gives forms at most [formWait] to arrive.
func inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Changes(r) {
			Await(w)
		}
		next.ServeHTTP(w, r)
	})
}
