package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// goodbye is why a socket ends: a close code and a sentence of at most 123
// bytes. Clients come back by themselves after 1001, 1006, 1011, 1012 and
// 1013, and not after the others, which say that the client did wrong.
type goodbye struct {
	code int
	text string
}

func (g *goodbye) Error() string { return g.text }

var (
	byeProtocol = &goodbye{
		websocket.CloseProtocolError, "ask for the subprotocol " + ProtocolHTML + " or " + ProtocolJSON,
	}
	byeBinary  = &goodbye{websocket.CloseUnsupportedData, "messages must be text, each one JSON object"}
	byeUTF8    = &goodbye{websocket.CloseInvalidFramePayloadData, "messages must be valid UTF-8"}
	byeBroken  = &goodbye{websocket.CloseInternalServerErr, "something failed inside the server; it has been logged"}
	byeRestart = &goodbye{websocket.CloseServiceRestart, "the server is going down or starting anew"}
	byeFull    = &goodbye{websocket.CloseTryAgainLater, "no room for another run"}
	byeGone    = &goodbye{websocket.CloseGoingAway, ""} // the peer has left or does not answer
)

// socket is one connection: its handler's goroutine reads, another writes.
type socket struct {
	conn    *websocket.Conn
	enc     encoder
	model   *infer.Model
	limits  Limits
	log     *slog.Logger
	run     *run
	viewer  *viewer
	replies chan *message
	limiter *rate.Limiter
	receive func([]byte) // handles each message of the client: handle, or a feed's
	crowd   func() int   // how many connections are open
	send    func()       // writes until the connection ends: write, or a feed's

	ctx context.Context // ends with the connection; its cause is a *goodbye
	end context.CancelCauseFunc
}

// serveSocket answers GET /ws. It returns when the connection is closed.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		sentence(
			w, http.StatusUpgradeRequired,
			"This address speaks WebSocket, subprotocols "+ProtocolHTML+" and "+ProtocolJSON+".",
		)
		return
	}
	name := r.URL.Query().Get("feed")
	open := s.feeds[name]
	if name != "" && open == nil {
		sentence(w, http.StatusNotFound, "There is no feed "+quote(name)+" here.")
		return
	}
	leave, ok := s.enter()
	if !ok {
		w.Header().Set("Retry-After", "5")
		sentence(
			w, http.StatusServiceUnavailable,
			"The server is full right now. Try again in a few seconds.",
		)
		return
	}
	defer leave()
	learner, cookie := s.learners.of(r)
	header := w.Header().Clone()
	if cookie != nil {
		header.Add("Set-Cookie", cookie.String())
	}
	protocol := choose(websocket.Subprotocols(r))
	up := websocket.Upgrader{
		HandshakeTimeout: writeWait,
		WriteBufferPool:  &s.buffers,
		CheckOrigin:      func(*http.Request) bool { return true }, // the gate has
		Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
			sentence(w, status, "This is not a WebSocket handshake that the server understands.")
		},
	}
	if protocol != "" {
		up.Subprotocols = []string{protocol}
	}
	conn, err := up.Upgrade(w, r, header)
	if err != nil {
		return
	}
	sock := &socket{
		conn: conn, model: s.cfg.Model, limits: s.cfg.Limits, log: s.cfg.Logger,
		viewer: newViewer(pageName(r.URL.Query().Get("page"))), crowd: s.crowd,
		replies: make(chan *message, replyQueue),
		limiter: rate.NewLimiter(s.cfg.Limits.CommandsPerSecond, s.cfg.Limits.CommandBurst),
	}
	sock.ctx, sock.end = context.WithCancelCause(s.ctx)
	sock.receive, sock.send = sock.handle, sock.write
	switch {
	case protocol == "", open != nil && protocol != ProtocolHTML:
		sock.end(byeProtocol)
	case open != nil:
		defer sock.feed(name, open, learner, r)()
	default:
		sock.enc = encoders[protocol]()
		sock.join(s.runs, learner, r)
		defer sock.leave(s.runs)
	}
	sock.serve()
}

// choose returns the first subprotocol offered that the server speaks.
func choose(offered []string) string {
	for _, p := range offered {
		if encoders[p] != nil {
			return p
		}
	}
	return ""
}

// join attaches the socket to the run asked for by ?run=, or to an empty one
// where that is not here or none was asked for. A page whose run had been
// started (had=1) is told if it is gone.
func (s *socket) join(rs *runs, learner string, r *http.Request) {
	asked := r.URL.Query().Get("run")
	run, found, err := rs.join(learner, asked, s.viewer)
	if err != nil {
		s.replies <- refusal(0, err)
		s.end(byeFull)
		return
	}
	s.run = run
	if asked != "" && !found && r.URL.Query().Get("had") == "1" {
		s.replies <- refusal(0, &terms.Refusal{Code: terms.CodeExpired, Message: notHere})
	}
	if _, err := run.current(s.ctx); err != nil && s.ctx.Err() == nil {
		s.replies <- refusal(0, terms.RefusalOf(err))
	}
}

