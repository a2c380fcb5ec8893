package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNoticesAreSavedOnce: if a start stops after saving its notices but before removing the file
// with the announcements, the notices are not repeated. A file that was announced but not moved
// does not count as set aside.
func TestNoticesAreSavedOnce(t *testing.T) {
	dir, _, _, _ := damagedWithLog(t)
	db, _ := logged(t, dir)
	n := db.Notices()
	list := aside(t, dir)
	if len(n) != 1 || len(list) != 1 {
		t.Fatalf("got notices %v, files set aside %v; want one of each", n, list)
	}
	for _, a := range []announcement{
		{n[0].At, n[0].Text, filepath.Base(list[0])},
		{n[0].At, "A file that is still where it was.", "viz-damaged-2026-01-01-000000.db"},
	} {
		if err := db.announce(a.At, a.Text, filepath.Join(dir, a.File)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := logged(t, dir)
	if got := textOf(t, again, "SELECT group_concat(text) FROM notices"); got != n[0].Text {
		t.Errorf("the saved notices are %q, want %q once", got, n[0].Text)
	}
	if _, err := os.Lstat(again.announced()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the announcements still exist: got error %v, want %v", err, fs.ErrNotExist)
	}
}

// TestSecretNoticeSurvivesAKill: if a start sets a secret aside and is then killed, the next start
// reports the secret.
func TestSecretNoticeSurvivesAKill(t *testing.T) {
	dir, _ := filled(t)
	path := filepath.Join(dir, secretName)
	replace(t, path, []byte("no secret"))
	killed := &DB{dir: dir, log: slog.New(slog.DiscardHandler), rename: os.Rename}
	if _, err := killed.readSecret(time.Now()); err != nil {
		t.Fatal(err)
	}
	db, _ := logged(t, dir)
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "new learner") {
		t.Errorf("got notices %v, want the one about the secret", n)
	}
}
