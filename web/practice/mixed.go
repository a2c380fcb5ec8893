package practice

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
)

// mixedSize is the number of questions in a mixed quiz.
const mixedSize = 10

// rank returns the rank of a question: a mixed quiz first asks what is due, then what was never
// answered. A question without a standing was never answered.
func rank(standings map[string]progress.Standing, id string) int {
	switch standing, ok := standings[id]; {
	case !ok || standing == progress.Unanswered:
		return 1
	case standing == progress.Due:
		return 0
	}
	return 2
}

// mixed returns the n-th mixed quiz of a day, counting from 1: up to ten questions, drawn over all
// lessons. It is empty after the last one. The quizzes of a day have each question once. They depend
// only on the day and the standings, so they are the same after a reload.
func mixed(list []*lessons.Question, day int, standings map[string]progress.Standing, n int) []*lessons.Question {
	from := min(max(n-1, 0), len(list)) * mixedSize
	list = ranked(list, day, standings)
	if from >= len(list) {
		return nil
	}
	return apart(list[from:min(from+mixedSize, len(list))])
}

// ranked sorts questions by standing and, within a standing, takes one from each lesson in turn. The
// day decides which question of a lesson comes first, and which lesson.
func ranked(list []*lessons.Question, day int, standings map[string]progress.Standing) []*lessons.Question {
	type row struct {
		q           *lessons.Question
		rank, round int // round counts the questions of the same lesson and rank before it
		lesson, own uint64
	}
	rows := make([]row, 0, len(list))
	for _, q := range list {
		rows = append(rows, row{
			q: q, rank: rank(standings, q.ID), lesson: shuffle(day, lessonOf(q)), own: shuffle(day, q.ID),
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.own, b.own) })
	type turn struct {
		lesson string
		rank   int
	}
	seen := map[turn]int{}
	for i := range rows {
		t := turn{lessonOf(rows[i].q), rows[i].rank}
		rows[i].round = seen[t]
		seen[t]++
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.round, b.round), cmp.Compare(a.lesson, b.lesson))
	})
	sorted := make([]*lessons.Question, 0, len(rows))
	for _, r := range rows {
		sorted = append(sorted, r.q)
	}
	return sorted
}

// apart reorders questions so that neighbors are about different lessons where possible: it takes
// the next question from another lesson than the last one.
func apart(list []*lessons.Question) []*lessons.Question {
	rest, sorted := slices.Clone(list), make([]*lessons.Question, 0, len(list))
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(q *lessons.Question) bool {
			return len(sorted) == 0 || lessonOf(q) != lessonOf(sorted[len(sorted)-1])
		})
		i = max(i, 0)
		sorted = append(sorted, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return sorted
}

// lessonOf returns the slug of the lesson that a question is about.
func lessonOf(q *lessons.Question) string {
	slug, _, _ := strings.Cut(q.Section, "#")
	return slug
}

// shuffle returns a number that depends on the day and an id, and seems random.
func shuffle(day int, id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id + " " + strconv.Itoa(day)))
	x := h.Sum64() // the last bytes hardly change the high bits of FNV, so mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}
