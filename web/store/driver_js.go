package store

import (
	"errors"
	"os"
)

// A browser has neither SQLite nor files, so that [Open] fails there, and what people
// do is kept elsewhere (web/journal). The rest of this package is what rooms share:
// errors with their sentences, notices, what there is space for.

func resultCode(error) (int, bool) { return 0, false }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
