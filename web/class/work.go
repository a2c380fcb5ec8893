package class

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// A class may be assigned tasks of the course. Its members hand in how far they
// are, once each: what they hand in again replaces it. The server reads that from
// their saved progress, not from what a browser says.

// Limits of what is assigned and handed in.
const (
	mostTasks   = 40
	mostSlips   = 64
	longestTask = 80 // in bytes, of the name of a task or of a mistake
)

// Assign assigns tasks to the class, in place of those before; without any, nothing is
// assigned. Names asks members for a name when they hand in.
type Assign struct {
	Tasks []string // as in addresses, without spaces
	Names bool
}

func (Assign) command() {}

// Work is what a member has handed in.
type Work struct {
	At    time.Time `json:"at"`
	Done  []string  `json:"done,omitempty"`  // tasks that are finished
	Slips []string  `json:"slips,omitempty"` // mistakes, each once: the task, a colon, and what it was
}

// same reports whether two say the same, times aside.
func (w Work) same(x Work) bool {
	return slices.Equal(w.Done, x.Done) && slices.Equal(w.Slips, x.Slips)
}

// Assignment is what a class was assigned, for one learner.
type Assignment struct {
	Title string
	Tasks []string
	Names bool   // a name is asked for
	Name  string // the learner's in this class, "" for none
	Work  *Work  // what they have handed in, nil for nothing
}

// AssignedSummary is what came back, from members who have not been removed.
type AssignedSummary struct {
	Tasks    []TaskSummary
	Names    bool // they were asked for
	HandedIn int
	Slips    []SlipSummary // of these tasks, the most frequent first
	People   []PersonSummary
}

// TaskSummary is how many have finished a task, SlipSummary how many made a mistake.
type (
	TaskSummary struct {
		Task string
		Done int
	}
	SlipSummary struct {
		Task, Slip string
		Members    int
	}
)

// PersonSummary is one who gave a name, which the instructor had asked for.
type PersonSummary struct {
	Name string
	Done int // tasks
}

// assign changes what is assigned.
func (d roomData) assign(a Assign) (roomData, error) {
	if len(a.Tasks) > mostTasks {
		return d, terms.Refuse(CodeAsk, "At most %d tasks can be assigned together.", mostTasks)
	}
	for _, t := range a.Tasks {
		if !plainTask(t) {
			return d, terms.Refuse(CodeAsk, "There is no task %q.", short(t))
		}
	}
	d.Tasks, d.AskNames = strings.Join(a.Tasks, " "), a.Names && len(a.Tasks) > 0
	return d, nil
}

func plainTask(t string) bool {
	return t != "" && text(t, longestTask) && !strings.ContainsAny(t, " \n\t:")
}

