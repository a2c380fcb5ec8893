package progress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/lessons/fsrs"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// example is an export with one entry of each kind.
const example = `{
  "format": "viz-progress",
  "version": 1,
  "exported": "2026-11-21T09:00:00.123Z",
  "visits": [
     {"section":"loop#steps","first":"2026-11-20T08:00:00.000Z","last":"2026-11-20T09:00:00.000Z","times":3}
  ],
  "answers": [
     {"id":"a1","at":"2026-11-20T08:01:00.000Z","kind":"quiz","item":"q-order","credit":0.5,"detail":"<b>ä</b>"}
  ],
  "reviews": [
     {"id":"r1","at":"2026-11-20T08:02:00.000Z","card":"c-steps","grade":"good"}
  ],
  "predictions": [
     {"id":"p1","at":"2026-11-20T08:03:00.000Z","confidence":0.75,"right":true,"score":-0.2876820724517809}
  ],
  "settings": [
     {"name":"pace","value":"slow"}
  ]
}
`

// stamped matches the time of an export, which is the only difference between two exports of the
// same data.
var stamped = regexp.MustCompile(`"exported": "[^"]*"`)

func export(t testing.TB, s *Store, learner string) string {
	t.Helper()
	data, err := s.Export(ctx, learner)
	must(t, err)
	return stamped.ReplaceAllString(string(data), `"exported": "2026-11-21T09:00:00.123Z"`)
}

func TestImportIsIdempotent(t *testing.T) {
	s, _ := newStore(t)
	for i, want := range []Imported{{1, 1, 1, 1, 1}, {}} { // in the second import, no entry is new
		added, err := s.Import(ctx, ada, []byte(example))
		if err != nil || added != want {
			t.Fatalf("import %d added %+v, %v; want %+v", i+1, added, err, want)
		}
		if got := export(t, s, ada); got != example {
			t.Fatalf("after import %d, the export is\n%s\nwant\n%s", i+1, got, example)
		}
	}
	d := deckOf(t, s, ada)
	if d.New != 2 || d.Due != 1 || d.Cards[0].Reviews != 1 || !d.Cards[0].Last.Equal(
		time.Date(2026, 11, 20, 8, 2, 0, 0, time.UTC),
	) {
		t.Errorf(
			"the cards are %+v, want New = 2, Due = 1, Cards[0].Reviews = 1, Cards[0].Last = %+v", d,
			time.Date(2026, 11, 20, 8, 2, 0, 0, time.UTC),
		)
	}
	if got := export(t, s, bob); strings.Contains(got, "a1") || strings.Contains(got, "slow") {
		t.Errorf("another learner exports %s", got)
	}
}

