package classroom_test

import (
	"database/sql"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to damage a database

	"github.com/tokenbytoken/viz/web/webtest"
)

// TestDamagedRoomHasAPage: a room whose log is lost cannot be opened, and its links lead to
// a page that explains why. Other rooms still work. If the database is lost, instructors get a
// notice.
func TestDamagedRoomHasAPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var damaged, sound, damagedLink, soundLink string
	t.Run("before", func(t *testing.T) {
		base := webtest.Serve(t, webtest.Options{Dir: dir})
		open := func(title string) (code, link string) {
			p := newPerson(t, base)
			made := p.send("POST", "/teach", url.Values{"title": {title}, "walk": {"loop"}}, nil)
			link = made.Find("input[data-secret]").AttrOr("value", "")
			u, err := url.Parse(strings.TrimSpace(link))
			if err != nil || u.Query().Get("key") == "" {
				t.Fatalf("the instructor's link is %q, %v; want one with a key, <nil>", link, err)
			}
			return strings.Split(u.Path, "/")[2], u.RequestURI()
		}
		damaged, damagedLink = open("Damaged")
		sound, soundLink = open("Sound")
	})
	conn, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "viz.db")))
	if err != nil {
		t.Fatal(err)
	}
	const drop = "DELETE FROM records WHERE owner = (SELECT id FROM owners WHERE name = ?)"
	if _, err := conn.Exec(drop, damaged); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("after", func(t *testing.T) {
		base := webtest.Serve(t, webtest.Options{Dir: dir})
		for _, path := range []string{damagedLink, "/class/" + damaged, "/join?code=" + damaged} {
			got := newPerson(t, base).send("GET", path, nil, nil)
			if says := words(got.Find("main")); got.status != http.StatusGone && !strings.HasPrefix(path, "/join") ||
				!strings.Contains(says, "could not be read and was set aside on") {
				t.Errorf("%s: got status %d, %s; want 410 and the day on which the room was set aside",
					path, got.status, says)
			}
		}
		if got := newPerson(t, base).send("GET", damagedLink+"x", nil, nil); got.status != http.StatusForbidden {
			t.Errorf("with another secret: status %d, want 403", got.status)
		}
		for _, path := range []string{soundLink, "/class/" + sound} {
			if got := newPerson(t, base).send("GET", path, nil, nil); got.status != http.StatusOK {
				t.Errorf("%s of the undamaged room: status %d, want %d", path, got.status, http.StatusOK)
			}
		}
	})
	if err := os.Remove(filepath.Join(dir, "viz.db")); err != nil {
		t.Fatal(err)
	}
	t.Run("without the database", func(t *testing.T) {
		base := webtest.Serve(t, webtest.Options{Dir: dir})
		p := newPerson(t, base)
		for _, path := range []string{soundLink, "/teach", soundLink} {
			got := p.send("GET", path, nil, nil)
			if says := words(got.Find("main")); !strings.Contains(says, "The saved data is missing") {
				t.Errorf("%s: %s; want it to contain %q", path, says, "The saved data is missing")
			}
		}
		if says := words(p.get("/teach").Find("main")); strings.Contains(says, "The saved data is missing") {
			t.Errorf("/teach tells the same browser twice that the data is missing")
		}
	})
}
