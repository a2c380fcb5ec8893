package coursework

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/chance"
)

// TestStudyTableHasNoFormulas: text that begins like a formula gets an apostrophe, and a question
// other than the study's has no code.
func TestStudyTableHasNoFormulas(t *testing.T) {
	t.Parallel()
	choices := []lessons.Choice{{Text: "a, b"}, {Text: "-x", Right: true}}
	q := &lessons.Question{ID: "q", PromptText: "=1+1", Choices: choices}
	at := time.Date(2026, 1, 2, 23, 59, 59, 0, time.FixedZone("", -3600)) // the 3rd in UTC
	var b strings.Builder
	err := WriteStudy(&b, terms.SheetPipe, []StudyAnswer{
		{Participant: "C3D4F", Day: at, Q: q}, {Participant: "C3D4F", Day: at, Closing: true, Q: q, Choice: 1},
	})
	const want = "participant,day,phase,question,answer,code,right\n" +
		"C3D4F,2026-01-03,opening,'=1+1,\"a, b\",,false\nC3D4F,2026-01-03,closing,'=1+1,'-x,,true\n"
	if got := b.String(); err != nil || got != want {
		t.Errorf("got the table %q, %v; want %q", got, err, want)
	}
}

// TestStudyCodesMatchTheChoices: each choice of the study's question has a code, and exactly the right
// choice has the code of the right answer.
func TestStudyCodesMatchTheChoices(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	q := course.Question(StudyQuestion)
	if q == nil || len(q.Choices) != len(StudyCodes)-1 { // "other" is only for written answers
		t.Fatalf("the question is %+v, want one with %d choices", q, len(StudyCodes)-1)
	}
	for i, c := range q.Choices {
		if c.Right != (StudyCodes[i] == StudyRight) {
			t.Errorf("the choice %q is right: %t, and has the code %q", c.Text, c.Right, StudyCodes[i])
		}
	}
}

// TestParticipantsAreDistinct: 2,000 codes have the same length and differ, and other people get other
// codes.
func TestParticipantsAreDistinct(t *testing.T) {
	t.Parallel()
	codes := Participants(t.Context(), 2000)
	for _, c := range codes {
		if len(c) != studyLength || strings.Trim(c, studyAlphabet) != "" {
			t.Errorf("a code is %q, want %d characters of %q", c, studyLength, studyAlphabet)
		}
	}
	slices.Sort(codes)
	if n := len(slices.Compact(codes)); n != 2000 {
		t.Errorf("%d of 2,000 codes differ, want all", n)
	}
	steady := chance.Steady(t.Context())
	if a, b := Participants(steady, 1)[0], Participants(steady, 1)[0]; a == b {
		t.Errorf("two participants have the code %q, want two codes", a)
	}
}