// WorkKey opens the class's assignment, also after the class has ended. Like
// [Room.ReplayKey] it does not lead to the secret.
func (r *Room) WorkKey() string {
	sum := sha256.Sum256(append([]byte("work of room "+r.code+": "), r.secret[:]...))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Assigned returns the room with a code if the key is that of its assignment, as in
// [Hub.Replay].
func (h *Hub) Assigned(code, key string, who admission.Caller) (*Room, error) {
	r, err := h.lookup(h.ctx, code)
	if err != nil {
		return nil, err
	}
	if r == nil || subtle.ConstantTimeCompare([]byte(key), []byte(r.WorkKey())) != 1 {
		if !h.mayTry(who) {
			return nil, ErrTries
		}
		h.cfg.WrongCodes.Spend(who)
		return nil, ErrNoRoom
	}
	return r, nil
}

// Assignment returns what the class was assigned and what a learner has handed in.
func (r *Room) Assignment(ctx context.Context, learner string) (Assignment, error) {
	if r.relay != nil {
		return call(ctx, r.relay, opAssignment, whoArgs{admission.Caller{Learner: learner}})
	}
	return r.assignment(ctx, learner)
}

func (r *Room) assignment(ctx context.Context, learner string) (Assignment, error) {
	return get(ctx, r, func(c *core) (Assignment, error) {
		a := Assignment{Title: c.data.Title, Tasks: strings.Fields(c.data.Tasks), Names: c.data.AskNames}
		if m := c.byLearner[learner]; m != nil && !m.Removed {
			a.Name = m.Name
			if m.Work != nil {
				w := *m.Work
				a.Work = &w
			}
		}
		return a, nil
	})
}

// HandIn saves what a learner has done, in place of what they handed in before. A learner
// who comes with the assignment's key becomes a member, under the limits of joining, though
// not of a locked room; see [Hub.Assigned]. The name counts only if names are asked for.
//
// Errors: [ErrRemoved], [ErrLocked], [ErrFull], [CodeNick], [CodeAsk] if nothing is
// assigned, [ErrKept].
func (r *Room) HandIn(ctx context.Context, who admission.Caller, name string, w Work) error {
	nick, err := cleanNick(name)
	if err != nil {
		return err
	}
	if r.relay != nil {
		_, err := call(ctx, r.relay, opHandIn, handing{who, nick, w})
		return err
	}
	return r.handIn(ctx, who, nick, w)
}

func (r *Room) handIn(ctx context.Context, who admission.Caller, nick string, w Work) error {
	return r.ask(ctx, func(c *core) error { return c.handIn(who, nick, w) })
}

func (c *core) handIn(who admission.Caller, name string, w Work) error {
	tasks := strings.Fields(c.data.Tasks)
	if len(tasks) == 0 {
		return terms.Refuse(CodeAsk, "This class has nothing assigned at the moment.")
	}
	if m := c.byLearner[who.Learner]; m != nil && m.Removed {
		return ErrRemoved
	} else if m == nil {
		if err := c.admitNew(who); err != nil {
			return err
		}
	}
	c.flush() // a nickname that they have just given may be on its way
	w = w.within(tasks, c.cfg.Now())
	m, changes := c.byLearner[who.Learner], []entry(nil)
	if m == nil {
		m, changes = c.newMember(who)
		c.enqueue(nil, append(changes, c.memberEntry(*m))...)
		changes = nil
		c.publishSoon(crowdEvery)
	}
	next := *m
	if c.data.AskNames && !m.Nameless && name != "" {
		next.Name = name
	}
	if m.Work != nil && m.Work.same(w) && next.Name == m.Name {
		return nil // so that pressing again and again writes nothing
	}
	next.Work, next.voted = &w, true
	if changes = append(changes, c.memberEntry(next)); next.Name != m.Name {
		changes = append(changes, c.nameEntry(next))
	}
	if err := c.commit(changes...); err != nil {
		return err
	}
	*m = next
	return nil
}

// within leaves of what is handed in what belongs to the tasks, and no more than the limits.
func (w Work) within(tasks []string, now time.Time) Work {
	kept := Work{At: now.UTC()}
	for _, t := range tasks {
		if slices.Contains(w.Done, t) {
			kept.Done = append(kept.Done, t)
		}
	}
	for _, s := range w.Slips {
		task, what, ok := strings.Cut(s, ":")
		if ok && what != "" && text(s, longestTask) && slices.Contains(tasks, task) && len(kept.Slips) < mostSlips &&
			!slices.Contains(kept.Slips, s) {
			kept.Slips = append(kept.Slips, s)
		}
	}
	return kept
}

// check is that of a record.
func (w *Work) check() bool {
	if w == nil {
		return true
	}
	for _, s := range append(slices.Clone(w.Done), w.Slips...) {
		if !text(s, longestTask) {
			return false
		}
	}
	return someTime(w.At) && len(w.Done) <= mostTasks && len(w.Slips) <= mostSlips
}

// assigned sums up what was handed in, nil if nothing is assigned.
func (c *core) assigned() *AssignedSummary {
	tasks := strings.Fields(c.data.Tasks)
	if len(tasks) == 0 {
		return nil
	}
	s := &AssignedSummary{Names: c.data.AskNames}
	done, slips := map[string]int{}, map[string]int{}
	for _, m := range c.members {
		if m.Removed || m.Work == nil {
			continue
		}
		s.HandedIn++
		now := m.Work.within(tasks, m.Work.At) // the tasks may have changed since
		for _, t := range now.Done {
			done[t]++
		}
		for _, x := range now.Slips {
			slips[x]++
		}
		if s.Names && m.Name != "" {
			s.People = append(s.People, PersonSummary{m.Name, len(now.Done)})
		}
	}
	for _, t := range tasks {
		s.Tasks = append(s.Tasks, TaskSummary{t, done[t]})
	}
	for x, n := range slips {
		task, what, _ := strings.Cut(x, ":")
		s.Slips = append(s.Slips, SlipSummary{task, what, n})
	}
	slices.SortFunc(s.Slips, func(a, b SlipSummary) int {
		return cmp.Or(b.Members-a.Members, strings.Compare(a.Task, b.Task), strings.Compare(a.Slip, b.Slip))
	})
	slices.SortStableFunc(s.People, func(a, b PersonSummary) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return s
}
