package room

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
)

// TestEnterLimits checks who may join and the errors for everyone else.
func TestEnterLimits(t *testing.T) {
	t.Parallel()
	s := begun(t, "", func(c *Config) { c.Limits.Members.Most = 3 })
	l := s.room(class.Options{})
	enter := func(code, who string) error {
		_, err := s.Enter(t.Context(), code, classtest.Caller(who))
		return err
	}
	check := func(what string, got, want error) {
		t.Helper()
		if !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("a wrong code", enter("333333", "p1"), class.ErrNoRoom)
	check("a code as typed", enter(strings.ToLower(class.ShownCode(l.Code())), "p1"), nil)
	l.Enroll(2)
	l.Does(class.Lock{On: true})
	check("a locked room", enter(l.Code(), "p3"), class.ErrLocked)
	check("a member of a locked room", enter(l.Code(), "p1"), nil)
	l.Does(class.Lock{On: false})
	l.Enroll(3)
	check("a full room", enter(l.Code(), "p4"), class.ErrFull)
	check("a member of a full room", enter(l.Code(), "p2"), nil)
	l.Does(class.Remove{Member: 2})
	check("a member who was removed", enter(l.Code(), "p2"), class.ErrRemoved)
	if _, err := l.Join(t.Context(), classtest.Caller("p2"), ""); err != class.ErrRemoved {
		t.Errorf("joining after being removed: got %v, want %v", err, class.ErrRemoved)
	}
	check("the place of a removed member", enter(l.Code(), "p4"), nil)
	l.Does(class.End{})
	check("after the class", enter(l.Code(), "p1"), class.ErrExpired)
	l.Does(class.Reopen{})
	check("opened again", enter(l.Code(), "p1"), nil)
	s.clock.Pass(DefaultLimits().CodeLife + time.Second)
	check("a day later", enter(l.Code(), "p1"), class.ErrExpired)
	if closed, err := l.OpenPresenter(t.Context(), classtest.Instructor, l.Secret); err != nil {
		t.Error(err)
	} else {
		check("after the instructor is back", enter(l.Code(), "p1"), nil)
		closed()
	}
	l.Does(class.Delete{})
	check("after it was deleted", enter(l.Code(), "p1"), class.ErrNoRoom)
}

// TestWrongCodes: wrong codes and secrets are counted for each learner and for all newcomers
// at an address. When the budget is used up, members can still return, and a learner who has
// not tried a wrong code can still try a code.
func TestWrongCodes(t *testing.T) {
	t.Parallel()
	pace := admission.Pace{
		PerLearner: admission.Rate{PerSecond: 0.5, Burst: 3}, PerAddress: admission.Rate{PerSecond: 0.1, Burst: 4},
	}
	s := begun(t, "", func(c *Config) { c.WrongCodes = admission.NewMeter(pace, c.Now) })
	l := s.room(class.Options{})
	l.Enroll(1)
	enter := func(code string, who admission.Caller, want error) {
		t.Helper()
		if _, err := s.Enter(t.Context(), code, who); err != want {
			t.Errorf("%s tries %s: got %v, want %v", who.Learner, code, err, want)
		}
	}
	one := classtest.Caller("one")
	for range 3 {
		enter("333333", one, class.ErrNoRoom)
	}
	enter("333333", one, class.ErrTries)
	enter(l.Code(), one, class.ErrTries)
	enter(l.Code(), classtest.Caller("p1"), nil) // a member
	enter(l.Code(), classtest.Caller("other"), nil)
	s.clock.Pass(2 * time.Second) // refills the budget for one more try
	enter("333333", one, class.ErrNoRoom)

	// Two newcomers at one address try four wrong codes.
	newcomer := func(name string) admission.Caller {
		return admission.Caller{
			Learner: name, Address: netip.MustParsePrefix("192.0.2.7/32"), Since: s.clock.Now(),
		}
	}
	for range 2 {
		enter("333333", newcomer("two"), class.ErrNoRoom)
		enter("333333", newcomer("three"), class.ErrNoRoom)
	}
	enter(l.Code(), newcomer("two"), class.ErrTries)
	enter("333333", newcomer("four"), class.ErrNoRoom) // this newcomer's first try
	enter("333333", newcomer("four"), class.ErrTries)
	enter(l.Code(), newcomer("five"), nil)
	if _, err := s.Instruct(t.Context(), l.Code(), class.NewSecret(), newcomer("four")); err != class.ErrTries {
		t.Errorf("a wrong secret: got %v, want %v", err, class.ErrTries)
	}
	if _, err := s.Instruct(t.Context(), l.Code(), l.Secret, newcomer("four")); err != nil {
		t.Errorf("the right secret: %v", err)
	}
}

// TestNewRoomsAreLimited: the rate of new rooms is limited, and when there are too many
// rooms, unused rooms are replaced.
func TestNewRoomsAreLimited(t *testing.T) {
	t.Parallel()
	pace := admission.Pace{PerLearner: admission.Rate{PerSecond: 0.001, Burst: 2}}
	s := begun(t, "", func(c *Config) {
		c.NewRooms, c.Limits = admission.NewMeter(pace, c.Now), Limits{Rooms: admission.Share{Most: 2}}
	})
	create := func(who string, want terms.Code) class.Room {
		t.Helper()
		r, _, err := s.Create(t.Context(), classtest.Caller(who), class.Options{})
		if want == "" && err != nil || want != "" && !errors.Is(err, &terms.Refusal{Code: want}) {
			t.Errorf("a room made by %s: got %v, want code %q", who, err, want)
		}
		return r
	}
	used := s.room(class.Options{}) // used by the instructor
	used.Enroll(1)
	unused := create("flood", "")
	create("flood", terms.CodeFull)
	create("flood", terms.CodeBusy)
	create("honest", terms.CodeFull)
	s.clock.Pass(11 * time.Minute)
	create("honest", "")
	list := s.all()
	if len(list) != 2 || slices.Contains(list, unused.(*Local)) || !slices.Contains(list, used.Room.(*Local)) {
		t.Errorf("the rooms are %v, want 2 rooms, not including %v and including %v", list, unused, used.Room)
	}
}

// TestNewcomersLeaveRoomsForKnownLearners: newcomers cannot use up the rooms that are
// reserved for learners whom the server knows.
func TestNewcomersLeaveRoomsForKnownLearners(t *testing.T) {
	t.Parallel()
	s := begun(t, "", func(c *Config) { c.Limits.Rooms = admission.Share{Most: 2, Newcomers: 1} })
	newcomer := admission.Caller{Learner: "new", Since: s.clock.Now()}
	full := &terms.Refusal{Code: terms.CodeFull}
	for i, row := range []struct {
		who  admission.Caller
		want error
	}{{newcomer, nil}, {newcomer, full}, {classtest.Caller("known"), nil}, {classtest.Caller("known"), full}} {
		if _, _, err := s.Create(t.Context(), row.who, class.Options{}); !errors.Is(err, row.want) {
			t.Errorf("room %d: %v, want %v", i+1, err, row.want)
		}
	}
}

// TestFloodOfNamesDoesNotFillTheRoom: a client that joins under many names does not fill the
// room. Members who have a page open, have voted, are known to the server or are at other
// addresses stay.
func TestFloodOfNamesDoesNotFillTheRoom(t *testing.T) {
	t.Parallel()
	most := admission.Share{Most: 8, Newcomers: 7, PerAddress: 5}
	s := begun(t, "", func(c *Config) { c.Limits.Members = most })
	l := s.room(class.Options{Nicknames: true})
	from := func(address, name string) admission.Caller {
		return admission.Caller{Learner: name, Address: netip.MustParsePrefix(address), Since: s.clock.Now()}
	}
	const flooded, other = "192.0.2.1/32", "192.0.2.2/32"
	join := func(who admission.Caller, stays bool, want error) {
		t.Helper()
		_, err := l.Join(t.Context(), who, who.Learner)
		if !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s joins: got %v, want %v", who.Learner, err, want)
		}
		if !stays && err == nil {
			l.Leave(who.Learner)
		}
	}
	here, voter, known := from(flooded, "here"), from(flooded, "voter"), classtest.Caller("known")
	join(here, true, nil)
	join(voter, false, nil)
	join(known, false, nil)
	l.Does(class.AskQuestion{ID: "q-order"})
	p := l.View().Poll
	if _, err := l.Vote(t.Context(), "voter", class.Ballot{Poll: p.ID, Choice: p.Options[0].Key}); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		join(from(flooded, fmt.Sprint("flood ", i)), false, nil)
	}
	if n := l.Does(class.HideNames{On: true}).Members; n != most.PerAddress+1 {
		t.Errorf("the room has %d members, want %d from the address and the known one", n, most.PerAddress)
	}
	for _, honest := range []string{"here", "voter", "known"} {
		if _, err := l.Standing(t.Context(), honest); err != nil {
			t.Errorf("%s: %v", honest, err)
		}
	}
	for i := range 3 { // pages that stay open
		join(from(flooded, fmt.Sprint("open ", i)), true, nil)
	}
	join(from(flooded, "late"), true, class.ErrFull)
	for i := range 2 {
		join(from(other, fmt.Sprint("other ", i)), true, nil)
	}
	join(from(other, "late"), true, class.ErrFull)
	join(classtest.Caller("late"), true, nil) // replaces the other known member, who is absent
	if _, err := s.Enter(t.Context(), l.Code(), from(other, "later")); err != class.ErrFull {
		t.Errorf("a caller for whom there is no space: got %v, want %v", err, class.ErrFull)
	}
}

