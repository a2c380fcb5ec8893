package api_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/webtest"
)

const clients = "../../testdata/clients"

// A called is what a client's call returned: a result or an error.
type called struct {
	Call            string
	Asks            json.RawMessage // the body as the client sent it
	Whole, Streamed *heard
	Models          []string
	Form            *struct {
		Name, Kind *string
		Tame       *bool
	}
	End   string
	Error *thrown
}

type heard struct {
	Usage   []int
	Choices []struct {
		Text, End string
		Tokens    []string
		Probs     []*float64
	}
}

// A thrown is an error of the client's own type.
type thrown struct {
	Name, Message, Param, Code, Type, Wait string
	Status                                 int
}

// A requested is a request for a client's script to send.
type requested struct {
	Chat bool `json:"chat"`
	Body any  `json:"body"`
}

// TestClientsFromNPM: the published clients for JavaScript, unmodified, parse all answers and
// refusals. Streamed answers have the same bytes as answers that are not streamed. Both match the
// text that the loop generates and the values of p that the trace prints. Disconnecting ends a
// request.
// Promise: The published OpenAI clients for JavaScript work unmodified.
func TestClientsFromNPM(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	installed := fixture.Npm(t, clients)
	node := fixture.Node(t, installed)
	for _, script := range []string{"openai.mjs", "ai.mjs"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			limits := admission.DefaultLimits()
			limits.API = admission.Share{PerLearner: 1}
			var narrow *web.Server
			const key = "0123456789abcdef"
			var requests []requested
			for _, prompt := range prompts {
				for _, params := range calls(prompt) {
					requests = append(requests, requested{false, params})
				}
			}
			for _, params := range talks() {
				requests = append(requests, requested{true, params})
			}
			m := testmodel.Target(t)
			asks, err := json.Marshal(map[string]any{
				"servers": map[string]string{
					"open":  webtest.Serve(t, webtest.Options{}),
					"keyed": webtest.Serve(t, webtest.Options{API: &api.Access{Keys: []string{key}}}), "key": key,
					"narrow": webtest.Serve(t, webtest.Options{
						Admission: &limits, Started: func(s *web.Server) { narrow = s },
					}),
				},
				"model": model, "end": m.Config().EOS[0], "requests": requests,
			})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "asks.json")
			if err := os.WriteFile(file, asks, 0o600); err != nil {
				t.Fatal(err)
			}
			n, seen := 0, map[string]int{}
			lines := bufio.NewScanner(strings.NewReader(fixture.Output(t, installed, node, script, file)))
			for lines.Buffer(nil, 1<<24); lines.Scan(); {
				var c called
				if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
					t.Fatalf("%s: %v", lines.Text(), err)
				}
				n++
				seen[c.Call]++
				switch {
				case c.Asks != nil:
					n++
					c.isTheLoops(t, m)
				case c.Error != nil:
					c.isRefused(t)
				default:
					c.isAnswered(t)
				}
			}
			if n < 40 || seen["completion"] != len(prompts)*4 || seen["chat"] != len(talks()) || seen["form"] == 0 ||
				seen["leaving"] != 2 || seen["after leaving"] != 1 {
				t.Errorf("got %d calls: %v; want 40 or more, of every kind", n, seen)
			}
			t.Logf("%d calls", n)
			// A client that stayed connected would get a long answer of 16 · 480 tokens, but this
			// one disconnects after two.
			if written := tokensOf(t, narrow); written < 2 || written > 16*480 {
				t.Errorf("%v tokens were generated after the client disconnected, want 2 to 16*480", written)
			}
		})
	}
}

// isTheLoops compares two answers, one of them streamed, with each other and with the loop's
// output.
func (c called) isTheLoops(t *testing.T, m *infer.Model) {
	t.Helper()
	if !reflect.DeepEqual(c.Whole, c.Streamed) {
		t.Errorf("%s: got %+v, want the same streamed: %+v", c.Asks, c.Whole, c.Streamed)
	}
	text, settings, n, echo := c.read(t, m)
	if len(c.Whole.Choices) != n || c.Whole.Usage[0]+c.Whole.Usage[1] != c.Whole.Usage[2] {
		t.Fatalf(
			"%s: got %d choices, usage %v; want len(c.Whole.Choices) = %d, c.Whole.Usage[0]+c.Whole.Usage[1] = %d",
			c.Asks, len(c.Whole.Choices), c.Whole.Usage, n, c.Whole.Usage[2],
		)
	}
	for _, choice := range c.Whole.Choices {
		want, traced := written(t, m, text, settings)
		settings.Seed++
		probs, read := []float64(nil), 0
		if echo {
			want, read = text.Text+want, len(m.Encode(text.Text))-1 // the start token
		}
		listed := choice.Probs[read:]
		if last := len(choice.Tokens) - 1; echo && choice.Tokens[last] == m.Token(m.Config().EOS[0]).Text {
			listed = choice.Probs[read:last] // an echo also lists the end of the text
		}
		for _, p := range listed {
			probs = append(probs, *p)
		}
		if i := differs(probs, traced); i >= 0 || len(probs) == 0 && len(traced) > 0 && choice.Text != "" {
			t.Errorf("%s: ln p of token %d: got %v, want %v as in the trace", c.Asks, i+1, probs, traced)
		}
		if choice.Text != want || len(choice.Tokens) != len(choice.Probs) ||
			choice.End != "stop" && choice.End != "length" {
			t.Errorf("%s: got %q (%s), want %q as the loop writes", c.Asks, choice.Text, choice.End, want)
		}
	}
}

