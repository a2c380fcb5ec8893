package progress

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	drills "github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// slipsMark separates the result of a drill's step from the names of the mistakes that the
// learner made in their first answers.
const slipsMark = "; slips: "

// WithSlips appends the mistakes in the first answers to the detail of a drill's answer. It omits
// duplicates and mistakes that do not fit into the detail.
func WithSlips(detail string, slips []drills.Mistake) string {
	slips = slices.Clone(slips)
	slices.Sort(slips)
	mark := slipsMark
	for _, m := range slices.Compact(slips) {
		if !m.Known() || len(detail)+len(mark)+len(m) > saved.MaxDetail {
			continue
		}
		detail += mark + string(m)
		mark = ", "
	}
	return detail
}

// slipsIn returns the mistakes that are named in detail. It ignores other text.
func slipsIn(detail string) (list []drills.Mistake) {
	_, names, _ := strings.Cut(detail, slipsMark)
	for _, name := range strings.Split(names, ", ") {
		if m := drills.Mistake(name); m.Known() {
			list = append(list, m)
		}
	}
	return list
}

// A Slip is a mistake that a learner has made: in a drill, a named mistake; in a question of the
// course, the wrong choice in their first answer.
type Slip struct {
	Drill    string // name of the drill, "" for a question's slip
	Mistake  drills.Mistake
	Question string // id of the question, "" for a drill's slip
	Choice   int    // the choice, starting at 0
}

// Slips returns the mistakes that a learner has made, without duplicates. The mistakes in
// drills come first, followed by the mistakes in the course's questions.
func (s *Store) Slips(ctx context.Context, learnerID string) (list []Slip, err error) {
	err = s.use(ctx, learnerID, func(l *learner) error {
		st := l.State()
		for _, name := range slices.Sorted(maps.Keys(st.Drills)) {
			for _, m := range slices.Sorted(maps.Keys(st.Drills[name].Slips)) {
				list = append(list, Slip{Drill: name, Mistake: m})
			}
		}
		for _, q := range s.course.Questions {
			first := st.Firsts[q.ID]
			if first == nil || first.Credit >= 1 {
				continue
			}
			if n, ok := chosen(first.Detail, len(q.Choices)); ok {
				list = append(list, Slip{Question: q.ID, Choice: n})
			}
		}
		return nil
	})
	return list, err
}

// chosen returns the choice that is named in an answer's detail, starting at 0. The question has
// the given number of choices.
func chosen(detail string, choices int) (n int, ok bool) {
	text, ok := strings.CutPrefix(detail, "choice ")
	n, err := strconv.Atoi(text)
	return n - 1, ok && err == nil && n >= 1 && n <= choices
}
