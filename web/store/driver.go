//go:build !js

package store

import (
	"errors"

	"modernc.org/sqlite" // the driver, in pure Go
)

// resultCode returns the code of an SQLite error: https://sqlite.org/rescode.html. ok is false if
// the error is not an SQLite error.
func resultCode(err error) (code int, ok bool) {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return 0, false
	}
	return failed.Code(), true
}
