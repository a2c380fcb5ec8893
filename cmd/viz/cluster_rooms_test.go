package main

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// TestRoomsCommandOnACluster: viz rooms lists, closes and removes rooms of a cluster: rooms
// that a server runs, rooms that no server runs, and one that was set aside. Each server's
// metrics describe its work in the cluster.
func TestRoomsCommandOnACluster(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	nats := streamtest.Node(t, t.TempDir(), streamtest.Listening(-1)).ClientURL()
	all := servers(t, 2, nats, clusterSecret(t), "-metrics", "127.0.0.1:0")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	all[0].visit(t, jar)
	first, second, third := roomMade(t, all[0], jar), roomMade(t, all[0], jar), roomMade(t, all[1], jar)
	list := func() map[string]roomObject {
		t.Helper()
		return roomsIn(t, ok(t, "rooms", "-cluster", nats, "-json"))
	}
	if text := ok(t, "rooms", "-cluster", nats); !strings.Contains(text, "3 rooms in "+nats) ||
		!strings.Contains(text, second+"     Physics, open, last used ") {
		t.Errorf(
			"got the list\n%s\nwant it to contain %q and %q", text, "3 rooms in "+nats,
			second+"     Physics, open, last used ",
		)
	}
	for i, want := range []map[string]int{{"owned": 2, "taken": 2}, {"owned": 1, "taken": 1}} {
		got := clusterMetrics(t, all[i])
		if got["ready"] != 1 || got["rooms_owned"] != float64(want["owned"]) ||
			got[`lease_changes_total{change="taken"}`] != float64(want["taken"]) ||
			got[`lease_changes_total{change="lost"}`] != 0 || got["reconnects_total"] != 0 ||
			got["lag_seconds"] <= 0 || got["lag_seconds"] > clusterTimes.life.Seconds() ||
			got[`messages_lost_total{why="dropped"}`]+got[`messages_lost_total{why="refused"}`] != 0 {
			t.Errorf(
				"server %d: got metrics %v; want %d rooms owned, %d leases taken, none lost, no "+
					"reconnect or lost message",
				i, got, want["owned"], want["taken"],
			)
		}
	}

	ok(t, "rooms", "close", "-cluster", nats, strings.ToLower(first)) // closed by the server that runs it
	ok(t, "rooms", "remove", "-cluster", nats, second)
	if got := list(); len(got) != 2 || !got[first].Ended || got[third].Ended {
		t.Errorf("got rooms %+v; want 2, of which %s has ended and %s has not", got, first, third)
	}
	f := try(t, nil, "", "rooms", "remove", "-cluster", nats, second)
	if f.code != exitFailed || !strings.Contains(f.errors, "No room has this code") {
		t.Errorf(
			"a room that is already gone: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			"No room has this code",
		)
	}
	for _, s := range all {
		if exit := s.end(); exit != exitDone {
			t.Errorf("exit %d, want %d: %s", exit, exitDone, s.errors)
		}
	}

	ok(t, "rooms", "close", "-cluster", nats, third) // closed while no server is running
	c, err := cluster.Open(within(t), cluster.Config{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	aside := c.Journal().SetAside(within(t), journal.Owner{Kind: journal.Room, Name: first}, time.Now())
	if err := errors.Join(aside, c.Close()); err != nil {
		t.Fatal(err)
	}
	if got := list(); !got[third].Ended || !strings.Contains(got[first].Fault, "set aside") {
		t.Errorf("got rooms %+v; want %s ended, and %s with the fault for which it was set aside", got, third, first)
	}
	f = try(t, nil, "", "rooms", "close", "-cluster", nats, first)
	if f.code != exitFailed || !strings.Contains(f.errors, "Room "+first+" is damaged") {
		t.Errorf(
			"closing a room that was set aside: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			"Room "+first+" is damaged",
		)
	}
	ok(t, "rooms", "remove", "-cluster", nats, first)
	if got := list(); len(got) != 1 {
		t.Errorf("rooms left: %+v, want 1 element", got)
	}
}

// clusterMetrics returns a server's cluster metrics, with viz_cluster_ removed from the names.
func clusterMetrics(t *testing.T, s *served) map[string]float64 {
	t.Helper()
	status, page := get(t, regexp.MustCompile(`http://\S+/metrics`).FindString(s.out.String()))
	if status != http.StatusOK {
		t.Fatalf("got %d, want %d: %s", status, http.StatusOK, page)
	}
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^viz_cluster_(\S+) (\S+)$`).FindAllStringSubmatch(page, -1) {
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Error(err)
		}
		all[m[1]] = n
	}
	return all
}
