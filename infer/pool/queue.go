package pool

// queue decides which job is served next. It contains the scheduler's whole policy and uses neither
// a clock nor goroutines:
//
//   - Stepping jobs are served before playing jobs. Each kind is first come, first served.
//   - While a playing job waits, the two kinds alternate, so stepping jobs never get more than
//     every other place.
//
// Assume that P playing and S stepping jobs each wait for one place at a time, and that a round has
// B places. Then a single queue would serve every job once every (P+S)/B rounds, its fair share. At
// most P−1 other playing jobs are ahead of a playing job, and one stepping job is ahead of each of
// them and of the job itself. So the job gets at worst the 2P-th place, which is within 2P/B
// rounds. The same is true for stepping jobs, with S in place of P. So a job never waits for more
// than twice its fair share.
//
// The jobs form linked lists, so joining and leaving the queue does not allocate.
type queue struct {
	playing, stepping line
	turn              bool // the next place goes to a playing job, if there is one
	rounds            int64
}

// line is a first-in, first-out list of jobs.
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

// join appends a job to its line.
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

// leave removes a job from its line. It returns false if the job is not queued.
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

// take begins a round: it moves up to n jobs from the queue to the end of list.
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
