package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// DamagedLife is how long a damaged file that was set aside is kept unchanged, in case someone
// wants to repair it. It is not kept forever, because data that learners delete cannot be removed
// from it. The same applies to copies that versions from November 2026 made before they converted a
// database.
const DamagedLife = 30 * 24 * time.Hour

// DamagedFile is a damaged database that was set aside.
type DamagedFile struct {
	File  string    // the file's name in the folder
	Since time.Time // when the file was set aside

	undated string // the file's path, if both the date in its name and its last change are in the future
}

// Until returns the time after which the file is deleted.
func (a DamagedFile) Until() time.Time { return a.Since.Add(DamagedLife) }

// asideFile matches the names of damaged databases and their logs. copyFileName matches the
// names of copies that were made before a conversion.
var (
	asideFile    = regexp.MustCompile(`^(viz-damaged-(\d{4}-\d\d-\d\d-\d{6})(?:-\d+)?\.db)(?:-wal|-shm)?$`)
	copyFileName = regexp.MustCompile(`^(viz-version\d+-(\d{4}-\d\d-\d\d)(?:-\d+)?\.db)$`)
)

// DamagedFiles lists the damaged databases in the folder that were set aside, oldest first.
func (db *DB) DamagedFiles() ([]DamagedFile, error) {
	return db.damagedAt(time.Now())
}

func (db *DB) damagedAt(now time.Time) ([]DamagedFile, error) {
	return db.dated(now, "viz-damaged-*", asideFile, "2006-01-02-150405")
}

// dated lists the files that have a time in their names. If that time is in the future, the time of
// the file's last change is used instead. If that is also in the future, the current time is used.
func (db *DB) dated(
	now time.Time, pattern string, name *regexp.Regexp, layout string,
) (list []DamagedFile, err error) {
	if db.dir == "" {
		return nil, nil
	}
	paths, err := db.files(pattern)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		parts := name.FindStringSubmatch(filepath.Base(path))
		if parts == nil {
			continue // another program's file
		}
		since, err := time.ParseInLocation(layout, parts[2], time.Local)
		a := DamagedFile{File: parts[1], Since: since}
		if err != nil {
			continue
		}
		if since.After(now) { // the file was renamed, or the clock was wrong
			a.Since, a.undated = now, path
			if info, err := os.Stat(path); err == nil && !info.ModTime().After(now) {
				a.Since, a.undated = info.ModTime(), ""
			}
		}
		if !slices.ContainsFunc(list, func(b DamagedFile) bool { return a.File == b.File }) { // skip its log
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b DamagedFile) int { return a.Since.Compare(b.Since) })
	return list, nil
}

// Expire deletes damaged databases that were set aside more than [DamagedLife] ago, and copies of
// that age that were made before a conversion. It also completes erasures that failed or that were
// interrupted because the process was killed.
func (db *DB) Expire(ctx context.Context, now time.Time) error {
	damaged, errDamaged := db.damagedAt(now)
	old, errOld := db.dated(now, "viz-version*", copyFileName, "2006-01-02")
	errs := []error{errDamaged, errOld}
	for _, a := range slices.Concat(damaged, old) {
		if a.undated != "" { // its lifetime begins now; without this, it would begin again each day
			errs = append(errs, os.Chtimes(a.undated, now, now))
		}
		if ctx.Err() == nil && now.Sub(a.Since) > DamagedLife {
			db.log.Info("deleting an old file in the data folder", "file", a.File)
			errs = append(errs, removeDatabase(filepath.Join(db.dir, a.File)))
		}
	}
	var deleted int64
	err := db.Write(ctx, func(tx *sql.Tx) (err error) {
		deleted, err = expireSetAside(tx, now)
		return err
	})
	scrub := db.scrubFile
	if deleted > 0 {
		scrub = db.Scrub // also deletes the copies
	}
	return errors.Join(append(errs, err, scrub(ctx))...)
}

// Seen returns when a server last used the database, and records that one is using it now. If no
// use has been recorded yet, Seen returns the time when something was last stored, or the zero
// time.
func (db *DB) Seen(ctx context.Context, now time.Time) (last time.Time, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		var at sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT max(used_at) FROM owners WHERE kind = ?1
			OR NOT EXISTS (SELECT 1 FROM owners WHERE kind = ?1)`, serverKind).Scan(&at); err != nil {
			return err
		}
		if at.Valid && plausible(at.Int64) {
			last = time.UnixMilli(at.Int64)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
			VALUES (?, 'clock', ?, 0, 0, 0, 0) ON CONFLICT (kind, name) DO UPDATE SET used_at = excluded.used_at`,
			serverKind, now.UnixMilli())
		return err
	})
	return last, err
}
