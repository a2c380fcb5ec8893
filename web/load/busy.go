package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

// busyRun is a learner who is in no class and whose run generates text continuously, so that the
// model is never idle.
type busyRun struct {
	conn   *websocket.Conn
	tokens atomic.Int64
	ended  sync.WaitGroup
}

func newBusyRun(ctx context.Context, server string) (*busyRun, error) {
	d := websocket.Dialer{Subprotocols: []string{"viz.json.v1"}, HandshakeTimeout: handshake}
	conn, _, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(server, "http")+"/ws", http.Header{})
	if err != nil {
		return nil, fmt.Errorf("connecting a learner who is in no class: %w", err)
	}
	b := &busyRun{conn: conn}
	err = b.send(`{"cmd":"stop","n":1,"max_tokens":400}`)
	if err == nil {
		err = b.restart()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	b.ended.Go(b.follow)
	return b, nil
}

func (b *busyRun) send(text string) error {
	return b.conn.WriteMessage(websocket.TextMessage, []byte(text))
}

// restart starts a new text and generates it to its end.
func (b *busyRun) restart() error {
	if err := b.send(`{"cmd":"start","n":2,"prompt":"Once upon a time"}`); err != nil {
		return err
	}
	return b.send(`{"cmd":"finish","n":3}`)
}

// follow counts tokens until the connection ends. It counts append stages, because there is exactly
// one for each token.
func (b *busyRun) follow() {
	var message bytes.Buffer
	for {
		_, r, err := b.conn.NextReader()
		if err != nil {
			return
		}
		message.Reset()
		if _, err := message.ReadFrom(r); err != nil {
			return
		}
		b.tokens.Add(int64(bytes.Count(message.Bytes(), []byte(`"stage":"append"`))))
		if bytes.Contains(message.Bytes(), []byte(`"stopped":`)) && b.restart() != nil {
			return
		}
	}
}

func (b *busyRun) close() {
	b.conn.Close()
	b.ended.Wait()
}