func (s *socket) leave(rs *runs) {
	if s.run != nil {
		rs.leave(s.run, s.viewer)
	}
}

// serve runs the connection to its end.
func (s *socket) serve() {
	written, unread := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		s.send()
		// A peer that does not answer the close frame is not waited for.
		late := time.NewTimer(closeWait)
		defer late.Stop()
		select {
		case <-unread:
		case <-late.C:
			s.conn.Close()
		}
	}()
	err := s.read()
	s.end(byeGone)
	close(unread)
	<-written
	var closed *websocket.CloseError
	if !errors.As(err, &closed) && context.Cause(s.ctx) != byeGone {
		s.linger()
	}
	s.conn.Close()
}

// linger reads on for a moment after the close frame. A connection that is
// closed with unread input is reset, and the peer may never see the frame.
func (s *socket) linger() {
	conn := s.conn.NetConn()
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.CloseWrite()
	}
	conn.SetReadDeadline(time.Now().Add(closeWait))
	io.CopyN(io.Discard, conn, 1<<20)
}

// read takes the client's messages one after another until the connection
// ends. A message is answered before the next is read, so a client that sends
// faster than the server works is held up by its own connection. The error is
// that of the last reading: a *websocket.CloseError if the peer has closed.
func (s *socket) read() (err error) {
	s.conn.SetReadLimit(s.limits.MessageBytes)
	s.conn.SetReadDeadline(time.Now().Add(pongWait))
	s.conn.SetPongHandler(func(string) error { return s.conn.SetReadDeadline(time.Now().Add(pongWait)) })
	for s.ctx.Err() == nil {
		var kind int
		var data []byte
		kind, data, err = s.conn.ReadMessage()
		switch {
		case errors.Is(err, websocket.ErrReadLimit):
			// gorilla has sent close 1009 itself.
			s.end(&goodbye{websocket.CloseMessageTooBig, ""})
		case err != nil:
			s.end(byeGone)
		case kind != websocket.TextMessage:
			s.end(byeBinary)
		case !utf8.Valid(data):
			s.end(byeUTF8)
		default:
			s.receive(data)
		}
	}
	return err
}

// handle carries out one message.
func (s *socket) handle(data []byte) {
	o, bad := readOrder(data)
	switch {
	case !s.limiter.Allow():
		s.reply(refusal(o.n, &terms.Refusal{
			Code:    terms.CodeBusy,
			Message: "Too many commands at once, so this one was skipped. Wait a moment and send it again.",
		}))
	case bad != nil:
		s.reply(refusal(o.n, bad))
	case o.name == "ping":
		s.reply(&message{Ack: o.n})
	case o.name == "pieces":
		s.reply(s.pieces(o))
	case o.query != nil:
		s.reply(s.ask(o))
	case o.name == "open", o.name == "rebuild":
		link, err := session.ParseLink(s.model, o.link)
		if err != nil {
			s.reply(refusal(o.n, terms.RefusalOf(err)))
			return
		}
		o.command = session.Open{Link: link}
		if o.name == "rebuild" {
			o.command = session.Rebuild{Link: link}
		}
		s.carryOut(o)
	default:
		s.carryOut(o)
	}
}

// carryOut has the run carry out a command. The state that follows is its
// answer; what is sent here is only why there is none.
func (s *socket) carryOut(o order) {
	_, err := s.run.do(s.ctx, o.command, s.viewer, o.n)
	switch {
	case errors.Is(err, errGone):
		s.end(byeBroken)
	case err != nil:
		s.reply(refusal(o.n, terms.RefusalOf(err)))
	}
}

// pieces answers with the tokens of a text that is still being typed.
func (s *socket) pieces(o order) *message {
	if o.pieces != "" {
		if err := infer.CheckPrompt(o.pieces, s.limits.PromptBytes); err != nil {
			return refusal(o.n, terms.RefusalOf(err))
		}
	}
	m := &message{Ack: o.n}
	if err := s.enc.pieces(m, s.model, o.pieces); err != nil {
		s.log.Error("pieces", "err", err)
		s.end(byeBroken)
	}
	return m
}

// reply hands an answer to the writer and waits while its queue is full.
func (s *socket) reply(m *message) {
	select {
	case s.replies <- m:
	case <-s.ctx.Done():
	}
}

func refusal(n uint64, why *terms.Refusal) *message { return &message{Ack: n, Error: why} }
