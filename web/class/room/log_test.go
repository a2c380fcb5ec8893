package room

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// folded returns the state of a room's log.
func folded(t rapid.TB, logs journal.Journal, code string) *records.State {
	t.Helper()
	f, err := journal.Load(context.Background(), logs, journal.Owner{Kind: journal.Room, Name: code}, records.Folding)
	if err != nil {
		t.Fatal(err)
	}
	return f.State
}

// records reads a room's log.
func recordsOf(t *testing.T, logs journal.Journal, code string) (list []journal.Record) {
	t.Helper()
	room := journal.Owner{Kind: journal.Room, Name: code}
	if err := logs.Read(t.Context(), room, 0, func(r journal.Record) error {
		list = append(list, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// unread is a journal whose snapshots are hidden.
type unread struct{ journal.Journal }

func (unread) Snapshot(context.Context, journal.Owner) (journal.Snapshot, error) {
	return journal.Snapshot{}, nil
}

// TestLogRestoresTheRoom: after any activity in a class, folding the log, with or without a
// snapshot, gives the state of the room and the list of records that count.
func TestLogRestoresTheRoom(t *testing.T) {
	t.Parallel()
	s := begun(t, "", func(c *Config) { c.Limits.Rooms.Most = 1000 })
	rapid.Check(t, func(rt *rapid.T) {
		l := s.room(class.Options{Nicknames: true})
		l.Enroll(3)
		l.Does(class.AskQuestion{ID: "q-order"})
		for range rapid.IntRange(1, 12).Draw(rt, "things") {
			who := rapid.IntRange(1, 5).Draw(rt, "who")
			var err error
			switch rapid.SampledFrom([]string{
				"join", "vote", "vote", "present", "forget", "ask", "handle", "tidy",
			}).Draw(rt, "thing") {
			case "join":
				name := rapid.SampledFrom([]string{"", "A", "B"}).Draw(rt, "name")
				_, err = l.Join(t.Context(), classtest.Caller(classtest.Learner(who)), name)
			case "vote":
				p := l.View().Poll
				if p == nil {
					continue
				}
				b := class.Ballot{Poll: p.ID, N: int64(rapid.IntRange(0, 3).Draw(rt, "n"))}
				if b.Choice = "3"; p.Kind == class.Question {
					b.Choice = rapid.SampledFrom(classtest.Keys(p)).Draw(rt, "choice")
				}
				_, err = l.Vote(t.Context(), classtest.Learner(who), b)
			case "present":
				_, err = l.Do(t.Context(), rapid.SampledFrom([]class.Command{
					class.Close{},
					class.Revote{},
					class.Reveal{},
					class.Dismiss{},
					class.AskQuestion{ID: "q-order"},
					class.AskNumber{Prompt: "How many?"},
					class.Remove{Member: who},
					class.DropName{Member: who},
					class.Lock{On: true},
					class.Lock{On: false},
					class.HideNames{On: true},
					class.ShowSpread{},
				}).Draw(rt, "command"))
			case "forget":
				err = s.Forget(t.Context(), classtest.Learner(who))
			case "ask":
				text := rapid.SampledFrom([]string{"A?", "B?", "C?"}).Draw(rt, "text")
				err = l.Ask(t.Context(), classtest.Learner(who), text)
			case "handle":
				_, err = l.Do(t.Context(), class.Handle{
					Do: rapid.SampledFrom([]class.Handling{
						class.Show, class.MoveUp, class.Group, class.PutAway, class.PutBack, class.Erase,
					}).Draw(rt, "do"),
					Questions: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(rt, "questions"),
				})
			case "tidy":
				err = ask(t.Context(), l, func(c *core) error {
					c.flush()
					return errors.Join(c.compact(), c.snapshot())
				})
			}
			var refusal *terms.Refusal
			if err != nil && (!errors.As(err, &refusal) || refusal.Code == class.CodeKept) {
				rt.Fatal(err)
			}
		}
		var last int
		live, err := get(t.Context(), l.Room.(*Local), func(c *core) (string, error) {
			c.flush()
			last = c.book.Last
			return asText(t, c.roomState()), nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, logs := range []journal.Journal{s.logs, unread{s.logs}} {
			k := folded(rt, logs, l.Code())
			if k.Book.Last > last {
				rt.Fatalf("the newest change has number %d, but the log has %d", last, k.Book.Last)
			}
			k.Book.Last = last // the numbers of refused or compacted changes can be reused
			if got := asText(t, k); got != live {
				rt.Fatalf("%T gives\n%s\nwant the room's state:\n%s", logs, got, live)
			}
		}
		l.Does(class.Delete{})
	})
}

// TestNamesAreErased: if a name is removed by the member or the instructor, it is erased
// from the disk before the removal is confirmed.
func TestNamesAreErased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	for i, name := range []string{"Quetzal", "Mangosteen", "Rumpel"} {
		if _, err := l.Join(t.Context(), classtest.Caller("learner-"+name), name); err != nil {
			t.Fatal(err)
		}
		l.Does(class.HideNames{On: i%2 == 0}) // saves pending changes
	}
	onDisk := func(text string) (in []string) {
		for _, name := range []string{"viz.db", "viz.db-wal"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), text) {
				in = append(in, name)
			}
		}
		return in
	}
	if onDisk("Quetzal") == nil || onDisk("Rumpel") == nil {
		t.Fatal("the names cannot be found on the disk before they are erased")
	}
	erased := func(text string) {
		t.Helper()
		if in := onDisk(text); in != nil {
			t.Errorf("%s is still in %v, want nil", text, in)
		}
	}
	l.Does(class.DropName{Member: 1})
	erased(`"Quetzal"`)
	l.Does(class.Remove{Member: 2})
	erased(`"Mangosteen"`)
	if err := s.Forget(t.Context(), "learner-Rumpel"); err != nil {
		t.Fatal(err)
	}
	erased("Rumpel")
	if onDisk("learner-Quetzal") == nil || onDisk("learner-Mangosteen") == nil {
		t.Error("members were forgotten") // the room must remember that only one of them may rejoin
	}
}

// stuck is a journal that can be made to refuse compaction and scrubbing.
type stuck struct {
	journal.Journal
	is, scrub atomic.Bool
}

func (s *stuck) Scrub(ctx context.Context, o journal.Owner) error {
	if s.scrub.Load() {
		return errors.New("the database is being read")
	}
	return s.Journal.Scrub(ctx, o)
}

func (s *stuck) Compact(ctx context.Context, o journal.Owner, gone []journal.Key) error {
	if s.is.Load() {
		return errors.New("the disk is full")
	}
	return s.Journal.Compact(ctx, o, gone)
}

// TestInterruptedErasureIsCompleted: an interrupted erasure is not confirmed. It is
// completed when it is requested again, or at the next start.
func TestInterruptedErasureIsCompleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var logs *stuck
	s := begun(t, dir, func(c *Config) {
		logs = &stuck{Journal: c.Logs}
		c.Logs = logs
	})
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(2)
	l.Does(class.AskQuestion{ID: "q-order"})
	l.MustCast(2, class.Ballot{Choice: "a"})
	logs.is.Store(true)
	if err := s.Forget(t.Context(), classtest.Learner(1)); !errors.Is(err, class.ErrKept) {
		t.Errorf("the erasure of data still on the disk is confirmed: got error %v, want %v", err, class.ErrKept)
	}
	names := func(logs journal.Journal) (n int) {
		for _, r := range recordsOf(t, logs, l.Code()) {
			if strings.Contains(string(r.Data), "Pupil 1") || strings.Contains(string(r.Data), `"p1"`) {
				n++
			}
		}
		return n
	}
	l.Does(class.Remove{Member: 2}) // this takes effect, although the old name and vote are still on the disk
	if names(s.logs) == 0 {
		t.Fatal("the log has been compacted")
	}
	s.end()

	again := begun(t, dir)
	for range 2 { // the second request returns once the room has tidied up after the first
		if err := again.all()[0].ask(t.Context(), func(*core) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if v := again.all()[0].View(); v.Members != 1 || v.Poll.Votes != 0 {
		t.Errorf("after the next start, there are %d members and %d votes; want 1, 0", v.Members, v.Poll.Votes)
	}
	if n := names(again.logs); n != 0 {
		t.Errorf("after the next start, %d records still name the removed members, want 0", n)
	}
}

// TestUnscrubbedErasureIsNotConfirmed: the erasure of a name that might still be on the disk
// is not confirmed, even if the log no longer contains the name.
func TestUnscrubbedErasureIsNotConfirmed(t *testing.T) {
	t.Parallel()
	var logs *stuck
	s := begun(t, t.TempDir(), func(c *Config) {
		logs = &stuck{Journal: c.Logs}
		c.Logs = logs
	})
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(1)
	logs.scrub.Store(true)
	for range 2 { // the second time, there is nothing left to compact
		if err := s.Forget(t.Context(), classtest.Learner(1)); !errors.Is(err, class.ErrKept) {
			t.Errorf("the erasure is confirmed before the disk is scrubbed: got error %v, want %v", err, class.ErrKept)
		}
	}
	logs.scrub.Store(false)
	if err := s.Forget(t.Context(), classtest.Learner(1)); err != nil {
		t.Error(err)
	}
}

// TestLogStaysShort: if the members of a class keep changing their votes, the log stays
// about as short as the newest votes alone, and contains the newest vote of each member.
func TestLogStaysShort(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	const members, changes = 40, 40
	l.Enroll(members)
	p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
	for n := range changes {
		l.AllCast(members, func(id int) class.Ballot {
			return class.Ballot{Poll: p.ID, Choice: classtest.Keys(p)[(id+n)%len(classtest.Keys(p))], N: int64(n + 1)}
		})
	}
	if got := l.Does(class.Close{}).Poll.Votes; got != members {
		t.Errorf("%d votes count, want %d", got, members)
	}
	if n := len(recordsOf(t, s.logs, l.Code())); n > 3*mostWaste/2+2*members {
		t.Errorf("after %d votes, the log has %d records, want at most %d", members*changes, n, 3*mostWaste/2+2*members)
	}
	for id, v := range folded(t, s.logs, l.Code()).Votes[polls.Round{Poll: 1, N: 1}] {
		if v.N != changes {
			t.Errorf("the vote of member %d is saved with number %d, want %d", id, v.N, changes)
		}
	}
}

// TestDamagedRoomsDoNotAffectOthers: if one record or one room is damaged, the server still
// starts, and all other rooms can be used.
func TestDamagedRoomsDoNotAffectOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	whole, damaged, lost := s.room(class.Options{Title: "Whole"}), s.room(class.Options{Title: "Damaged"}),
		s.room(class.Options{})
	damaged.Enroll(2)
	damaged.Does(class.AskQuestion{ID: "q-order"})
	room := journal.Owner{Kind: journal.Room, Name: damaged.Code()}
	if _, err := s.logs.Append(t.Context(), journal.Batch{Owner: room, At: s.clock.Now(), Records: []journal.Record{
		{Type: records.TypeVote, ID: "1.1.1.9", Data: []byte(`{"poll":`)},
		{Type: records.TypePoll, ID: "900", Data: []byte(`{"id":-3,"round":1}`)},
		{Type: records.TypePoll, ID: "901", Data: []byte(`{"id":3}`)},
		{Type: records.TypeName, ID: "902", Data: []byte(`{"member":-7,"name":"X"}`)},
		{Type: records.TypeMember, ID: "903", Data: []byte(`{"member":1000000000}`)},
		{Type: "written by a later version", ID: "904", Data: []byte(`[]`)},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		s.db.DropSecret(t.Context(), lost.Code()), s.db.KeepSecret(t.Context(), "NOROOM", make([]byte, 32)),
	); err != nil {
		t.Fatal(err)
	}
	s.end()
	again := begun(t, dir)
	var titles []string
	for _, r := range again.all() {
		titles = append(titles, r.View().Title)
	}
	if slices.Sort(titles); !slices.Equal(titles, []string{"Damaged", "Whole"}) {
		t.Errorf("the rooms are %v, want %v", titles, []string{"Damaged", "Whole"})
	}
	r, err := again.Instruct(t.Context(), damaged.Code(), damaged.Secret, classtest.Caller("here"))
	if err != nil {
		t.Fatal(err)
	}
	if n := r.View().Notice; n == nil || !strings.Contains(n.Message, "6 entries could not be read") {
		t.Errorf("the instructor's notice is %v, want it to contain %q", n, "6 entries could not be read")
	}
	if _, err := r.Summary(t.Context(), damaged.Secret); err != nil || r.View().Poll == nil || r.View().Members != 2 {
		t.Errorf("the damaged room is %+v, %v; want no error, Poll not nil, Members = 2", r.View(), err)
	}
	hashes, err := again.db.Secrets(t.Context())
	if err != nil || len(hashes) != 2 || hashes[whole.Code()] == nil {
		t.Errorf(
			"there are secrets of %d rooms, %v; want no error, len(hashes) = 2, hashes[whole.Code()] not nil",
			len(hashes), err,
		)
	}
	aside, err := again.logs.Aside(t.Context(), journal.Owner{Kind: journal.Room, Name: lost.Code()})
	if err != nil || len(aside) != 1 || aside[0].Records < 2 {
		t.Errorf("data of the room without a secret that was set aside: %+v, %v", aside, err)
	}
	for range 2 { // reported at this start and at each later one
		_, err = again.Instruct(t.Context(), lost.Code(), lost.Secret, classtest.Caller("here"))
		if refusal, ok := terms.AsRefusal(err); !ok || refusal.Code != class.CodeDamaged {
			t.Errorf("the instructor of the room without a secret: got error %v", err)
		}
		_, err = again.Enter(t.Context(), lost.Code(), classtest.Caller("member"))
		if refusal, ok := terms.AsRefusal(err); !ok || refusal.Code != class.CodeDamaged {
			t.Errorf("joining the damaged room: got error %v, want code %q", err, class.CodeDamaged)
		}
		again.end()
		again = begun(t, dir)
	}
	again.clock.Pass(31 * 24 * time.Hour)
	again.Sweep(t.Context())
	if _, err := again.Enter(t.Context(), lost.Code(), classtest.Caller("member")); !errors.Is(err, class.ErrNoRoom) {
		t.Errorf("after 31 days, it still exists: got error %v, want %v", err, class.ErrNoRoom)
	}
}

// oneUnread is a journal that cannot read one log.
type oneUnread struct {
	journal.Journal
	name string
}

func (j oneUnread) Read(ctx context.Context, o journal.Owner, after int64, f func(journal.Record) error) error {
	if o.Name == j.name {
		return errors.New("a sector is bad")
	}
	return j.Journal.Read(ctx, o, after, f)
}

// TestUnreadRoomIsLeftAlone: a room whose log cannot be read from the disk is left
// unchanged, and all other rooms start.
func TestUnreadRoomIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	sound, unread := s.room(class.Options{Title: "Sound"}), s.room(class.Options{Title: "Unread"})
	s.end()
	again := begun(t, dir, func(c *Config) { c.Logs = oneUnread{c.Logs, unread.Code()} })
	if _, err := again.Instruct(t.Context(), sound.Code(), sound.Secret, classtest.Caller("here")); err != nil {
		t.Error(err)
	}
	_, err := again.Instruct(t.Context(), unread.Code(), unread.Secret, classtest.Caller("here"))
	if refusal, ok := terms.AsRefusal(err); !ok || refusal.Code != class.CodeDamaged {
		t.Errorf("opening the other damaged room: got error %v, want code %q", err, class.CodeDamaged)
	}
	again.clock.Pass(20 * 24 * time.Hour)
	again.Sweep(t.Context())
	again.end()
	last := begun(t, dir)
	if _, err := last.Instruct(t.Context(), unread.Code(), unread.Secret, classtest.Caller("here")); err != nil {
		t.Errorf("after the disk works again: %v", err)
	}
}
