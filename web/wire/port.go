package wire

import (
	"net/http"
	"sync"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Port is the program's end of a message port, over which a page communicates with a program that
// runs in the same browser. It does not need frames, pings or deadlines, since there is only a
// queue between the two ends. When a page goes away, it or the browser closes the port.
type Port struct {
	In    <-chan []byte                 // messages from the page; closed when the page has closed the port
	Send  func(message []byte) error    // sends a message to the page
	Close func(code int, reason string) // ends the connection with a reason; called at most once
}

// ServePort serves one connection over a port until it ends, as ServeHTTP does over a
// WebSocket, with the same limits. The request has the query, cookies and subprotocol that a
// handshake would have.
func (s *Server) ServePort(r *http.Request, p Port) {
	kind, ok := s.kind(r)
	if !ok {
		p.Close(reasonRefused.code, reasonRefused.in(terms.In(r.Context())))
		return
	}
	caller, _ := s.cfg.Caller(r)
	c, no := s.enter(caller)
	if c == nil {
		p.Close(websocket.CloseTryAgainLater, no.say)
		return
	}
	defer c.leave()
	cut := make(chan struct{})
	t := &port{Port: p, most: s.cfg.Limits.MessageBytes, cut: cut, abort1: sync.OnceFunc(func() { close(cut) })}
	s.speak(c, t, kind, r, choose(websocket.Subprotocols(r)))
}

// port is the [transport] over a [Port].
type port struct {
	Port
	most   int64 // maximum bytes of a message
	cut    chan struct{}
	abort1 func()
}

func (p *port) read() ([]byte, error) {
	select {
	case data, more := <-p.In:
		switch {
		case !more:
			return nil, reasonGone
		case int64(len(data)) > p.most:
			return nil, reasonLarge
		case !utf8.Valid(data):
			return nil, reasonUTF8
		}
		return data, nil
	case <-p.cut:
		return nil, reasonGone
	}
}

func (p *port) write(message []byte) error { return p.Send(message) }

func (p *port) writeShared(e *Encoded) error { return p.Send(e.Bytes()) }

func (p *port) ping() error { return nil }

// sendClose also ends the pending read, because a page does not reply to a close message.
func (p *port) sendClose(code int, reason string) {
	p.Close(code, reason)
	p.abort()
}

func (p *port) finish() {}

func (p *port) abort() { p.abort1() }
