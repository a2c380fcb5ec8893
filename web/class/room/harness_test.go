package room

import (
	"context"
	"errors"
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// TestMain allows many parallel tests, because the tests mostly wait for rooms to gather votes.
func TestMain(m *testing.M) {
	voteUntilKilled()
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(fixture.Suite{M: m})
}

// school is a hub with its dependencies.
type school struct {
	*Hub
	t      *testing.T
	driver *classtest.Driver
	clock  *classtest.Clock
	db     *store.DB
	logs   journal.Journal
	dir    string
	ended  bool
}

// begun opens a hub on the folder dir, or in memory if dir is "". The hub is closed when the
// test ends.
func begun(t *testing.T, dir string, change ...func(*Config)) *school {
	t.Helper()
	m := testmodel.Target(t)
	course, err := classtest.Course()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &school{
		t: t, dir: dir, driver: &classtest.Driver{Model: m}, clock: classtest.NewClock(),
		db: db,
	}
	s.logs = journal.For(db)
	cfg := Config{Logs: s.logs, Secrets: db, Course: course, Driver: s.driver, Now: s.clock.Now}
	cfg.NewRooms = admission.NewMeter(admission.Pace{}, nil)
	for _, f := range change {
		f(&cfg)
	}
	if s.Hub, err = NewHub(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// end closes the hub unless it is already closed.
func (s *school) end() {
	if s.ended {
		return
	}
	s.ended = true
	if err := errors.Join(s.Close(context.Background()), s.db.Close()); err != nil {
		s.t.Error(err)
	}
}

// ask runs f in the goroutine of a room that this server runs.
func ask(ctx context.Context, l *classtest.Lesson, f func(*core) error) error {
	return l.Room.(*Local).ask(ctx, f)
}

func (s *school) room(o class.Options) *classtest.Lesson {
	s.t.Helper()
	r, secret, err := s.Create(s.t.Context(), classtest.Caller(classtest.Instructor), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return &classtest.Lesson{Room: r, T: s.t, Secret: secret, Broker: s.Broker()}
}
