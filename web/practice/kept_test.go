package practice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// newSiteIn is like newSite, with a database in the given folder.
func newSiteIn(t *testing.T, dir string) *site {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &site{Site: courseworktest.New(t, time.Now)}
	s.Deps.Progress = progress.New(journal.For(db), db, s.Deps.Course, time.Now)
	s.pages = New(Deps{Deps: s.Deps, Model: testmodel.Target(t)})
	s.pages.Mount(s.ServeMux)
	return s
}

// TestPagesWithoutTheDatabase: if the database is deleted while the server runs, neither writes
// nor deletions are confirmed. The pages explain why and can still be read.
func TestPagesWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted on Windows")
	}
	dir := t.TempDir()
	s := newSiteIn(t, dir)
	s.visit()
	if d := s.Get("/progress"); d.Find(".toldline--warn").Length() != 0 {
		t.Errorf("the page warns: %q, want no warning", text(d.Find(".toldline--warn")))
	}
	export := s.Do(httptest.NewRequest(http.MethodGet, "/progress/export", nil)).Body.String()
	if err := os.Remove(filepath.Join(dir, "viz.db")); err != nil {
		t.Fatal(err)
	}
	const why = "The server's database was deleted, moved or replaced while the server was running, so nothing " +
		"new will be saved until the server is restarted."
	file := strings.Replace(export, `"answers": [`, `"answers": [{"id":"a1","at":"2026-11-20T08:01:00.000Z",`+
		`"kind":"drill","item":"x/1","credit":1,"detail":""}`, 1)
	review := url.Values{"card": {s.pages.Course.Cards[0].ID}, "grade": {"good"}, "key": {"k1"}}
	for what, w := range map[string]*httptest.ResponseRecorder{
		"Not saved. A review":  s.Post("/cards/review", false, review),
		"Not saved. An import": s.upload("x.json", []byte(file)),
		"Not erased. Deleting": s.Post("/progress/delete", false, url.Values{"sure": {"yes"}}),
	} {
		d := s.Parse(what, w, http.StatusServiceUnavailable)
		head, _, _ := strings.Cut(what, ". ")
		if main := text(d.Find("main")); !strings.Contains(main, head+".") || !strings.Contains(main, why) {
			t.Errorf("%s: the page shows %q, want it to contain %q and %q", what, main, head+".", why)
		}
	}
	d := s.Get("/progress")
	if got := text(d.Find(".toldline--warn")); got != why {
		t.Errorf("the page warns %q, want %q", got, why)
	}
	if s.Tally().Seen != 1 {
		t.Error("saved data cannot be read")
	}
}

// TestDeletingMentionsQuarantinedFile: if a damaged file was quarantined, the page mentions the
// file and how long it is kept, and does not claim that nothing is left.
func TestDeletingMentionsQuarantinedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "viz-damaged-2026-11-03-120000.db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSiteIn(t, dir)
	s.visit()
	const says = "A damaged file was set aside on November 3, 2026 and is still on the server's disk."
	if got := text(s.Get("/progress").Find("#yours")); !strings.Contains(got, says) ||
		!strings.Contains(got, "on December 3, 2026 at the latest") {
		t.Errorf(
			"before deleting, the page shows %q, want it to contain %q and %q", got, says,
			"on December 3, 2026 at the latest",
		)
	}
	w := s.Post("/progress/delete", false, url.Values{"sure": {"yes"}})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("status %d, want %d", w.Code, http.StatusSeeOther)
	}
	d := s.Get(w.Header().Get("Location"))
	if got := text(d.Find(".toldline")); got != "Erased from everything that the server can read. See below for what "+
		"may be left." || !strings.Contains(text(d.Find("#yours")), says) {
		t.Errorf(
			"after deleting, the page shows %q and %q, want all readable data to be reported as erased", got,
			text(d.Find("#yours")),
		)
	}
}

// TestDeletingReportsWhatRemains: if some classes cannot be read, or if another process is
// reading the database, the page lists the data that is left.
func TestDeletingReportsWhatRemains(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.visit()
	for _, x := range []struct {
		err   error
		title string
		says  string
	}{
		{
			&terms.Refusal{Code: class.CodeDamaged, Message: "The saved data of 1 class cannot be read."},
			"Not everything is erased.",
			"Your progress is deleted. The saved data of 1 class cannot be read.",
		},
		{fmt.Errorf("the log: %w", store.ErrReading), "Not erased.", "may still be on the server's disk"},
	} {
		s.pages.Forget = func(context.Context, string) error { return x.err }
		w := s.Post("/progress/delete", false, url.Values{"sure": {"yes"}})
		d := s.Parse(x.title, w, http.StatusServiceUnavailable)
		if main := text(d.Find("main")); !strings.Contains(main, x.title) || !strings.Contains(main, x.says) {
			t.Errorf("after %v, the page shows %q, want it to contain %q and %q", x.err, main, x.title, x.says)
		}
	}
}

// TestProgressPageStatesRetention: the page states how long data is kept.
func TestProgressPageStatesRetention(t *testing.T) {
	t.Parallel()
	got := text(newSite(t).Get("/progress").Find("#yours"))
	if !strings.Contains(got, "kept for 400 days") || !strings.Contains(got, "kept for 30 days") {
		t.Errorf("the page shows %q, want it to contain %q and %q", got, "kept for 400 days", "kept for 30 days")
	}
}
