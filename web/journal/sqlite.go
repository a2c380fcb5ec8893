package journal

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/store"
)

// SQLite stores logs in the tables owners, records and snapshots of a database
// (web/store/schema.go).
type SQLite struct {
	db        *store.DB
	perCommit int // groupRecords, or less in tests that split small batches

	mu    sync.Mutex
	queue []*appending // oldest first
	busy  bool         // the committing goroutine is running

	// Only the committing goroutine uses these fields.
	last     int64 // sequence number of the newest record in all logs
	repaired bool  // last is known, and the remains of interrupted batches have been deleted
}

// NewSQLite returns the journal of a database. There must be only one SQLite per database,
// since it numbers the records.
func NewSQLite(db *store.DB) *SQLite { return &SQLite{db: db, perCommit: groupRecords} }

var _ Journal = (*SQLite)(nil)

// Read implements [Journal].
func (j *SQLite) Read(ctx context.Context, o Owner, after int64, f func(Record) error) error {
	return j.db.Read(ctx, func(tx *sql.Tx) error {
		return store.EachRow(ctx, tx, `SELECT r.seq, r.type, r.id, r.data FROM owners o
			CROSS JOIN records r ON r.owner = o.id AND r.seq > ? AND r.seq <= o.last
			WHERE o.kind = ? AND o.name = ? ORDER BY r.seq`, func(scan func(...any) error) error {
			var r Record
			if err := scan(&r.Seq, &r.Type, &r.ID, &r.Data); err != nil {
				return err
			}
			return f(r)
		}, after, o.Kind, o.Name)
	})
}

// Find implements [Journal].
func (j *SQLite) Find(ctx context.Context, o Owner, k Key) (r Record, found bool, err error) {
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT r.seq, r.data FROM owners o
			CROSS JOIN records r ON r.owner = o.id AND r.type = ? AND r.id = ? AND r.seq <= o.last
			WHERE o.kind = ? AND o.name = ?`, k.Type, k.ID, o.Kind, o.Name).Scan(&r.Seq, &r.Data)
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
		return store.EachRow(ctx, tx, `SELECT name, used_at, records, bytes FROM owners
			WHERE kind = ? AND last >= first ORDER BY name`, func(scan func(...any) error) error {
			i := Info{Owner: Owner{Kind: kind}}
			var used int64
			err := scan(&i.Name, &used, &i.Records, &i.Bytes)
			i.Used = moment(used)
			list = append(list, i)
			return err
		}, kind) // omits owners whose first batch is in progress
	})
	return list, err
}

// Compact implements [Journal].
func (j *SQLite) Compact(ctx context.Context, o Owner, gone []Key) error {
	return j.db.Write(ctx, func(tx *sql.Tx) error {
		var owner, last int64
		err := tx.QueryRow("SELECT id, last FROM owners WHERE kind = ? AND name = ?", o.Kind, o.Name).
			Scan(&owner, &last)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		} else if err != nil {
			return err
		}
		var removed, size int64
		remove, err := tx.Prepare(
			"DELETE FROM records WHERE owner = ? AND type = ? AND id = ? AND seq <= ? RETURNING octet_length(data)")
		if err != nil {
			return err
		}
		defer remove.Close()
		for _, k := range gone {
			var n int64
			err := remove.QueryRow(owner, k.Type, k.ID, last).Scan(&n)
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
}

// Scrub implements [Journal].
func (j *SQLite) Scrub(ctx context.Context, o Owner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return j.db.Scrub(context.WithoutCancel(ctx))
}

// find returns the row of an owner, or 0 if there is none.
func find(tx *sql.Tx, o Owner) (id int64, err error) {
	err = tx.QueryRow("SELECT id FROM owners WHERE kind = ? AND name = ?", o.Kind, o.Name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// Drop implements [Journal].
func (j *SQLite) Drop(ctx context.Context, o Owner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // never stop halfway through a deletion
	err := j.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM owners WHERE kind = ? AND name = ?", o.Kind, o.Name) // deletes its records too
		if err == nil {
			err = store.DropSetAside(tx, o.Kind, o.Name)
		}
		if err == nil && o.Kind == Learner {
			err = store.ForgetSetAside(tx, o.Name)
		}
		return err
	})
	if err != nil {
		return err
	}
	return j.db.Scrub(ctx)
}

// SetAside implements [Journal].
func (j *SQLite) SetAside(ctx context.Context, o Owner, at time.Time, seqs ...int64) error {
	return j.db.Write(ctx, func(tx *sql.Tx) error { return store.SetAside(tx, o.Kind, o.Name, seqs, 0, at) })
}

// Aside implements [Journal].
func (j *SQLite) Aside(ctx context.Context, o Owner) (list []Info, err error) {
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		list = nil
		return store.EachSetAside(ctx, tx, o.Kind, o.Name, func(used, records, bytes int64) {
			list = append(list, Info{o, moment(used), int(records), bytes})
		})
	})
	return list, err
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
