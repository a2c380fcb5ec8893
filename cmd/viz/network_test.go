package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/session"
)

// TestAccessAdviceFitsTheAddress: the advice on reaching a server depends on its address, its public
// address, and whether it uses HTTPS.
func TestAccessAdviceFitsTheAddress(t *testing.T) {
	local, all, lan := address{host: "127.0.0.1", port: "8080"}, address{
		host: "0.0.0.0", port: "8080",
	}, address{host: "192.168.0.7", port: "80"}
	secure, localSecure := all, local
	secure.secure, localSecure.secure = true, true
	here := net.JoinHostPort(lanHost(), "8080")
	for name, c := range map[string]struct {
		at     address
		public string
		want   classroom.Access
	}{
		"this machine only": {local, "", classroom.Access{
			Local:   true,
			Command: "viz -addr 0.0.0.0:8080 -public-url http://" + here,
			Secure:  "viz -addr 0.0.0.0:8080 -public-url https://" + here + " -tls-cert cert.pem -tls-key key.pem",
		}},
		"this machine only, with HTTPS": {localSecure, "", classroom.Access{
			Local: true, Secure: "viz -addr 0.0.0.0:8080 -public-url https://" + here +
				" -tls-cert cert.pem -tls-key key.pem",
		}},
		"behind a proxy with HTTPS": {local, "https://class.example", classroom.Access{URL: "https://class.example"}},
		"behind a proxy without": {
			local, "http://class.example/", classroom.Access{URL: "http://class.example", Clear: true},
		},
		"the network, in the clear": {lan, "", classroom.Access{
			URL: "http://192.168.0.7:80", Clear: true,
			Secure: "viz -addr 192.168.0.7:80 -public-url https://192.168.0.7:80 -tls-cert cert.pem -tls-key key.pem",
		}},
		"everywhere, in the clear": {all, "", classroom.Access{
			URL: "http://" + here, Clear: true,
			Secure: "viz -addr 0.0.0.0:8080 -public-url https://" + here + " -tls-cert cert.pem -tls-key key.pem",
		}},
		"everywhere by a name, in the clear": {all, "http://class.example:8080", classroom.Access{
			URL: "http://class.example:8080", Clear: true,
			Secure: "viz -addr 0.0.0.0:8080 -public-url https://class.example:8080 -tls-cert cert.pem -tls-key key.pem",
		}},
		"everywhere, with HTTPS": {
			secure, "", classroom.Access{URL: "https://" + net.JoinHostPort(lanHost(), "8080")},
		},
		"everywhere, HTTPS by a proxy": {
			all, "https://class.example:8443", classroom.Access{URL: "https://class.example:8443"},
		},
	} {
		n := network{}
		if c.public != "" {
			var err error
			if n.public, err = parsePublic(c.public); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got := n.access(c.at, func(_ []string, more ...string) string { return "viz " + strings.Join(more, " ") })
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if n.public != nil && !slices.Contains(n.allowed([]string{"a.example"}), n.public.Host) {
			t.Errorf("%s: %v lacks %s", name, n.allowed(nil), n.public.Host)
		}
	}
}

// TestParseTTL: times in days and in hours are accepted within bounds (1 h = 60 min; 400 d = 9,600
// h).
func TestParseTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1h": time.Hour, "60m": time.Hour, "400d": 9600 * time.Hour, "9600h": 9600 * time.Hour,
		"1h30m": 90 * time.Minute,
	} {
		if got, err := parseTTL(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "d", "-1d", "1.5d", "0d", "30", "59m", "401d", "99999999999999999999d", "9600h1s",
	} {
		if got, err := parseTTL(text); err == nil {
			t.Errorf("parseTTL(%q) = %v, want an error", text, got)
		}
	}
}

// TestStartupExplainsWhoCanConnect: the first lines of output explain how to open a server to a
// classroom's network, or warn that others can read the traffic.
// Promise: When it starts, the server prints who can reach it and how to open it to a classroom.
func TestStartupExplainsWhoCanConnect(t *testing.T) {
	for _, c := range []struct {
		args       []string
		says, mute string
	}{
		{[]string{"-addr", "127.0.0.1:0"}, "Only this machine can reach it.", "Warning"},
		{[]string{"-addr", "0.0.0.0:0"}, "Warning: this is plain HTTP.", "Only this machine"},
		{[]string{"-addr", "0.0.0.0:0"}, "Warning: this is plain HTTP.", "localhost"},
		{
			[]string{"-addr", "127.0.0.1:0", "-public-url", "https://class.example"},
			"Classes can reach it at https://class.example\n", "Warning",
		},
		{
			[]string{"-addr", "127.0.0.1:0", "-public-url", "http://class.example"},
			"Warning: this is plain HTTP.",
			"Only this machine",
		},
	} {
		s := start(t, append(c.args, "-no-open")...)
		s.end()
		if out := s.out.String(); !strings.Contains(out, c.says) || strings.Contains(out, c.mute) {
			t.Errorf("viz %q prints %q; want %q in it, and not %q", c.args, out, c.says, c.mute)
		}
	}
}

