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

// slipsMark is between how a step of a drill went and the names of the mistakes
// that were made at first.
const slipsMark = "; slips: "

// WithSlips is the detail of a drill's answer with the mistakes that were made at
// first, each once, as many as a detail has room for.
func WithSlips(detail string, slips []drills.Mistake) string {
	slips = slices.Clone(slips)
	slices.Sort(slips)
	mark := slipsMark
	for _, m := range slices.Compact(slips) {
		if m.Name() == "" || len(detail)+len(mark)+len(m) > saved.MaxDetail {
			continue
		}
		detail += mark + string(m)
		mark = ", "
	}
	return detail
}

// slipsIn are the mistakes that a detail names; what it names otherwise is left out.
func slipsIn(detail string) (list []drills.Mistake) {
	_, names, _ := strings.Cut(detail, slipsMark)
	for _, name := range strings.Split(names, ", ") {
		if m := drills.Mistake(name); m.Name() != "" {
			list = append(list, m)
		}
	}
	return list
}

// A Slip is a mistake that a learner has made: in a drill one that has a name, of
// a question of the course the wrong choice of their first answer.
type Slip struct {
	Drill    string // its name, "" for a question's
	Mistake  drills.Mistake
	Question string // its id, "" for a drill's
	Choice   int    // from 0
}

// Slips returns the mistakes that a learner has made, each once: those in drills,
// then those of the course's questions.
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

// chosen reads which of so many choices an answer's detail names, from 0.
func chosen(detail string, choices int) (n int, ok bool) {
	text, ok := strings.CutPrefix(detail, "choice ")
	n, err := strconv.Atoi(text)
	return n - 1, ok && err == nil && n >= 1 && n <= choices
}
