package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// send posts a body to an API address.
func send(t *testing.T, url, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// refusal parses an error response, which must be in the API's format.
func refusal(t *testing.T, answer *http.Response) (says, param string) {
	t.Helper()
	var body struct {
		Error *struct {
			Message, Type string
			Param, Code   *string
		}
	}
	d := json.NewDecoder(answer.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || body.Error == nil || body.Error.Message == "" || body.Error.Type == "" {
		t.Fatalf(
			"status %d without an API error: %+v, %v; want no error, body.Error not nil, Message not "+
				"empty, Type not empty",
			answer.StatusCode, body.Error, err,
		)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("an error of type %q, want %q", kind, "application/json")
	}
	if body.Error.Param != nil {
		param = *body.Error.Param
	}
	return body.Error.Message, param
}

// with returns a completion request with additional fields.
func with(fields string) string { return `{"model":"tiny-5M","prompt":"A fox",` + fields + `}` }

// said returns a chat request with additional fields.
func said(fields string) string {
	return `{"model":"tiny-5M","messages":[{"role":"user","content":"Hi"}],` + fields + `}`
}

// TestBadRequestsNameTheField: every invalid request is refused, and the error names the field.
// Promise: The API refuses what it cannot do and names the field; it ignores no field that would matter.
func TestBadRequestsNameTheField(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{}) + "/v1/"
	const text, talk = "completions", "chat/completions"
	long := strings.Repeat("word ", 1000)
	for _, row := range []struct {
		to, body    string
		status      int
		param, says string
	}{
		{text, ``, 400, "", "one JSON object"},
		{text, `[]`, 400, "", "one JSON object"},
		{text, `{"model":"tiny-5M","prompt":"a"} {}`, 400, "", "one JSON object"},
		{text, "{\"model\":\"tiny-5M\",\"prompt\":\"\xff\"}", 400, "", "not valid UTF-8"},
		{text, `{"model":"tiny-5M","prompt":"\ud800"}`, 400, "", "unpaired surrogate"},
		{text, `{"model":"tiny-5M","prompt":"a","prompt":"b"}`, 400, "", "twice"},
		{text, strings.Repeat("[", 200<<10), 400, "", "one JSON object"},
		{text, `{"prompt":"` + strings.Repeat("a", 300<<10) + `"}`, 413, "", "limited to 256 KiB"},
		{text, `{"prompt":"a"}`, 400, "model", "missing"},
		{text, `{"model":7,"prompt":"a"}`, 400, "model", "text"},
		{text, `{"model":"gpt-5","prompt":"a"}`, 404, "model", "This server has"},
		{text, `{"model":"tiny-5M"}`, 400, "prompt", "requires a prompt"},
		{text, `{"model":"tiny-5M","prompt":[1.5]}`, 400, "prompt", "list of token ids"},
		{text, `{"model":"tiny-5M","prompt":[4096]}`, 400, "prompt", "0 to 4095"},
		{text, `{"model":"tiny-5M","prompt":[[12],[-1]]}`, 400, "prompt", "0 to 4095"},
		{text, `{"model":"tiny-5M","prompt":[[]]}`, 400, "prompt", "list of token ids"},
		{text, `{"model":"tiny-5M","prompt":[` + strings.Repeat("12,", 600) + `12]}`, 400, "prompt", "at most 512"},
		{text, `{"model":"tiny-5M","prompt":[]}`, 400, "prompt", "1 to 16"},
		{text, `{"model":"tiny-5M","prompt":{"a":1}}`, 400, "prompt", "list of token ids"},
		{text, `{"model":"tiny-5M","prompt":"` + long + `"}`, 400, "prompt", "at most 512 tokens"},
		{text, with(`"temperature":-1`), 400, "temperature", "to 100"},
		{text, with(`"temperature":1e999`), 400, "temperature", "1e999"},
		{text, with(`"temperature":NaN`), 400, "", "one JSON object"},
		{text, with(`"temperature":"hot"`), 400, "temperature", "hot"},
		{text, with(`"top_p":0`), 400, "top_p", ""},
		{text, with(`"top_k":-2`), 400, "top_k", ""},
		{text, with(`"top_k":1.5`), 400, "top_k", "1.5"},
		{text, with(`"samplers":7`), 400, "samplers", "not a rule"},
		{text, with(`"samplers":["top_k","magic"]`), 400, "samplers", "magic"},
		{text, with(`"samplers":"top_k;top_k"`), 400, "samplers", "twice"},
		{text, with(`"samplers":["top_k"],"temperature":2`), 400, "samplers", "omits temperature"},
		{text, with(`"samplers":["temperature"],"min_p":0.1`), 400, "samplers", "omits min-p"},
		{text, with(`"samplers":"` + strings.Repeat("top_k;", 1000) + `"`), 400, "samplers", "longer than 400"},
		{text, with(`"max_tokens":0`), 400, "max_tokens", "echo"},
		{text, with(`"max_tokens":-5`), 400, "max_tokens", ""},
		{text, with(`"max_tokens":1e300`), 400, "max_tokens", ""},
		{text, with(`"n_predict":-2`), 400, "n_predict", ""},
		{text, with(`"n_predict":5,"max_tokens":5`), 400, "n_predict", "the same setting"},
		{text, with(`"repeat_penalty":99`), 400, "repeat_penalty", ""},
		{text, with(`"seed":-0.5`), 400, "seed", ""},
		{text, with(`"seed":9223372036854775808`), 400, "seed", ""},
		{text, with(`"n":0`), 400, "n", ""},
		{text, with(`"n":1000000`), 400, "n", ""},
		{text, with(`"logprobs":21`), 400, "logprobs", ""},
		{text, with(`"logprobs":true`), 400, "logprobs", ""},
		{text, with(`"stop":7`), 400, "stop", ""},
		{text, with(`"stop":[""]`), 400, "stop", ""},
		{text, with(`"stop":["1","2","3","4","5","6","7","8","9"]`), 400, "stop", "at most 8"},
		{text, with(`"stream":"yes"`), 400, "stream", "true or false"},
		{text, with(`"stream_options":{"include_usage":true}`), 400, "stream_options", "with stream"},
		{text, with(`"stream":true,"stream_options":{"x":1}`), 400, "stream_options.x", "include_usage"},
		{text, with(`"echo":1`), 400, "echo", ""},
		{text, with(`"suffix":"x"`), 400, "suffix", "does not support"},
		{text, with(`"best_of":3`), 400, "best_of", "does not support"},
		{text, with(`"nonsense":1`), 400, "nonsense", "no parameter"},
		{text, with(`"messages":[]`), 400, "messages", "no parameter"},
		{talk, `{"model":"tiny-5M"}`, 400, "messages", "1 to 1000"},
		{talk, `{"model":"tiny-5M","messages":"Hi"}`, 400, "messages", "1 to 1000"},
		{talk, `{"model":"tiny-5M","messages":[7]}`, 400, "messages[0]", "an object"},
		{talk, `{"model":"tiny-5M","messages":[{"role":"king","content":"a"}]}`, 400, "messages[0].role", "king"},
		{talk, `{"model":"tiny-5M","messages":[{"role":"tool","content":"a"}]}`, 400, "messages[0].role", "tool"},
		{talk, `{"model":"tiny-5M","messages":[{"role":"user","content":7}]}`, 400, "messages[0].content", "a string"},
		{
			talk, `{"model":"tiny-5M","messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}`,
			400, "messages[0].content[0]", "image_url",
		},
		{
			talk, `{"model":"tiny-5M","messages":[{"role":"assistant","content":"a","tool_calls":[{}]}]}`,
			400, "messages[0].tool_calls", "cannot call tools",
		},
		{
			talk, `{"model":"tiny-5M","messages":[{"role":"user","content":"` + long + `"}]}`,
			400, "messages", "too long",
		},
		{
			talk, `{"model":"tiny-5M","messages":[` + strings.Repeat(`{},`, 1000) + `{}]}`,
			400, "messages", "1 to 1000",
		},
		{
			talk, `{"model":"tiny-5M","messages":[` + strings.Repeat(`{"role":"user","content":"a"},`, 1e5) + `{}]}`,
			413, "", "limited to 256 KiB",
		},
		{talk, said(`"tools":[{"type":"function"}]`), 400, "tools", "cannot call tools"},
		{talk, said(`"tool_choice":"auto","tools":[{"type":"function"}]`), 400, "tools", "cannot call tools"},
		{talk, said(`"audio":{"voice":"x"}`), 400, "audio", "only reads and writes text"},
		{talk, said(`"top_logprobs":3`), 400, "top_logprobs", "logprobs: true"},
		{talk, said(`"logprobs":true,"top_logprobs":21`), 400, "top_logprobs", ""},
		{talk, said(`"max_tokens":5,"max_completion_tokens":5`), 400, "max_completion_tokens", "the same setting"},
		{talk, said(`"max_completion_tokens":-2`), 400, "max_completion_tokens", ""},
		{talk, said(`"stop":["1","2","3","4","5","6","7","8"]`), 400, "stop", "at most 7"},
		{talk, said(`"frequency_penalty":2.1`), 400, "frequency_penalty", "-2 to 2"},
		{text, with(`"presence_penalty":"much"`), 400, "presence_penalty", ""},
		{text, with(`"logit_bias":{"12":101}`), 400, "logit_bias", "-100 to 100"},
		{text, with(`"logit_bias":{"twelve":1}`), 400, "logit_bias", "token ids"},
		{text, with(`"logit_bias":[1]`), 400, "logit_bias", "an object"},
		{text, with(`"logit_bias":{"4096":100}`), 400, "logit_bias", "0 to 4095"},
		{text, with(`"min_tokens":5`), 400, "min_tokens", "only accepted value is 0"},
		{text, with(`"mirostat":2`), 400, "mirostat", "mirostat_tau"},
		{text, with(`"repetition_penalty":1.1,"repeat_last_n":64`), 400, "repeat_last_n", "whole text"},
		{text, with(`"ignore_eos":true`), 400, "ignore_eos", "bias"},
		{text, with(`"logprob_token_ids":[1]`), 400, "logprob_token_ids", "requires logprobs"},
		{text, with(`"logprobs":1,"logprob_token_ids":[4096]`), 400, "logprob_token_ids", "0 to 4095"},
		{text, with(`"logprobs":1,"logprob_token_ids":"a"`), 400, "logprob_token_ids", "a list"},
		{text, with(`"logprobs":1,"logprob_texts":[" Paris in"]`), 400, "logprob_texts", `" Paris"`},
		{text, with(`"logprobs":1,"logprob_texts":[""]`), 400, "logprob_texts", "not a single token"},
		{talk, said(`"reasoning_effort":"high"`), 400, "reasoning_effort", "does not support"},
		{talk, said(`"tool_choice":"required"`), 400, "tool_choice", "cannot call tools"},
		{talk, said(`"continue_final_message":true`), 400, "continue_final_message", "to be from the assistant"},
		{talk, said(`"add_generation_prompt":false`), 400, "add_generation_prompt", "does not support"},
		{talk, said(`"chat_template_kwargs":[]`), 400, "chat_template_kwargs", "an object"},
		{talk, said(`"chat_template_kwargs":{"a":{"b":1}}`), 400, "chat_template_kwargs.a", "a string of at most"},
		{talk, said(`"chat_template_kwargs":{"messages":1}`), 400, "chat_template_kwargs.messages", "sets that"},
		{
			talk, said(`"chat_template_kwargs":{"a":"` + strings.Repeat("a", 1001) + `"}`), 400,
			"chat_template_kwargs.a", "at most 1000 bytes",
		},
	} {
		answer := send(t, server+row.to, row.body)
		body := row.body[:min(len(row.body), 100)]
		if answer.StatusCode != row.status {
			t.Errorf("%s: status %d, want %d", body, answer.StatusCode, row.status)
			continue
		}
		if says, param := refusal(t, answer); param != row.param || !strings.Contains(says, row.says) {
			t.Errorf("%s: %s: %s\nwant %s: %s", body, param, says, row.param, row.says)
		}
	}
	// Fields that are turned off are accepted.
	nothing := `"max_tokens":1,"best_of":1,"suffix":null,"logit_bias":{},"frequency_penalty":0`
	answer := send(t, server+text, with(nothing))
	if answer.StatusCode != http.StatusOK {
		t.Errorf("fields that are turned off: status %d", answer.StatusCode)
	}
}

// TestUnknownRoutesAreRefused: unknown addresses, methods, models and content types are refused
// in the API's format.
func TestUnknownRoutesAreRefused(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	for _, row := range []struct {
		method, path, host, origin, kind string
		status                           int
	}{
		{"GET", "/v1/nothing", "", "", "", 404},
		{"GET", "/v1/models/gpt-5", "", "", "", 404},
		{"GET", "/v1/completions", "", "", "", 405},
		{"DELETE", "/v1/models", "", "", "", 405},
		{"OPTIONS", "/v1/models", "", "", "", 405},
		{"GET", "/v1/models", "evil.example", "", "", 421},
		{"GET", "/v1/models", "", "https://evil.example", "", 403},
		{"POST", "/v1/completions", "", "", "text/plain", 415},
		{"POST", "/tokenize", "", "", "text/plain", 415},
		{"POST", "/tokenize", "evil.example", "", "application/json", 421},
		{"POST", "/detokenize", "", "https://evil.example", "application/json", 403},
		{"GET", "/detokenize", "", "", "", 405},
	} {
		r, err := http.NewRequestWithContext(t.Context(), row.method, server+row.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = row.host
		for name, value := range map[string]string{"Origin": row.origin, "Content-Type": row.kind} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != row.status {
			t.Errorf("%s %s: status %d, want %d", row.method, row.path, answer.StatusCode, row.status)
		}
		refusal(t, answer)
		answer.Body.Close()
	}
}

// TestKeysAndOrigins: a server that others can reach accepts only requests with one of its keys,
// and it accepts requests from pages of other sites only if their origins are allowed.
// Promise: With API keys the server answers only to them, and of other sites only those that you list may call it.
func TestKeysAndOrigins(t *testing.T) {
	t.Parallel()
	const key, origin = "0123456789abcdef", "https://notebook.example"
	body := with(`"max_tokens":1`)
	closed := webtest.Serve(t, webtest.Options{API: &api.Access{}}) + "/v1/completions"
	if answer := send(t, closed, body, "Authorization", "Bearer "); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without any key on the server: status %d", answer.StatusCode)
	} else if says, _ := refusal(t, answer); !strings.Contains(says, "-api-key-file") {
		t.Errorf("without any key on the server: got %s, want it to contain %q", says, "-api-key-file")
	}
	server := webtest.Serve(t, webtest.Options{API: &api.Access{Keys: []string{key}, Origins: []string{origin}}})
	at := server + "/v1/completions"
	for header, want := range map[string]int{
		"Bearer " + key: 200, "Bearer " + key + "x": 401, key: 200, "": 401, "Bearer": 401, "Basic " + key: 401,
		"bearer " + key: 200, "BEARER  " + key: 200, "bearer": 401, "Bearer" + key: 401,
	} {
		answer := send(t, at, body, "Authorization", header)
		if answer.StatusCode != want {
			t.Errorf("Authorization: %q: status %d, want %d", header, answer.StatusCode, want)
		}
		if want == http.StatusOK {
			continue
		}
		says, none := "is not valid", !strings.Contains(header, key)
		if none {
			says = "but none was sent"
		}
		if got, _ := refusal(t, answer); !strings.Contains(got, says) ||
			answer.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf(
				"Authorization: %q: got %q with WWW-Authenticate %q; want %q with Bearer", header, got,
				answer.Header.Get("WWW-Authenticate"), says,
			)
		}
	}
	for from, want := range map[string]string{origin: origin, "https://evil.example": ""} {
		answer := send(t, at, body, "Authorization", "Bearer "+key, "Origin", from, "Sec-Fetch-Site", "cross-site")
		got := answer.Header.Get("Access-Control-Allow-Origin")
		if got != want || (answer.StatusCode == 200) != (want != "") {
			t.Errorf("a page of %s: got status %d, origin %q; want %q", from, answer.StatusCode, got, want)
		}
		if want == "" {
			says, _ := refusal(t, answer)
			if !strings.Contains(says, "-api-origin") || strings.Contains(says, "-allow-host") {
				t.Errorf("a page of %s: got %q, want it to mention -api-origin", from, says)
			}
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodOptions, at, nil)
		r.Header.Set("Origin", from)
		r.Header.Set("Access-Control-Request-Method", "POST")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		got = answer.Header.Get("Access-Control-Allow-Origin")
		if got != want || (answer.StatusCode == 204) != (want != "") {
			t.Errorf("a preflight from %s: got status %d, origin %q; want %q", from, answer.StatusCode, got, want)
		}
	}
	if answer := send(t, server+"/loop", "", "Origin", origin); answer.StatusCode != http.StatusForbidden {
		t.Errorf(
			"a page of an API origin, outside the API: status %d, want %d", answer.StatusCode, http.StatusForbidden,
		)
	}
}

