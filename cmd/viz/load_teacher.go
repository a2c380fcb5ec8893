package main

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

// teacher makes a room and drives it by the forms of its page.
type teacher struct {
	url, code string
	http      http.Client
}

// newTeacher makes a room.
func newTeacher(ctx context.Context, server string) (*teacher, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	t := &teacher{url: server, http: http.Client{
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
		return nil, fmt.Errorf("making a room at %s/teach: %s: %.200s", server, res.Status, body)
	}
	t.code = code
	return t, nil
}

// do carries out one command of the presenter: its name and fields in turn.
func (t *teacher) do(ctx context.Context, cmd string, fields ...string) error {
	form := url.Values{"cmd": {cmd}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	res, body, err := t.post(ctx, "/class/"+t.code+"/do", form)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return &refused{cmd, res.StatusCode, strings.TrimSpace(body)}
	}
	return nil
}

// refused is a command of the presenter that the server did not carry out.
type refused struct {
	cmd    string
	status int
	why    string
}

func (r *refused) Error() string { return fmt.Sprintf("%s: %d: %.200s", r.cmd, r.status, r.why) }

func (t *teacher) post(ctx context.Context, path string, form url.Values) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Viz-Fragment", "1")
	return t.read(req)
}

// get asks for a page of the room, such as "/summary.csv".
func (t *teacher) get(ctx context.Context, path string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url+path, nil)
	if err != nil {
		return nil, "", err
	}
	return t.read(req)
}

func (t *teacher) read(req *http.Request) (*http.Response, string, error) {
	res, err := t.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}
