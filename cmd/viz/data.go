package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

// dataFolder returns the default folder for progress: the system's folder for program data, or ""
// if the user has none. It is like os.UserConfigDir, but on Windows it uses the local folder rather
// than the roaming one, since Windows copies the roaming folder between machines and a database
// must not be copied while it is in use.
func dataFolder(system string, env func(string) string) string {
	var base string
	switch system {
	case "windows":
		if base = env("LocalAppData"); base == "" {
			base = env("AppData")
		}
	case "darwin":
		base = below(env("HOME"), "Library", "Application Support")
	default:
		// The XDG base directory specification forbids relative paths.
		if base = env("XDG_DATA_HOME"); !filepath.IsAbs(base) {
			base = below(env("HOME"), ".local", "share")
		}
	}
	return below(base, "viz")
}

// below returns a path in a folder, or "" if folder is "".
func below(folder string, parts ...string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(append([]string{folder}, parts...)...)
}

// checkData checks that the data folder exists or can be created.
func checkData(dir string) error {
	for dir != "" {
		info, err := os.Stat(dir)
		switch parent := filepath.Dir(dir); {
		case errors.Is(err, fs.ErrNotExist) && parent != dir:
			dir = parent
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return fmt.Errorf("must be a folder, but %s is a file", dir)
		default:
			return fmt.Errorf("must be a folder: %w", err)
		}
	}
	return nil
}

// keep opens the stores in a folder, or in memory if dir is "", and sets them and the course in
// cfg. If own is not "", the course includes the lessons in that folder. limit is the maximum size
// of the database in bytes, or 0 for no limit. The caller must close the result.
func keep(dir, own string, limit int64, cfg *web.Config, log *slog.Logger) (io.Closer, error) {
	course, err := ownLessons(own)
	if err != nil {
		return nil, err
	}
	db, logs, err := openData(dir, log)
	if err != nil {
		return nil, err
	}
	cfg.Database = db
	cfg.Classes.Logs, cfg.Classes.Secrets = logs, db
	if limit > 0 {
		if err := db.SetLimit(limit); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	cfg.Classes.Space = db.Space
	cfg.Course, cfg.Progress, cfg.Secret = course, progress.New(logs, db, course, clock), db.Secret()
	t := tend(db, cfg.Progress, clock, log)
	cfg.Classes.Now, cfg.Classes.Aged = clock, t.aged
	return t, nil
}

// openData opens the database in a folder, or one in memory if dir is "", and its logs.
func openData(dir string, log *slog.Logger) (*store.DB, journal.Journal, error) {
	db, err := store.Open(dir, log)
	if err != nil {
		return nil, nil, err
	}
	return db, journal.For(db), nil
}

// keptWhere describes where progress is stored, for the lines that the server prints at startup.
func (o *serveOptions) keptWhere(w *terms.Language) string {
	if o.cluster.url != "" {
		return w.T("cmd.serve.kept.cluster", "url", terms.Printable(cluster.Redacted(o.cluster.url)))
	}
	if o.data == "" {
		return w.T("cmd.serve.kept.memory")
	}
	return w.T("cmd.serve.kept.folder", "folder", terms.Printable(o.data))
}
