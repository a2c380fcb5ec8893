package web_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestDocumentedExchange: the exchange that WIRE.md shows is what the server sends,
// apart from what is left out of it.
func TestDocumentedExchange(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "### An exchange")
	if !ok {
		t.Fatal("WIRE.md shows no exchange")
	}
	_, rest, _ = strings.Cut(rest, "```\n")
	block, _, _ := strings.Cut(rest, "```")
	url := webtest.Serve(t, webtest.Options{})
	d := websocket.Dialer{Subprotocols: []string{wire.ProtocolJSON}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(url, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(browser.Patience))
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for _, line := range lines {
		direction, text := line[:2], line[2:]
		if direction == "> " {
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is not JSON", text)
			}
			if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		_, got, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		left := string(got)
		for _, part := range strings.Split(text, "…") {
			_, after, ok := strings.Cut(left, strings.TrimPrefix(part, ","))
			if !ok {
				t.Fatalf("WIRE.md says\n%s\nand the server\n%.2000s\nwhich lacks %s", text, got, part)
			}
			left = after
		}
	}
	if len(lines) < 10 {
		t.Errorf("the exchange has %d lines", len(lines))
	}
}
