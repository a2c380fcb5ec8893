package loop

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestMistakesAreRefusedWithCodeAndField makes every kind of mistake that the server recognizes.
// Each refusal has the right code and field, and the run is unchanged.
// Promise: A wrong command gets an error code and the field at fault, and changes nothing.
func TestMistakesAreRefusedWithCodeAndField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 4097)
	cases := []struct {
		message     string
		code, field string
	}{
		{`{"cmd":"start"}`, "range", "prompt"},
		{`{"cmd":"start","prompt":5}`, "range", "prompt"},
		{`{"cmd":"start","prompt":"` + long + `"}`, "range", "prompt"},
		{`{"cmd":"start","prompt":"a\u0000b"}`, "range", "prompt"},
		{`{"cmd":"start"}`, "range", "prompt"},
		{`{"cmd":"start","prompt":7}`, "range", "prompt"},
		{`{"cmd":"start","prompt":null}`, "range", "prompt"},
		{`{"cmd":"chat"}`, "range", "messages"},
		{`{"cmd":"chat","messages":[]}`, "range", "messages"},
		{`{"cmd":"chat","messages":[{"role":"tool","content":"x"}]}`, "range", "messages"},
		{`{"cmd":"chat","messages":[{"role":"user","content":"` + long + `"}]}`, "range", "messages"},
		{`{"cmd":"chat","messages":[` + strings.Repeat(`{"role":"user"},`, 2000) + `0]}`, "range", "messages"},
		{`{"cmd":"chat","prompt":"x","messages":[{"role":"user","content":"x"}]}`, "unknown", "prompt"},
		{`{"cmd":"pieces","messages":[]}`, "range", "messages"},
		{`{"cmd":"pieces","messages":[{"role":"user","content":"a\u0000b"}]}`, "range", "messages"},
		{`{"cmd":"pieces","prompt":"` + long + `"}`, "range", "prompt"},
		{`{"cmd":"set","temperature":-0.1}`, "range", "temperature"},
		{`{"cmd":"set","temperature":101}`, "range", "temperature"},
		{`{"cmd":"set","temperature":"NaN"}`, "range", "temperature"},
		{`{"cmd":"set","temperature":1e999}`, "range", "temperature"},
		{`{"cmd":"set","temperature":null}`, "range", "temperature"},
		{`{"cmd":"set","temperature":[1]}`, "range", "temperature"},
		{`{"cmd":"set","top_p":0}`, "range", "top_p"},
		{`{"cmd":"set","top_p":1.01}`, "range", "top_p"},
		{`{"cmd":"set","top_k":-1}`, "range", "top_k"},
		{`{"cmd":"set","top_k":1.5}`, "range", "top_k"},
		{`{"cmd":"set","top_k":1e30}`, "range", "top_k"},
		{`{"cmd":"set","min_p":1.01}`, "range", "min_p"},
		{`{"cmd":"set","min_p":-0.01}`, "range", "min_p"},
		{`{"cmd":"set","seed":-1}`, "range", "seed"},
		{`{"cmd":"set","seed":9007199254740992}`, "range", "seed"}, // 2^53
		{`{"cmd":"stop","stop":[""]}`, "range", "stop"},
		{`{"cmd":"stop","stop":7}`, "range", "stop"},
		{`{"cmd":"stop","stop":[1]}`, "range", "stop"},
		{`{"cmd":"stop","stop":null}`, "range", "stop"},
		{`{"cmd":"stop","stop":["1","2","3","4","5","6","7","8","9"]}`, "range", "stop"},
		{`{"cmd":"stop","max_tokens":0}`, "range", "max_tokens"},
		{`{"cmd":"seek","step":99,"stage":"forward"}`, "range", "step"},
		{`{"cmd":"seek","step":0,"stage":"forward"}`, "range", "step"},
		{`{"cmd":"seek","step":1,"stage":"cache"}`, "range", "stage"},
		{`{"cmd":"seek","step":1,"stage":"attention"}`, "unknown", "stage"},
		{`{"cmd":"seek","stage":"forward"}`, "range", "step"},
		{`{"cmd":"speed","speed":"3"}`, "range", "speed"},
		{`{"cmd":"preset","preset":"best"}`, "range", "preset"},
		{`{"cmd":"choose","step":1,"token":3}`, "range", "step"}, // no scores yet
		{`{"cmd":"choose","step":9,"token":3}`, "range", "step"},
		{`{"cmd":"choose","step":1}`, "range", "token"},
		{`{"cmd":"choose","step":"1","token":3}`, "range", "step"},
		{`{"cmd":"branch","id":7}`, "range", "branch"},
		{`{"cmd":"branch"}`, "range", "id"},
		{`{"cmd":"goon"}`, "order", ""},           // the run has not stopped
		{`{"cmd":"whatif","u":0.5}`, "order", ""}, // not at the sample stage
		{`{"cmd":"whatif","u":"0.5"}`, "range", "u"},
		{`{"cmd":"whatif","u":"null"}`, "range", "u"},
		{`{"cmd":"set","logit_bias":"12:-5"}`, "range", "logit_bias"},
		{`{"cmd":"set","samplers":"[\"top_k\"]"}`, "range", "samplers"},
		{`{"cmd":"pieces"}`, "range", "prompt"},
		{`{"cmd":"pieces","prompt":"a","messages":[{"role":"user","content":"a"}]}`, "range", "prompt"},
		{`{"cmd":"whatif"}`, "range", "u"},
		{`{"cmd":"look"}`, "range", "on"},
		{`{"cmd":"look","on":1}`, "range", "on"},
		{`{"cmd":"look","on":"true"}`, "range", "on"},
		{`{"cmd":"open"}`, "range", "link"},
		{`{"cmd":"open","link":""}`, "link", ""},
		{`{"cmd":"open","link":"no link"}`, "link", ""},
		{`{"cmd":"open","link":"` + strings.Repeat("A", 33<<10) + `"}`, "link", ""},
		{`{"cmd":"redraw"}`, "range", "seed"},
		{`{"cmd":"redraw","seed":9007199254740992}`, "range", "seed"},
		{`{"cmd":"redraw","seed":1}`, "order", ""}, // nothing drawn yet
		{`{"cmd":"try","key":"all"}`, "range", "key"},
		{`{"cmd":"peek","step":1}`, "range", "step"}, // nothing drawn yet
		{`{"cmd":"peek","step":-1}`, "range", "step"},
		{`{"cmd":"peek"}`, "range", "step"},
		{`{"cmd":"find","step":1,"text":"a"}`, "range", "step"}, // no scores yet
		{`{"cmd":"find","step":1}`, "range", "text"},
		{`{"cmd":"find","step":1,"text":"` + strings.Repeat("a", 65) + `"}`, "range", "text"},
		{`{"cmd":"head","block":0,"head":1}`, "range", "block"},
		{`{"cmd":"head","block":7,"head":1}`, "range", "block"},
		{`{"cmd":"head","block":1,"head":0}`, "range", "head"},
		{`{"cmd":"head","block":1,"head":7}`, "range", "head"},
		{`{"cmd":"inside","block":7}`, "range", "block"},
		{`{"cmd":"ping","at":1}`, "unknown", "at"},
		{`{"cmd":"fly"}`, "unknown", "cmd"},
		{`{"cmd":"set","temprature":1}`, "unknown", "temprature"},
		{`{"cmd":"step","by":2}`, "unknown", "by"},
		{`{"cmd":7}`, "range", "cmd"},
		{`{}`, "range", "cmd"},
		{`{"cmd":"back"}`, "order", ""}, // at the first stage
	}
	for _, protocol := range []string{wire.ProtocolHTML, wire.ProtocolJSON} {
		t.Run(protocol, func(t *testing.T) {
			x := newSite(t, limits{Wire: wire.Limits{CommandBurst: 1000}})
			c := x.dial(protocol, "")
			for _, early := range []string{
				`"step"`, `"token"`, `"play"`, `"reset"`, `"back"`, `"goon"`, `"finish"`, `"redraw","seed":1`,
				`"branch","id":1`,
				`"choose","step":1,"token":1`, `"whatif","u":null`, `"peek","step":1`, `"find","step":1,"text":"a"`,
				`"head","block":1,"head":1`, `"inside","block":1`,
			} {
				if e := c.refused(`{"cmd":` + early + `}`); e.Code != session.CodeOrder {
					t.Errorf("%s before the start: got %+v, want Code = %q", early, e, session.CodeOrder)
				}
			}
			c.do(`{"cmd":"start","prompt":"Once upon"}`)
			run := x.runOf(c.run)
			before := run.Latest()
			for _, tc := range cases {
				e := c.refused(tc.message)
				if string(e.Code) != tc.code || e.Field != tc.field || e.Message == "" {
					t.Errorf("%.60s: got %+v, want code %s for field %q", tc.message, e, tc.code, tc.field)
				}
				if e.Code == terms.CodeRange && e.Want == "" {
					t.Errorf("%.60s: the error does not list the accepted values", tc.message)
				}
			}
			if run.Latest() != before {
				t.Error("a refused command changed the run")
			}
			c.do(`{"cmd":"step"}`)
		})
	}
}

