package pages

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/web/shell"
)

// Routes are the addresses of a room, as patterns of [http.ServeMux] with their
// methods ("GET /learn/{slug}"), and who answers them.
type Routes map[string]http.HandlerFunc

// Elsewhere is what a room says at an address below it that leads nowhere:
// NoForms to what would change something, Head and Say to all others.
type Elsewhere struct{ NoForms, Head, Say string }

// Route adds a room's addresses to the server's. Whatever else is asked for
// under the first part of one of them (/learn and all below it) is answered with
// the room's page that says there is nothing there.
func (b Base) Route(mux *http.ServeMux, none Elsewhere, all ...Routes) {
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

// firstPart is the part between the first two slashes of a pattern.
func firstPart(pattern string) string {
	_, path, _ := strings.Cut(pattern, "/")
	part, _, _ := strings.Cut(path, "/")
	return part
}

func (b Base) elsewhere(mux *http.ServeMux, none Elsewhere) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !shell.Changes(r) {
			b.Refuse(w, r, http.StatusNotFound, none.Head, none.Say)
			return
		}
		allowed := shell.Allowed(mux, r)
		if len(allowed) == 0 { // the page that says so can be read
			allowed = shell.ReadOnly
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		b.Refuse(w, r, http.StatusMethodNotAllowed, "Nothing to change here.", none.NoForms)
	}
}

// formWait is how long a form may take to arrive: an import of some MiB over a
// slow network.
const formWait = 20 * time.Second

// Await gives a form [formWait] to arrive, from now.
func Await(w http.ResponseWriter) {
	// Not every writer can: those of tests have no connection.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formWait))
}

// formStall is how long a form may go without a byte.
const formStall = 10 * time.Second

// A Body is the body of a request that may arrive slowly, but must not stall: reading it fails
// with [os.ErrDeadlineExceeded] if nothing comes for a while, or if it takes too long in total.
type Body struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	until   time.Time
}

// NewBody returns the body of r, of which each part may take as long as stall, and the whole
// as long as total.
func NewBody(w http.ResponseWriter, r *http.Request, stall, total time.Duration) *Body {
	return &Body{r.Body, http.NewResponseController(w), stall, time.Now().Add(total)}
}

// Read implements [io.Reader]. At the end of the body there is no deadline any more: the
// connection is read on, to notice when the client leaves.
func (b *Body) Read(p []byte) (int, error) {
	by := time.Now().Add(b.stall)
	if by.After(b.until) {
		by = b.until
	}
	_ = b.control.SetReadDeadline(by) // writers of tests have no connection
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// inTime gives forms [formWait] to arrive.
func inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shell.Changes(r) {
			Await(w)
		}
		next.ServeHTTP(w, r)
	})
}
