package progress

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	drills "github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// A state is the result of folding a learner's log. It does not depend on the order of the records,
// except that for each setting the last change counts. Times are in milliseconds since 1970.
type state struct {
	Visits   map[string]*visit       `json:"visits"`   // by section
	Credit   map[string]*credit      `json:"credit"`   // of the newest answer, by question
	Firsts   map[string]*firstAnswer `json:"firsts"`   // the oldest answer, by question
	Earlier  map[string]*credit      `json:"earlier"`  // the newest one from a UTC day before Credit, by question
	Drills   map[string]*drill       `json:"drills"`   // by name, without the part after the slash
	Cards    map[string]*card        `json:"cards"`    // by id
	Guesses  guesses                 `json:"guesses"`  // predictions
	Settings map[string]*setting     `json:"settings"` // by name
	Changes  int                     `json:"changes"`  // number of the latest setting change
	Counts   map[string]int          `json:"counts"`   // answers, reviews and predictions, by type of record
	Bytes    int64                   `json:"bytes"`    // total size of these records, which are never compacted
	Waste    []journal.Key           `json:"waste"`    // superseded records of visits and settings
}

type visit struct {
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Times int    `json:"times"`
	ID    string `json:"id"` // id of the record
}

type credit struct {
	At     int64   `json:"at"`
	ID     string  `json:"id"`
	Credit float64 `json:"credit"`
}

// newer reports whether an answer was given after another one.
func (c credit) newer(than credit) bool { return c.compare(than) > 0 }

// day returns the UTC day of an answer, as a number of days since 1970.
func (c credit) day() int64 { return moment(c.At).Truncate(day).Unix() / int64(day/time.Second) }

func (c credit) compare(with credit) int {
	return cmp.Or(cmp.Compare(c.At, with.At), strings.Compare(c.ID, with.ID))
}

type drill struct {
	First credit  `json:"first"`
	Last  credit  `json:"last"`
	Best  float64 `json:"best"`
	Times int     `json:"times"`
	// Slips are the mistakes in first answers.
	Slips map[drills.Mistake]bool `json:"slips,omitempty"`
}

// A card holds the state of a card and the reviews from which it is computed.
type card struct {
	Reviews []review  `json:"reviews"` // in chronological order, unless late is set
	Card    fsrs.Card `json:"card"`
	late    bool      // a review was added out of chronological order
}

type review struct {
	At    int64      `json:"at"`
	ID    string     `json:"id"`
	Grade fsrs.Grade `json:"grade"`
}

type guesses struct {
	Sums  predict.Sums `json:"sums"`
	Right int          `json:"right"`
	Score int64        `json:"score"` // in units of 1/scoreUnit nats, which add up exactly
}

// scoreUnit is the number of units in a nat. Scores are stored in these units. Their sums fit into
// an int64 even for the maximum number of predictions with the worst score.
const scoreUnit = 1 << 40

type setting struct {
	Value string `json:"value"`
	N     int    `json:"n"` // number of the change that set it
}

// schedule computes when a card is next due.
var schedule = fsrs.Default()

// folding defines how a learner's log is folded.
var folding = journal.Fold[state]{
	Version: "6",
	Begin: func() *state {
		return &state{
			Visits: map[string]*visit{}, Credit: map[string]*credit{}, Drills: map[string]*drill{},
			Firsts: map[string]*firstAnswer{}, Earlier: map[string]*credit{},
			Cards: map[string]*card{}, Settings: map[string]*setting{}, Counts: map[string]int{},
		}
	},
	Add: func(s *state, r journal.Record) bool {
		e, err := saved.Read(r.Type, r.Data)
		if err != nil {
			return false // a damaged entry must not affect the others
		}
		switch e := e.(type) {
		case saved.Visit:
			s.visited(r.ID, e)
		case saved.Answered:
			s.answered(e)
			s.Bytes += sizeOf(r)
		case saved.Review:
			s.reviewed(e)
			s.Bytes += sizeOf(r)
		case saved.Predicted:
			s.predicted(e)
			s.Bytes += sizeOf(r)
		case saved.Setting:
			return s.set(r.ID, e)
		}
		return true
	},
	Settle: func(s *state) {
		for _, c := range s.Cards {
			c.settle()
		}
	},
	Waste: func(s *state) *[]journal.Key { return &s.Waste },
}

// sizeOf returns the size of a record, in bytes, that counts toward its learner's share.
func sizeOf(r journal.Record) int64 { return int64(len(r.Type) + len(r.ID) + len(r.Data)) }

// join merges the visits to a section with other visits to the same section. The result has the
// earlier first time, the later last time and the larger count.
func (v *visit) join(e saved.Visit) visit {
	if v == nil {
		return visit{First: e.First.UnixMilli(), Last: e.Last.UnixMilli(), Times: e.Times}
	}
	return visit{
		First: min(v.First, e.First.UnixMilli()), Last: max(v.Last, e.Last.UnixMilli()), Times: max(v.Times, e.Times),
	}
}

// same reports whether two visits are equal except for their record ids.
func (v visit) same(w visit) bool {
	v.ID, w.ID = "", ""
	return v == w
}

// entry returns the entry that represents a visit.
func (v visit) entry(section string) saved.Visit {
	return saved.Visit{Section: section, First: moment(v.First), Last: moment(v.Last), Times: v.Times}
}

// visitID derives a record's id from its contents, so that the same visit is not saved twice.
func visitID(section string, v visit) string {
	return fmt.Sprintf("%s@%s.%s.%d", section, strconv.FormatInt(v.First, 36), strconv.FormatInt(v.Last, 36), v.Times)
}