// TestNonObjectMessagesAreAnswered: a message that is not a JSON object also gets an answer.
func TestNonObjectMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolJSON, "")
	for _, message := range []string{
		``, `[]`, `null`, `"step"`, `{`, `{"cmd":"step"}{}`, strings.Repeat("[", 60_000), `{"n":-1,"cmd":"step"}`,
	} {
		if err := c.conn.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
			t.Fatal(err)
		}
		m := c.read()
		if m.Error == nil || m.Error.Code != terms.CodeFormat && m.Error.Field != "n" {
			t.Errorf("%.20q: got answer %+v, want a refusal of the format or of n", message, m)
		}
	}
	c.do(`{"cmd":"start","prompt":"Once"}`)
}

// TestProtocolErrorsCloseWithACode: a message that breaks the protocol ends the connection
// with a code.
// Promise: A message that breaks the protocol closes only its own connection, with a code.
func TestProtocolErrorsCloseWithACode(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		kind  int
		bytes []byte
		code  int
	}{
		{"binary", websocket.BinaryMessage, []byte(`{"cmd":"step"}`), 1003},
		{"not UTF-8", websocket.TextMessage, []byte("{\"cmd\":\"start\",\"prompt\":\"\xff\"}"), 1007},
		{"too long", websocket.TextMessage, make([]byte, 64<<10+1), 1009},
	}
	x := newSite(t, limits{})
	bystander := x.dial(wire.ProtocolJSON, "")
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := x.dial(wire.ProtocolJSON, "")
			if err := c.conn.WriteMessage(tc.kind, tc.bytes); err != nil {
				t.Fatal(err)
			}
			if code, reason := c.closed(); code != tc.code {
				t.Errorf("closed with %d %q, want %d", code, reason, tc.code)
			}
			bystander.do(`{"cmd":"start","prompt":"Once"}`)
		})
	}
}

