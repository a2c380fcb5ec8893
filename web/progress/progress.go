// Package progress keeps what a learner has done: sections seen, questions
// answered, cards reviewed, tokens predicted. A learner is the anonymous id of
// a signed cookie; nothing else is known about them.
//
// All of it is one log of events for each learner (web/journal), whose records
// have the form of the entries of an export. Answers, reviews and predictions
// carry a key made by whoever asks to keep them, so that a request sent again
// after a lost answer counts once. Visits of a section are summed up by each
// new one. Where a card stands follows from its reviews by lessons/fsrs alone.
//
// What [Store.Map], [Store.Cards] and [Store.Calibration] say is computed from
// the state that the log leads to (state.go). The course decides what there is:
// entries of parts it no longer has are kept and exported, and count nowhere.
//
// A method that returns nil has kept its entry for good, see web/journal.
// Everything of a learner leaves as one JSON file ([Store.Export]), comes back
// by [Store.Import] and goes by [Store.Delete].
package progress

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Notices are what is to be said about the data itself, once to each learner.
type Notices interface {
	// News returns what a learner has not been told yet, of what happened since
	// a time, and takes it as told at another.
	News(ctx context.Context, learner string, since time.Time) ([]store.Notice, error)
	// ForgetReader forgets what a learner has been told.
	ForgetReader(ctx context.Context, learner string) error
}

// Store keeps the progress of all learners. Its methods may be called from any
// goroutine.
type Store struct {
	learners  *journal.Folds[state]
	notices   Notices
	course    *lessons.Course
	now       func() time.Time
	sections  map[string]bool // "slug#id"
	questions map[string]bool
	cards     map[string]bool
	most      int // saved.MaxEntries; tests make do with fewer
	imports   chan struct{}
}

// concurrentImports is how many imports are read at a time: of a file of 32 MiB
// each needs some hundred MiB of memory.
const concurrentImports = 2

// New returns the progress kept in logs for a course. Nothing else may append
// to the logs of learners. now is the clock; tests bring their own.
func New(logs journal.Journal, notices Notices, course *lessons.Course, now func() time.Time) *Store {
	s := &Store{
		learners: journal.NewFolds(logs, journal.Learner, folding), notices: notices, course: course, now: now,
		sections: map[string]bool{}, questions: map[string]bool{}, cards: map[string]bool{}, most: saved.MaxEntries,
		imports: make(chan struct{}, concurrentImports),
	}
	for _, l := range course.Lessons {
		for _, x := range l.Sections {
			s.sections[l.Slug+"#"+x.ID] = true
		}
	}
	for _, q := range course.Questions {
		s.questions[q.ID] = true
	}
	for _, c := range course.Cards {
		s.cards[c.ID] = true
	}
	return s
}

// time is now as it is kept: UTC, in whole milliseconds.
func (s *Store) time() time.Time { return moment(s.now().UnixMilli()) }

// learner is one whose log and state nobody else uses at the same time.
type learner = journal.Active[state]

// use calls f with what is kept of a learner.
func (s *Store) use(ctx context.Context, name string, f func(*learner) error) error {
	if !saved.Name(name) {
		return saved.Refuse("learner %s", saved.WantName)
	}
	return s.learners.Use(ctx, name, f)
}

// record is an entry as it is appended.
func record(id string, e saved.Entry) (journal.Record, error) {
	data, err := saved.Data(e)
	return journal.Record{Type: e.Type(), ID: id, Data: data}, err
}

// keep appends an entry to a learner's log and tells whether it is new.
func (s *Store) keep(ctx context.Context, l *learner, id string, e saved.Entry) (bool, error) {
	r, err := record(id, e)
	if err != nil {
		return false, err
	}
	places, err := l.Append(ctx, s.time(), r)
	return err == nil && places[0] > 0, err
}

// plurals name what there is too much of.
var plurals = map[string]string{
	saved.TypeAnswer: "answers", saved.TypeReview: "reviews", saved.TypePrediction: "predictions",
}

// keepNew is keep of an entry whose number is bounded: where there is no room
// for another, it is an [ErrFull] unless the entry is there already.
func (s *Store) keepNew(ctx context.Context, l *learner, id string, e saved.Entry) (bool, error) {
	if l.State().Counts[e.Type()] >= s.most {
		_, known, err := l.Find(ctx, journal.Key{Type: e.Type(), ID: id})
		if err == nil && !known {
			err = full(plurals[e.Type()])
		}
		return false, err
	}
	return s.keep(ctx, l, id, e)
}

// full is an [ErrFull].
func full(of string) error {
	return fmt.Errorf("%w %s: what was kept stays; export it and delete it to begin anew", ErrFull, of)
}

// Visit notes that a section, "slug#id", was on the screen.
func (s *Store) Visit(ctx context.Context, learnerID, section string) error {
	if !s.sections[section] {
		return saved.Refuse("there is no section %.200q", section)
	}
	return s.use(ctx, learnerID, func(l *learner) error {
		before := l.State().Visits[section]
		now := saved.Visit{Section: section, First: s.time(), Last: s.time(), Times: 1}
		if before != nil {
			now.Times = before.Times + 1
		}
		after := before.join(now)
		_, err := s.keep(ctx, l, visitID(section, after), after.entry(section))
		return err
	})
}

// Answer keeps what a learner made of a question or an exercise. The same
// a.ID again keeps nothing and is not an error.
func (s *Store) Answer(ctx context.Context, learnerID string, a Answer) error {
	if err := a.Check(); err != nil {
		return err
	}
	if a.Kind != Drill && !s.questions[a.Item] {
		return saved.Refuse("there is no question %.200q", a.Item)
	}
	return s.use(ctx, learnerID, func(l *learner) error {
		_, err := s.keepNew(ctx, l, a.ID, saved.Answered{At: s.time(), Answer: a})
		return err
	})
}

// Predict keeps a guess of the next token, and tells whether it did. The same
// p.ID again keeps nothing and is not an error: the first guess is the one that
// counts.
func (s *Store) Predict(ctx context.Context, learnerID string, p Prediction) (kept bool, err error) {
	if err := p.Check(); err != nil {
		return false, err
	}
	err = s.use(ctx, learnerID, func(l *learner) (err error) {
		kept, err = s.keepNew(ctx, l, p.ID, saved.Predicted{At: s.time(), Prediction: p})
		return err
	})
	return kept, err
}

// noticeDays is how long a notice is shown to whoever has not seen it.
const noticeDays = 30

// Notices returns what a learner should be told about the data itself and has
// not been told yet, and takes it as told.
func (s *Store) Notices(ctx context.Context, learnerID string) (list []Notice, err error) {
	if !saved.Name(learnerID) {
		return nil, saved.Refuse("learner %s", saved.WantName)
	}
	return s.notices.News(ctx, learnerID, s.time().Add(-noticeDays*24*time.Hour))
}

// Delete deletes everything of a learner, from the disk as well.
func (s *Store) Delete(ctx context.Context, learnerID string) error {
	return s.use(ctx, learnerID, func(l *learner) error {
		if err := s.notices.ForgetReader(ctx, learnerID); err != nil {
			return err
		}
		return l.Drop(ctx)
	})
}
