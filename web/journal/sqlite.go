package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/tokenbytoken/viz/web/store"
)

// SQLite keeps logs in the tables owners, records and snapshots of a database
// (web/store/schema.go).
type SQLite struct {
	db *store.DB

	mu      sync.Mutex
	waiting []*appending // in the order in which they came
	busy    bool         // the goroutine that commits is under way

	// last is the place of the newest record of all. Only the goroutine that
	// commits uses it; 0 is not known yet.
	last int64
}

// NewSQLite returns the logs of a database. There must be no other SQLite for
// the same database, since each gives places to records.
func NewSQLite(db *store.DB) *SQLite { return &SQLite{db: db} }

var _ Journal = (*SQLite)(nil)

// appending is a batch that waits to be committed.
type appending struct {
	Batch
	places []int64
	done   chan error // of capacity 1
}

// together is how many records share a commit. A larger batch has one of its own.
const together = 2048

// Append implements [Journal].
func (j *SQLite) Append(ctx context.Context, b Batch) ([]int64, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := &appending{Batch: b, done: make(chan error, 1)}
	j.mu.Lock()
	j.waiting = append(j.waiting, a)
	if !j.busy {
		j.busy = true
		go j.commitAll()
	}
	j.mu.Unlock()
	if err := <-a.done; err != nil {
		return nil, err
	}
	return a.places, nil
}

// commitAll commits what waits until nothing does.
func (j *SQLite) commitAll() {
	for {
		group := j.next()
		if group == nil {
			return
		}
		j.commitGroup(group)
	}
}

// next takes the batches of one commit: those that came first, as many as go
// together. With none left it ends the goroutine's term.
func (j *SQLite) next() []*appending {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) == 0 {
		j.busy = false
		return nil
	}
	n, records := 0, 0
	for _, a := range j.waiting {
		if records += len(a.Records); n > 0 && records > together {
			break
		}
		n++
	}
	group := j.waiting[:n:n]
	j.waiting = j.waiting[n:]
	return group
}

// commitGroup commits batches together. Where that fails, each is tried by
// itself: one that cannot be kept takes no other with it.
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

