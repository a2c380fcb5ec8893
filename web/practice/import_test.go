package practice

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// unread is a body that notes whether somebody has begun to read it.
type unread struct {
	io.Reader
	begun bool
}

func (u *unread) Read(b []byte) (int, error) {
	u.begun = true
	return u.Reader.Read(b)
}

// TestImportsAreAdmitted: a file is read only if its learner has budget left for it and
// not too many are being read already.
func TestImportsAreAdmitted(t *testing.T) {
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
	// The size of this body is not known, so it costs as much as the largest.
	pace := admission.Pace{PerLearner: admission.Rate{PerSecond: 0.01, Burst: 34}}
	s.pages.Desk = admission.New(admission.Limits{Imports: admission.Share{Most: 1}, Imported: pace}, nil)
	other, _ := s.pages.Desk.Imports.Hold(admission.Caller{Learner: "other"}, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if status, begun, _ := upload(over); status == http.StatusSeeOther || begun {
		t.Errorf("while another is read: %d, read %v", status, begun)
	}
	other.Release()
	if status, _, _ := upload(t.Context()); status != http.StatusSeeOther {
		t.Errorf("after it: %d", status)
	}
	status, begun, retry := upload(t.Context())
	if status != http.StatusTooManyRequests || begun || retry != "100" {
		t.Errorf("without budget: %d, read %v, retry after %s", status, begun, retry)
	}
	if place, refused := s.pages.Desk.Imports.Hold(admission.Caller{}, nil); place == nil {
		t.Errorf("the turn was not given back: %v", refused)
	}
}
