package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// retired is the kind of the logs that Sweep deletes. Their names are numbers.
const retired = "retired"

// Retire implements [Journal]. It renames the log, which takes constant time.
func (j *SQLite) Retire(ctx context.Context, o Owner, before time.Time) (done bool, err error) {
	err = j.db.Write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE owners SET kind = ?, name = id
			WHERE kind = ? AND name = ? AND used_at < ?`, retired, o.Kind, o.Name, before.UnixMilli())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		done = n > 0
		return err
	})
	return done && err == nil, err
}

// Sweep implements [Journal].
func (j *SQLite) Sweep(ctx context.Context) error {
	some := false
	for {
		more, err := j.sweepSome(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		some = true
	}
	if !some {
		return nil
	}
	return j.db.Scrub(ctx)
}

// sweepSome deletes some records of a retired log, or the log itself if it has no records
// left. It reports whether there was a retired log.
func (j *SQLite) sweepSome(ctx context.Context) (more bool, err error) {
	var id int64
	err = j.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT id FROM owners WHERE kind = ? LIMIT 1", retired).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, j.db.Write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM records WHERE owner = ? AND seq IN
			(SELECT seq FROM records WHERE owner = ? ORDER BY seq LIMIT ?)`, id, id, j.perCommit)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == int64(j.perCommit) {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM owners WHERE id = ?", id)
		return err
	})
}
