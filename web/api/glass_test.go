package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/gorilla/websocket"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// asks requests a 12-token completion with an unmodified client.
func asks(t *testing.T, server, key, prompt string) {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(server+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	_, err := client.Completions.New(context.Background(), openai.CompletionNewParams{
		Model:  openai.CompletionNewParamsModel(testmodel.Target(t).Name()),
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)}, Seed: openai.Int(4),
		Temperature: openai.Float(0.8), MaxTokens: openai.Int(12), FrequencyPenalty: openai.Float(0.5),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isAnswered is true on a page whose newest request has been answered.
const isAnswered = `document.querySelector('.glass__one[open] .is-good') !== null`

// TestRequestsAppearLive: an open page shows an unmodified client's request, with each field at the
// stage where it acts. The page also shows probabilities, although the client did not request any.
// Each token links to its draw.
// Promise: Requests of your own programs appear on the /api page while they are being answered.
func TestRequestsAppearLive(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	tab := browser.Open(t, browser.Laptop, server+"/api")
	tab.Wait("a page without requests", `document.querySelector('.glass__none') !== null`)
	asks(t, server, "any", "The wizard lived in a")
	tab.Wait("the request", isAnswered)
	fields := browser.Value[[]string](tab, `[...document.querySelectorAll('.glass__one .apip__rail li')].map(
		(e) => [...e.querySelectorAll('code')].map((c) => c.textContent).join())`)
	if got, want := fmt.Sprint(fields), "[prompt frequency_penalty temperature  seed max_tokens ]"; got != want {
		t.Errorf("the fields act at %q, want %q", got, want)
	}
	st := writes(t, "The wizard lived in a")
	tokens := browser.Value[[]string](tab,
		`[...document.querySelectorAll('.glass__tokens a small')].map((e) => e.textContent)`)
	for i, step := range st.Steps {
		p, _ := st.Model.Chances(step.Logits, step.Chosen, 0)
		want := strings.ReplaceAll(strings.TrimPrefix(fmt.Sprintf("%.2f", p), "-0.00"), "-", "−")
		if want == "" {
			want = "0.00"
		}
		if len(tokens) != 12 || tokens[i] != want {
			t.Fatalf("token %d is shown with %q, want %s", i+1, tokens, want)
		}
	}
	tab.Audit("the API's page with a request")
	tab.Shot("glass.png")
	tab.Click(".glass__tokens li:nth-child(3) a")
	tab.Wait("the Loop at the draw of token 3", `location.pathname === '/loop' &&
		document.querySelector('#strip-gen [aria-current]')?.dataset.step === '3'`)
}

// writes returns a run with the settings of the request that [asks] sends.
func writes(t *testing.T, prompt string) *session.State {
	t.Helper()
	settings, err := infer.DefaultSettings().With(infer.Knobs{
		"temperature": 0.8, "top_p": 1, "seed": 4, "max_tokens": 12, "frequency_penalty": 0.5,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(testmodel.Target(t), session.DefaultLimits())
	for _, c := range session.Begin(settings, prompt) {
		sessiontest.Do(t, s, c)
	}
	for range 12 {
		sessiontest.Do(t, s, session.StepToken{})
	}
	return s.State()
}

// A visitor is an HTTP client that keeps its cookie, as a browser does.
type visitor struct {
	t      *testing.T
	server string
	http.Client
}

func visits(t *testing.T, server string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, server: server}
	v.Jar = jar
	v.page()
	return v
}

// looks connects to the live part of the /api page and returns once the server has registered the
// connection.
func (v *visitor) looks() (stop func()) {
	v.t.Helper()
	dialer := websocket.Dialer{Jar: v.Jar, Subprotocols: []string{wire.ProtocolHTML}}
	conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(v.server, "http")+"/ws?feed=glass", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); err != nil {
		v.t.Fatal(err)
	}
	return func() { conn.Close() }
}

// posted requests a completion and fails the test if there is no answer.
func posted(t *testing.T, server, body string) {
	t.Helper()
	resp, err := http.Post(server+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %s, %v; want %d, <nil>", body, resp.StatusCode, text, err, http.StatusOK)
	}
}

// page returns the current state of the API's page.
func (v *visitor) page() *goquery.Document {
	v.t.Helper()
	resp, err := v.Get(v.server + "/api")
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return d
}

// code returns the visitor's code from the page.
func (v *visitor) code() string {
	_, code, _ := strings.Cut(v.page().Find(".apip__facts dd").Eq(2).Find("code").Text(), "~")
	return "~" + code
}

// TestOthersRequestsAreHidden: a request with a code is shown only on the page that the code
// belongs to. A request without a code is shown on every page if the server can be reached only
// from its own machine, and on no page if the server has keys.
// Promise: On a server with keys, nobody sees other people's requests on the /api page.
func TestOthersRequestsAreHidden(t *testing.T) {
	t.Parallel()
	shows := func(v *visitor) string { return v.page().Find("#glass .apip__field").Text() }
	t.Run("own machine", func(t *testing.T) {
		server := webtest.Serve(t, webtest.Options{})
		ada, bob := visits(t, server), visits(t, server)
		stop := ada.looks()
		asks(t, server, ada.code(), "mine alone")
		asks(t, server, "any", "for all")
		stop()
		if text := shows(ada); !strings.Contains(text, "mine alone") || !strings.Contains(text, "for all") {
			t.Errorf("Ada sees %q, want it to contain %q and %q", text, "mine alone", "for all")
		}
		if text := shows(bob); strings.Contains(text, "mine alone") || !strings.Contains(text, "for all") {
			t.Errorf("Bob sees %q, want it not to contain %q, but %q", text, "mine alone", "for all")
		}
	})
	t.Run("with keys", func(t *testing.T) {
		const key = "a-key-of-16-chars"
		server := webtest.Serve(t, webtest.Options{API: &api.Access{Keys: []string{key}}})
		ada, bob := visits(t, server), visits(t, server)
		asks(t, server, key+ada.code(), "before she looks")
		defer ada.looks()()
		asks(t, server, key+ada.code(), "mine alone")
		asks(t, server, key, "nobody's")
		if text := shows(ada); !strings.Contains(text, "mine alone") || strings.Contains(text, "nobody") ||
			strings.Contains(text, "before") {
			t.Errorf(
				"Ada sees %q, want it to contain %q, but neither %q nor %q", text, "mine alone", "nobody",
				"before",
			)
		}
		if text := shows(bob); text != "" {
			t.Errorf(`Bob sees %q, want ""`, text)
		}
		for _, wrong := range []string{ada.code(), "another" + ada.code(), key + "~short"} {
			req, _ := http.NewRequest(http.MethodGet, server+"/v1/models", http.NoBody)
			req.Header.Set("Authorization", "Bearer "+wrong)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("the key %q is accepted: got %d, want %d", wrong, resp.StatusCode, http.StatusUnauthorized)
			}
		}
	})
}

// TestRefusedRequestsAppear: a refused request appears on the page with the message that the client
// received, even if the request is not JSON. A link to a token that does not exist opens an error
// page.
func TestRefusedRequestsAppear(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	v := visits(t, server)
	for _, body := range []string{`{"model": "none", "prompt": "x"}`, `{"prompt": `, `{"temperature": "<script>"}`} {
		resp, err := http.Post(server+"/v1/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Error struct{ Message string } }
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		newest := v.page().Find(".glass__one").First()
		if got := newest.Find(".field-error").Text(); got != answer.Error.Message || got == "" {
			t.Errorf(
				"%s: the page shows %q, the client received %q; want %q, non-empty", body, got, answer.Error.Message,
				answer.Error.Message,
			)
		}
		if newest.Find(".is-bad").Text() != "refused" || newest.Find("script").Length() > 0 {
			t.Errorf("body %s: the page shows %s, want a refused request without a script", body, newest.Text())
		}
	}
	for _, q := range []url.Values{
		{"request": {"1"}, "token": {"1"}}, {"request": {"-1"}}, {"request": {"99"}, "token": {"1"}}, {},
	} {
		resp, err := v.Get(server + "/api/step?" + q.Encode())
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%v: status %d, want %d", q, resp.StatusCode, http.StatusNotFound)
		}
	}
}

// TestRequestListIsBounded: the list contains only the newest eight requests, and only the first
// 200 tokens of a long answer, followed by the number of omitted tokens.
func TestRequestListIsBounded(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	v := visits(t, server)
	for i := range 10 {
		body := fmt.Sprintf(`{"model": %q, "prompt": "request %d", "max_tokens": 1}`, testmodel.Target(t).Name(), i)
		posted(t, server, body)
	}
	d := v.page()
	if n := d.Find(".glass__one").Length(); n != 8 {
		t.Errorf("%d requests are listed, want 8", n)
	}
	if text := d.Find(".glass__one").First().Find(".apip__field").Text(); !strings.Contains(text, "request 9") {
		t.Errorf("the first request is %s, want it to contain %q", text, "request 9")
	}
	posted(t, server, fmt.Sprintf(
		`{"model": %q, "prompt": "a", "max_tokens": 230, "temperature": 2, "logit_bias": {"0": -100}}`,
		testmodel.Target(t).Name()))
	newest := v.page().Find(".glass__one").First()
	if n := newest.Find(".glass__tokens li").Length(); n != 200 || !strings.Contains(newest.Text(), "30 more tokens") {
		t.Errorf(
			"%d tokens are shown: %s; want n = 200, newest.Text() with %q", n, newest.Find(".apip__hint").Text(),
			"30 more tokens",
		)
	}
}

// TestWatchingPagesAreBounded: one browser can have eight connected pages. A ninth page shows an
// explanation and is connected when one of the others is closed.
func TestWatchingPagesAreBounded(t *testing.T) {
	t.Parallel()
	v := visits(t, webtest.Serve(t, webtest.Options{}))
	for range 7 {
		defer v.looks()()
	}
	last := v.looks()
	first := func() string {
		dialer := websocket.Dialer{Jar: v.Jar, Subprotocols: []string{wire.ProtocolHTML}}
		conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(v.server, "http")+"/ws?feed=glass", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, message, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		return string(message)
	}
	if got := first(); !strings.Contains(got, "Too many pages") {
		t.Fatalf("a ninth page gets %s, want it to contain %q", got, "Too many pages")
	}
	last()
	browser.Eventually(t, func() bool { return strings.Contains(first(), `"panels"`) })
}