func TestNamesAreCleaned(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{Nicknames: true})
	for typed, want := range map[string]string{
		"Ada": "Ada", "  Ada\t\n Lovelace ": "Ada Lovelace", "<b>x</b>": "<b>x</b>", "a\u202eb\x00c": "abc",
		"": "", strings.Repeat("ж", 24): strings.Repeat("ж", 24), "a\xffb": "ab",
	} {
		m, err := l.Join(t.Context(), classtest.Caller("learner "+typed), typed)
		if err != nil || m.Name != want {
			t.Errorf("%q is %+v, %v; want no error, Name = %q", typed, m, err, want)
		}
	}
	_, err := l.Join(t.Context(), classtest.Caller("long"), strings.Repeat("x", 25))
	var e *terms.Refusal
	if !errors.As(err, &e) || e.Code != class.CodeNick || !strings.Contains(e.Message, "25 characters") {
		t.Errorf(
			"a long name: got %v, want an error of type *terms.Refusal, e.Code = %q, e.Message with %q", err,
			class.CodeNick,
			"25 characters",
		)
	}
	ada, err := l.Join(t.Context(), classtest.Caller("learner Ada"), "Countess")
	if err != nil || ada.Name != "Countess" {
		t.Errorf("a new name: got %+v, %v; want no error, Name = %q", ada, err, "Countess")
	}
	l.Does(class.HideNames{On: true}, class.DropName{Member: ada.ID})
	if !l.View().NamesHidden {
		t.Error("names are not hidden")
	}
	again, err := l.Join(t.Context(), classtest.Caller("learner Ada"), "Ada")
	if err != nil || again.Name != "" || again.ID != ada.ID {
		t.Errorf(
			`a name that was taken away is back: got %+v, %v; want no error, Name = "", ID = %d`, again, err, ada.ID,
		)
	}
	quiet := s.room(class.Options{})
	if m, err := quiet.Join(t.Context(), classtest.Caller("p1"), "Ada"); err != nil || m.Name != "" {
		t.Errorf(`a name in a room without nicknames: got %+v, %v; want no error, Name = ""`, m, err)
	}
}

