package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/store"
)

// Limits of one commit. A larger batch is committed in parts of at most this size, so that
// other callers do not have to wait for a whole import.
const (
	groupRecords = 2048
	groupBytes   = 4 << 20
)

// errDropped is returned for a batch whose log was dropped after only some of its parts were
// committed.
var errDropped = errors.New("the log was dropped while records were being appended to it")

// appending is a batch in the queue. After sending its result to done, the committing goroutine no
// longer uses the other fields.
type appending struct {
	Batch
	size int64
	seqs []int64
	done chan error // has capacity 1

	// For the parts committed so far:
	owner, last  int64 // row of the log, and number of the newest record added to it
	added, bytes int64
}

func newAppending(b Batch) *appending {
	return &appending{Batch: b, size: b.size(), seqs: make([]int64, len(b.Records)), done: make(chan error, 1)}
}

// large reports whether a batch needs several commits.
func (j *SQLite) large(a *appending) bool { return len(a.Records) > j.perCommit || a.size > groupBytes }

// partEnd returns the end of a batch's part that starts at record from.
func (j *SQLite) partEnd(a *appending, from int) int {
	to, size := from, int64(0)
	for to < len(a.Records) && to-from < j.perCommit {
		if size += a.Records[to].Size(); size > groupBytes && to > from {
			break
		}
		to++
	}
	return to
}

// Append implements [Journal].
func (j *SQLite) Append(ctx context.Context, b Batch) ([]int64, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := newAppending(b)
	j.enqueue(a)
	if err := <-a.done; err != nil {
		return nil, err
	}
	return a.seqs, nil
}

// enqueue adds a batch to the queue and starts the committing goroutine if it is not
// running.
func (j *SQLite) enqueue(a *appending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue = append(j.queue, a)
	if !j.busy {
		j.busy = true
		go j.commitAll()
	}
}

// commitAll commits batches until the queue is empty.
func (j *SQLite) commitAll() {
	for {
		group := j.next()
		switch {
		case group == nil:
			return
		case j.large(group[0]):
			j.commitLarge(group[0])
		default:
			j.commitGroup(group)
		}
	}
}

// next removes the batches for one commit from the queue: the oldest ones that fit. A large batch
// is returned alone. If the queue is empty, next returns nil, and the committing goroutine must
// end.
func (j *SQLite) next() []*appending {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		j.busy = false
		return nil
	}
	n, records, size := 0, 0, int64(0)
	for _, a := range j.queue {
		records, size = records+len(a.Records), size+a.size
		if n > 0 && (records > j.perCommit || size > groupBytes) {
			break
		}
		n++
	}
	group := j.queue[:n:n]
	j.queue = j.queue[n:]
	return group
}

// nextDuring removes from the queue the batches that can be committed between two parts of a large
// batch: small batches of other owners.
func (j *SQLite) nextDuring(large *appending) (group []*appending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var rest []*appending
	records, size := 0, int64(0)
	for _, a := range j.queue {
		fits := records+len(a.Records) <= j.perCommit && size+a.size <= groupBytes
		if j.large(a) || a.Owner == large.Owner || !fits {
			rest = append(rest, a)
			continue
		}
		records, size = records+len(a.Records), size+a.size
		group = append(group, a)
	}
	j.queue = rest
	return group
}

// commitGroup commits batches together. If that fails, it tries each one separately, so that
// a batch that cannot be stored does not affect the others.
func (j *SQLite) commitGroup(group []*appending) {
	err := j.commit(group)
	if err != nil && len(group) > 1 {
		for _, a := range group {
			a.done <- j.commit([]*appending{a})
		}
		return
	}
	for _, a := range group {
		a.done <- err
	}
}

// commitLarge commits a batch in parts, and commits batches of other owners in between.
//
// Its records are hidden until the last part is committed: reads stop at owners.last, which only
// the last part updates. The remains of an interrupted batch are deleted before the next commit
// (see repair).
func (j *SQLite) commitLarge(a *appending) {
	for from := 0; from < len(a.Records); {
		to := j.partEnd(a, from)
		if err := j.commitPart(a, from, to); err != nil {
			j.repaired = false
			_ = j.commit(nil) // deletes the parts; if that fails, the next commit does it
			a.done <- err
			return
		}
		from = to
		if group := j.nextDuring(a); len(group) > 0 {
			j.commitGroup(group)
		}
	}
	a.done <- nil
}

