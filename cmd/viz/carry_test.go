package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// logsIn returns the records of all logs in a journal, in order, keyed by the logs' owners. It
// omits the records that exist only in a cluster.
func logsIn(t *testing.T, j journal.Journal) map[journal.Owner][]string {
	t.Helper()
	all, secret := map[journal.Owner][]string{}, records.SecretRecord(nil).Key()
	for _, kind := range []string{journal.Learner, journal.Room} {
		logs, err := j.Owners(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			if err := j.Read(t.Context(), log.Owner, 0, func(r journal.Record) error {
				if r.Key() != secret {
					all[log.Owner] = append(all[log.Owner], fmt.Sprintf("%s %s %s", r.Type, r.ID, r.Data))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			all[log.Owner] = append(all[log.Owner], log.Used.UTC().Format(time.RFC3339Nano))
		}
	}
	return all
}

// sameLogs compares all logs.
func sameLogs(t *testing.T, what string, got, want map[journal.Owner][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d logs, want %d", what, len(got), len(want))
	}
	for o, list := range want {
		if !slices.Equal(got[o], list) {
			t.Errorf("%s: the log of %v has\n%q\nwant\n%q", what, o, got[o], list)
		}
	}
}

// logsOf returns the logs in a data folder that no server uses.
func logsOf(t *testing.T, dir string) map[journal.Owner][]string {
	t.Helper()
	db, logs, err := openData(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return logsIn(t, logs)
}

// TestDataSurvivesCopyToAClusterAndBack: data that is copied from a folder to a cluster, and from
// there to another folder, stays the same, including every record, the times and the permissions.
// Copying it again adds nothing.
// Promise: `viz data` copies a folder into a cluster and back without loss; repeating it adds nothing.
func TestDataSurvivesCopyToAClusterAndBack(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	dir, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := serveFolder(t, dir)
	sectionIsKeptEverywhere(t, jar, []*served{s, s})
	code := roomMade(t, s, jar)
	form := url.Values{"cmd": {"start"}, "prompt": {"Once"}}
	if status, page := s.request(t, jar, http.MethodPost, "/class/"+code+"/do", form); status != http.StatusOK {
		t.Fatalf("starting: got %d %.300s; want %d", status, page, http.StatusOK)
	}
	s.class(t)
	_, export := s.request(t, jar, http.MethodGet, "/progress/export", nil)
	if exit := s.end(); exit != exitDone {
		t.Fatalf("exit %d, want %d: %s", exit, exitDone, s.errors)
	}
	want := logsOf(t, dir)

	nats := streamtest.Node(t, t.TempDir(), streamtest.Listening(-1)).ClientURL()
	into := []string{"data", "into", "-data", dir, "-cluster", nats}
	from := []string{"data", "from", "-data", back, "-cluster", nats}
	if said := ok(t, into...); !strings.Contains(said, "1 learner and 2 rooms is now in the cluster") {
		t.Errorf("printed %q, want it to contain %q", said, "1 learner and 2 rooms is now in the cluster")
	}
	if said := ok(t, into...); !strings.Contains(said, "; 0 records were new") {
		t.Errorf("the second time: got %q, want it to contain %q", said, "; 0 records were new")
	}
	if said := ok(t, from...); !strings.Contains(said, "1 learner and 2 rooms") {
		t.Errorf("back: got %q, want it to contain %q", said, "1 learner and 2 rooms")
	}
	sameLogs(t, "copied there and back", logsOf(t, back), want)

	// The servers of the cluster recognize every browser because they use the folder's cookie
	// secret.
	c := servers(t, 1, nats, filepath.Join(dir, "cookie-secret"))[0]
	if _, got := c.request(t, jar, http.MethodGet, "/progress/export", nil); untimed(got) != untimed(export) {
		t.Errorf("in the cluster, the learner exports\n%s\nwant, as before,\n%s", got, export)
	}
	form = url.Values{"cmd": {"forward"}}
	if status, page := c.request(t, jar, http.MethodPost, "/class/"+code+"/do", form); status != http.StatusOK {
		t.Errorf("the instructor in the cluster: got %d %.300s; want %d", status, page, http.StatusOK)
	}
	// The server keeps running during the backup.
	backup := filepath.Join(t.TempDir(), "backup")
	said := ok(t, "data", "from", "-data", backup, "-cluster", nats)
	if !strings.Contains(said, "1 learner and 2 rooms") {
		t.Errorf("a backup: got %q, want it to contain %q", said, "1 learner and 2 rooms")
	}
	backedUp := logsOf(t, backup)
	if exit := c.end(); exit != exitDone {
		t.Errorf("exit %d, want %d: %s", exit, exitDone, c.errors)
	}
	if room := (journal.Owner{Kind: journal.Room, Name: code}); len(backedUp[room]) <= len(want[room]) {
		t.Errorf("the backup of the room has %d records, want more than the earlier %d", len(backedUp[room]),
			len(want[room]))
	}

	// A room that has continued in the cluster is not overwritten.
	inCluster := func() map[journal.Owner][]string {
		x, err := cluster.Open(context.Background(), cluster.Config{URL: nats})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		return logsIn(t, x.Journal())
	}
	went := inCluster()
	f := try(t, nil, "", into...)
	if f.code != exitFailed ||
		!strings.Contains(f.errors, code+": the destination's copy of the log has been used") {
		t.Errorf(
			"a room that was used: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			code+": the destination's copy of the log has been used",
		)
	}
	sameLogs(t, "after the third time", inCluster(), went)
}

// untimed returns a saved-progress file without its export time.
func untimed(file string) string {
	before, rest, _ := strings.Cut(file, `"exported": "`)
	_, after, _ := strings.Cut(rest, "\n")
	return before + after
}

// TestDataCommandRefusesMissingOrBusyFolders: viz data reports a missing folder and a folder in
// use.
func TestDataCommandRefusesMissingOrBusyFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"data"}, exitUsage, "viz data into or viz data from"},
		{[]string{"data", "onto", "-data", dir, "-cluster", "nats://a"}, exitUsage, "viz data into or viz data from"},
		{[]string{"data", "into", "-data", dir}, exitUsage, "missing -cluster"},
		{[]string{"data", "into", "-data", dir, "-cluster", "nats://a"}, exitFailed, "no viz.db in "},
	} {
		if f := try(t, nil, "", c.args...); f.code != c.code || !strings.Contains(f.errors, c.want) {
			t.Errorf("%q: exit %d, %q, want %d and %q", c.args, f.code, f.errors, c.code, c.want)
		}
	}
	s := serveFolder(t, dir)
	f := try(t, nil, "", "data", "into", "-data", dir, "-cluster", "nats://127.0.0.1:1")
	if f.code != exitFailed || !strings.Contains(f.errors, "in use by another viz") {
		t.Errorf(
			"a folder in use: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			"in use by another viz",
		)
	}
	s.end()
}
