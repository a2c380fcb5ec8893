package store

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Errors of [DB.Write] and its callers. If one of them is returned, nothing was stored, and data
// that was stored earlier can still be read.
var (
	// ErrGone is returned if a file of the database was deleted, moved or replaced while the
	// database was open. It is returned until the database is opened again.
	ErrGone = errors.New("the database was deleted, moved or replaced")
	// ErrFull is returned if the disk is full or the database has reached its limit.
	ErrFull = errors.New("no space left for the database")
	// ErrDisk is returned if the disk cannot be read or written.
	ErrDisk = errors.New("the disk reported an error")
	// ErrBrowserFull is returned if the data is stored in a browser and the browser does not accept
	// any more.
	ErrBrowserFull = errors.New("the browser's storage is full")
	// ErrAway is returned if the data is stored elsewhere and that storage cannot be
	// reached. The error is temporary.
	ErrAway = errors.New("the log storage is unavailable")
	// ErrScarce is returned for writes that are refused because space is running out; see [Space].
	ErrScarce = errors.New("the database is running out of space")
)

// Why does the same as [WhyIn], in English.
func Why(err error) string { return WhyIn(terms.English, err) }

// WhyIn explains one of these errors in a sentence for users. For other errors, it returns "".
func WhyIn(l *terms.Language, err error) string {
	for _, x := range []struct {
		kind error
		key  string
	}{
		{ErrGone, "store.gone"},
		{ErrFull, "store.full"},
		{ErrDisk, "store.disk"},
		{ErrBrowserFull, "store.browser"},
		{ErrAway, "store.away"},
		{ErrScarce, "store.scarce"},
	} {
		if errors.Is(err, x.kind) {
			return l.T(x.key)
		}
	}
	return ""
}

// classify wraps SQLite's errors in one of the errors above:
// https://sqlite.org/rescode.html.
func classify(err error) error {
	const readOnly, ioError, full, cantOpen = 8, 10, 13, 14
	code, ok := resultCode(err)
	if !ok {
		return err
	}
	switch code & 0xff { // the other bits contain details
	case full:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case readOnly, ioError, cantOpen:
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return err
}

// trouble holds the result of the last write.
type trouble struct {
	sync.Mutex
	err   error     // nil if the write succeeded
	next  time.Time // Ready does not retry before this time
	clock func() time.Time
}

// The interval at which [DB.Ready] tries to write, and the amount of data that it writes.
const (
	probeEvery = time.Second
	probeBytes = 64 << 10
)

// setTrouble records the result of a write. Errors that do not concern the disk are
// ignored.
func (db *DB) setTrouble(err error) {
	if err != nil && Why(err) == "" {
		return
	}
	db.trouble.Lock()
	defer db.trouble.Unlock()
	if before := db.trouble.err; (before == nil) != (err == nil) && !errors.Is(err, ErrGone) {
		if err != nil {
			db.log.Error("The database is no longer writable.", "error", err)
		} else {
			db.log.Info("The database is writable again.")
		}
	}
	db.trouble.err = err
}
