package journal

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkAppend measures how long one of several writers waits for an append, and the number of
// appends per second. It compares this journal with the table that earlier versions used, which has
// one transaction for each entry and does not wait for the disk (synchronous=NORMAL), and with the
// same table when it does wait for the disk. To interleave the measurements, run:
//
//	go test ./web/journal -run - -bench Append -benchtime 2000x -count 5
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("journal/writers=%d", writers), func(b *testing.B) {
			j := onDisk(b, b.TempDir())
			timed(b, writers, func(w, i int) error {
				one := Batch{Owner{Learner, fmt.Sprint(w)}, morning, []Record{record("review", fmt.Sprint(i), review)}}
				_, err := j.Append(ctx, one)
				return err
			})
		})
		for _, wait := range []string{"NORMAL", "FULL"} {
			b.Run(fmt.Sprintf("table-%s/writers=%d", wait, writers), func(b *testing.B) {
				db := table(b, wait)
				timed(b, writers, func(w, i int) error { return insert(db, fmt.Sprint(w), fmt.Sprint(i)) })
			})
		}
	}
}

const review = `{"id":"0123456789abcdef","at":"2026-11-20T08:02:00.000Z","card":"c-steps","grade":"good"}`

// timed makes several writers call do, b.N times in total, and reports how long the calls took.
func timed(b *testing.B, writers int, do func(w, i int) error) {
	var next atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			var own []time.Duration
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				begin := time.Now()
				if err := do(w, int(i)); err != nil {
					b.Error(err)
					return
				}
				own = append(own, time.Since(begin))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(all)
	ms := func(part float64) float64 {
		return float64(all[int(part*float64(len(all)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// table returns the reviews table of versions without logs.
func table(b *testing.B, synchronous string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "viz.db")+
		"?_journal_mode=WAL&_synchronous="+synchronous+"&_txlock=immediate&_pragma=secure_delete(1)")
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE reviews (learner TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
		card TEXT NOT NULL, grade INTEGER NOT NULL, PRIMARY KEY (learner, id)) STRICT, WITHOUT ROWID;
		CREATE INDEX reviews_card ON reviews (learner, card, at);`)
	must(b, err)
	return db
}

// insert stores a review in the tables of versions without logs. Unlike those versions, it does not
// update the card's schedule.
func insert(db *sql.DB, learner, id string) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var known bool
	if err := tx.QueryRow(
		"SELECT EXISTS (SELECT 1 FROM reviews WHERE learner = ? AND id = ?)", learner, id,
	).Scan(&known); err != nil {
		return err
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM reviews WHERE learner = ?", learner).Scan(&n); err != nil {
		return err
	}
	if _, err := tx.Exec(
		"INSERT INTO reviews VALUES (?, ?, ?, 'c-steps', 3) ON CONFLICT DO NOTHING", learner, id, n,
	); err != nil {
		return err
	}
	return tx.Commit()
}

// BenchmarkImport measures appending an import of the maximum size, in one batch.
func BenchmarkImport(b *testing.B) {
	j := onDisk(b, b.TempDir())
	list := make([]Record, 80_100)
	for i := range list {
		list[i] = record("review", fmt.Sprint("r", i), review)
	}
	n := 0
	for b.Loop() {
		n++
		if _, err := j.Append(ctx, Batch{Owner{Learner, fmt.Sprint(n)}, morning, list}); err != nil {
			b.Fatal(err)
		}
	}
}
