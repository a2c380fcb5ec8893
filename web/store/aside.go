package store

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// A damaged file that was set aside stays as it is for people who may want to
// repair it. What learners delete cannot be deleted there, so it does not stay for
// ever. Nor do copies of earlier forms: by then no cookie of theirs is valid.
const (
	AsideLife = 30 * 24 * time.Hour
	CopyLife  = 400 * 24 * time.Hour
)

// Aside is a damaged database that was set aside.
type Aside struct {
	File  string    // its name in the folder
	Since time.Time // when it was set aside
}

// Until is when it is deleted.
func (a Aside) Until() time.Time { return a.Since.Add(AsideLife) }

// asideFile matches the damaged databases and their logs, copyFileName the copies of
// earlier forms.
var (
	asideFile    = regexp.MustCompile(`^(viz-damaged-(\d{4}-\d\d-\d\d-\d{6})(?:-\d+)?\.db)(?:-wal|-shm)?$`)
	copyFileName = regexp.MustCompile(`^(viz-version\d+-(\d{4}-\d\d-\d\d)(?:-\d+)?\.db)$`)
)

// SetAside lists the damaged databases in the folder that were set aside, the oldest
// first.
func (db *DB) SetAside() ([]Aside, error) {
	return db.dated("viz-damaged-*", asideFile, "2006-01-02-150405")
}

// dated lists the files whose names have a time in them.
func (db *DB) dated(glob string, name *regexp.Regexp, layout string) (list []Aside, err error) {
	if db.dir == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(db.dir, glob))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		parts := name.FindStringSubmatch(filepath.Base(path))
		if parts == nil {
			continue // somebody else's
		}
		since, err := time.ParseInLocation(layout, parts[2], time.Local)
		a := Aside{parts[1], since}
		if err == nil && !slices.Contains(list, a) { // its log is a second file
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b Aside) int { return a.Since.Compare(b.Since) })
	return list, nil
}

// Expire deletes damaged databases that were set aside longer ago than [AsideLife],
// and copies of earlier forms older than [CopyLife].
func (db *DB) Expire(ctx context.Context, now time.Time) error {
	db.erasing.Lock()
	defer db.erasing.Unlock()
	damaged, errDamaged := db.SetAside()
	old, errOld := db.dated("viz-version*", copyFileName, "2006-01-02")
	errs := []error{errDamaged, errOld}
	remove := func(list []Aside, life time.Duration) {
		for _, a := range list {
			if ctx.Err() == nil && now.Sub(a.Since) > life {
				db.log.Info("An old file of the data folder is deleted.", "file", a.File)
				errs = append(errs, removeDatabase(filepath.Join(db.dir, a.File)))
			}
		}
	}
	remove(damaged, AsideLife)
	remove(old, CopyLife)
	return errors.Join(errs...)
}