// TestImportMerges compares a merge with one that was computed by hand. A visit gets the earlier
// first time, the later last time and the larger count. An existing entry takes precedence over an
// imported one with the same id. The state of a card follows from all its reviews.
func TestImportMerges(t *testing.T) {
	s, c := newStore(t)
	c.t = time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC) // between the example's first and last visit
	must(t, s.Visit(ctx, ada, "loop#steps"))
	must(t, s.Answer(ctx, ada, Answer{ID: "a1", Item: "q-draw", Kind: Quiz, Credit: 1}))
	must(t, s.set(ctx, ada, "pace", "fast"))
	_, err := s.Review(ctx, ada, "c-steps", fsrs.Hard, "r2") // after the example's review
	must(t, err)
	added, err := s.Import(ctx, ada, []byte(example))
	if want := (Imported{Reviews: 1, Predictions: 1}); err != nil || added != want {
		t.Fatalf("the import added %+v, %v; want %+v", added, err, want)
	}
	got := export(t, s, ada)
	for _, want := range []string{
		`{"section":"loop#steps","first":"2026-11-20T08:00:00.000Z","last":"2026-11-20T09:00:00.000Z","times":3}`,
		`{"id":"a1","at":"2026-11-20T08:30:00.000Z","kind":"quiz","item":"q-draw","credit":1,"detail":""}`,
		`{"name":"pace","value":"fast"}`, `"id":"p1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("after the merge, %s does not contain %s", got, want)
		}
	}
	// The reviews are r1 (good, 8:02) and then r2 (hard, 8:30), regardless of the order in which
	// they were added.
	p := fsrs.Default()
	card := p.Next(fsrs.Card{}, time.Date(2026, 11, 20, 8, 2, 0, 0, time.UTC), fsrs.Good)
	card = p.Next(card, c.t, fsrs.Hard)
	if x := deckOf(t, s, ada).Cards[0]; x.Reviews != 2 || x.Stability != card.Stability || !x.Due.Equal(card.Due) {
		t.Errorf("the card is %+v, want %+v", x, card)
	}
}

// TestImportRefused: an invalid file is refused as a whole, with the reason and the location of the
// error. (The tests of package saved check every fault.)
func TestImportRefused(t *testing.T) {
	s, _ := newStore(t)
	must(t, s.Visit(ctx, ada, "loop#draw"))
	before := export(t, s, ada)
	for bad, want := range map[string]string{
		strings.Replace(example, `"grade":"good"`, `"grade":"fine"`, 1): "reviews[0].grade must be " +
			"again, hard, good or easy",
		example[:300]: "not JSON at line 9",
	} {
		added, err := s.Import(ctx, ada, []byte(bad))
		if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), want) || added != (Imported{}) {
			t.Errorf("the import added %+v, %v; want %s", added, err, want)
		}
	}
	if after := export(t, s, ada); after != before {
		t.Errorf("after a refused import, the export is\n%s\nwant\n%s", after, before)
	}
}

// gated is a journal whose appends report that they were called, and then wait.
type gated struct {
	journal.Journal
	entered chan string
	let     chan struct{}
}

func (g gated) Append(ctx context.Context, b journal.Batch) ([]int64, error) {
	g.entered <- b.Owner.Name
	<-g.let
	return g.Journal.Append(ctx, b)
}

// TestImportsAreLimited: only a few imports are read at a time. Waiting imports do not delay
// other operations, and can be canceled.
func TestImportsAreLimited(t *testing.T) {
	logs := gated{journal.NewMemory(), make(chan string), make(chan struct{})}
	s := New(logs, memory(t), course(), time.Now)
	done := make(chan error)
	for i := range concurrentImports {
		go func() {
			_, err := s.Import(ctx, fmt.Sprint("learner-", i), []byte(example))
			done <- err
		}()
		<-logs.entered
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Import(gone, ada, []byte(example)); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled import: got error %v, want %v", err, context.Canceled)
	}
	go func() { done <- s.Answer(ctx, bob, Answer{ID: "1", Item: "q-order", Kind: Quiz, Credit: 1}) }()
	if who := <-logs.entered; who != bob {
		t.Errorf("the next import is by %s, want %s", who, bob)
	}
	close(logs.let)
	for range concurrentImports + 1 {
		must(t, <-done)
	}
	go func() { <-logs.entered }()
	if _, err := s.Import(ctx, ada, []byte(example)); err != nil {
		t.Error(err)
	}
}

// fill performs n random operations as a learner.
func fill(r *rapid.T, s *Store, c *clock, learner string) {
	check := func(err error) {
		if err != nil {
			r.Fatal(err)
		}
	}
	for i := range rapid.IntRange(0, 20).Draw(r, "things") {
		c.add(time.Duration(rapid.Int64Range(0, int64(9*24*time.Hour)).Draw(r, "wait")))
		id := fmt.Sprint(rapid.StringMatching(`[A-Za-z0-9._-]{1,8}`).Draw(r, "id"), i)
		switch rapid.IntRange(0, 4).Draw(r, "thing") {
		case 0:
			check(
				s.Visit(
					ctx, learner,
					rapid.SampledFrom([]string{"loop#steps", "loop#draw", "cache#cost"}).Draw(r, "section"),
				),
			)
		case 1:
			detail := rapid.StringOfN(rapid.RuneFrom(nil, letters...), 0, 50, saved.MaxDetail).Draw(r, "detail")
			item := rapid.SampledFrom([]string{"q-order", "q-draw", "q-bytes"}).Draw(r, "item")
			kind := rapid.SampledFrom([]string{Check, Quiz, Drill}).Draw(r, "kind")
			check(
				s.Answer(
					ctx, learner,
					Answer{
						ID: id, Item: item, Kind: kind, Credit: rapid.Float64Range(0, 1).Draw(r, "credit"),
						Detail: detail,
					},
				),
			)
		case 2:
			_, err := s.Review(
				ctx, learner, rapid.SampledFrom([]string{"c-steps", "c-draw"}).Draw(r, "card"),
				rapid.SampledFrom(fsrs.Grades[:]).Draw(r, "grade"), id,
			)
			check(err)
		case 3:
			_, err := s.Predict(
				ctx, learner,
				Prediction{
					ID: id, Confidence: rapid.Float64Range(0, 1).Draw(r, "confidence"),
					Right: rapid.Bool().Draw(r, "right"),
					Score: rapid.Float64Range(saved.LeastScore, 0).Draw(r, "score"),
				},
			)
			check(err)
		case 4:
			check(
				s.set(ctx, learner, fmt.Sprint("s", i%3),
					rapid.StringOfN(rapid.RuneFrom(nil, letters...), 0, 20, -1).Draw(r, "value"),
				),
			)
		}
	}
}

// TestExportDeleteImportRoundTrip: after export, deletion and import, a learner has the same file,
// map, deck and calibration as before. Another learner can also import the file.
func TestExportDeleteImportRoundTrip(t *testing.T) {
	s, c := newStore(t)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		ada, bob, carl := fmt.Sprint("ada-", runs), fmt.Sprint("bob-", runs), fmt.Sprint("carl-", runs)
		c.t = morning
		fill(r, s, c, ada)
		fill(r, s, c, bob)
		first, others := export(t, s, ada), export(t, s, bob)
		looks := func() []any {
			calibration, err := s.Calibration(ctx, ada)
			must(t, err)
			return []any{mapOf(t, s, ada), deckOf(t, s, ada), calibration}
		}
		seen := looks()
		must(t, s.Delete(ctx, ada))
		if empty := export(t, s, ada); strings.Contains(empty, `{"`) {
			r.Fatalf("after the deletion, the export is %s, want it without %q", empty, `{"`)
		}
		_, err := s.Import(ctx, ada, []byte(first))
		must(t, err)
		if again := export(t, s, ada); again != first {
			r.Fatalf("the data was restored as\n%s\nwant, as exported,\n%s", again, first)
		}
		if got := looks(); !reflect.DeepEqual(got, seen) {
			r.Fatalf("after the import, the learner sees\n%+v\nwant, as before,\n%+v", got, seen)
		}
		_, err = s.Import(ctx, carl, []byte(first))
		must(t, err)
		if third := export(t, s, carl); third != first {
			r.Fatalf("another learner has\n%s\nwant\n%s", third, first)
		}
		if export(t, s, bob) != others {
			r.Fatal("another learner's progress changed")
		}
	})
}

