package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Notice is a sentence for users about a problem with the data.
type Notice struct {
	At   time.Time
	Text string
}

// notify records a notice for the pages and logs it.
func (db *DB) notify(now time.Time, text, file string) {
	db.notices = append(db.notices, Notice{now, text})
	db.log.Warn(text, "file", file)
}

// saveNotices saves the notices of Open in the database, where pages find them, except for notices
// that an earlier process has saved.
func (db *DB) saveNotices() error {
	if err := db.Write(context.Background(), db.insertNotices); err != nil {
		return err
	}
	if err := os.Remove(db.announced()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (db *DB) insertNotices(tx *sql.Tx) error {
	for _, n := range db.notices {
		_, err := tx.Exec(`INSERT INTO notices (at, text) SELECT ?1, ?2
			WHERE NOT EXISTS (SELECT 1 FROM notices WHERE at = ?1 AND text = ?2)`, n.At.UnixMilli(), n.Text)
		if err != nil {
			return err
		}
	}
	return nil
}

// announcement is the notice about a file that is set aside. It is written to disk before the file
// is moved. If this process is killed before it has saved its notices, the next process can publish
// the announcement.
type announcement struct {
	At   time.Time
	Text string
	File string // the file's new name
}

// announcedName is the name of the file with the announcements that are not in the database yet.
const announcedName = "viz-notices.part"

func (db *DB) announced() string { return filepath.Join(db.dir, announcedName) }

// announce saves a notice that will be shown once a file has been renamed to the path to.
func (db *DB) announce(now time.Time, text, to string) error {
	list := append(db.announcements(), announcement{now, text, filepath.Base(to)})
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := writeFile(db.announced(), data); err != nil {
		return fmt.Errorf("saving a notice: %w", err)
	}
	return nil
}

// announcements returns the announcements that earlier processes have not saved in the database. It
// skips invalid ones.
func (db *DB) announcements() (list []announcement) {
	data, err := os.ReadFile(db.announced())
	if err != nil || json.Unmarshal(data, &list) != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(a announcement) bool {
		return filepath.Base(a.File) != a.File || !taken(filepath.Join(db.dir, a.File)) // the file has not been moved
	})
}

// repeatAnnouncements publishes the notices that an earlier process could not save.
func (db *DB) repeatAnnouncements() {
	for _, a := range db.announcements() {
		db.notify(a.At, a.Text, filepath.Join(db.dir, a.File))
	}
}

// hasNotice reports whether a notice names a file.
func (db *DB) hasNotice(file string) bool {
	return slices.ContainsFunc(db.notices, func(n Notice) bool { return strings.Contains(n.Text, filepath.Base(file)) })
}

// Notices returns the notices of [Open]. Each notice is also logged and, for pages, included
// in the result of [DB.News].
func (db *DB) Notices() []Notice { return db.notices }

// News returns the notices since a time that a learner has not seen yet, and marks them as seen.
// For learner "", it returns all notices and does not mark them as seen.
func (db *DB) News(ctx context.Context, learner string, since time.Time) (list []Notice, err error) {
	var ids []int64
	if err := db.Read(ctx, func(tx *sql.Tx) error { // usually there is no new notice, and nothing is written
		ids, list, err = unread(ctx, tx, learner, since)
		return err
	}); err != nil || len(list) == 0 || learner == "" {
		return list, err
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
		return shown, nil // they will be shown again
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

// ForgetReader deletes the record of which notices a learner has seen. [DB.Scrub] removes it from
// the disk.
func (db *DB) ForgetReader(ctx context.Context, learner string) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM notices_seen WHERE learner = ?", learner)
		return err
	})
}
