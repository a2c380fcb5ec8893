package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// Instructor creates a room and controls it with the forms on the room's page, as an instructor
// would.
type Instructor struct {
	URL, Code string // the URL of the server and the code of the room
	http      http.Client
}

// NewInstructor creates a room and returns its instructor.
func NewInstructor(ctx context.Context, server string) (*Instructor, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	t := &Instructor{URL: server, http: http.Client{
		Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	res, body, err := t.post(ctx, "/teach", url.Values{"title": {"Load"}, "nicknames": {"on"}})
	if err != nil {
		return nil, err
	}
	path, ok := strings.CutPrefix(res.Header.Get("Location"), "/class/")
	code, _, _ := strings.Cut(path, "/")
	if res.StatusCode != http.StatusSeeOther || !ok || code == "" {
		return nil, fmt.Errorf("creating a room at %s/teach: %s: %.200s", server, res.Status, body)
	}
	t.Code = code
	return t, nil
}

// Do executes one command of the presenter. fields contains the names and values of the command's
// fields. If the server refuses the command, the error is a *[Refused].
func (t *Instructor) Do(ctx context.Context, cmd string, fields ...string) error {
	form := url.Values{"cmd": {cmd}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	res, body, err := t.post(ctx, "/class/"+t.Code+"/do", form)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return &Refused{cmd, res.StatusCode, strings.TrimSpace(body)}
	}
	return nil
}

// Refused is the error for a presenter's command that the server has refused.
type Refused struct {
	cmd    string
	status int
	why    string
}

func (r *Refused) Error() string { return fmt.Sprintf("%s: %d: %.200s", r.cmd, r.status, r.why) }

func (t *Instructor) post(ctx context.Context, path string, form url.Values) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Viz-Fragment", "1")
	return t.read(req)
}

func (t *Instructor) read(req *http.Request) (*http.Response, string, error) {
	res, err := t.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// HangUp closes idle connections.
func (t *Instructor) HangUp() { t.http.CloseIdleConnections() }
