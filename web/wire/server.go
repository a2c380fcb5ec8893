package wire

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/metrics"
)

// Config configures a [Server].
type Config struct {
	// Parts maps the values of ?feed= to kinds of parts; "" is the kind for addresses
	// without feed.
	Parts map[string]Kind
	// Caller identifies the client. It also returns a cookie to set if the client has none.
	Caller func(*http.Request) (admission.Caller, *http.Cookie)
	// Limiter limits the number of connections and messages of each caller; nil means the default
	// limits.
	Limiter *admission.Limiter
	// Refuse responds to a request that does not get a connection. say is the sentence to show. If
	// the request is a handshake, say is in English, since browsers hide it from the page.
	Refuse func(w http.ResponseWriter, status int, say string)
	// HTML, if not nil, rewrites the HTML of panels before they are sent. Addresses in it are
	// different if the program is not at the root of its host.
	HTML   func(string) string
	Limits Limits
	Log    *slog.Logger
}

// Server accepts the connections to all live parts. Before a request reaches it, the host and the
// origin have been checked.
type Server struct {
	cfg     Config
	buffers sync.Pool // write buffers, which only a busy socket needs
	pushes  *metrics.Histogram

	ctx  context.Context // ends when the server shuts down
	stop context.CancelCauseFunc

	mu     sync.Mutex     // orders entering and shutting down, and guards the fields below
	wg     sync.WaitGroup // the connections
	crowds map[string]int // number of connections to each kind of part
	open   map[*connection]struct{}
	closed bool // no more connections are accepted
}

// NewServer returns a server that accepts connections until [Server.Shutdown].
func NewServer(cfg Config) *Server {
	cfg.Limits = cfg.Limits.orDefaults()
	if cfg.Limiter == nil {
		cfg.Limiter = admission.New(admission.DefaultLimits(), nil)
	}
	s := &Server{cfg: cfg, crowds: map[string]int{}, open: map[*connection]struct{}{}}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.pushes = metrics.NewHistogram(pushBounds...)
	return s
}

// Refuse makes the server reject new connections. Connections that are already open continue.
func (s *Server) Refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Shutdown closes all connections with code 1012, which makes clients reconnect, and waits until
// the connections have ended. When ctx ends, it cuts the remaining connections, because their peers
// are not reading. If some are still open after that, it returns ctx.Err().
func (s *Server) Shutdown(ctx context.Context) error {
	s.Refuse()
	s.stop(reasonRestart)
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	if n := s.abort(); n > 0 {
		s.cfg.Log.Info("closed the connections of clients that stopped reading", "connections", n)
	}
	late := time.NewTimer(cutWait)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
		return ctx.Err()
	}
}

// abort cuts all connections and returns how many there were.
func (s *Server) abort() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.conn.abort()
	}
	return len(s.open)
}

// ServeHTTP implements [http.Handler]. It returns when the connection is closed.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		s.cfg.Refuse(w, http.StatusUpgradeRequired, terms.In(r.Context()).T("wire.only", protocols...))
		return
	}
	if r.ContentLength != 0 { // -1 for a body of unknown length
		w.Header().Set("Connection", "close") // so that the server does not wait for the body
		s.cfg.Refuse(w, http.StatusBadRequest, "A WebSocket handshake must not have a body.")
		return
	}
	kind, ok := s.kind(r)
	if !ok {
		s.cfg.Refuse(w, http.StatusNotFound, "Unknown feed "+terms.Quoted(feedOf(r))+" here.")
		return
	}
	caller, cookie := s.cfg.Caller(r)
	c, no := s.enter(caller)
	if c == nil {
		if s.cfg.Limiter.Persists(caller) {
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(no.wait/time.Second)+1))
		s.cfg.Refuse(w, no.status, no.say)
		return
	}
	defer c.leave()
	protocol := choose(websocket.Subprotocols(r))
	conn, err := s.upgrade(w, r, protocol, cookie)
	if err != nil {
		return // upgrade has answered the request
	}
	s.speak(c, newSocket(conn, s.cfg.Limits), kind, r, protocol)
}

// kind returns the kind of part that a request names.
func (s *Server) kind(r *http.Request) (Kind, bool) {
	kind, ok := s.cfg.Parts[feedOf(r)]
	return kind, ok
}

func feedOf(r *http.Request) string { return r.URL.Query().Get("feed") }

// speak runs an admitted connection over its transport until the connection ends.
func (s *Server) speak(c *connection, t transport, kind Kind, r *http.Request, protocol string) {
	c.ctx = terms.With(c.ctx, terms.In(r.Context()))
	c.become(t, feedOf(r), kind)
	defer s.join(c)()
	if protocol == "" || protocol == ProtocolJSON && !kind.Programs {
		c.end(reasonProtocol)
		c.run()
		return
	}
	c.open(kind.Open, Visit{Caller: c.caller, Query: r.URL.Query(), Protocol: protocol})
}

// upgrade upgrades a request to a WebSocket connection or, if that fails, responds with an
// error.
func (s *Server) upgrade(
	w http.ResponseWriter, r *http.Request, protocol string, cookie *http.Cookie,
) (*websocket.Conn, error) {
	header := w.Header().Clone()
	if cookie != nil {
		header.Add("Set-Cookie", cookie.String())
	}
	up := websocket.Upgrader{
		HandshakeTimeout: writeWait,
		WriteBufferPool:  &s.buffers,
		CheckOrigin:      func(*http.Request) bool { return true }, // the gate has checked it
		Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
			s.cfg.Refuse(w, status, "The server does not support this WebSocket handshake.")
		},
	}
	if protocol != "" {
		up.Subprotocols = []string{protocol}
	}
	return up.Upgrade(w, r, header)
}

// choose returns the first offered subprotocol that the server supports.
func choose(offered []string) string {
	i := slices.IndexFunc(offered, func(p string) bool { return p == ProtocolHTML || p == ProtocolJSON })
	if i < 0 {
		return ""
	}
	return offered[i]
}
