package room

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/classtest"
	"github.com/tokenbytoken/viz/web/progress"
)

// campus is a data folder with rooms and learners. The tests may damage the data of two rooms and
// two learners; the data of one more room and one more learner stays intact.
type campus struct {
	file       []byte
	rooms      []keptLesson // the first is not damaged
	learners   []string     // the first is not damaged
	card       string       // a card of the course
	good       []string     // names of the undamaged logs
	summary    string       // the first room's summary
	export     string       // the first learner's export
	now        time.Time
	goodOwners string // rows of the undamaged logs, as SQL
}

type keptLesson struct {
	code   string
	secret class.Secret
}

func newCampus(t *testing.T) *campus {
	t.Helper()
	dir := t.TempDir()
	s := begun(t, dir)
	c := &campus{learners: []string{"good-learner", "hurt-learner-1", "hurt-learner-2"}, now: s.clock.Now()}
	for i := range 3 {
		l := s.room(class.Options{Title: fmt.Sprint("Room ", i), Nicknames: true})
		l.Start("The cat")
		l.Enroll(4)
		for range 2 {
			p := l.Does(class.AskQuestion{ID: "q-order"}).Poll
			for i := range 3 {
				b := class.Ballot{Poll: p.ID, Choice: p.Options[i%2].Key}
				if _, err := l.Vote(t.Context(), classtest.Learner(i+1), b); err != nil {
					t.Fatal(err)
				}
			}
			l.Does(class.Close{}, class.Reveal{})
		}
		c.rooms = append(c.rooms, keptLesson{l.Code(), l.Secret})
	}
	all := s.progress(c.now)
	course, err := classtest.Course()
	if err != nil {
		t.Fatal(err)
	}
	c.card = course.Cards[0].ID
	for _, name := range c.learners {
		for i := range 12 {
			first := course.Lessons[0]
			section := first.Slug + "#" + first.Sections[i%len(first.Sections)].ID
			card := course.Cards[i%4].ID
			_, reviewed := all.Review(t.Context(), name, card, 3, fmt.Sprint("review-", i))
			_, guessed := all.Predict(t.Context(), name, progress.Prediction{
				ID: fmt.Sprint("guess-", i), Confidence: 0.5, Right: i%2 == 0, Score: -1,
			})
			if err := errors.Join(reviewed, guessed, all.Visit(t.Context(), name, section),
				all.Answer(t.Context(), name, progress.Answer{
					ID: fmt.Sprint("answer-", i), Kind: progress.Quiz, Item: course.Questions[i%5].ID, Credit: 0.5,
				})); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.good = []string{c.rooms[0].code, c.learners[0]}
	c.goodOwners = fmt.Sprintf("(SELECT id FROM owners WHERE name IN ('%s', '%s'))", c.good[0], c.good[1])
	s.end()
	again := begun(t, dir)
	c.summary, c.export = again.summary(c.rooms[0]), again.export(c, c.learners[0])
	again.end()
	if c.file, err = os.ReadFile(filepath.Join(dir, "viz.db")); err != nil {
		t.Fatal(err)
	}
	return c
}

// progress returns a store that keeps learners' progress in a school's logs.
func (s *school) progress(now time.Time) *progress.Store {
	course, err := classtest.Course()
	if err != nil {
		s.t.Fatal(err)
	}
	return progress.New(s.logs, s.db, course, func() time.Time { return now })
}

func (s *school) summary(l keptLesson) string {
	s.t.Helper()
	r, err := s.Instruct(s.t.Context(), l.code, l.secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		s.t.Fatalf("the undamaged room: %v", err)
	}
	sum, err := r.Summary(s.t.Context(), l.secret)
	if err != nil {
		s.t.Fatalf("the undamaged room: %v", err)
	}
	text, err := json.Marshal(sum)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *school) export(c *campus, name string) string {
	s.t.Helper()
	file, err := s.progress(c.now).Export(s.t.Context(), name)
	if err != nil {
		s.t.Fatalf("the undamaged learner: %v", err)
	}
	return string(file)
}

// garbage holds the values that are put into damaged rows.
var garbage = struct {
	numbers []any
	texts   []any
}{
	[]any{0, -1, 1, 30_000_003, 1 << 31, int64(1) << 53, int64(1) << 62, int64(-1) << 63, 1<<63 - 1},
	[]any{
		"", "NaN", "null", "[]", "{}", `"x"`, "{", "not JSON", "\xff\xfe", strings.Repeat("[", 20_000),
		strings.Repeat("x", 1<<20), `{"member":30000003,"learner":"x"}`, `{"member":-1,"name":"X"}`,
		`{"id":30000003,"round":1,"kind":"next","phase":"open"}`, `{"id":1,"round":-1,"kind":"draw","phase":"open"}`,
		`{"poll":1,"round":1,"member":1,"choice":"99999999","n":1}`, `{"poll":1e999}`, `{"poll":1,"u":NaN}`,
		`{"title":"A","step":-1,"poll":-1}`, `{"title":"A","step":1000000000,"poll":1000000000,"walk":"first"}`,
		`{"at":"-0001-01-01T00:00:00Z"}`, `{"seq":18446744073709551615}`, `{"link":"x"}`,
		"vote", "poll", "member", "begun",
		"9223372036854775807", "-9223372036854775808", "room", "learner", "set aside",
		`{"section":"loop#steps","first":"2026-01-01T00:00:00.000Z","last":"1026-01-01T00:00:00.000Z","times":-7}`,
		`{"id":"x","at":"2026-01-01T00:00:00.000Z","card":"x","grade":"perfect"}`,
		`{"visits":null,"cards":{"x":null},"credit":{"x":null},"votes":{"-1.x":{}},"members":[null],"polls":[null]}`,
	},
}

// columns returns the columns that can be damaged, each with a condition that excludes the
// rows that must stay undamaged.
func (c *campus) columns() [][3]string {
	others, records := "id NOT IN "+c.goodOwners, "owner NOT IN "+c.goodOwners
	secrets := "room <> '" + c.good[0] + "'"
	return [][3]string{
		{"owners", "id", others},
		{"owners", "kind", others},
		{"owners", "name", others},
		{"owners", "used_at", others},
		{"owners", "first", others},
		{"owners", "last", others},
		{"owners", "records", others},
		{"owners", "bytes", others},
		{"records", "owner", records},
		{"records", "seq", records},
		{"records", "type", records},
		{"records", "id", records},
		{"records", "data", records},
		{"records", "data", records},
		{"snapshots", "owner", records},
		{"snapshots", "version", records},
		{"snapshots", "seq", records},
		{"snapshots", "state", records},
		{"room_secrets", "room", secrets},
		{"room_secrets", "hash", secrets},
		{"notices", "id", "true"},
		{"notices", "at", "true"},
		{"notices", "text", "true"},
		{"notices_seen", "learner", "true"},
		{"notices_seen", "notice", "true"},
	}
}

// rows damages some rows of a database, ignoring the database's constraints. It returns a
// description of the damage and the number of records that remain.
func (c *campus) rows(t *testing.T, r *rand.Rand, path string) (did []string, records int) {
	t.Helper()
	conn, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	run := func(query string, args ...any) {
		did = append(did, fmt.Sprintf("%s %.60q", query, args))
		if _, err := conn.Exec(query, args...); err != nil && !strings.Contains(err.Error(), "constraint") {
			t.Fatalf("%s: %v", query, err)
		}
	}
	run("PRAGMA foreign_keys = 0")
	run("INSERT INTO notices VALUES (1, 1790000000000, 'A notice.')")
	run("INSERT INTO notices_seen VALUES ('hurt-learner-1', 1)")
	columns := c.columns()
	for range 1 + r.IntN(6) {
		x := columns[r.IntN(len(columns))]
		table, where := x[0], x[2]
		key := map[string]string{
			"owners": "id", "records": "(owner, seq)", "snapshots": "owner", "room_secrets": "room", "notices": "id",
			"notices_seen": "(learner, notice)",
		}[table]
		pick := fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s ORDER BY 1 LIMIT %d OFFSET %d)",
			key, strings.Trim(key, "()"), table, where, 1+r.IntN(3), r.IntN(40)*r.IntN(2))
		switch r.IntN(8) {
		case 0:
			run("DELETE FROM " + table + " WHERE " + pick)
		case 1: // duplicate a record under another number
			run(`INSERT OR IGNORE INTO records SELECT owner, seq + 100000, type, id || '-again', data FROM records
				WHERE ` + c.columns()[8][2])
		default:
			var value any
			switch kind := x[1]; kind {
			case "id", "owner", "seq", "notice", "used_at", "first", "last", "records", "bytes", "at":
				value = garbage.numbers[r.IntN(len(garbage.numbers))]
			default:
				value = garbage.texts[r.IntN(len(garbage.texts))]
			}
			if text, ok := value.(string); ok && (x[1] == "state" || x[1] == "hash") {
				value = []byte(text)
			} else if table == "records" && x[1] == "id" {
				value = fmt.Sprint(value)
			}
			run("UPDATE OR IGNORE "+table+" SET "+x[1]+" = ? WHERE "+pick, value)
		}
	}
	if err := conn.QueryRow("SELECT count(*) FROM records").Scan(&records); err != nil {
		t.Fatal(err)
	}
	return did, records
}

