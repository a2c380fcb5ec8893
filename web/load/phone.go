package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Phone is a simulated follower of a class. Like the page, it connects, reads messages and votes.
// Only one goroutine may read, but any goroutine can send.
type Phone struct {
	// URL is the server's URL, such as http://127.0.0.1:8080; Code is the room's code.
	URL, Code string
	// Via, if set, is the address of a proxy in front of the server.
	Via string
	// From, if set, is the IP address of this machine from which the phone connects.
	From string
	// Deaf means that the phone never reads. Its receive buffer is so small that the server soon
	// notices.
	Deaf bool
	// Cookie identifies the phone. If it is empty, the phone first visits a page to get a cookie,
	// as every real phone does. In both cases, [Phone.Learner] returns the cookie.
	Cookie string

	conn *websocket.Conn
	mu   sync.Mutex // guards the writer, Cookie and n
	n    uint64     // number of the last command
}

// Frame is one message from the server.
type Frame struct {
	Seq uint64
	At  time.Time // when a snapshot's view was made; zero in messages that are only for this phone
	// Body is the whole message. It is valid until the next message is read.
	Body []byte
}

// handshake is the timeout for connecting. It is long enough for five hundred phones that connect
// at the same time.
const handshake = 30 * time.Second

// deafBuffer is the size of the kernel's receive buffer for a deaf phone, in bytes.
const deafBuffer = 4 << 10

// dial opens a network connection for the phone.
func (p *Phone) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if p.Via != "" {
		addr = p.Via
	}
	var d net.Dialer
	if p.From != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(p.From)}
	}
	conn, err := d.DialContext(ctx, network, addr)
	if tcp, ok := conn.(*net.TCPConn); ok && p.Deaf {
		_ = tcp.SetReadBuffer(deafBuffer) // as small as the system allows
	}
	return conn, err
}

// visit requests the page where codes are typed, to get a cookie.
func (p *Phone) visit(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/join", nil)
	if err != nil {
		return err
	}
	network := &http.Transport{DialContext: p.dial, DisableKeepAlives: true}
	res, err := network.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	return p.keep(res)
}

// keep stores the cookie that a response sets.
func (p *Phone) keep(res *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range res.Cookies() {
		p.Cookie = c.Name + "=" + c.Value
	}
	if p.Cookie == "" {
		return fmt.Errorf("the server did not set a cookie: %s", res.Status)
	}
	return nil
}

// Dial connects the phone. If it is called again, it connects as the same learner.
func (p *Phone) Dial(ctx context.Context) error {
	if p.Learner() == "" {
		if err := p.visit(ctx); err != nil {
			return fmt.Errorf("visiting %s: %w", p.URL, err)
		}
	}
	d := websocket.Dialer{
		Subprotocols: []string{"viz.html.v1"}, HandshakeTimeout: handshake, NetDialContext: p.dial,
	}
	header := http.Header{"Cookie": {p.Learner()}}
	q := url.Values{"feed": {"class"}, "room": {p.Code}}
	conn, res, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(p.URL, "http")+"/ws?"+q.Encode(), header)
	if err != nil {
		return fmt.Errorf("connecting to room %s: %w", p.Code, err)
	}
	p.mu.Lock()
	p.conn = conn
	p.mu.Unlock()
	return p.keep(res)
}

// Learner returns the cookie that identifies the phone.
func (p *Phone) Learner() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Cookie
}

// Follow reads messages until the connection ends, and calls receive with each of them.
func (p *Phone) Follow(receive func(Frame) error) error {
	var b bytes.Buffer
	for {
		_, r, err := p.conn.NextReader()
		if err != nil {
			return err
		}
		b.Reset()
		if _, err := b.ReadFrom(r); err != nil {
			return err
		}
		f, err := readFrame(b.Bytes())
		if err == nil {
			err = receive(f)
		}
		if err != nil {
			return err
		}
	}
}

// readFrame parses only the first fields of a message. At thousands of messages per second, more
// parsing would make the reader the bottleneck.
func readFrame(body []byte) (Frame, error) {
	f := Frame{Body: body}
	rest, ok := bytes.CutPrefix(body, []byte(`{"seq":`))
	digits, rest, comma := bytes.Cut(rest, []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	if !ok || !comma || err != nil {
		return f, fmt.Errorf("missing seq in message: %.80s", body)
	}
	f.Seq = seq
	if rest, ok := bytes.CutPrefix(rest, []byte(`"at":`)); ok {
		digits, _, _ := bytes.Cut(rest, []byte(","))
		at, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			return f, fmt.Errorf(`invalid field "at" in message: %.30s`, digits)
		}
		f.At = time.UnixMicro(at)
	}
	return f, nil
}

// Say sends a command with its fields and returns its number.
func (p *Phone) Say(cmd string, fields map[string]any) (n uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	message := map[string]any{"cmd": cmd, "n": p.n}
	for name, value := range fields {
		message[name] = value
	}
	b, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(handshake))
	return p.n, p.conn.WriteMessage(websocket.TextMessage, b)
}

// HangUp closes the connection without a close frame, as if the phone had been switched off.
func (p *Phone) HangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		p.conn.Close()
	}
}
