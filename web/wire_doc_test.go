package web_test

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestDocumentedExchange: the server sends the exchange shown in WIRE.md, except for the parts that
// WIRE.md omits.
func TestDocumentedExchange(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "## An exchange")
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
				t.Fatalf("WIRE.md has\n%s\nbut the server sends\n%.2000s\nwhich lacks %s", text, got, part)
			}
			left = after
		}
	}
	if len(lines) < 10 {
		t.Errorf("the exchange has %d lines, want at least 10", len(lines))
	}
}

// TestDocumentedLimits: WIRE.md and OPERATING.md state the server's limits.
// Promise: WIRE.md and OPERATING.md give the limits that the server has.
func TestDocumentedLimits(t *testing.T) {
	t.Parallel()
	l := admission.DefaultLimits()
	if admission.KnownAfter != 10*time.Minute || l.Refusals.PerLearner.PerSecond != 1 || l.Imports.PerLearner != 1 {
		t.Error("the documents spell out limits that differ from the server's")
	}
	page, err := os.ReadFile("WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Limits")
	wants := map[string][]string{}
	for name, s := range map[string]admission.Share{
		"runs": l.Runs, "connections": l.Sockets, "imports": l.Imports, "classes": l.Rooms,
		"members of a class": l.Members, "API requests": l.API,
	} {
		for _, n := range []int{s.PerLearner, s.Most, s.Newcomers, s.PerAddress} {
			wants[name] = append(wants[name], number(float64(n)))
		}
	}
	for name, q := range map[string]admission.Backlog{
		"measurements waiting": l.Labs, "links waiting": l.Links,
		"grammars waiting": l.Grammars,
	} {
		wants[name] = []string{number(float64(q.Most)), number(float64(q.PerLearner))}
	}
	for name, p := range map[string]struct {
		admission.Pace
		seconds float64
		rate    string
		burst   string
	}{
		"messages":                  {l.Messages, 1, " per second", "bursts of "},
		"new connections":           {l.Openings, 1, " per second", "bursts of "},
		"HTTP requests":             {l.Requests, 1, " per second", "bursts of "},
		"requests without a cookie": {l.NewLearners, 1, " per second", "bursts of "},
		"MiB imported":              {l.Imported, 1, " per second", ""},
		"wrong class codes":         {l.WrongCodes, 1, " per second", ""},
		"new classes":               {l.NewRooms, 60, " per minute", ""},
		"invalid grammars":          {l.BadGrammars, 1, " per second", "bursts of "},
		"refused requests":          {Pace: l.Refusals, burst: "bursts of "},
	} {
		for _, r := range []admission.Rate{p.PerLearner, p.PerAddress} {
			wants[name] = append(wants[name], number(r.PerSecond*p.seconds)+p.rate)
			if r.Burst > 0 {
				wants[name] = append(wants[name], p.burst+number(float64(r.Burst)))
			}
		}
	}
	for name, list := range wants {
		_, rest, ok := strings.Cut(table, "\n| "+name+" | ")
		text, _, _ := strings.Cut(rest, "\n")
		if !ok {
			t.Errorf("WIRE.md has no limit for %s", name)
		}
		for _, want := range list {
			isLimit := want != "0" && !strings.HasPrefix(want, "0 ")
			if isLimit && !hasNumber(text, want) {
				t.Errorf("%s: %q is not in %q", name, want, text)
			}
		}
	}
	readme, err := os.ReadFile("../cmd/viz/OPERATING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a class of " + number(float64(l.Members.PerAddress)) + " works behind one address", "older than ten minutes",
	} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("OPERATING.md lacks %q", want)
		}
	}
}

// number formats a limit as the documents do.
func number(x float64) string {
	if x < 1 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return terms.Count(int(math.Round(x)))
}

// hasNumber reports whether text contains want, which begins or ends with a number, without another
// digit directly before or after it.
func hasNumber(text, want string) bool {
	return regexp.MustCompile(`(^|[^0-9.,])` + regexp.QuoteMeta(want) + `($|[^0-9.,]|[.,]($|[^0-9]))`).MatchString(text)
}