// TestRowsDamagedAtRandom: the server starts regardless of what the rows contain. Undamaged data
// stays the same, and people whose rows are damaged get the rest of their data or an explanation.
func TestRowsDamagedAtRandom(t *testing.T) {
	fixture.Long(t)
	c := newCampus(t)
	for range 500 {
		seed := rand.Uint64N(1 << 20)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { c.survives(t, seed) })
	}
}

func (c *campus) survives(t *testing.T, seed uint64) {
	dir := t.TempDir()
	path := filepath.Join(dir, "viz.db")
	if err := os.WriteFile(path, c.file, 0o600); err != nil {
		t.Fatal(err)
	}
	did, records := c.rows(t, rand.New(rand.NewPCG(seed, 1)), path)
	defer func() {
		if t.Failed() {
			t.Logf("damage done:\n%s", strings.Join(did, "\n"))
		}
	}()
	for start := range 2 { // repairs must survive a restart
		s := begun(t, dir)
		var now int
		if err := s.db.Read(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRow("SELECT count(*) FROM records").Scan(&now)
		}); err != nil || start == 0 && now != records {
			t.Errorf("there were %d records, and after the start there are %d, %v", records, now, err)
		}
		if got := s.summary(c.rooms[0]); got != c.summary {
			t.Errorf("the undamaged room has\n%s\nwant\n%s", got, c.summary)
		}
		if got := s.export(c, c.learners[0]); got != c.export {
			t.Errorf("the undamaged learner has\n%s\nwant\n%s", got, c.export)
		}
		c.use(t, s, c.rooms[1:], c.learners[1:])
		s.end()
	}
}