// TestDeleteIsWhole: deletion leaves none of a learner's progress in any table or in any byte of
// the files. A learner's membership in a class belongs to the class, so web/class deletes it.
// Promise: Deleting your progress leaves nothing of it in any table or file.
func TestDeleteIsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "viz.db"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, c := newStoreIn(t, dir) // the database has a notice
	c.t = time.Now()
	const learner = "rumpelstiltskin"
	_, err := s.Import(ctx, learner, []byte(example))
	must(t, err)
	told, err := s.Notices(ctx, learner)
	must(t, err)
	must(t, s.Visit(ctx, bob, "loop#draw"))
	for range 300 { // enough records for a snapshot and a compaction
		must(t, s.set(ctx, learner, "pace", fmt.Sprint("mangosteen-", c.now().UnixNano())))
		c.add(time.Second)
	}
	must(t, s.Delete(ctx, learner))
	for _, name := range []string{"viz.db", "viz.db-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		for _, trace := range []string{learner, "mangosteen", "c-steps"} {
			if bytes.Contains(data, []byte(trace)) {
				t.Errorf("%s still contains %s", name, trace)
			}
		}
	}
	if again, err := s.Notices(ctx, learner); err != nil || len(told) != 1 || len(again) != 1 {
		t.Errorf(
			"the notice was shown %d times, and afterwards, to a stranger, %d times, %v; want 1, 1, <nil>", len(told),
			len(again), err,
		)
	}
	if m := mapOf(t, s, bob); m.All.Seen != 1 {
		t.Error("another learner's visit was deleted too")
	}
	if got := export(t, s, learner); strings.Contains(got, `{"`) {
		t.Errorf("after the deletion, the export is %s, want it without %q", got, `{"`)
	}
}

// TestEntryLimits: each kind of entry has its own limit. When a learner has reached it, new entries
// are refused, while existing entries are still accepted.
func TestEntryLimits(t *testing.T) {
	s, _ := newStore(t)
	if s.most != saved.MaxEntries {
		t.Errorf("the limit for a learner is %d, want %d", s.most, saved.MaxEntries)
	}
	s.most = 30
	f := saved.File{Exported: morning}
	for i := range s.most {
		f.Reviews = append(
			f.Reviews,
			saved.Review{
				ID: fmt.Sprint("full", i), At: morning.Add(time.Duration(i) * time.Second), Card: "c-steps",
				Grade: fsrs.Good,
			},
		)
	}
	data, err := f.Encode()
	must(t, err)
	if added, err := s.Import(ctx, ada, data); err != nil || added.Reviews != s.most {
		t.Fatalf("got %+v, %v; want no error, Reviews = %d", added, err, s.most)
	}
	if _, err := s.Review(ctx, ada, "c-draw", fsrs.Good, "one-more"); !errors.Is(err, ErrFull) {
		t.Errorf("one more review: got error %v, want ErrFull", err)
	}
	if again, err := s.Review(ctx, ada, "c-steps", fsrs.Good, "full7"); err != nil || again.Reviews != s.most {
		t.Errorf("an existing review: got %+v, %v; want %+v, <nil>", again.Reviews, err, s.most)
	}
	if _, err := s.Import(ctx, ada, []byte(example)); !errors.Is(err, ErrFull) {
		t.Errorf("an import with one more review: got error %v, want ErrFull", err)
	}
	if m := mapOf(t, s, ada); m.All.Seen != 0 {
		t.Error("a part of the refused import was saved")
	}
	must(t, s.Answer(ctx, ada, Answer{ID: "full7", Item: "q-order", Kind: Quiz})) // an entry of another kind
	_, err = s.Review(ctx, bob, "c-draw", fsrs.Good, "one-more")                  // an entry of another learner
	must(t, err)
}
