package progress

import "context"

// A Belief is a learner's first answer to a course question, together with their newest result.
type Belief struct {
	Question   string  // the question's id
	First, Now float64 // the credit of the first and of the newest answer, 0 to 1
	Chose      int     // the choice in the first answer, starting at 0; -1 if it was not a choice
}

// A firstAnswer is the oldest answer to a question.
type firstAnswer struct {
	credit
	Detail string `json:"detail"`
}

// Beliefs returns a learner's answers to the course's questions, in the order of the quiz.
func (s *Store) Beliefs(ctx context.Context, learnerID string) (list []Belief, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		for _, q := range s.course.Questions {
			first, now := st.Firsts[q.ID], st.Credit[q.ID]
			if first == nil || now == nil {
				continue
			}
			b := Belief{Question: q.ID, First: first.Credit, Now: now.Credit, Chose: -1}
			if n, ok := chosen(first.Detail, len(q.Choices)); ok {
				b.Chose = n
			}
			list = append(list, b)
		}
	})
	return list, err
}