func (s *state) visited(id string, e saved.Visit) {
	before := s.Visits[e.Section]
	after := before.join(e)
	after.ID = id
	if before != nil {
		switch {
		case after.same(*before): // the new record adds nothing
			s.waste(saved.TypeVisit, id)
			return
		case after.same((*visit)(nil).join(e)): // the new record includes the old one
			s.waste(saved.TypeVisit, before.ID)
		}
	}
	s.Visits[e.Section] = &after
}

func (s *state) waste(kind, id string) { s.Waste = append(s.Waste, journal.Key{Type: kind, ID: id}) }

func (s *state) answered(e saved.Answered) {
	s.Counts[saved.TypeAnswer]++
	c := credit{e.At.UnixMilli(), e.ID, e.Credit}
	if e.Kind == Drill {
		// Only the exercise itself uses the part after the slash.
		name, _, _ := strings.Cut(e.Item, "/")
		s.drilled(name, c)
		s.Drills[name].slipped(slipsIn(e.Detail))
		return
	}
	if old := s.Firsts[e.Item]; old == nil || old.newer(c) {
		s.Firsts[e.Item] = &firstAnswer{c, e.Detail}
	}
	old, earlier := s.Credit[e.Item], s.Earlier[e.Item]
	switch {
	case old == nil:
		s.Credit[e.Item] = &c
	case c.newer(*old):
		s.Credit[e.Item] = &c
		if old.day() < c.day() {
			s.Earlier[e.Item] = old
		}
	case c.day() < old.day() && (earlier == nil || c.newer(*earlier)):
		s.Earlier[e.Item] = &c
	}
}

func (s *state) drilled(name string, c credit) {
	d := s.Drills[name]
	if d == nil {
		s.Drills[name] = &drill{First: c, Last: c, Best: c.Credit, Times: 1}
		return
	}
	d.Times++
	d.Best = max(d.Best, c.Credit)
	if c.newer(d.Last) {
		d.Last = c
	}
	if d.First.newer(c) {
		d.First = c
	}
}

func (d *drill) slipped(list []drills.Mistake) {
	for _, m := range list {
		if d.Slips == nil {
			d.Slips = map[drills.Mistake]bool{}
		}
		d.Slips[m] = true
	}
}

func (s *state) reviewed(e saved.Review) {
	s.Counts[saved.TypeReview]++
	c := s.Cards[e.Card]
	if c == nil {
		c = &card{}
		s.Cards[e.Card] = c
	}
	r := review{e.At.UnixMilli(), e.ID, e.Grade}
	if n := len(c.Reviews); n > 0 && r.compare(c.Reviews[n-1]) < 0 {
		c.late = true
	}
	c.Reviews = append(c.Reviews, r)
	if !c.late {
		c.Card = schedule.Next(c.Card, moment(r.At), r.Grade)
	}
}

func (r review) compare(with review) int {
	return cmp.Or(cmp.Compare(r.At, with.At), strings.Compare(r.ID, with.ID))
}

// settle recomputes a card from all its reviews if any of them were added out of order.
func (c *card) settle() {
	if !c.late {
		return
	}
	slices.SortFunc(c.Reviews, review.compare)
	c.Card, c.late = fsrs.Card{}, false
	for _, r := range c.Reviews {
		c.Card = schedule.Next(c.Card, moment(r.At), r.Grade)
	}
}

func (s *state) predicted(e saved.Predicted) {
	s.Counts[saved.TypePrediction]++
	g := &s.Guesses
	g.Sums.Add(predict.Outcome{Confidence: e.Confidence, Right: e.Right})
	g.Score += int64(math.Round(e.Score * scoreUnit))
	if e.Right {
		g.Right++
	}
}

// mostChanges is the highest valid number of a setting change.
const mostChanges = 1 << 40

// settingID returns the record id of a setting change. The changes of all settings are
// numbered in one sequence.
func settingID(name string, n int) string { return name + "." + strconv.Itoa(n) }

func (s *state) set(id string, e saved.Setting) bool {
	n, err := strconv.Atoi(id[strings.LastIndexByte(id, '.')+1:])
	if err != nil || n < 1 || n > mostChanges {
		return false
	}
	s.Changes = max(s.Changes, n)
	if old := s.Settings[e.Name]; old != nil {
		s.waste(saved.TypeSetting, settingID(e.Name, old.N))
	}
	if e.Value == "" { // the setting is removed, so only its number is kept
		s.waste(saved.TypeSetting, id)
		delete(s.Settings, e.Name)
		return true
	}
	s.Settings[e.Name] = &setting{e.Value, n}
	return true
}

// card returns a card, or the zero Card if the card has never been reviewed.
func (s *state) card(id string) fsrs.Card {
	if c := s.Cards[id]; c != nil {
		return c.Card
	}
	return fsrs.Card{}
}

// last returns the section that was visited last.
func (s *state) last() (section string) {
	var at int64
	for name, v := range s.Visits {
		if section == "" || v.Last > at || v.Last == at && name > section {
			section, at = name, v.Last
		}
	}
	return section
}

// drills returns the exercises in the order in which they were first tried.
func (s *state) drills() (list []DrillMap) {
	var names []string
	for name := range s.Drills {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return s.Drills[a].First.compare(s.Drills[b].First) })
	for _, name := range names {
		d := s.Drills[name]
		list = append(list, DrillMap{name, d.Times, d.Best, d.Last.Credit})
	}
	return list
}

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
