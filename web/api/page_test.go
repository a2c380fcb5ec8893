package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// pageAt requests the API's page.
func pageAt(t *testing.T, server string, q url.Values) (*goquery.Document, int) {
	t.Helper()
	resp, err := http.Get(server + "/api?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d, resp.StatusCode
}

// sent returns the query that the form sends, with some values changed.
func sent(change ...string) url.Values {
	q := url.Values{
		"prompt": {"The wizard lived in a"}, "temperature": {"0.8"}, "top_p": {"0.95"}, "seed": {"4"},
		"max_tokens": {"24"},
	}
	for i := 0; i+1 < len(change); i += 2 {
		q.Set(change[i], change[i+1])
	}
	return q
}

// TestPageShowsTheAPIResponse: the tokens on the page, their log-probabilities and the raw answer
// are the same as those that a client receives when it sends the body of the page's own curl
// example. Each token's link opens its draw.
// Promise: The /api page shows exactly what a client gets, and each token opens its draw in the Loop.
func TestPageShowsTheAPIResponse(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	d, status := pageAt(t, server, sent())
	if status != http.StatusOK {
		t.Fatalf("status %d, want %d", status, http.StatusOK)
	}
	curl := d.Find(".apip__lang code").First().Text()
	_, body, ok := strings.Cut(curl, "-d '")
	if !ok || !strings.Contains(curl, server+"/v1/completions") {
		t.Fatalf("the example is %s, want ok = true, curl with %q", curl, server+"/v1/completions")
	}
	resp, err := http.Post(server+"/v1/completions", "application/json",
		strings.NewReader(strings.TrimSuffix(body, "'")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var want, raw struct {
		Choices []struct {
			Text     string
			Logprobs struct {
				Tokens []string
				Probs  []float64 `json:"token_logprobs"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&want); err != nil || len(want.Choices) != 1 {
		t.Fatalf("reading the API's answer: got %v, %+v; want <nil> and one choice", err, want)
	}
	if err := json.Unmarshal([]byte(d.Find("[aria-label='The response'] code").Text()), &raw); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(raw) != fmt.Sprint(want) {
		t.Errorf("the page's answer is %v, want a client's answer, %v", raw, want)
	}
	c := want.Choices[0]
	rows := d.Find(".apip__tokens tbody tr")
	if rows.Length() != len(c.Logprobs.Tokens) || rows.Length() != 24 {
		t.Fatalf(
			"got %d tokens on the page, %d in the answer; want %d, 24", rows.Length(), len(c.Logprobs.Tokens),
			len(c.Logprobs.Tokens),
		)
	}
	for i := range rows.Length() {
		row := rows.Eq(i)
		got := strings.ReplaceAll(row.Find("td").First().Text(), "−", "-")
		if want := fmt.Sprintf("%.4f", c.Logprobs.Probs[i]); got != want && "-"+got != want {
			t.Errorf("token %d is shown with %s, want %s as in the answer", i+1, got, want)
		}
		link, _ := url.Parse(row.Find("a").AttrOr("href", ""))
		l, err := session.ParseLink(testmodel.Target(t), link.Query().Get("log"))
		if err != nil || l.Cursor.Step != i+1 || l.Log.Settings.Seed != 4 {
			t.Errorf(
				"token %d leads to %+v, %v; want no error, Step = %d, l.Log.Settings.Seed = 4", i+1, l.Cursor, err, i+1,
			)
		}
	}
	if got := d.Find(".apip__ends dd").First().Text(); got != `"`+c.Finish+`"` {
		t.Errorf("finish_reason is %s, want %s, in the answer %q", got, `"`+c.Finish+`"`, c.Finish)
	}
}

// TestPageReportsRefusals: the page shows the API's refusals, with the field at fault.
func TestPageReportsRefusals(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	for field, value := range map[string]string{
		"temperature": "warm", "top_p": "0", "seed": "1.5", "max_tokens": "1e9", "prompt": strings.Repeat("a", 5000),
	} {
		d, status := pageAt(t, server, sent(field, value))
		if status < 400 || status > 499 || d.Find(".field-error").Text() == "" || d.Find(".apip__tokens").Length() > 0 {
			t.Errorf(
				"%s = %.20s: status %d, %q; want status at least 400 and at most 499, text of .field-error "+
					"not empty, count of .apip__tokens = 0",
				field, value, status, d.Find(".field-error").Text(),
			)
		}
		if got := d.Find("[aria-invalid]").AttrOr("name", ""); got != field {
			t.Errorf("%s = %.20s: the error is about the field %q, want %q", field, value, got, field)
		}
	}
	d, _ := pageAt(t, server, sent("prompt", "The capital of France is ", "max_tokens", "1"))
	without := sent("prompt", "The capital of France is", "max_tokens", "1")
	if got := d.Find(".space-end a").AttrOr("href", ""); got != "/api?"+without.Encode() {
		t.Errorf("a space at the end: got a link to %q, want %q", got, "/api?"+without.Encode())
	}
	d, _ = pageAt(t, server, sent("prompt", `</code><script>alert(1)</script>'"`))
	if d.Find("main script").Length() > 0 {
		t.Error("a prompt became a script")
	}
}

// TestPageListsSamplerOrders: the positions in the table match the sampler's orders.
func TestPageListsSamplerOrders(t *testing.T) {
	t.Parallel()
	d, _ := pageAt(t, webtest.Serve(t, webtest.Options{}), nil)
	for i, o := range sampling.NamedOrders() {
		at := map[string]int{}
		d.Find(".apip__orders tbody tr").Each(func(_ int, row *goquery.Selection) {
			if place, err := strconv.Atoi(row.Find("td").Eq(i).Text()); err == nil {
				at[row.Find("th").Text()] = place
			}
		})
		last := 0
		for _, rule := range o.Rules() {
			place, there := at[rule.Name()]
			if there && place <= last {
				t.Errorf("%s has position %d after %d in %q, want them to increase", rule.Name(), place, last, o.Name())
			}
			last = max(last, place)
		}
		if last == 0 {
			t.Errorf("no positions in %q", o.Name())
		}
	}
}

// TestPageWithoutKeys: if nobody can use the API, the page says so, and its examples are for a
// server on the visitor's own machine. If keys are required, the examples show where to insert a
// key.
func TestPageWithoutKeys(t *testing.T) {
	t.Parallel()
	d, _ := pageAt(t, webtest.Serve(t, webtest.Options{API: &api.Access{}}), nil)
	text := d.Find("main").Text()
	if !strings.Contains(text, "-api-key-file") || !strings.Contains(text, "127.0.0.1:8080/v1") {
		t.Errorf("the page of a server without keys shows %.300s", text)
	}
	if text := d.Find(".apip__lang code").Text(); strings.Contains(text, "Bearer") {
		t.Errorf("the examples for the visitor's own machine have a key: got %s, want no %q", text, "Bearer")
	}
	d, _ = pageAt(t, webtest.Serve(t, webtest.Options{API: &api.Access{Keys: []string{"a-key-of-16-chars"}}}), nil)
	if text := d.Find(".apip__lang code").First().Text(); !strings.Contains(text, "Bearer YOUR-KEY") {
		t.Errorf("with keys, the example is %s, want it to contain %q", text, "Bearer YOUR-KEY")
	}
	if strings.Contains(d.Text(), "a-key-of-16-chars") {
		t.Error("the page shows a key")
	}
}

// TestPageIsAccessible: axe-core reports no problems on the page after the button has sent the
// page's request.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t, browser.Chromebook, webtest.Serve(t, webtest.Options{})+"/api")
	tab.Click(".apip__form button")
	tab.Until(`document.querySelectorAll('.apip__tokens tbody tr').length === 24`)
	tab.Shot("api.png")
	tab.Audit("the API's page")
	tab.Screen(browser.Phone)
	tab.FullShot("api-phone.png")
}
