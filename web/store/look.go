package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tokenbytoken/viz/infer/files"
)

// ErrReadOnly is returned by [DB.Write] for a database that was opened with [OpenToRead].
var ErrReadOnly = errors.New("the database was opened read-only")

// OpenToRead opens the database of a folder for reading, even while a server is using it.
// It does not change the database, but SQLite might leave an empty log next to it.
//
// Errors: [fs.ErrNotExist] if there is no database, [ErrNewer], [ErrOlder], [ErrForeign], a description
// of the damage, and file system errors.
func OpenToRead(dir string) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	info, err := os.Stat(path)
	if err != nil {
		return nil, noDatabase(dir, err)
	}
	if err := examineSize(path, info.Size(), false); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	conn, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	if err := asDamaged(examineOpen(context.Background(), conn, false)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), conn.Close())
	}
	return &DB{dir: dir, read: conn}, nil
}

func noDatabase(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, no := os.Stat(filepath.Join(dir, secretName)); no == nil {
			return fmt.Errorf("no %s in %s, although a server has used the folder (it contains %s): %w",
				fileName, dir, secretName, fs.ErrNotExist)
		}
		return fmt.Errorf("no %s in %s: %w", fileName, dir, fs.ErrNotExist)
	}
	return err
}

// openToRead opens a file for reading. Closing such a connection does not move the write-ahead log
// into the database.
func openToRead(path string) (*sql.DB, error) {
	conn, err := sql.Open("sqlite", dsn(path, url.Values{
		"mode": {"ro"}, "_busy_timeout": {"5000"}, "_error_rc": {"1"}, "_dqs": {"0"},
		"_pragma": {"trusted_schema(0)", "cell_size_check(1)", "temp_store(memory)"},
	}))
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	return conn, nil
}

// Checked is the result of [Check].
type Checked struct {
	Path    string
	Version int      // of the schema
	Bytes   int64    // of the file and its log
	Faults  []string // empty if the database is intact
	Secret  string   // a description of the problem with its secret; "" if the secret is intact
}

// mostFaults is the maximum number of faults of one kind that [Check] lists.
const mostFaults = 100

// Check reads every page of a folder's database and every reference between its tables, even while
// a server is using it. It returns an error if there is no database to check.
func Check(ctx context.Context, dir string) (c Checked, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return c, err
	}
	c.Path = filepath.Join(dir, fileName)
	info, err := os.Stat(c.Path)
	if err != nil {
		return c, noDatabase(dir, err)
	}
	c.Bytes = (&DB{dir: dir}).Size()
	conn, err := openToRead(c.Path)
	if err != nil {
		return c, err
	}
	defer conn.Close()
	if err = examineSize(c.Path, info.Size(), false); err == nil {
		err = asDamaged(c.read(ctx, conn))
	}
	if err == nil {
		c.Secret, err = checkSecret(ctx, dir, conn)
	}
	var bad damaged
	if errors.As(err, &bad) {
		c.Faults = append(c.Faults, bad.reason)
		return c, nil
	}
	return c, err
}

func (c *Checked) read(ctx context.Context, conn *sql.DB) (err error) {
	if c.Version, err = versionOf(conn); err != nil {
		return err
	}
	lines, err := texts(ctx, conn, fmt.Sprintf("PRAGMA quick_check(%d)", mostFaults))
	if err != nil {
		return err
	}
	for _, line := range lines {
		if line != "ok" {
			c.Faults = append(c.Faults, line)
		}
	}
	lines, err = texts(ctx, conn, fmt.Sprintf(`SELECT 'a row of ' || "table" || ' refers to a missing row of ' ||
		parent FROM pragma_foreign_key_check LIMIT %d`, mostFaults))
	c.Faults = append(c.Faults, lines...)
	if err == nil && len(c.Faults) == 0 {
		err = examineOpen(ctx, conn, false) // checks the application ID, the schema version and the tables
	}
	return err
}

// checkSecret describes the problem with the secret of a folder, or returns "" if there is no
// problem.
func checkSecret(ctx context.Context, dir string, conn *sql.DB) (fault string, err error) {
	text, err := files.Read(filepath.Join(dir, secretName), mostSecret)
	if _, ok := ParseSecret(string(text)); ok && err == nil {
		return "", nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if used, err := (&DB{read: conn}).used(ctx); err != nil || !used {
			return "", err
		}
		return secretName + " is missing from the folder, so every browser would become a new learner", nil
	}
	return secretName + " cannot be read, so every browser would become a new learner", nil
}

// texts returns the first column of a query.
func texts(ctx context.Context, conn *sql.DB, query string) (list []string, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