// TestHeadcountCountsPeople: the headcount counts people, not pages.
func TestHeadcountCountsPeople(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	l.Enroll(3)
	l.Enroll(2) // two members open a second page
	l.Settled("three are here", func(v *class.View) bool { return v.Here == 3 && v.Members == 3 })
	for _, id := range []int{1, 3, 3, 3, 7} { // leaving more often than joining has no effect
		l.Leave(classtest.Learner(id))
	}
	l.Settled("one has left", func(v *class.View) bool { return v.Here == 2 && v.Members == 3 })
	list, err := l.Attendees(t.Context(), l.Secret)
	if err != nil || len(list) != 3 || !list[0].Here || list[2].Here {
		t.Errorf("the list is %+v, %v; want no error, 3 elements, list[0].Here = true, list[2].Here = false", list, err)
	}
}

// TestSecondInstructorMayTakeOver: only one instructor presents at a time. A second instructor who
// has the secret learns that someone is presenting, and can take over. Without the secret, nothing
// works.
func TestSecondInstructorMayTakeOver(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	closed, err := l.OpenPresenter(t.Context(), classtest.Instructor, l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.OpenPresenter(t.Context(), "second", l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	second := func(c class.Command, secret class.Secret) error {
		_, err := classtest.Execute(t.Context(), l.Room, "second", secret, c)
		return err
	}
	if err := second(class.Lock{On: true}, l.Secret); err != class.ErrSecond || l.View().Locked {
		t.Errorf("a second instructor: got error %v, want %v and an unlocked room", err, class.ErrSecond)
	}
	if err := second(class.TakeOver{}, l.Secret); err != nil {
		t.Error(err)
	}
	if l.Refused(class.Lock{On: true}, class.ErrSecond); l.View().Locked {
		t.Error("the first instructor still presents")
	}
	other() // the second instructor leaves, so the first can continue
	l.Does(class.Lock{On: true})
	window, err := l.OpenPresenter(t.Context(), classtest.Instructor, l.Secret)
	if err != nil || l.View().Leading != 2 {
		t.Errorf("with a second window of the first instructor: got %d leading, %v; want 2", l.View().Leading, err)
	}
	window()
	if got := l.View().Leading; got != 1 {
		t.Errorf("after the second window is closed: got %d leading, want 1", got)
	}
	closed()
	for _, secret := range []class.Secret{{}, class.NewSecret()} {
		if err := second(class.Delete{}, secret); err != class.ErrSecret {
			t.Errorf("without the secret: got %v, want %v", err, class.ErrSecret)
		}
		_, e1 := l.OpenPresenter(t.Context(), "second", secret)
		_, e2 := l.Attendees(t.Context(), secret)
		_, e3 := l.Summary(t.Context(), secret)
		if e1 != class.ErrSecret || e2 != class.ErrSecret || e3 != class.ErrSecret {
			t.Errorf("without the secret: got %v, %v, %v; want %v, %v, %v", e1, e2, e3, class.ErrSecret,
				class.ErrSecret, class.ErrSecret)
		}
	}
}

func TestCreateRefusesBadOptions(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	for code, o := range map[terms.Code]class.Options{
		class.CodeTitle: {Title: strings.Repeat("x", 81)},
		class.CodeWalk:  {Walk: "none"},
	} {
		if _, _, err := s.Create(t.Context(), classtest.Caller(classtest.Instructor), o); !errors.Is(err,
			&terms.Refusal{Code: code}) {
			t.Errorf("%+v: got error %v, want %v", o, err, &terms.Refusal{Code: code})
		}
	}
	if l := s.room(class.Options{Title: " A\n title "}); l.View().Title != "A title" {
		t.Errorf("the title is %q, want %q", l.View().Title, "A title")
	}
}

// TestNamesGivenAtOnceAreOrdered: nicknames chosen while earlier ones are being saved keep
// their order. If the instructor removes a member or a member's name in the meantime, the
// name being saved does not appear in the class afterwards, not even after a restart.
func TestNamesGivenAtOnceAreOrdered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(4)
	if err := ask(t.Context(), l, func(c *core) error {
		ignored := func(class.Member, error) {}
		for id, names := range [][]string{{"Ada", "Pupil 1"}, {"Grace"}, {"Alan"}} {
			for _, name := range names {
				c.rename(classtest.Learner(id+1), name, ignored)
			}
		}
		if m := c.members[1]; m.Name != "Pupil 2" {
			t.Errorf("before it is saved, the name is %q, want %q", m.Name, "Pupil 2")
		}
		if err := c.dropName(2); err != nil {
			return err
		}
		c.rename(classtest.Learner(4), "Emmy", ignored)
		return errors.Join(c.remove(3), c.forget(classtest.Learner(4)))
	}); err != nil {
		t.Fatal(err)
	}
	check := func(when string, r class.Room) {
		t.Helper()
		list, err := r.Attendees(t.Context(), l.Secret)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int]string{}
		for _, a := range list {
			got[a.ID] = a.Name
		}
		if want := map[int]string{1: "Pupil 1", 2: "", 4: ""}; !maps.Equal(got, want) {
			t.Errorf("%s, the names are %v, want %v", when, got, want)
		}
	}
	check("at once", l.Room)
	s.end()
	again := begun(t, dir)
	r, err := again.Instruct(t.Context(), l.Code(), l.Secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		t.Fatal(err)
	}
	check("after a restart", r)
}
