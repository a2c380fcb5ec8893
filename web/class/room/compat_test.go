package room

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
)

const version5 = "../../journal/testdata/version5"

// wasRoom is a room as saved by an earlier version of this program; see
// web/journal/testdata/README.md.
type wasRoom struct {
	Code, Secret, Hash string
	Begun, Used        time.Time
	Data               records.Data
	Members            []wasMember
	Polls              []polls.Poll
	Votes              []wasVote
	Texts              []class.Text
	Link               string
	Shown              *class.Poll
	Summary            *class.Summary
}

type wasMember struct {
	class.Member
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
		Texts: c.texts, Link: c.link, Shown: c.face.View().Poll, Summary: c.summary(),
	}
	for _, m := range c.members {
		x.Members = append(x.Members, wasMember{m.Member, m.Learner, m.Nameless, m.Removed})
	}
	for _, p := range c.polls {
		x.Polls = append(x.Polls, *p)
	}
	for at, votes := range c.votes {
		for id, v := range votes {
			x.Votes = append(x.Votes, wasVote{at.Poll, at.N, id, v.Choice, v.U, v.Sure, v.N})
		}
	}
	slices.SortFunc(x.Votes, func(a, b wasVote) int {
		return cmp.Or(a.Poll-b.Poll, a.Round-b.Round, a.Member-b.Member)
	})
	x.Summary.Begun, x.Summary.Used = x.Summary.Begun.UTC(), x.Summary.Used.UTC()
	return x
}

// savedFolder returns a folder with the saved database, and the expected contents of its rooms.
func savedFolder(t *testing.T) (dir string, was []wasRoom) {
	t.Helper()
	database, err := os.ReadFile(filepath.Join(version5, "viz.db"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(version5, "rooms.json"))
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

// savedLetters are the choices in the summaries of the saved rooms, which the earlier version did not
// list, from the votes in rooms.json: c, d and c of the members 1, 4 and 5 for the fourth poll of the
// first room, and a of member 2 for the first poll of the second.
var savedLetters = map[string]map[int]string{"MV3KPD": {3: "c--dc"}, "T4KRPH": {0: "-a"}}

func asText(t *testing.T, x any) string {
	t.Helper()
	text, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSavedRoomsOpen: rooms that were saved by an earlier version of this program keep their secrets,
// members, names, polls, votes, texts, stages and assignments, even after a second start.
func TestSavedRoomsOpen(t *testing.T) {
	t.Parallel()
	dir, was := savedFolder(t)
	at := classtest.ClockAt(time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC))
	for start := range 2 {
		s := begun(t, dir, func(c *Config) { c.Now = at.Now })
		for _, want := range was {
			r := s.find(want.Code)
			if r == nil {
				t.Fatalf("room %s is gone", want.Code)
			}
			got, err := get(t.Context(), r, func(c *core) (wasRoom, error) { return known(c), nil })
			if err != nil {
				t.Fatal(err)
			}
			if !class.ParseSecret(want.Secret).Fits(r.secret) {
				t.Errorf("start %d: the secret of %s is refused", start+1, want.Code)
			}
			want.Secret = ""
			want.Summary.Letters = savedLetters[want.Code]
			if a, b := asText(t, got), asText(t, want); a != b {
				t.Errorf("start %d: room %s is\n%s\nwant\n%s", start+1, want.Code, a, b)
			}
		}
		if len(s.all()) != len(was) || len(was) != 4 {
			t.Errorf("there are %d rooms, and there were %d; want 4, 4", len(s.all()), len(was))
		}
		s.end()
	}
}