// TestUnknownSubprotocolIsClosed: if a client does not offer a known subprotocol, its connection is
// closed with the reason.
func TestUnknownSubprotocolIsClosed(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	for _, offer := range [][]string{nil, {"viz.xml.v1"}} {
		d := websocket.Dialer{Subprotocols: offer, Jar: x.jar}
		conn, _, err := d.Dial(x.url(""), nil)
		if err != nil {
			t.Fatal(err)
		}
		if code, reason := closeOf(t, conn); code != 1002 || !strings.Contains(reason, wire.ProtocolJSON) {
			t.Errorf(
				"offering %v: closed with %d %q; want 1002, a reason with %q", offer, code, reason, wire.ProtocolJSON,
			)
		}
		conn.Close()
	}
	d := websocket.Dialer{Subprotocols: []string{"viz.xml.v1", wire.ProtocolJSON, wire.ProtocolHTML}, Jar: x.jar}
	conn, _, err := d.Dial(x.url(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.Subprotocol() != wire.ProtocolJSON {
		t.Errorf("chose subprotocol %q, want the client's first one that the server supports", conn.Subprotocol())
	}
}

// TestCommandsAboveTheRateAreRefused sends commands faster than the limit allows. The excess
// commands are refused one by one, and later commands are accepted again.
func TestCommandsAboveTheRateAreRefused(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{Wire: wire.Limits{CommandsPerSecond: 20, CommandBurst: 3}})
	c := x.dial(wire.ProtocolJSON, "")
	for range 10 {
		c.send(`{"cmd":"pause"}`)
	}
	busy := 0
	for m := c.read(); ; m = c.read() {
		if m.Error != nil && m.Error.Code == terms.CodeBusy {
			busy++
		}
		if m.Ack == 10 {
			break
		}
	}
	if busy == 0 || busy > 7 {
		t.Errorf("got %d of 10 commands refused with a burst of 3, want 1 to 7", busy)
	}
	browser.Eventually(t, func() bool { // at 20 commands a second, another one is accepted soon
		c.send(`{"cmd":"pause"}`)
		return c.read().Error == nil
	})
}

// FuzzReadOrder: any message results in an order or a typed error, never a panic.
func FuzzReadOrder(f *testing.F) {
	f.Add(`{"cmd":"step","n":1}`)
	f.Add(`{"cmd":"set","temperature":1e999,"top_k":-3,"n":"x"}`)
	f.Add(`{"cmd":"stop","stop":["\ud800"],"max_tokens":1.5}`)
	f.Add(`{"cmd":"seek","step":1,"stage":"filter"}`)
	f.Fuzz(func(t *testing.T, message string) {
		if !utf8.ValidString(message) {
			return // refused before it is parsed
		}
		o, err := orderIn(message)
		if err != nil {
			if err.Code == "" || err.Message == "" {
				t.Errorf("an error without code or message: got %+v, want Code not empty, Message not empty", err)
			}
			if b, _ := json.Marshal(err); len(b) > 4*len(message)+2000 {
				t.Errorf("a refusal of %d bytes for a message of %d; want at most %d", len(b), len(message),
					4*len(message)+2000)
			}
			return
		}
		if _, known := commands.Find(o.name); o.command == nil && !known {
			t.Errorf("an order without a command: %+v", o)
		}
	})
}

// TestTooLongPromptIsExplainedInCharacters: if a prompt is too long, a page gets its length and the
// limit in characters, and a program gets the limit in bytes.
func TestTooLongPromptIsExplainedInCharacters(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	c := x.dial(wire.ProtocolHTML, "")
	for _, cmd := range []string{"start", "pieces"} {
		e := c.refused(`{"cmd":"` + cmd + `","prompt":"` + strings.Repeat("é", 2049) + `"}`) // 4,098 bytes
		const say = "Your text is too long: 2,049 characters. It is still in the field. Shorten it to about "
		if !strings.HasPrefix(e.Message, say) || strings.Contains(e.Message, "byte") ||
			e.Want != "at most 512 tokens, the context of this model" {
			t.Errorf(
				"%s: got %+v; want Message beginning with %q, Message without %q, Want = %q", cmd, e, say, "byte",
				"at most 512 tokens, the context of this model",
			)
		}
	}
	// 1,200 characters of three bytes each are 3,600 tokens, but the model can read only 512.
	e := c.refused(`{"cmd":"start","prompt":"` + strings.Repeat("日本語", 400) + `"}`)
	if want := "Your text is too long: 1,200 characters. It is still in the field. " +
		"Shorten it to about 170, and the model continues from there."; e.Message != want {
		t.Errorf("too many tokens: %q, want %q", e.Message, want)
	}
	if e := c.refused(`{"cmd":"start","prompt":"a\u0000b"}`); strings.Contains(e.Message, "too long") {
		t.Errorf("a short text with a different error: got %q, want it without %q", e.Message, "too long")
	}
}
