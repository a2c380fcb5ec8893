package room

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/class/records"
)

// asks makes a member ask a question that must be accepted.
func asks(l *classtest.Lesson, id int, text string) {
	l.T.Helper()
	if err := l.Ask(l.T.Context(), classtest.Learner(id), text); err != nil {
		l.T.Fatalf("member %d asks %q: %v", id, text, err)
	}
}

// refusedAsk checks that a member's question is refused with a code.
func refusedAsk(l *classtest.Lesson, learner, text string, want terms.Code) {
	l.T.Helper()
	err := l.Ask(l.T.Context(), learner, text)
	if e, ok := terms.AsRefusal(err); !ok || e.Code != want {
		l.T.Errorf("%s asks %.20q: got error %v, want code %q", learner, text, err, want)
	}
}

// questionsOf describes the instructor's list: id and text, then "in" and the group, "w" and the
// position on the wall, and "done".
func questionsOf(l *classtest.Lesson) string {
	l.T.Helper()
	list, err := l.Raised(l.T.Context(), l.Secret)
	if err != nil {
		l.T.Fatal(err)
	}
	return listed(list)
}

func listed(list []class.Raised) string {
	var all []string
	for _, q := range list {
		one := fmt.Sprintf("%d %s", q.ID, q.Text)
		if q.Same > 0 {
			one += fmt.Sprint(" in ", q.Same)
		}
		if q.Wall > 0 {
			one += fmt.Sprint(" w", q.Wall)
		}
		if q.Done {
			one += " done"
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// handles carries out a command of the instructor on questions.
func handles(l *classtest.Lesson, do class.Handling, ids ...int) *class.View {
	l.T.Helper()
	return l.Does(class.Handle{Do: do, Questions: ids})
}

// TestQuestionsSurviveRestartWithoutNames: a question is saved without the person who asked it. After
// a restart, the instructor still has the list, the groups and the wall. Questions are deleted with
// the room.
// Promise: A question to the instructor is stored without who asked it.
func TestQuestionsSurviveRestartWithoutNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{Nicknames: true})
	l.Enroll(2)
	asks(l, 1, "Why\u202e a \u0007 cache?\n")
	asks(l, 2, "What is it for?")
	asks(l, 2, "Is it the memory?")
	handles(l, class.Group, 1, 2)
	handles(l, class.Show, 3, 1)
	const want = "1 Why a cache? w2, 2 What is it for? in 1, 3 Is it the memory? w1"
	if got := questionsOf(l); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var saved []string
	for _, r := range recordsOf(t, s.logs, l.Code()) {
		if r.Type == records.TypeRaised {
			saved = append(saved, string(r.Data))
		}
	}
	classtest.Same(t, "the records, without who asked", saved,
		`{"id":1,"text":"Why a cache?"}`, `{"id":2,"text":"What is it for?"}`, `{"id":3,"text":"Is it the memory?"}`,
		`{"id":2,"text":"What is it for?","same":1}`)
	s.end()
	s = begun(t, dir)
	r, err := s.Instruct(t.Context(), l.Code(), l.Secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		t.Fatal(err)
	}
	again := &classtest.Lesson{Room: r, T: t, Secret: l.Secret, Broker: s.Broker()}
	if got := questionsOf(again); got != want {
		t.Errorf("after a restart: got %q, want %q", got, want)
	}
	classtest.Same(t, "the wall after a restart", again.View().Wall,
		class.OnWall{ID: 3, Text: "Is it the memory?", Times: 1}, class.OnWall{ID: 1, Text: "Why a cache?", Times: 2})
	again.Enroll(2)
	asks(again, 2, "Is it the memory?") // sent again, because the restart lost the confirmation
	if got := questionsOf(again); got != want {
		t.Errorf("after a question was sent again: got %q, want %q", got, want)
	}
	again.Does(class.Delete{})
	if left := recordsOf(t, s.logs, l.Code()); len(left) != 0 {
		t.Errorf("the deleted room has %d records, want none", len(left))
	}
}

// TestMemberCannotFloodTheInstructor: a member can have few questions open, a room has a limit, and
// empty or overlong questions are refused.
// Promise: One student cannot flood the instructor with questions.
func TestMemberCannotFloodTheInstructor(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Enroll(40)
	for _, bad := range []string{"", " \n\t ", "\u200b\u202e\x00", strings.Repeat("é", 141)} {
		refusedAsk(l, "p1", bad, class.CodeAsk)
	}
	long := strings.Repeat("é", 140)
	asks(l, 1, "  "+long+"\n")
	for range 5 {
		asks(l, 1, long) // the same question again
	}
	asks(l, 1, "b")
	asks(l, 1, "c")
	refusedAsk(l, "p1", "d", class.CodeAsk)
	refusedAsk(l, "p1", strings.Repeat("x", 60_000), class.CodeAsk)
	refusedAsk(l, "nobody", "x", class.CodeStranger)
	if got, want := questionsOf(l), "1 "+long+", 2 b, 3 c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	handles(l, class.PutAway, 2)
	asks(l, 1, "d")
	refusedAsk(l, "p1", "e", class.CodeAsk)
	for i := range class.MaxRaisedOpen - 3 { // three questions are open
		asks(l, 2+i/class.MaxRaisedOwn, fmt.Sprint("question ", i))
	}
	refusedAsk(l, "p40", "one too many", class.CodeAsk)
	handles(l, class.PutAllAway)
	if got := l.View(); len(got.Wall) != 0 {
		t.Errorf("the wall shows %v, want nothing", got.Wall)
	}
	list, err := l.Raised(t.Context(), l.Secret)
	if err != nil || len(list) != shownAway || !list[0].Done || list[0].ID != class.MaxRaisedOpen+1-shownAway+1 {
		t.Errorf("after all were put away, the list is %v, %v; want the newest %d", list, err, shownAway)
	}
	l.Does(class.AllowQuestions{})
	refusedAsk(l, "p40", "when it is quiet", class.CodeAsk)
	l.Does(class.AllowQuestions{On: true}, class.Remove{Member: 1})
	refusedAsk(l, "p1", "after the removal", class.CodeRemoved)
	l.Does(class.End{})
	refusedAsk(l, "p40", "after the end", terms.CodeExpired)
	if _, err := l.Raised(t.Context(), class.Secret{}); err != class.ErrSecret {
		t.Errorf("a list without the secret: got error %v, want %v", err, class.ErrSecret)
	}
}

// TestFewPhonesCannotUseUpTheQuestions: a member's questions have a limit that includes questions that
// were put away or erased. A room also has a limit, and the refusal does not claim that questions are
// waiting.
// Promise: A few phones cannot stop a class from asking questions.
func TestFewPhonesCannotUseUpTheQuestions(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Enroll(34) // 33 members ask 30 questions each, and one asks 10
	refused := func(id int, want string) {
		t.Helper()
		if err := l.Ask(l.T.Context(), classtest.Learner(id), "one more"); err == nil || err.Error() != want {
			t.Errorf("member %d: got %v, want %q", id, err, want)
		}
	}
	for id := 1; id <= 33; id++ {
		for n := 1; n <= 30; n++ {
			asks(l, id, fmt.Sprint(id, " asks ", n))
			if n%3 == 0 && id == 1 {
				last := (id-1)*30 + n
				handles(l, class.Erase, last-2, last-1, last)
			} else if n%3 == 0 {
				handles(l, class.PutAllAway)
			}
		}
		refused(id, "You have asked 30 questions in this class, the most for one person. Ask your instructor directly.")
	}
	for n := 1; n <= 10; n++ {
		asks(l, 34, fmt.Sprint("34 asks ", n))
		handles(l, class.PutAllAway)
	}
	for _, id := range []int{34, 1} {
		refused(id, "This class has asked 1,000 questions, and no more can be sent. Ask your instructor directly.")
	}
}

// TestInstructorChoosesAndOrdersTheWall: the wall shows only the questions that the instructor
// selected, in the instructor's order.
// Promise: A question reaches the wall only if the instructor shows it.
func TestInstructorChoosesAndOrdersTheWall(t *testing.T) {
	t.Parallel()
	l := begun(t, "").room(class.Options{})
	l.Enroll(2)
	for i, text := range []string{"a", "b", "c", "d", "e", "f"} {
		asks(l, 1+i/3, text)
	}
	wall := func(what, want string) {
		t.Helper()
		got := ""
		for _, q := range l.View().Wall {
			got += q.Text
			if q.Times > 1 {
				got += fmt.Sprint(q.Times)
			}
		}
		if got != want {
			t.Errorf("%s: the wall shows %q, want %q", what, got, want)
		}
	}
	wall("at first", "")
	handles(l, class.Show, 4, 1)
	handles(l, class.Show, 1, 2)
	wall("three selected", "dab")
	handles(l, class.MoveUp, 2)
	wall("b up", "dba")
	handles(l, class.MoveUp, 2)
	handles(l, class.MoveUp, 2)
	wall("b up to the top, and further", "bda")
	handles(l, class.MoveDown, 2)
	wall("b down", "dba")
	refused := func(do class.Handling, ids ...int) {
		t.Helper()
		_, err := l.Do(t.Context(), class.Handle{Do: do, Questions: ids})
		if e, ok := terms.AsRefusal(err); !ok || e.Code != class.CodeAsk {
			t.Errorf("%s %v: got error %v, want code %q", do, ids, err, class.CodeAsk)
		}
	}
	refused(class.Show, 3, 5) // they would be the fourth and the fifth
	refused(class.Show)
	refused(class.PutAway)
	refused(class.Group, 1)
	refused(class.Erase, 0)
	refused(class.Show, 99)
	wall("after refusals", "dba")
	handles(l, class.Group, 5, 2, 3) // e takes the place of b
	wall("b is grouped with e", "de3a")
	handles(l, class.Hide, 1)
	wall("a is taken off", "de3")
	handles(l, class.Show, 3) // c stands for its group
	handles(l, class.PutAway, 4)
	wall("d is answered", "e3")
	refused(class.Show, 4)
	handles(l, class.PutBack, 4)
	handles(l, class.PutBack, 2)
	wall("b is separated", "e2")
	if got, want := questionsOf(l), "1 a, 2 b, 3 c in 5, 4 d, 5 e w1, 6 f"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	handles(l, class.Group, 6, 5) // a group joins another
	wall("e and its group join f", "f3")
	handles(l, class.Erase, 3)
	wall("the group is erased", "")
	if got, want := questionsOf(l), "1 a, 2 b, 4 d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestErasedQuestionIsGone: a question that the instructor erases is neither in the summary nor on the
// disk. Other questions are in the summary, but not in the replay, which everyone can open.
func TestErasedQuestionIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(class.Options{})
	l.Enroll(1)
	asks(l, 1, "Quetzal?")
	asks(l, 1, "Mangosteen?")
	handles(l, class.PutAway, 1)
	handles(l, class.Erase, 2)
	for _, name := range []string{"viz.db", "viz.db-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "Mangosteen") {
			t.Errorf("the erased question is still in %s", name)
		}
	}
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil || listed(sum.Raised) != "1 Quetzal? done" {
		t.Errorf("the summary lists %q, %v; want the first question", listed(sum.Raised), err)
	}
	replay, err := s.Replay(t.Context(), l.Code(), l.ReplayKey(), classtest.Caller("p1"))
	if err != nil || len(replay.Raised) != 0 {
		t.Errorf("the replay lists %q, %v; want nothing", listed(replay.Raised), err)
	}
}