// TestDisconnectCancelsTheRun: when a client disconnects, its place is freed. A client that already
// uses all of its places gets 429 with Retry-After.
// Promise: Disconnecting cancels an API request.
func TestDisconnectCancelsTheRun(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.API = admission.Share{PerLearner: 1}
	server := webtest.Serve(t, webtest.Options{Admission: &limits})
	// The body is incomplete, so the request stays in progress until its client disconnects. By the
	// time the server asks for the body, the request occupies a place.
	conn, err := net.Dial("tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n{", strings.TrimPrefix(server, "http://")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("the response begins with %q, %v; want %q, <nil>", line, err, "HTTP/1.1 100 Continue\r\n")
	}
	answer := send(t, server+"/v1/completions", with(`"max_tokens":1`))
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf(
			"a client without a free place gets %s: %v; want 429 with Retry-After", answer.Status, answer.Header,
		)
	}
	conn.Close()
	browser.Eventually(t, func() bool { // the place is free again
		answer := send(t, server+"/v1/completions", with(`"max_tokens":1`))
		answer.Body.Close() // an unclosed body would keep the connection in use at both ends
		return answer.StatusCode == http.StatusOK
	})
}

// TestStreamsTokenByToken: a stream sends an event for each token as soon as the token's text is
// final, and the last line is [DONE].
func TestStreamsTokenByToken(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	answer := send(t, server+"/v1/completions", with(`"max_tokens":50,"seed":2,"stream":true`))
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream; charset=utf-8" {
		t.Errorf("the stream has the type %q, want %q", kind, "text/event-stream; charset=utf-8")
	}
	var events []string
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if line := lines.Bytes(); len(line) > 0 {
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				t.Fatalf("got the line %q, want a line that begins with data", line)
			}
			events = append(events, string(data))
		}
	}
	if n := len(events); n < 10 || events[n-1] != "[DONE]" {
		t.Fatalf(
			"got %d events, the last %q; want n at least 10, events[n-1] = %q", n, fmt.Sprint(events[max(0, n-1):]),
			"[DONE]",
		)
	}
	for _, e := range events[:len(events)-1] {
		if !json.Valid([]byte(e)) || !strings.Contains(e, `"choices":[{"index":0,"text":`) {
			t.Errorf("got the event %q, want JSON with a choice", e)
		}
	}
}