// read converts the body of a request to a text and settings for the loop.
func (c called) read(t *testing.T, m *infer.Model) (after chat.Text, s infer.Settings, n int, echo bool) {
	t.Helper()
	var asks struct {
		Prompt   string
		Messages []chat.Message
		N        int
		Echo     bool
		Stop     []string
		Most     int `json:"max_completion_tokens"`
	}
	knobs := map[string]any{}
	if err := cmp.Or(json.Unmarshal(c.Asks, &asks), json.Unmarshal(c.Asks, &knobs)); err != nil {
		t.Fatal(err)
	}
	with := infer.Knobs{"temperature": 1, "top_p": 1}
	for _, name := range []string{"temperature", "top_p", "seed", "max_tokens"} {
		if x, ok := knobs[name].(float64); ok {
			with[name] = x
		}
	}
	if asks.Most > 0 {
		with["max_tokens"] = float64(asks.Most)
	}
	s, err := infer.DefaultSettings().With(with)
	if err != nil {
		t.Fatalf("%s: %v", c.Asks, err)
	}
	after, s.Stop.Strings = chat.Text{Text: asks.Prompt}, asks.Stop
	if asks.Messages != nil {
		after.Text, s.Stop.Strings = chat.Plain(asks.Messages), append(asks.Stop, chat.PlainStop)
	}
	return after, s, max(asks.N, 1), asks.Echo
}

// refusals lists the errors that the clients must throw. Each error's class is the one that the
// clients' documentation gives for its status.
var refusals = map[string]thrown{
	"temperature":           {Name: "BadRequestError", Status: 400, Param: "temperature", Code: "invalid_value"},
	"temperature, streamed": {Name: "BadRequestError", Status: 400, Param: "temperature", Code: "invalid_value"},
	"model":                 {Name: "NotFoundError", Status: 404, Param: "model", Code: "model_not_found"},
	"tools":                 {Name: "BadRequestError", Status: 400, Param: "tools", Code: "unsupported_parameter"},
	"image": {
		Name: "BadRequestError", Status: 400, Param: "messages[0].content[1]", Code: "unsupported_parameter",
	},
	"sound": {
		Name: "BadRequestError", Status: 400, Param: "messages[0].content[1]", Code: "unsupported_parameter",
	},
	"speech":        {Name: "BadRequestError", Status: 400, Param: "audio", Code: "unsupported_parameter"},
	"embeddings":    {Name: "NotFoundError", Status: 404, Code: "unknown_url"},
	"responses":     {Name: "NotFoundError", Status: 404, Code: "unknown_url"},
	"pictures":      {Name: "NotFoundError", Status: 404, Code: "unknown_url"},
	"key":           {Name: "AuthenticationError", Status: 401, Code: "invalid_api_key"},
	"two at a time": {Name: "RateLimitError", Status: 429, Code: "rate_limit_exceeded"},
}

// isRefused checks a thrown error. The generic client, which is not tied to one provider, has a
// single error class.
func (c called) isRefused(t *testing.T) {
	t.Helper()
	if c.Call == "leaving" {
		if !slices.Contains([]string{"APIUserAbortError", "AbortError", "ended"}, c.Error.Name) {
			t.Errorf("disconnecting throws %+v, want an abort error", c.Error)
		}
		return
	}
	want, ok := refusals[c.Call]
	got := *c.Error
	if got.Name == "APICallError" {
		want.Name = got.Name
	}
	if got.Status == http.StatusTooManyRequests && got.Wait == "" {
		t.Error("a refusal for lack of places does not include the time to retry")
	}
	if got.Message == "" || got.Type == "" || !ok {
		t.Errorf("%s: got %+v; want Message not empty, Type not empty, ok = true", c.Call, got)
	}
	if got.Message, got.Type, got.Wait = "", "", ""; got != want {
		t.Errorf("%s: %+v, want %+v", c.Call, got, want)
	}
}

// isAnswered checks an answer that cannot be compared with the loop.
func (c called) isAnswered(t *testing.T) {
	t.Helper()
	switch f := c.Form; {
	case c.Call == "models" && slices.Equal(c.Models, []string{model}):
	case f != nil && f.Name != nil && f.Kind != nil && f.Tame != nil && (*f.Kind == "house" || *f.Kind == "wild"):
	case c.End == "length" || c.Call == "with a key" && c.End == "stop":
	default:
		t.Errorf("got answer %+v, want the requested one, complete or ended by the limit", c)
	}
}

// tokensOf returns the number of tokens that a server has generated.
func tokensOf(t *testing.T, s *web.Server) (n int) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Metrics([]string{"example.com"}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if figure, ok := strings.CutPrefix(line, `viz_tokens_total{model="target"} `); ok {
			if _, err := fmt.Sscan(figure, &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
