package class

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
)

func TestNewCodesAreReadable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		code := newCode()
		if len(code) != CodeLength || strings.Trim(code, alphabet) != "" {
			t.Fatalf("got code %q, want %d letters of the alphabet", code, CodeLength)
		}
		seen[code] = true
		if got := NormalCode(" " + strings.ToLower(ShownCode(code)) + "\n"); got != code {
			t.Errorf("typed as shown, %q is read as %q", code, got)
		}
	}
	if len(seen) < 990 { // among a thousand codes, two are equal with a probability of 1/200: 1000²/2 / 22⁶
		t.Errorf("only %d of 1000 codes are different", len(seen))
	}
	if strings.ContainsAny(alphabet, "01258AEIOULSZB") {
		t.Error("the alphabet has ambiguous characters or vowels")
	}
	for typed, want := range map[string]string{
		"k7q-4mx": "K7Q4MX", "k7·q4mx": "K7Q4MX", "": "", strings.Repeat("x", 1000): "XXXXXXX",
	} {
		if got := NormalCode(typed); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

func TestSecretRoundTrip(t *testing.T) {
	t.Parallel()
	s := newSecret()
	if back := ParseSecret(s.String()); back != s || len(s.String()) != 22 || !s.fits(s.hash()) {
		t.Errorf("ParseSecret(%s) = %s, want the same 22 characters", s, back)
	}
	other := s
	other[15] ^= 1
	for _, text := range []string{"", "x", s.String() + "A", s.String()[:21], other.String(), strings.Repeat("=", 22)} {
		if ParseSecret(text).fits(s.hash()) {
			t.Errorf("the secret %q is accepted, want it refused", text)
		}
	}
}

// TestEnterLimits checks who may join and the errors for everyone else.
func TestEnterLimits(t *testing.T) {
	t.Parallel()
	s := begun(t, "", func(c *Config) { c.Limits.Members.Most = 3 })
	l := s.room(Options{})
	enter := func(code, who string) error {
		_, err := s.Enter(t.Context(), code, caller(who))
		return err
	}
	check := func(what string, got, want error) {
		t.Helper()
		if !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("a wrong code", enter("333333", "p1"), ErrNoRoom)
	check("a code as typed", enter(strings.ToLower(ShownCode(l.Code())), "p1"), nil)
	l.class(2)
	l.does(Lock{true})
	check("a locked room", enter(l.Code(), "p3"), ErrLocked)
	check("a member of a locked room", enter(l.Code(), "p1"), nil)
	l.does(Lock{false})
	l.class(3)
	check("a full room", enter(l.Code(), "p4"), ErrFull)
	check("a member of a full room", enter(l.Code(), "p2"), nil)
	l.does(Remove{2})
	check("a member who was removed", enter(l.Code(), "p2"), ErrRemoved)
	if _, err := l.Join(t.Context(), caller("p2"), ""); err != ErrRemoved {
		t.Errorf("joining after being removed: got %v, want %v", err, ErrRemoved)
	}
	check("the place of a removed member", enter(l.Code(), "p4"), nil)
	l.does(End{})
	check("after the class", enter(l.Code(), "p1"), ErrExpired)
	l.does(Reopen{})
	check("opened again", enter(l.Code(), "p1"), nil)
	s.clock.pass(DefaultLimits().CodeLife + time.Second)
	check("a day later", enter(l.Code(), "p1"), ErrExpired)
	if closed, err := l.OpenPresenter(t.Context(), instructor, l.secret); err != nil {
		t.Error(err)
	} else {
		check("after the instructor is back", enter(l.Code(), "p1"), nil)
		closed()
	}
	l.does(Delete{})
	check("after it was deleted", enter(l.Code(), "p1"), ErrNoRoom)
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
	l := s.room(Options{})
	l.class(1)
	enter := func(code string, who admission.Caller, want error) {
		t.Helper()
		if _, err := s.Enter(t.Context(), code, who); err != want {
			t.Errorf("%s tries %s: got %v, want %v", who.Learner, code, err, want)
		}
	}
	one := caller("one")
	for range 3 {
		enter("333333", one, ErrNoRoom)
	}
	enter("333333", one, ErrTries)
	enter(l.Code(), one, ErrTries)
	enter(l.Code(), caller("p1"), nil) // a member
	enter(l.Code(), caller("other"), nil)
	s.clock.pass(2 * time.Second) // refills the budget for one more try
	enter("333333", one, ErrNoRoom)

	// Two newcomers at one address try four wrong codes.
	newcomer := func(name string) admission.Caller {
		return admission.Caller{
			Learner: name, Address: netip.MustParsePrefix("192.0.2.7/32"), Since: s.clock.Now(),
		}
	}
	for range 2 {
		enter("333333", newcomer("two"), ErrNoRoom)
		enter("333333", newcomer("three"), ErrNoRoom)
	}
	enter(l.Code(), newcomer("two"), ErrTries)
	enter("333333", newcomer("four"), ErrNoRoom) // this newcomer's first try
	enter("333333", newcomer("four"), ErrTries)
	enter(l.Code(), newcomer("five"), nil)
	if _, err := s.Instruct(t.Context(), l.Code(), newSecret(), newcomer("four")); err != ErrTries {
		t.Errorf("a wrong secret: got %v, want %v", err, ErrTries)
	}
	if _, err := s.Instruct(t.Context(), l.Code(), l.secret, newcomer("four")); err != nil {
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
	create := func(who string, want terms.Code) Room {
		t.Helper()
		r, _, err := s.Create(t.Context(), caller(who), Options{})
		if want == "" && err != nil || want != "" && !errors.Is(err, &terms.Refusal{Code: want}) {
			t.Errorf("a room made by %s: got %v, want code %q", who, err, want)
		}
		return r
	}
	used := s.room(Options{}) // used by the instructor
	used.class(1)
	unused := create("flood", "")
	create("flood", terms.CodeFull)
	create("flood", terms.CodeBusy)
	create("honest", terms.CodeFull)
	s.clock.pass(11 * time.Minute)
	create("honest", "")
	list := s.all()
	if len(list) != 2 || slices.Contains(list, unused.(*local)) || !slices.Contains(list, used.Room.(*local)) {
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
	}{{newcomer, nil}, {newcomer, full}, {caller("known"), nil}, {caller("known"), full}} {
		if _, _, err := s.Create(t.Context(), row.who, Options{}); !errors.Is(err, row.want) {
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
	l := s.room(Options{Nicknames: true})
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
	here, voter, known := from(flooded, "here"), from(flooded, "voter"), caller("known")
	join(here, true, nil)
	join(voter, false, nil)
	join(known, false, nil)
	l.does(AskQuestion{ID: "q-order"})
	p := l.View().Poll
	if _, err := l.Vote(t.Context(), "voter", Ballot{Poll: p.ID, Choice: p.Options[0].Key}); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		join(from(flooded, fmt.Sprint("flood ", i)), false, nil)
	}
	if n := l.does(HideNames{true}).Members; n != most.PerAddress+1 {
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
	join(from(flooded, "late"), true, ErrFull)
	for i := range 2 {
		join(from(other, fmt.Sprint("other ", i)), true, nil)
	}
	join(from(other, "late"), true, ErrFull)
	join(caller("late"), true, nil) // replaces the other known member, who is absent
	if _, err := s.Enter(t.Context(), l.Code(), from(other, "later")); err != ErrFull {
		t.Errorf("a caller for whom there is no space: got %v, want %v", err, ErrFull)
	}
}

func TestNamesAreCleaned(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{Nicknames: true})
	for typed, want := range map[string]string{
		"Ada": "Ada", "  Ada\t\n Lovelace ": "Ada Lovelace", "<b>x</b>": "<b>x</b>", "a\u202eb\x00c": "abc",
		"": "", strings.Repeat("ж", 24): strings.Repeat("ж", 24), "a\xffb": "ab",
	} {
		m, err := l.Join(t.Context(), caller("learner "+typed), typed)
		if err != nil || m.Name != want {
			t.Errorf("%q is %+v, %v; want no error, Name = %q", typed, m, err, want)
		}
	}
	_, err := l.Join(t.Context(), caller("long"), strings.Repeat("x", 25))
	var e *terms.Refusal
	if !errors.As(err, &e) || e.Code != CodeNick || !strings.Contains(e.Message, "25 characters") {
		t.Errorf(
			"a long name: got %v, want an error of type *terms.Refusal, e.Code = %q, e.Message with %q", err, CodeNick,
			"25 characters",
		)
	}
	ada, err := l.Join(t.Context(), caller("learner Ada"), "Countess")
	if err != nil || ada.Name != "Countess" {
		t.Errorf("a new name: got %+v, %v; want no error, Name = %q", ada, err, "Countess")
	}
	l.does(HideNames{true}, DropName{ada.ID})
	if !l.View().NamesHidden {
		t.Error("names are not hidden")
	}
	again, err := l.Join(t.Context(), caller("learner Ada"), "Ada")
	if err != nil || again.Name != "" || again.ID != ada.ID {
		t.Errorf(
			`a name that was taken away is back: got %+v, %v; want no error, Name = "", ID = %d`, again, err, ada.ID,
		)
	}
	quiet := s.room(Options{})
	if m, err := quiet.Join(t.Context(), caller("p1"), "Ada"); err != nil || m.Name != "" {
		t.Errorf(`a name in a room without nicknames: got %+v, %v; want no error, Name = ""`, m, err)
	}
}

// TestHeadcountCountsPeople: the headcount counts people, not pages.
func TestHeadcountCountsPeople(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(Options{})
	l.class(3)
	l.class(2) // two members open a second page
	l.settled("three are here", func(v *View) bool { return v.Here == 3 && v.Members == 3 })
	for _, id := range []int{1, 3, 3, 3, 7} { // leaving more often than joining has no effect
		l.Leave(learner(id))
	}
	l.settled("one has left", func(v *View) bool { return v.Here == 2 && v.Members == 3 })
	list, err := l.Attendees(t.Context(), l.secret)
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
	l := s.room(Options{})
	closed, err := l.OpenPresenter(t.Context(), instructor, l.secret)
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.OpenPresenter(t.Context(), "second", l.secret)
	if err != nil {
		t.Fatal(err)
	}
	second := func(c Command, secret Secret) error {
		_, err := l.Present(t.Context(), "second", secret, c)
		return err
	}
	if err := second(Lock{true}, l.secret); err != ErrSecond || l.View().Locked {
		t.Errorf("a second instructor: got error %v, want %v and an unlocked room", err, ErrSecond)
	}
	if err := second(TakeOver{}, l.secret); err != nil {
		t.Error(err)
	}
	if l.refused(Lock{true}, ErrSecond); l.View().Locked {
		t.Error("the first instructor still presents")
	}
	other() // the second instructor leaves, so the first can continue
	l.does(Lock{true})
	window, err := l.OpenPresenter(t.Context(), instructor, l.secret)
	if err != nil || l.View().Leading != 2 {
		t.Errorf("with a second window of the first instructor: got %d leading, %v; want 2", l.View().Leading, err)
	}
	window()
	if got := l.View().Leading; got != 1 {
		t.Errorf("after the second window is closed: got %d leading, want 1", got)
	}
	closed()
	for _, secret := range []Secret{{}, newSecret()} {
		if err := second(Delete{}, secret); err != ErrSecret {
			t.Errorf("without the secret: got %v, want %v", err, ErrSecret)
		}
		_, e1 := l.OpenPresenter(t.Context(), "second", secret)
		_, e2 := l.Attendees(t.Context(), secret)
		_, e3 := l.Summary(t.Context(), secret)
		if e1 != ErrSecret || e2 != ErrSecret || e3 != ErrSecret {
			t.Errorf("without the secret: got %v, %v, %v; want %v, %v, %v", e1, e2, e3, ErrSecret, ErrSecret, ErrSecret)
		}
	}
}

func TestCreateRefusesBadOptions(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	for code, o := range map[terms.Code]Options{CodeTitle: {Title: strings.Repeat("x", 81)}, CodeWalk: {Walk: "none"}} {
		if _, _, err := s.Create(t.Context(), caller(instructor), o); !errors.Is(err, &terms.Refusal{Code: code}) {
			t.Errorf("%+v: got error %v, want %v", o, err, &terms.Refusal{Code: code})
		}
	}
	if l := s.room(Options{Title: " A\n title "}); l.View().Title != "A title" {
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
	l := s.room(Options{Nicknames: true})
	l.class(4)
	if err := l.ask(t.Context(), func(c *core) error {
		ignored := func(Member, error) {}
		for id, names := range [][]string{{"Ada", "Pupil 1"}, {"Grace"}, {"Alan"}} {
			for _, name := range names {
				c.rename(learner(id+1), name, ignored)
			}
		}
		if m := c.members[1]; m.Name != "Pupil 2" {
			t.Errorf("before it is saved, the name is %q, want %q", m.Name, "Pupil 2")
		}
		if err := c.dropName(2); err != nil {
			return err
		}
		c.rename(learner(4), "Emmy", ignored)
		return errors.Join(c.remove(3), c.forget(learner(4)))
	}); err != nil {
		t.Fatal(err)
	}
	check := func(when string, r Room) {
		t.Helper()
		list, err := r.Attendees(t.Context(), l.secret)
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
	r, err := again.Instruct(t.Context(), l.Code(), l.secret, caller(instructor))
	if err != nil {
		t.Fatal(err)
	}
	check("after a restart", r)
}
