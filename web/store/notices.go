package store

import (
	"context"
	"database/sql"
	"time"
)

// Notice is a sentence for people about something that happened to the data.
type Notice struct {
	At   time.Time
	Text string
}

// notify records a sentence for the pages, and logs it.
func (db *DB) notify(now time.Time, text, file string) {
	db.notices = append(db.notices, Notice{now, text})
	db.log.Warn(text, "file", file)
}

// saveNotices writes the notices of Open to the database, for pages to read.
func (db *DB) saveNotices() error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		for _, n := range db.notices {
			if _, err := tx.Exec("INSERT INTO notices (at, text) VALUES (?, ?)", n.At.UnixMilli(), n.Text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Notices returns the notices of [Open]. Each is in the log and, for pages, in
// what [DB.News] returns.
func (db *DB) Notices() []Notice { return db.notices }

// News returns the notices since a time that a learner has not seen yet, and
// marks them as seen.
func (db *DB) News(ctx context.Context, learner string, since time.Time) (list []Notice, err error) {
	var ids []int64
	if err := db.Read(ctx, func(tx *sql.Tx) error { // usually there is nothing new, so nothing to write
		ids, list, err = unread(ctx, tx, learner, since)
		return err
	}); err != nil || len(list) == 0 {
		return nil, err
	}
	shown := list
	err = db.Write(ctx, func(tx *sql.Tx) error {
		if ids, list, err = unread(ctx, tx, learner, since); err != nil { // another page may have shown them by now
			return err
		}
		for _, id := range ids {
			if _, err := tx.ExecContext(
				ctx, "INSERT INTO notices_seen (learner, notice) VALUES (?, ?)", learner, id,
			); err != nil {
				return err
			}
		}
		return nil
	})
	if Why(err) != "" {
		return shown, nil // they will be shown once more
	} else if err != nil {
		return nil, err
	}
	return list, nil
}

func unread(ctx context.Context, tx *sql.Tx, learner string, since time.Time) (ids []int64, list []Notice, err error) {
	err = EachRow(ctx, tx, `SELECT id, at, text FROM notices WHERE at > ? AND id NOT IN
		(SELECT notice FROM notices_seen WHERE learner = ?) ORDER BY id`, func(scan func(...any) error) error {
		var id, at int64
		var n Notice
		err := scan(&id, &at, &n.Text)
		n.At = time.UnixMilli(at).UTC()
		ids, list = append(ids, id), append(list, n)
		return err
	}, since.UnixMilli(), learner)
	return ids, list, err
}

// ForgetReader deletes which notices a learner has seen. [DB.Scrub] removes it
// from the disk.
func (db *DB) ForgetReader(ctx context.Context, learner string) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM notices_seen WHERE learner = ?", learner)
		return err
	})
}