// commit commits complete batches.
func (j *SQLite) commit(group []*appending) error {
	return j.write(func(tx *sql.Tx, insert *sql.Stmt) error {
		for _, a := range group {
			if err := j.add(tx, insert, a, 0, len(a.Records)); err != nil {
				return err
			}
		}
		return nil
	})
}

// commitPart commits some of a batch's records.
func (j *SQLite) commitPart(a *appending, from, to int) error {
	return j.write(func(tx *sql.Tx, insert *sql.Stmt) error { return j.add(tx, insert, a, from, to) })
}

// write runs f in a transaction and passes it a statement that inserts a record. If f panics, write
// returns an error, so that callers get a result and the queue continues.
func (j *SQLite) write(f func(tx *sql.Tx, insert *sql.Stmt) error) error {
	err := fault.Try(func() error {
		// The records are stored even if the callers have given up.
		return j.db.Write(context.Background(), func(tx *sql.Tx) error {
			if !j.repaired {
				if err := j.repair(tx); err != nil {
					return err
				}
			}
			insert, err := tx.Prepare("INSERT INTO records (owner, seq, type, id, data) VALUES (?, ?, ?, ?, ?) " +
				"ON CONFLICT (owner, type, id) DO NOTHING")
			if err != nil {
				return err
			}
			defer insert.Close()
			return f(tx, insert)
		})
	})
	if err == nil {
		j.repaired = true
	}
	return err
}

// repair deletes the remains of interrupted batches and finds the number of the newest
// record in all logs. It must not be called while a large batch is in progress.
func (j *SQLite) repair(tx *sql.Tx) error {
	for _, query := range []string{
		`DELETE FROM records WHERE (owner, seq) IN (SELECT r.owner, r.seq FROM owners o
			CROSS JOIN records r ON r.owner = o.id AND r.seq > o.last WHERE o.kind <> ?)`,
		"DELETE FROM owners WHERE last < first AND kind <> ?", // logs whose first batch was interrupted
	} {
		if _, err := tx.Exec(query, store.SetAsideKind); err != nil {
			return err
		}
	}
	var last int64
	err := tx.QueryRow("SELECT ifnull(max(last), 0) FROM owners").Scan(&last)
	j.last = max(j.last, last)
	return err
}

// add inserts the records of a batch from index from up to, but not including, index to. With the
// last part, all records of the batch become visible.
func (j *SQLite) add(tx *sql.Tx, insert *sql.Stmt, a *appending, from, to int) error {
	used := a.At.UnixMilli()
	if len(a.Records) == 0 {
		_, err := tx.Exec("UPDATE owners SET used_at = max(used_at, ?) WHERE kind = ? AND name = ?",
			used, a.Owner.Kind, a.Owner.Name)
		return err
	}
	if err := j.openLog(tx, a, from == 0); err != nil {
		return err
	}
	for i, r := range a.Records[from:to] {
		result, err := insert.Exec(a.owner, j.last+1, r.Type, r.ID, string(r.Data))
		if err != nil {
			return fmt.Errorf("record %d: %w", from+i, err)
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			continue // already in the log
		}
		j.last++
		a.seqs[from+i], a.last = j.last, j.last
		a.added++
		a.bytes += r.Size()
	}
	if to < len(a.Records) {
		return nil
	}
	_, err := tx.Exec(`UPDATE owners SET used_at = max(used_at, ?), last = max(last, ?), records = records + ?,
		bytes = bytes + ? WHERE id = ?`, used, a.last, a.added, a.bytes, a.owner)
	return err
}

// openLog finds the row of a batch's log. For the first part, it creates the log if
// necessary.
func (j *SQLite) openLog(tx *sql.Tx, a *appending, first bool) error {
	if first {
		clear(a.seqs) // in case an attempt that was rolled back has set them
		a.last, a.added, a.bytes = 0, 0, 0
		return tx.QueryRow(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
			VALUES (?, ?, ?, ?, ?, 0, 0) ON CONFLICT (kind, name) DO UPDATE SET used_at = used_at RETURNING id`,
			a.Owner.Kind, a.Owner.Name, a.At.UnixMilli(), j.last+1, j.last).Scan(&a.owner)
	}
	// After a Drop, the row number might belong to another log.
	if id, err := find(tx, a.Owner); err != nil {
		return err
	} else if id != a.owner {
		return errDropped
	}
	return nil
}