// TestPublicHostIsAllowed: requests to the public address, for pages and for the socket, are
// accepted and get an HTTPS-only cookie; requests with another host name are refused.
func TestPublicHostIsAllowed(t *testing.T) {
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-public-url", "https://class.example")
	for host, want := range map[string]int{
		"class.example": http.StatusOK, "class.example:443": http.StatusMisdirectedRequest,
		"other.example": http.StatusMisdirectedRequest,
	} {
		req, err := http.NewRequest(http.MethodGet, s.url+"/loop", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %s: %s, want %d", host, res.Status, want)
		}
	}
	d := websocket.Dialer{Subprotocols: []string{"viz.json.v1"}}
	for host, secure := range map[string]bool{"class.example": true, strings.TrimPrefix(s.url, "http://"): false} {
		origin := "http://" + host
		if secure {
			origin = "https://" + host
		}
		conn, answer, err := d.Dial(
			"ws"+strings.TrimPrefix(s.url, "http")+"/ws", http.Header{"Host": {host}, "Origin": {origin}},
		)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if cookies := answer.Cookies(); len(cookies) != 1 || cookies[0].Secure != secure {
			t.Errorf("host %s: got cookies %v; want one, and secure: %v", host, cookies, secure)
		}
	}
}

// TestServeTLS: with a certificate, pages use HTTP/2 and sockets HTTP/1.1, cookies are marked
// as secure, and plain HTTP requests do not get a page.
func TestServeTLS(t *testing.T) {
	cert, key, pool := selfSigned(t)
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-tls-cert", cert, "-tls-key", key)
	url, _, _ := strings.Cut(strings.TrimPrefix(s.out.String(), "Token by Token is at "), "\n")
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatalf("the printed address is %q, want it to begin with %q", url, "https://127.0.0.1:")
	}
	trust := &tls.Config{RootCAs: pool}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	res, err := client.Get(url + "/loop")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
		t.Errorf("GET /loop: got %s over %s, want 200 over HTTP/2.0", res.Status, res.Proto)
	}
	if cookies := res.Cookies(); len(cookies) != 1 || !strings.HasPrefix(cookies[0].Name, "__Host-viz-learner") {
		t.Errorf("the page's cookies are %v, want 1 element, [0].Name beginning with %q", cookies, "__Host-viz-learner")
	}
	// A client that requests a socket over HTTP/2 gets an explanation.
	if res, err = client.Get(url + "/ws"); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUpgradeRequired || res.ProtoMajor != 2 {
		t.Errorf("GET /ws: got %s over %s, want 426 over HTTP/2.0", res.Status, res.Proto)
	}
	// The longest link is not too long, either: it is refused only because of its contents.
	if res, err = client.Get(url + "/loop?log=" + strings.Repeat("A", session.MaxLink)); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest || res.ProtoMajor != 2 {
		t.Errorf("a link that is too long: got %s over %s, want 400 over HTTP/2.0", res.Status, res.Proto)
	}
	d := websocket.Dialer{Subprotocols: []string{"viz.json.v1"}, TLSClientConfig: trust.Clone()}
	conn, answer, err := d.Dial("wss"+strings.TrimPrefix(url, "https")+"/ws", http.Header{"Origin": {url}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.ReadMessage(); err != nil {
		t.Error(err)
	}
	if cookies := answer.Cookies(); len(cookies) != 1 || !cookies[0].Secure ||
		!strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("the socket's cookies are %v, want one that is secure", cookies)
	}
	clear := http.Header{"Origin": {"http" + strings.TrimPrefix(url, "https")}}
	if _, answer, err = d.Dial("wss"+strings.TrimPrefix(url, "https")+"/ws", clear); err == nil ||
		answer.StatusCode != http.StatusForbidden {
		t.Errorf(
			"a socket from a page without HTTPS: got %v, %v; want an error, StatusCode = %d", answer, err,
			http.StatusForbidden,
		)
	}
	plain, err := http.Get("http" + strings.TrimPrefix(url, "https") + "/loop")
	if err == nil {
		plain.Body.Close()
		if plain.StatusCode != http.StatusBadRequest {
			t.Errorf("plain HTTP: got %s, want 400", plain.Status)
		}
	}
}

// TestBrowserOverTLS: over HTTPS, a browser loads pages and files with HTTP/2, opens its socket,
// and keeps its learner's cookie.
func TestBrowserOverTLS(t *testing.T) {
	fixture.Long(t)
	cert, key, _ := selfSigned(t)
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-tls-cert", cert, "-tls-key", key)
	url, _, _ := strings.Cut(strings.TrimPrefix(s.out.String(), "Token by Token is at "), "\n")
	tab := openNumbers(t, browser.Laptop, url)
	tab.Until(`performance.getEntriesByType("navigation")[0].nextHopProtocol === "h2"`)
	tab.Until(`performance.getEntriesByType("resource").every((r) => r.nextHopProtocol === "h2")`)
	tab.Type("#prompt", storyPrompt)
	tab.Keys(browser.Tabulator)
	tab.Click(`#prompt-form button[type="submit"]`)
	waitStage(tab, 1)
	tab.Until(`location.search.includes("run=")`)
	run := tab.URL()
	tab.Reload() // only the learner who owns the run can reopen it
	waitStage(tab, 1)
	if got := tab.URL(); got != run {
		t.Errorf("the learner returned to %s, want %s", got, run)
	}
}

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key = write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}
