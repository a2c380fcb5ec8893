package classroom_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/wire"
)

// presenter is the connection of an instructor's window.
type presenter struct {
	t    *testing.T
	conn *websocket.Conn
	n    int
}

// present opens the connection in the same way as the page's script.
func (p *person) present(code string) *presenter {
	p.t.Helper()
	var bought struct{ Ticket string }
	got := p.send(http.MethodPost, "/class/"+code+"/ticket", url.Values{}, http.Header{"Viz-Fragment": {"1"}})
	if err := json.Unmarshal([]byte(got.text), &bought); err != nil {
		p.t.Fatalf("%v: %d, %s", err, got.status, got.text)
	}
	d := websocket.Dialer{Jar: p.client.Jar, Subprotocols: []string{wire.ProtocolHTML}}
	query := url.Values{"feed": {"present"}, "room": {code}, "ticket": {bought.Ticket}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(p.base, "http")+"/ws?"+query.Encode(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(browser.Patience)); err != nil {
		p.t.Fatal(err)
	}
	return &presenter{t: p.t, conn: conn}
}

// say sends a command. If it is refused, say returns the code and message of the refusal.
func (p *presenter) say(cmd string, fields map[string]any) (code, message string) {
	p.t.Helper()
	p.n++
	sent := maps.Clone(fields)
	if sent == nil {
		sent = map[string]any{}
	}
	sent["cmd"], sent["n"] = cmd, p.n
	if err := p.conn.WriteJSON(sent); err != nil {
		p.t.Fatal(err)
	}
	for {
		var got struct {
			Ack   int
			Error struct{ Code, Message string }
		}
		if err := p.conn.ReadJSON(&got); err != nil {
			p.t.Fatalf("%s: %v", cmd, err)
		}
		if got.Ack == p.n {
			return got.Error.Code, got.Error.Message
		}
	}
}

// TestPresenterFields checks the fields of the messages that a presenter's page sends.
func TestPresenterFields(t *testing.T) {
	t.Parallel()
	base := serve(t)
	t.Run("only known fields", func(t *testing.T) { onlyKnownFields(t, base) })
	t.Run("candidates", func(t *testing.T) { choosesCandidates(t, base) })
}

// onlyKnownFields checks that a message that contains a field that its command does not have has no
// effect and is refused with an error that names the field.
func onlyKnownFields(t *testing.T, base string) {
	p, code := instructor(t, base, url.Values{})
	c := p.present(code)
	for cmd, field := range map[string]string{
		"start": "seed", "forward": "Withhold", "lock": "member", "timer": "", "delete": "code", "look": "block",
		"members": "room", "head": "u",
	} {
		is, says := c.say(cmd, map[string]any{field: "1"})
		if want := fmt.Sprintf("%s has no field %q; its fields are ", cmd, field); is != "unknown" ||
			!strings.HasPrefix(says, want) {
			t.Errorf("%s with %q: got %q, %q; want %q", cmd, field, is, says, want)
		}
	}
	if is, says := c.say("fly", map[string]any{"high": "1"}); is != "unknown" || says != `Unknown command "fly".` {
		t.Errorf("an unknown command: got %q, %q; want %q, %q", is, says, "unknown", `Unknown command "fly".`)
	}
	if is, says := c.say("timer", map[string]any{"seconds": 60}); is == "" {
		t.Errorf("a number instead of a string: got %q, %q; want a refusal", is, says)
	}
	if is, says := c.say("timer", map[string]any{"seconds": "60"}); is != "" {
		t.Errorf(`a valid command: got %q, want "", %q`, is, says)
	}
	if p.get("/class/"+code+"/present").Find(`button[value="lock"]`).Length() == 0 {
		t.Error("a refused command locked the room")
	}
}

// choosesCandidates checks that the field with the number of candidates is not confused with the field
// that contains the message's number.
func choosesCandidates(t *testing.T, base string) {
	p, code := instructor(t, base, url.Values{})
	p.do(code, "start", "prompt", "The capital of France is")
	form := p.get("/class/" + code + "/present").Find(`form:has(button[value="ask-next"])`)
	name := form.Find("#ask-n").AttrOr("name", "")
	if code, says := p.present(code).say("ask-next", map[string]any{name: "8", "where": "here"}); code != "" {
		t.Fatalf("asking with 8 candidates: got %s, want no refusal", says)
	}
	if n := p.get("/class/" + code).Find("form[data-vote] button.vote").Length(); n != 8 {
		t.Errorf("got %d candidates, want 8", n)
	}
}

// TestPresenterAcceptsWhatThePageSends: the server accepts every button of every form, with
// the fields that the page's script sends.
func TestPresenterAcceptsWhatThePageSends(t *testing.T) {
	t.Parallel()
	base := serve(t)
	seen := map[string]bool{}
	sendAll := func(ready func(p *person, code string)) {
		t.Helper()
		p, code := instructor(t, base, url.Values{"walk": {"loop"}})
		ready(p, code)
		page := p.get("/class/" + code + "/present")
		page.Find("form[data-do] button").Each(func(_ int, button *goquery.Selection) {
			fields := map[string]any{}
			button.Closest("form").Find("input, select, textarea").Each(func(_ int, field *goquery.Selection) {
				fields[field.AttrOr("name", "")] = field.AttrOr("value", "")
			})
			fields[button.AttrOr("name", "")] = button.AttrOr("value", "")
			if further := button.AttrOr("data-fields", ""); further != "" {
				if err := json.Unmarshal([]byte(further), &fields); err != nil {
					t.Error(err)
				}
			}
			cmd, _ := fields["cmd"].(string)
			delete(fields, "cmd")
			if cmd == "delete" || cmd == "end" || cmd == "play" {
				fields["zzz"] = "" // sorts last, so the other fields are checked, but the command has no effect
			}
			seen[cmd] = true
			_, says := p.present(code).say(cmd, fields)
			_, named, unknown := strings.Cut(says, " has no field ")
			if unknown && !strings.HasPrefix(named, `"zzz"`) {
				t.Errorf("%s with %v: got %s, want a refusal that names the unknown field", cmd, fields, says)
			}
		})
	}
	sendAll(func(*person, string) {})
	sendAll(func(p *person, code string) { p.do(code, "start", "prompt", "The capital of France is") })
	sendAll(func(p *person, code string) {
		p.do(code, "start", "prompt", "The capital of France is")
		p.do(code, "ask-next", "where", "here")
	})
	sendAll(func(p *person, code string) { p.do(code, "end") })
	for _, cmd := range []string{
		"forward", "back", "token", "start", "set", "goto", "ask-next", "ask-draw", "ask-question", "ask-number",
		"timer", "reveal", "spread", "extend", "lock", "end", "reopen", "take-seat", "follow",
		"delete", "play", "reset",
	} {
		if !seen[cmd] {
			t.Errorf("the page has no button for %s", cmd)
		}
	}
}
