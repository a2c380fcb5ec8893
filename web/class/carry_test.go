package class

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

const version2 = "../journal/testdata/version2"

// wasRoom is a room as saved by a version without logs; see web/journal/testdata/README.md.
type wasRoom struct {
	Code, Secret, Hash string
	Begun, Used        time.Time
	Data               roomData
	Members            []wasMember
	Polls              []poll
	Votes              []wasVote
	Texts              []Text
	Link               string
	Shown              *Poll
	Summary            *Summary
}

type wasMember struct {
	Member
	Learner           string
	Nameless, Removed bool
}

type wasVote struct {
	Poll, Round, Member int
	Choice              string
	U, Sure             float64
	N                   int64
}

// known returns the current contents of a room.
func known(c *core) wasRoom {
	x := wasRoom{
		Code: c.code, Hash: hex.EncodeToString(c.secret[:]), Begun: c.begun.UTC(), Used: c.used.UTC(), Data: c.data,
		Texts: c.texts, Link: c.link, Shown: c.room.View().Poll, Summary: c.summary(),
	}
	for _, m := range c.members {
		x.Members = append(x.Members, wasMember{m.Member, m.Learner, m.Nameless, m.Removed})
	}
	for _, p := range c.polls {
		x.Polls = append(x.Polls, *p)
	}
	for at, votes := range c.votes {
		for id, v := range votes {
			x.Votes = append(x.Votes, wasVote{at.poll, at.n, id, v.Choice, v.U, v.Sure, v.N})
		}
	}
	slices.SortFunc(x.Votes, func(a, b wasVote) int {
		return cmp.Or(a.Poll-b.Poll, a.Round-b.Round, a.Member-b.Member)
	})
	x.Summary.Begun, x.Summary.Used = x.Summary.Begun.UTC(), x.Summary.Used.UTC()
	return x
}

// oldFolder returns a folder with an old-format database, and the expected contents of its
// rooms.
func oldFolder(t *testing.T) (dir string, was []wasRoom) {
	t.Helper()
	database, err := os.ReadFile(filepath.Join(version2, "viz.db"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(version2, "rooms.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "viz.db"), database, 0o600),
		os.WriteFile(filepath.Join(dir, "cookie-secret"), []byte(strings.Repeat("7f", 32)), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return dir, was
}

// carryOver migrates the rooms of a folder to the current format, without the learners'
// progress, which is not part of this package.
func carryOver(t *testing.T, dir string) {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	logs := journal.For(db)
	quiet := slog.New(slog.DiscardHandler)
	if early, err := db.Before(store.LearnersInLogs); err != nil || early {
		if err := Carry(t.Context(), db, logs, quiet); err == nil {
			t.Error("rooms were moved before learners, whose tables would be dropped")
		}
		if err := db.Carried(store.LearnersInLogs); err != nil {
			t.Fatal(err)
		}
	}
	if err := Carry(t.Context(), db, logs, quiet); err != nil {
		t.Fatal(err)
	}
}

func asText(t *testing.T, x any) string {
	t.Helper()
	text, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// begunAfter opens a hub whose clock shows the time of the second start in the old
// database.
func begunAfter(t *testing.T, dir string) *school {
	t.Helper()
	at := &clock{now: time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC)}
	return begun(t, dir, func(c *Config) { c.Now = at.Now })
}

// TestOldDatabaseIsMigrated: the rooms of a database without logs keep their secrets,
// members, names, polls, votes, texts and stages, even after a second start.
func TestOldDatabaseIsMigrated(t *testing.T) {
	t.Parallel()
	dir, was := oldFolder(t)
	for start := range 2 {
		carryOver(t, dir)
		s := begunAfter(t, dir)
		for _, want := range was {
			r := s.find(want.Code)
			if r == nil {
				t.Fatalf("room %s is gone, want it migrated", want.Code)
			}
			got, err := get(t.Context(), r, func(c *core) (wasRoom, error) { return known(c), nil })
			if err != nil {
				t.Fatal(err)
			}
			if !ParseSecret(want.Secret).fits(r.secret) {
				t.Errorf("start %d: the secret of %s is refused", start+1, want.Code)
			}
			want.Secret = ""
			if a, b := asText(t, got), asText(t, want); a != b {
				t.Errorf("start %d: room %s is\n%s\nwant\n%s", start+1, want.Code, a, b)
			}
		}
		if len(s.all()) != len(was) || len(was) != 2 {
			t.Errorf("there are %d rooms, and there were %d; want %d, 2", len(s.all()), len(was), len(was))
		}
		s.end()
	}
}

// TestRoomIsDeletedFromOldCopy: deleting a room also deletes it from the copy of the old
// database, and the copy itself is deleted once it contains neither rooms nor learners.
func TestRoomIsDeletedFromOldCopy(t *testing.T) {
	t.Parallel()
	dir, was := oldFolder(t)
	carryOver(t, dir)
	s := begunAfter(t, dir)
	holds := func(text string) bool {
		list, err := filepath.Glob(filepath.Join(dir, "viz-version2-*"))
		if err != nil || len(list) > 1 {
			t.Fatalf("the copies are %v, %v; want at most 1 element, <nil>", list, err)
		}
		if len(list) == 0 {
			return false
		}
		data, err := os.ReadFile(list[0])
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(data, []byte(text))
	}
	if !holds("Pupil 1") || !holds(was[0].Code) {
		t.Fatal("the copy does not contain the data that the test deletes")
	}
	for _, room := range was {
		r := s.find(room.Code)
		if _, err := r.Present(t.Context(), instructor, ParseSecret(room.Secret), Delete{}); err != nil {
			t.Fatal(err)
		}
		if holds(room.Code) {
			t.Errorf("room %s is still in the copy", room.Code)
		}
	}
	if holds("Pupil") {
		t.Error("names are still in the copy")
	}
	if !strings.Contains(strings.Join(files(t, dir), " "), "viz-version2") {
		t.Error("the copy was deleted although it contained learners' progress")
	}
	for _, who := range []string{"ada", "bob", "dora"} {
		if err := s.db.EraseFromCopies(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	if left := strings.Join(files(t, dir), " "); strings.Contains(left, "viz-version2") {
		t.Errorf("the empty copy was not deleted: got %s, want it without %q", left, "viz-version2")
	}
}

// TestNameIsErasedFromOldCopy: a nickname that the instructor removes is also removed from
// the copy of the old database.
func TestNameIsErasedFromOldCopy(t *testing.T) {
	t.Parallel()
	dir, was := oldFolder(t)
	carryOver(t, dir)
	s := begunAfter(t, dir)
	copied, err := filepath.Glob(filepath.Join(dir, "viz-version2-*"))
	if err != nil || len(copied) != 1 {
		t.Fatalf("the copies are %v, %v; want 1 element, <nil>", copied, err)
	}
	const name = "Pupil 1" // used in several rooms
	for _, room := range was {
		for _, m := range room.Members {
			if m.Name != name {
				continue
			}
			r := s.find(room.Code)
			if _, err := r.Present(t.Context(), instructor, ParseSecret(room.Secret), DropName{m.ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for file, text := range map[string]string{ // other members' names begin with this one
		copied[0]: "Pupil", filepath.Join(dir, "viz.db"): name + `"`, filepath.Join(dir, "viz.db-wal"): name + `"`,
	} {
		data, err := os.ReadFile(file)
		if err != nil || bytes.Contains(data, []byte(text)) {
			t.Errorf(
				"%s is still in %s (%v); want no error, data without %q", text, filepath.Base(file), err, []byte(text),
			)
		}
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
