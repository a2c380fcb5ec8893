package practice

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// An unread is a request body that records whether anybody has begun to read it.
type unread struct {
	io.Reader
	begun bool
}

func (u *unread) Read(b []byte) (int, error) {
	u.begun = true
	return u.Reader.Read(b)
}

// TestImportsAreLimited: a file is read only if the learner has enough budget left and not too many
// other files are being read.
func TestImportsAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	file := s.Do(httptest.NewRequest(http.MethodGet, "/progress/export", nil)).Body.Bytes()
	upload := func(ctx context.Context) (status int, begun bool, retry string) {
		var b bytes.Buffer
		m := multipart.NewWriter(&b)
		f, err := m.CreateFormFile("file", "progress.json")
		if err != nil {
			t.Fatal(err)
		}
		f.Write(file)
		m.Close()
		body := &unread{Reader: &b}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/progress/import", body)
		r.Header.Set("Content-Type", m.FormDataContentType())
		w := s.Do(r)
		return w.Code, body.begun, w.Header().Get("Retry-After")
	}
	s.pages.Caller = func(*http.Request) (admission.Caller, *http.Cookie) {
		return admission.Caller{Learner: courseworktest.Learner}, nil
	}
	// The size of this body is unknown, so the limiter charges for the largest size allowed.
	pace := admission.Pace{PerLearner: admission.Rate{PerSecond: 0.01, Burst: 34}}
	s.pages.Limiter = admission.New(admission.Limits{Imports: admission.Share{Most: 1}, Imported: pace}, nil)
	other, _ := s.pages.Limiter.Imports.Hold(admission.Caller{Learner: "other"}, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if status, begun, _ := upload(over); status == http.StatusSeeOther || begun {
		t.Errorf("while another file is read: status %d, began to read: %v", status, begun)
	}
	other.Release()
	if status, _, _ := upload(t.Context()); status != http.StatusSeeOther {
		t.Errorf("after the other file was read: got %d, want %d", status, http.StatusSeeOther)
	}
	status, begun, retry := upload(t.Context())
	if status != http.StatusTooManyRequests || begun || retry != "100" {
		t.Errorf("without budget: status %d, began to read: %v, retry after %s", status, begun, retry)
	}
	if place, refused := s.pages.Limiter.Imports.Hold(admission.Caller{}, nil); place == nil {
		t.Errorf("the turn was not given back: %v", refused)
	}
}

// TestSlowImportYieldsItsTurn: a client that sends its file slowly loses its turn to a newcomer
// at another address.
func TestSlowImportYieldsItsTurn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	file := s.Do(httptest.NewRequest(http.MethodGet, "/progress/export", nil)).Body.Bytes()
	addresses := map[string]netip.Prefix{
		"slow": netip.MustParsePrefix("192.0.2.1/32"), "new": netip.MustParsePrefix("192.0.2.2/32"),
	}
	s.pages.Caller = func(r *http.Request) (admission.Caller, *http.Cookie) {
		who := r.URL.Query().Get("who")
		name, _, _ := strings.Cut(who, "-")
		return admission.Caller{Learner: who, Address: addresses[name], Since: time.Now()}, nil
	}
	s.pages.Limiter = admission.New(admission.Limits{Imports: admission.Share{Newcomers: 2}}, nil)
	server := httptest.NewServer(s.ServeMux)
	defer server.Close()
	upload := func(who string, body io.Reader, kind string) int {
		r, err := http.NewRequest(http.MethodPost, server.URL+"/progress/import?who="+who, body)
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("Content-Type", kind)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	ended := make(chan int, 2)
	for _, who := range []string{"slow-1", "slow-2"} {
		body, sender := io.Pipe()
		defer sender.Close()
		m := multipart.NewWriter(sender)
		go func() { ended <- upload(who, body, m.FormDataContentType()) }()
		f, err := m.CreateFormFile("file", "progress.json") // returns once the body is being sent
		if err != nil {
			t.Fatal(err)
		}
		f.Write(file[:1])
	}
	browser.Eventually(t, func() bool { return s.pages.Limiter.Imports.Stats().Held == 2 })
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	f, err := m.CreateFormFile("file", "progress.json")
	if err != nil {
		t.Fatal(err)
	}
	f.Write(file)
	m.Close()
	if got := upload("new-1", &b, m.FormDataContentType()); got != http.StatusSeeOther {
		t.Errorf("the newcomer: got %d, want %d", got, http.StatusSeeOther)
	}
	if got := <-ended; got != http.StatusServiceUnavailable {
		t.Errorf("a slow client: got %d, want %d", got, http.StatusServiceUnavailable)
	}
}
