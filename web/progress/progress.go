// Package progress stores the progress of learners: the sections that they have seen, the questions
// that they have answered, and their card reviews and predictions. A learner is the anonymous id in
// a signed cookie; nothing else is known about them.
//
// Each learner has one log of events (web/journal), whose records have the same format as the
// entries of an export. Answers, reviews and predictions have a key chosen by the caller, so that a
// request that is resent after a lost response counts only once. The record of a visit to a section
// includes all earlier visits to that section. The schedule of a card is computed by lessons/fsrs
// from its reviews alone.
//
// Folding the log results in a state (state.go), from which [Store.Map], [Store.Cards] and
// [Store.Calibration] compute their results. Entries for parts that are no longer in the course are
// kept and exported, but not counted.
//
// When a method returns nil, its entry is on the disk; see web/journal. All data of a learner can
// be exported as one JSON file ([Store.Export]), imported again ([Store.Import]) and deleted
// ([Store.Delete]).
package progress

import (
	"context"
	"math"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/store"
)

// Database contains the methods of the database that the store needs in addition to the logs.
type Database interface {
	// News returns the notices since a time that a learner has not seen yet, and marks them as
	// seen. For learner "", it returns all notices and does not mark them as seen.
	News(ctx context.Context, learner string, since time.Time) ([]store.Notice, error)
	// ForgetReader deletes the record of which notices a learner has seen.
	ForgetReader(ctx context.Context, learner string) error
	// Space returns how much space is left. Limit returns the maximum size of the database, or 0 if
	// there is no limit.
	Space(ctx context.Context) store.Space
	Limit() int64
	// Ready returns the error that prevents writing, or nil if the database can be written to.
	Ready(ctx context.Context) error
	// DamagedFiles lists the damaged databases that were set aside. No data can be deleted from
	// them.
	DamagedFiles() ([]store.DamagedFile, error)
}

// Store stores the progress of all learners. Its methods can be called from any goroutine.
type Store struct {
	logs      journal.Journal
	learners  *journal.Folds[state]
	db        Database
	course    *lessons.Course
	now       func() time.Time
	sections  map[string]bool // "slug#id"
	questions map[string]bool
	asking    map[string]lessons.Widget // the experiments that ask a question, by id
	cards     map[string]bool
	most      int // saved.MaxEntries, or fewer in tests
	imports   chan struct{}
}

// concurrentImports is the maximum number of imports that are read concurrently. A file of 32 MiB
// needs several hundred MiB of memory.
const concurrentImports = 2

