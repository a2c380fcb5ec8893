package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
)

// An alone is a listener that accepts a single connection.
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

// TestStalledClientIsDisconnected: if a client stops reading a streamed answer, the request and its
// run end after a time limit. The same applies if the answer is not streamed.
func TestStalledClientIsDisconnected(t *testing.T) {
	m := testmodel.Target(t)
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			client, server := net.Pipe()
			listens := alone{make(chan net.Conn, 1), server}
			listens.conns <- server
			h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				out, err := newOutput(w, m, &request{stream: stream, prompts: make([]prompt, 1), n: 1}), error(nil)
				for i := 0; err == nil && (stream || i < 10_000); i++ {
					err = out.add(0, delta{text: "a word or two"})
				}
				if err == nil {
					err = out.end()
				}
				if err == nil {
					_, err = w.Write([]byte("x")) // fails if the whole answer could not be sent
				}
				ended <- err
			})}
			done := make(chan error, 1)
			go func() { done <- h.Serve(listens) }()
			if _, err := fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Read(make([]byte, 100)); err != nil { // the client reads nothing after this
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("streamed %v: the response ends with %v, want %v", stream, err, os.ErrDeadlineExceeded)
			}
			h.Close()
			<-done
			client.Close()
		})
	}
}

// TestStalledBodyIsRefused: a body can arrive slowly, but if nothing arrives for ten seconds, the
// request is refused and its connection is closed.
func TestStalledBodyIsRefused(t *testing.T) {
	s := &Server{Deps: Deps{
		Access: Access{Open: true}, Log: slog.New(slog.DiscardHandler),
		Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{}, nil },
	}}
	h := s.answer(func(w http.ResponseWriter, r *http.Request, _ admission.Caller) error {
		if _, err := readFields(w, r); err != nil {
			return err
		}
		reply(w, http.StatusOK, "read")
		return nil
	})
	const body = `{"a":1}`
	for _, row := range []struct {
		sent   int // number of bytes that are sent, nine seconds apart
		status int
		after  time.Duration
	}{
		{1, http.StatusRequestTimeout, 10 * time.Second},
		{3, http.StatusRequestTimeout, 28 * time.Second}, // 2 · 9 s + 10 s
		{len(body), http.StatusOK, 54 * time.Second},     // 6 · 9 s
	} {
		synctest.Test(t, func(t *testing.T) {
			client, server := net.Pipe()
			listens := alone{make(chan net.Conn, 1), server}
			listens.conns <- server
			began, done, web := time.Now(), make(chan error, 1), &http.Server{Handler: h}
			go func() { done <- web.Serve(listens) }()
			go func() {
				fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"+
					"Content-Length: %d\r\n\r\n", len(body))
				for i := range row.sent {
					if i > 0 {
						fixture.Pass(9 * time.Second)
					}
					fmt.Fprint(client, body[i:i+1])
				}
			}()
			in := bufio.NewReader(client)
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if took := time.Since(began); err != nil || answer.StatusCode != row.status || took != row.after {
				t.Errorf("%d bytes of %d: got %d after %s, %s, %v; want %d after %s", row.sent, len(body),
					answer.StatusCode, took, text, err, row.status, row.after)
			}
			if row.status != http.StatusOK {
				if _, err := in.ReadByte(); !answer.Close || err != io.EOF {
					t.Errorf("%d bytes of %d: the connection stays open: %v, %v; want it closed", row.sent, len(body),
						answer.Close, err)
				}
			}
			web.Close()
			<-done
			client.Close()
		})
	}
}
