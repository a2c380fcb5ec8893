package api

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// alone is a listener with one connection.
type alone struct {
	conns chan net.Conn
	net.Conn
}

func (a alone) Accept() (net.Conn, error) {
	c, ok := <-a.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (a alone) Close() error { close(a.conns); return nil }

func (a alone) Addr() net.Addr { return a.LocalAddr() }

// TestStalledClientIsDisconnected: events that nobody reads end the request, and with it its
// run, after a while; so does a whole answer.
func TestStalledClientIsDisconnected(t *testing.T) {
	m := testmodel.Target(t)
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			client, server := net.Pipe()
			listens := alone{make(chan net.Conn, 1), server}
			listens.conns <- server
			h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				out, err := newOutput(w, m, &request{stream: stream, prompts: make([]chat.Text, 1), n: 1}), error(nil)
				for i := 0; err == nil && (stream || i < 10_000); i++ {
					err = out.add(0, piece{text: "a word or two"})
				}
				if err == nil {
					err = out.end()
				}
				if err == nil {
					_, err = w.Write([]byte("x")) // what a whole answer left
				}
				ended <- err
			})}
			done := make(chan error, 1)
			go func() { done <- h.Serve(listens) }()
			if _, err := fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Read(make([]byte, 100)); err != nil { // and no more
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("streamed %v: it ends with %v, want %v", stream, err, os.ErrDeadlineExceeded)
			}
			h.Close()
			<-done
			client.Close()
		})
	}
}
