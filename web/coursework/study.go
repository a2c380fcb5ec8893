package coursework

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/chance"
)

// StudyQuestion is the id of the quiz question of the study kit: where a chatbot's answer comes from.
const StudyQuestion = "q-answer-from"

// StudyCodes are the codes of the study kit. The first ones are the codes of the choices of
// [StudyQuestion], in their order in the course. [StudyRight] is the code of the right one.
var StudyCodes = []string{"copied", "understood", "person", StudyRight, "unknown", "other"}

// StudyRight is the code of the right answer to [StudyQuestion].
const StudyRight = "patterns"

// studyAlphabet has no vowels and no characters that are easily confused in handwriting. With five of
// its 22 characters, there are 5 million codes.
const (
	studyAlphabet = "34679CDFGHJKMNPQRTVWXY"
	studyLength   = 5
)

// Participants returns n distinct random codes, which stand for people in a study.
func Participants(ctx context.Context, n int) (codes []string) {
	for len(codes) < n {
		code := make([]byte, studyLength)
		for i := range code {
			code[i] = studyAlphabet[chance.N(ctx, uint64(len(studyAlphabet)))]
		}
		if !slices.Contains(codes, string(code)) {
			codes = append(codes, string(code))
		}
	}
	return codes
}

// A StudyAnswer is a participant's first or last choice for a question.
type StudyAnswer struct {
	Participant string
	Day         time.Time
	Closing     bool // whether it is the last choice
	Q           *lessons.Question
	Choice      int // starting at 0
}

// StudyColumns are the columns of a study's table.
var StudyColumns = []string{"participant", "day", "phase", "question", "answer", "code", "right"}

// WriteStudy writes a study's table as CSV, with one row for each answer. The rows contain no names and
// no times of day.
func WriteStudy(w io.Writer, form terms.SheetForm, answers []StudyAnswer) error {
	out := terms.NewSheet(w, form)
	head := make([]any, len(StudyColumns))
	for i, c := range StudyColumns {
		head[i] = c
	}
	out.Row(head...)
	for _, a := range answers {
		phase, code := "opening", any(nil)
		if a.Closing {
			phase = "closing"
		}
		if a.Q.ID == StudyQuestion {
			code = StudyCodes[a.Choice]
		}
		c := a.Q.Choices[a.Choice]
		out.Row(a.Participant, a.Day.UTC().Format(time.DateOnly), phase, a.Q.PromptText, c.Text, code, c.Right)
	}
	return out.Flush()
}
