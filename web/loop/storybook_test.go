package loop

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

// TestStorybookBuilds builds every story, as a page and as data.
func TestStorybookBuilds(t *testing.T) {
	t.Parallel()
	x := newSite(t, limits{})
	_, list := x.get("/storybook")
	for _, s := range stories {
		if !strings.Contains(list, `href="/storybook/`+s.Name+`"`) {
			t.Errorf("%s is not listed", s.Name)
		}
		resp, page := x.get("/storybook/" + s.Name)
		if resp.StatusCode != http.StatusOK || !strings.Contains(page, `id="panel"`) {
			t.Errorf(
				"%s: status %d: %.200s; want %d and a page with %q", s.Name, resp.StatusCode, page, http.StatusOK,
				`id="panel"`,
			)
		}
		if resp, data := x.get("/storybook/" + s.Name + "/data"); resp.StatusCode != http.StatusOK ||
			!strings.Contains(data, `"scrub"`) {
			t.Errorf(
				"%s: data: status %d: %.200s; want %d and %q", s.Name, resp.StatusCode, data, http.StatusOK,
				`"scrub"`,
			)
		}
	}
	if resp, _ := x.get("/storybook/nothing"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a story that does not exist: got %d, want %d", resp.StatusCode, http.StatusNotFound)
	}
	x.Storybook = false
	for _, path := range []string{"/storybook", "/storybook/empty"} {
		if resp, _ := x.get(path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s without the flag: got %d, want %d", path, resp.StatusCode, http.StatusNotFound)
		}
	}
}

// TestStoriesShowTheirState: each story shows the state that its name promises.
func TestStoriesShowTheirState(t *testing.T) {
	t.Parallel()
	for name, holds := range map[string]func(*session.State) bool{
		"stopped-limit":  func(st *session.State) bool { return st.Stopped == infer.StopMaxTokens },
		"stopped-end":    func(st *session.State) bool { return st.Stopped == infer.StopEOS },
		"stopped-string": func(st *session.State) bool { return st.Stopped == infer.StopString },
		"finishing":      func(st *session.State) bool { return st.Finishing && len(st.Steps) > 5 },
		"playing":        func(st *session.State) bool { return st.Playing },
		"branches":       func(st *session.State) bool { return len(st.Branches) == 3 },
		"ghosts":         func(st *session.State) bool { return len(st.Ghosts) > 0 },
		"forced":         func(st *session.State) bool { return st.Step().Forced },
		"what-if":        func(st *session.State) bool { return st.WhatIf != nil },
		"long":           func(st *session.State) bool { return len(st.Steps) > 80 && st.Look != nil },
		"not-looking":    func(st *session.State) bool { return !st.Looking && st.Cursor.Stage == infer.KindForward },
		"sample": func(st *session.State) bool {
			return st.Cursor == session.Cursor{
				Step: 2, Stage: infer.KindSample,
			}
		},
	} {
		found := false
		for _, s := range stories {
			if s.Name != name {
				continue
			}
			found = true
			st, err := s.state(context.Background(), testmodel.Target(t))
			if err != nil || !holds(st) {
				t.Errorf(
					"%s is at %+v, stopped by %q (%v); want the state that it is named for", name, st.Cursor,
					st.Stopped, err,
				)
			}
		}
		if !found {
			t.Errorf("there is no story %s", name)
		}
	}
}

func inflate(t *testing.T, link string) string {
	t.Helper()
	packed, err := base64.RawURLEncoding.DecodeString(link)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func deflate(t *testing.T, plain string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}