// New returns a store for learners' progress in a course. No other code may append to the logs of
// learners. The function now is the clock.
func New(logs journal.Journal, db Database, course *lessons.Course, now func() time.Time) *Store {
	s := &Store{
		logs: logs, learners: journal.NewFolds(logs, journal.Learner, folding), db: db, course: course, now: now,
		sections: map[string]bool{}, questions: map[string]bool{}, cards: map[string]bool{},
		asking: map[string]lessons.Widget{}, most: saved.MaxEntries,
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
	for _, w := range course.Experiments() {
		if w.Ask != "" {
			s.asking[w.ID] = w
		}
	}
	for _, c := range course.Cards {
		s.cards[c.ID] = true
	}
	return s
}

// time returns the current time in the form in which it is saved: in UTC, in whole milliseconds,
// and within the range that [saved.Read] accepts.
func (s *Store) time() time.Time { return moment(saved.Bounded(s.now()).UnixMilli()) }

// A learner is one learner's log and state, to which the caller has exclusive access.
type learner = journal.Active[state]

// use calls f with exclusive access to the data of a learner.
func (s *Store) use(ctx context.Context, name string, f func(*learner) error) error {
	if !saved.Name(name) {
		return saved.Refuse("learner %s", saved.WantName)
	}
	if isAway(ctx) {
		return store.ErrAway
	}
	return s.learners.Use(ctx, name, f)
}

// record makes the record of an entry.
func record(id string, e saved.Entry) (journal.Record, error) {
	data, err := saved.Data(e)
	return journal.Record{Type: e.Type(), ID: id, Data: data}, err
}

// keep appends an entry to a learner's log and reports whether it is new.
func (s *Store) keep(ctx context.Context, l *learner, id string, e saved.Entry) (bool, error) {
	r, err := record(id, e)
	if err != nil {
		return false, err
	}
	if err := s.admit(ctx, l, r); err != nil {
		_, known, find := l.Find(ctx, r.Key())
		if known && find == nil {
			return false, nil
		}
		return false, err
	}
	seqs, err := l.Append(ctx, s.time(), r)
	return err == nil && seqs[0] > 0, err
}

// fullKeys maps record types to the text keys of an [ErrFull].
var fullKeys = map[string]string{
	saved.TypeAnswer: "progress.full.answers", saved.TypeReview: "progress.full.reviews",
	saved.TypePrediction: "progress.full.predictions",
}

// keepNew is like keep, but for entries whose number is limited. If there are too many, it returns
// an [ErrFull], unless the log already has the entry.
func (s *Store) keepNew(ctx context.Context, l *learner, id string, e saved.Entry) (bool, error) {
	if l.State().Counts[e.Type()] >= s.most {
		_, known, err := l.Find(ctx, journal.Key{Type: e.Type(), ID: id})
		if err == nil && !known {
			err = terms.Refuse(codeFull, fullKeys[e.Type()])
		}
		return false, err
	}
	return s.keep(ctx, l, id, e)
}

// admit returns an error if there is too little space for a record: [store.ErrScarce] if the
// server's remaining space is reserved for others, or [ErrFull] if the learner has used up their
// share.
func (s *Store) admit(ctx context.Context, l *learner, r journal.Record) error {
	space := s.db.Space(ctx)
	due := r.Type == saved.TypeAnswer || r.Type == saved.TypeReview
	if space >= store.SpaceForKnown && l.Empty() || space >= store.SpaceForAnswers && !due {
		return store.ErrScarce
	}
	if l.State().Bytes+sizeOf(r) > s.share() {
		return terms.Refuse(codeFull, "progress.full.entries")
	}
	return nil
}

// share returns the maximum size of a learner's log, in bytes.
func (s *Store) share() int64 {
	if limit := s.db.Limit(); limit > 0 {
		return limit / store.LearnerShare
	}
	return math.MaxInt64
}

// Visit records that a section, "slug#id", was on the screen.
func (s *Store) Visit(ctx context.Context, learnerID, section string) error {
	if !s.sections[section] {
		return saved.Refuse("unknown section %.200q", section)
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

// Answer saves the answer to a question or an exercise. Calling it again with the
// same a.ID saves nothing and is not an error.
func (s *Store) Answer(ctx context.Context, learnerID string, a Answer) error {
	if err := a.Check(); err != nil {
		return err
	}
	if a.Kind != Drill && !s.questions[a.Item] {
		return saved.Refuse("unknown question %.200q", a.Item)
	}
	return s.use(ctx, learnerID, func(l *learner) error {
		_, err := s.keepNew(ctx, l, a.ID, saved.Answered{At: s.time(), Answer: a})
		return err
	})
}

// Predict saves a guess of the next token and reports whether it is new. Calling it again with the
// same p.ID saves nothing and is not an error: the first guess counts.
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

// noticeDays is the number of days for which a notice is shown to learners who have not seen it.
const noticeDays = 30

// Notices returns the notices that a learner has not seen yet, and marks them as seen. Notices
// about their own quarantined data are always included, in the language of the context.
func (s *Store) Notices(ctx context.Context, learnerID string) (list []Notice, err error) {
	since := s.time().Add(-noticeDays * 24 * time.Hour)
	var aside []journal.Info
	if err := s.use(ctx, learnerID, func(l *learner) (err error) {
		aside, err = l.Aside(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	if list, err = s.db.News(ctx, learnerID, since); err != nil {
		return nil, err
	}
	for _, x := range aside {
		if x.Used.After(since) {
			list = append(list, Notice{At: x.Used, Text: terms.In(ctx).T("progress.damaged", "n", x.Records)})
		}
	}
	return list, nil
}

// News returns the part of [Store.Notices] that is about all learners. For learner "", it also
// returns notices that others have seen, and does not mark any as seen.
func (s *Store) News(ctx context.Context, learner string) ([]Notice, error) {
	return s.db.News(ctx, learner, s.time().Add(-noticeDays*24*time.Hour))
}

// Trouble returns a sentence, in the language of the context, that explains why nothing can be
// saved at present. It returns "" if saving works.
func (s *Store) Trouble(ctx context.Context) string {
	return store.WhyIn(terms.In(ctx), s.db.Ready(ctx))
}

// DamagedFiles lists damaged databases on the server's disk. They can contain any learner's
// data, and Delete does not delete data from them.
func (s *Store) DamagedFiles() ([]store.DamagedFile, error) { return s.db.DamagedFiles() }

// Delete deletes all data of a learner and removes it from the disk. Data in damaged databases
// stays until these databases are deleted; see [Store.DamagedFiles]. After an error, some of the
// data may be gone; Delete can be called again.
func (s *Store) Delete(ctx context.Context, learnerID string) error {
	return s.use(ctx, learnerID, func(l *learner) error {
		if err := s.db.ForgetReader(ctx, learnerID); err != nil {
			return err
		}
		return l.Drop(ctx)
	})
}