func (j *SQLite) commit(group []*appending) error {
	// Those who wait may have gone; what they asked for is kept all the same.
	return j.db.Write(context.Background(), func(tx *sql.Tx) error {
		if j.last == 0 {
			if err := tx.QueryRow("SELECT ifnull(max(last), 0) FROM owners").Scan(&j.last); err != nil {
				return err
			}
		}
		insert, err := tx.Prepare("INSERT INTO records (owner, seq, type, id, data) VALUES (?, ?, ?, ?, ?) " +
			"ON CONFLICT (owner, type, id) DO NOTHING")
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, a := range group {
			if err := j.add(tx, insert, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// add writes one batch.
func (j *SQLite) add(tx *sql.Tx, insert *sql.Stmt, a *appending) error {
	used := a.At.UnixMilli()
	if len(a.Records) == 0 {
		_, err := tx.Exec("UPDATE owners SET used_at = max(used_at, ?) WHERE kind = ? AND name = ?",
			used, a.Owner.Kind, a.Owner.Name)
		return err
	}
	var owner int64
	err := tx.QueryRow(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
		VALUES (?, ?, ?, ?, ?, 0, 0)
		ON CONFLICT (kind, name) DO UPDATE SET used_at = max(used_at, excluded.used_at) RETURNING id`,
		a.Owner.Kind, a.Owner.Name, used, j.last+1, j.last).Scan(&owner)
	if err != nil {
		return err
	}
	a.places = make([]int64, len(a.Records))
	var added, size int64
	for i, r := range a.Records {
		result, err := insert.Exec(owner, j.last+1, r.Type, r.ID, string(r.Data))
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			continue
		}
		j.last++
		a.places[i] = j.last
		added++
		size += r.size()
	}
	if added == 0 {
		return nil
	}
	_, err = tx.Exec("UPDATE owners SET last = ?, records = records + ?, bytes = bytes + ? WHERE id = ?",
		j.last, added, size, owner)
	return err
}

// Read implements [Journal].
func (j *SQLite) Read(ctx context.Context, o Owner, after int64, f func(Record) error) error {
	return j.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT r.seq, r.type, r.id, r.data FROM records r
			WHERE r.owner = (SELECT id FROM owners WHERE kind = ? AND name = ?) AND r.seq > ? ORDER BY r.seq`,
			o.Kind, o.Name, after)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r Record
			if err := rows.Scan(&r.Seq, &r.Type, &r.ID, &r.Data); err != nil {
				return err
			}
			if err := f(r); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Find implements [Journal].
func (j *SQLite) Find(ctx context.Context, o Owner, k Key) (r Record, found bool, err error) {
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT seq, data FROM records
			WHERE owner = (SELECT id FROM owners WHERE kind = ? AND name = ?) AND type = ? AND id = ?`,
			o.Kind, o.Name, k.Type, k.ID).Scan(&r.Seq, &r.Data)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	} else if err != nil {
		return Record{}, false, err
	}
	r.Type, r.ID = k.Type, k.ID
	return r, true, nil
}

// Owners implements [Journal].
func (j *SQLite) Owners(ctx context.Context, kind string) (list []Info, err error) {
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		list = nil
		rows, err := tx.QueryContext(
			ctx, "SELECT name, used_at, records, bytes FROM owners WHERE kind = ? ORDER BY name", kind)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			i := Info{Owner: Owner{Kind: kind}}
			var used int64
			if err := rows.Scan(&i.Name, &used, &i.Records, &i.Bytes); err != nil {
				return err
			}
			i.Used = moment(used)
			list = append(list, i)
		}
		return rows.Err()
	})
	return list, err
}

// Compact implements [Journal].
func (j *SQLite) Compact(ctx context.Context, o Owner, gone []Key) error {
	err := j.db.Write(ctx, func(tx *sql.Tx) error {
		owner, err := find(tx, o)
		if owner == 0 || err != nil {
			return err
		}
		var removed, size int64
		remove, err := tx.Prepare(
			"DELETE FROM records WHERE owner = ? AND type = ? AND id = ? RETURNING octet_length(data)")
		if err != nil {
			return err
		}
		defer remove.Close()
		for _, k := range gone {
			var n int64
			err := remove.QueryRow(owner, k.Type, k.ID).Scan(&n)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			} else if err != nil {
				return err
			}
			removed++
			size += int64(len(k.Type)+len(k.ID)) + n
		}
		if _, err := tx.Exec("DELETE FROM snapshots WHERE owner = ?", owner); err != nil {
			return err
		}
		_, err = tx.Exec(
			"UPDATE owners SET records = records - ?, bytes = bytes - ? WHERE id = ?", removed, size, owner)
		return err
	})
	if err == nil {
		j.db.Scrub(ctx)
	}
	return err
}

// find returns the number of an owner, 0 where there is none.
func find(tx *sql.Tx, o Owner) (id int64, err error) {
	err = tx.QueryRow("SELECT id FROM owners WHERE kind = ? AND name = ?", o.Kind, o.Name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// Drop implements [Journal].
func (j *SQLite) Drop(ctx context.Context, o Owner) error {
	err := j.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners WHERE kind = ? AND name = ?", o.Kind, o.Name) // and with it its records
		return err
	})
	if err != nil {
		return err
	}
	j.db.Scrub(ctx)
	if o.Kind == Room {
		return j.db.EraseRoomFromCopies(ctx, o.Name)
	}
	return j.db.EraseFromCopies(ctx, o.Name)
}

// Snapshot implements [Journal].
func (j *SQLite) Snapshot(ctx context.Context, o Owner) (s Snapshot, err error) {
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT version, seq, state FROM snapshots
			WHERE owner = (SELECT id FROM owners WHERE kind = ? AND name = ?)`, o.Kind, o.Name).
			Scan(&s.Version, &s.Seq, &s.State)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Snapshot{}, nil
	}
	return s, err
}

// KeepSnapshot implements [Journal].
func (j *SQLite) KeepSnapshot(ctx context.Context, o Owner, s Snapshot) error {
	return j.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT OR REPLACE INTO snapshots (owner, version, seq, state)
			SELECT id, ?, ?, ? FROM owners WHERE kind = ? AND name = ? AND first <= ?`,
			s.Version, s.Seq, s.State, o.Kind, o.Name, s.Seq)
		return err
	})
}
