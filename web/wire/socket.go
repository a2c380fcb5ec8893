package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"
)

// transport transmits whole messages between a [connection] and its peer. One goroutine calls read,
// and one calls write. The other methods may be called from any goroutine.
type transport interface {
	// read returns the next message, which is valid UTF-8. The error is a *closeReason.
	read() ([]byte, error)
	// write sends a message. writeShared sends a message that goes to many peers. ping checks
	// whether the peer is still there. An error means that the peer has gone away.
	write([]byte) error
	writeShared(*Encoded) error
	ping() error
	// sendClose sends the peer a code and the reason why the connection ends. finish is called
	// after the last read and write. abort ends a read that blocks.
	sendClose(code int, reason string)
	finish()
	abort()
}

// socket is the [transport] over a WebSocket.
type socket struct {
	conn     *websocket.Conn
	byClient bool // the client has closed
	said     bool // the server has sent its close frame
}

func newSocket(conn *websocket.Conn, limits Limits) *socket {
	s := &socket{conn: conn}
	conn.SetReadLimit(limits.MessageBytes)
	conn.SetReadDeadline(time.Now().Add(pongWait))
	control := rate.NewLimiter(controlFramesPerSecond, controlFrameBurst)
	pong := conn.PingHandler()
	conn.SetPingHandler(func(text string) error {
		if !control.Allow() {
			return reasonFlood
		}
		return pong(text)
	})
	conn.SetPongHandler(func(string) error {
		if !control.Allow() {
			return reasonFlood
		}
		return conn.SetReadDeadline(time.Now().Add(pongWait))
	})
	s.bound()
	return s
}

// bound limits the amount of data that the kernel buffers for a slow reader.
func (s *socket) bound() {
	conn := s.conn.NetConn()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // on failure, the system's default remains
	}
}

func (s *socket) read() ([]byte, error) {
	kind, data, err := s.conn.ReadMessage()
	var closed *websocket.CloseError
	s.byClient = errors.As(err, &closed)
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return nil, reasonLarge
	case errors.Is(err, reasonFlood):
		return nil, reasonFlood
	case err != nil:
		return nil, reasonGone
	case kind != websocket.TextMessage:
		return nil, reasonBinary
	case !utf8.Valid(data):
		return nil, reasonUTF8
	}
	return data, nil
}

func (s *socket) write(message []byte) error {
	s.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return s.conn.WriteMessage(websocket.TextMessage, message)
}

// writeShared sends a frame that was encoded once for many connections, so that sending it takes
// each connection only one system call.
func (s *socket) writeShared(e *Encoded) error {
	frame, err := e.Frame(func(b []byte) (any, error) {
		return websocket.NewPreparedMessage(websocket.TextMessage, b)
	})
	if err != nil {
		return err
	}
	s.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return s.conn.WritePreparedMessage(frame.(*websocket.PreparedMessage))
}

func (s *socket) ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
}

func (s *socket) sendClose(code int, reason string) {
	s.said = true
	s.conn.WriteControl(
		websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(closeWait),
	)
}

// finish closes the connection. After a close frame, it first continues to read for closeWait: if a
// connection is closed while it has unread input, it is reset, and the peer may never see the
// frame.
func (s *socket) finish() {
	defer s.conn.Close()
	if s.byClient || !s.said {
		return
	}
	conn := s.conn.NetConn()
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.CloseWrite()
	}
	conn.SetReadDeadline(time.Now().Add(closeWait))
	io.CopyN(io.Discard, conn, 1<<20)
}

func (s *socket) abort() { s.conn.Close() }