// TestPagesDamagedAtRandom: the server starts even if bits or pages of the file are damaged,
// and rooms and learners get the data that is left.
func TestPagesDamagedAtRandom(t *testing.T) {
	fixture.Long(t)
	c := newCampus(t)
	for range 100 {
		seed := rand.Uint64N(1 << 20)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, file, dir := rand.New(rand.NewPCG(seed, 2)), slices.Clone(c.file), t.TempDir()
			for range 1 + r.IntN(30) {
				file[r.IntN(len(file))] ^= 1 << r.IntN(8)
			}
			if at := r.IntN(len(file)); r.IntN(2) == 0 {
				clear(file[at:min(len(file), at+r.IntN(10_000))])
			}
			if err := os.WriteFile(filepath.Join(dir, "viz.db"), file, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s := begun(t, dir)
				c.use(t, s, c.rooms, c.learners)
				s.end()
			}
		})
	}
}

// use uses the data of rooms and learners, and fails the test if the damaged data prevents
// that.
func (c *campus) use(t *testing.T, s *school, rooms []keptLesson, learners []string) {
	for _, l := range rooms {
		c.teach(t, s, l)
	}
	p := s.progress(time.Now())
	for _, name := range learners {
		_, mapped := p.Map(t.Context(), name)
		_, dealt := p.Cards(t.Context(), name)
		_, compared := p.Calibration(t.Context(), name)
		_, exported := p.Export(t.Context(), name)
		_, noticed := p.Notices(t.Context(), name)
		_, reviewed := p.Review(t.Context(), name, c.card, 3, fmt.Sprint("new-", time.Now().UnixNano()))
		kept := p.Answer(t.Context(), name, progress.Answer{
			ID: fmt.Sprint("new-", time.Now().UnixNano()), Kind: progress.Drill, Item: "softmax/T2", Credit: 1,
		})
		if err := errors.Join(mapped, dealt, compared, exported, noticed, reviewed, kept); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// teach runs a few commands in a room, if it can be opened.
func (c *campus) teach(t *testing.T, s *school, l keptLesson) {
	r, err := s.Instruct(t.Context(), l.code, l.secret, classtest.Caller(classtest.Instructor))
	if err != nil {
		refusal, ok := terms.AsRefusal(err)
		if !ok || !slices.Contains([]terms.Code{class.CodeDamaged, class.CodeSecret}, refusal.Code) {
			t.Errorf("room %s: got error %v, want one about a damaged room or secret", l.code, err)
		}
		return
	}
	ctx := context.Background()
	for _, cmd := range []class.Command{
		class.Dismiss{},
		class.AskQuestion{ID: "q-order"},
		class.Close{},
		class.Reveal{},
	} {
		_, err := classtest.Execute(ctx, r, classtest.Instructor, l.secret, cmd)
		if _, ok := terms.AsRefusal(err); err != nil && !ok || errors.Is(err, class.ErrKept) {
			t.Errorf("room %s: %T: got error %v, want none or a refusal", l.code, cmd, err)
		}
	}
	if _, err := r.Summary(ctx, l.secret); err != nil {
		t.Errorf("room %s: %v", l.code, err)
	}
	if _, err := r.Attendees(ctx, l.secret); err != nil {
		t.Errorf("room %s: %v", l.code, err)
	}
}
