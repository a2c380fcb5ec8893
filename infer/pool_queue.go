package infer

// queue says who is served next. It is the scheduler's whole policy, without a
// clock or a goroutine:
//
//   - Who steps goes before who plays, each in the order in which they came.
//   - While someone who plays waits, they take turns place by place, so that
//     those who step never get more than every second place.
//
// With P that play and S that step, each waiting for one place at a time and
// B places a round, one queue for all would serve everybody once in (P+S)/B
// rounds: the fair share. Before someone who plays there are at most P−1 that
// play, and one that steps before each and before itself: served by place 2P at
// the latest, so in no more than 2P/B rounds. The same holds for who steps, with
// S. Nobody waits more than twice the fair share.
//
// The jobs are linked to each other, so that joining and leaving allocate
// nothing.
type queue struct {
	playing, stepping line
	turn              bool // the next place is for who plays, if anybody does
	rounds            int64
}

// line is a list of jobs, first come first served.
type line struct {
	first, last *job
	n           int
}

func (q *queue) len() int { return q.playing.n + q.stepping.n }

func (q *queue) line(j *job) *line {
	if j.urgent {
		return &q.stepping
	}
	return &q.playing
}

// join puts a job at the end of its line.
func (q *queue) join(j *job) {
	l := q.line(j)
	j.queued, j.since, j.prev, j.next = true, q.rounds, l.last, nil
	if l.last == nil {
		l.first = j
	} else {
		l.last.next = j
	}
	l.last = j
	l.n++
}

// leave takes a job out of its line. It is false where the job is in none.
func (q *queue) leave(j *job) bool {
	if !j.queued {
		return false
	}
	l := q.line(j)
	if j.prev == nil {
		l.first = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.last = j.prev
	} else {
		j.next.prev = j.prev
	}
	j.queued, j.prev, j.next = false, nil, nil
	l.n--
	return true
}

// take begins a round: it appends the next jobs, n at most, to list.
func (q *queue) take(n int, list []*job) []*job {
	for ; n > 0 && q.len() > 0; n-- {
		j := q.stepping.first
		if q.turn && q.playing.n > 0 || j == nil {
			j = q.playing.first
		}
		q.turn = j.urgent
		q.leave(j)
		list = append(list, j)
	}
	q.rounds++
	return list
}
