package store

import (
	"errors"
	"os"
)

// A browser has neither SQLite nor files, so [Open] fails there, and learners' data is stored
// elsewhere (web/journal). A browser still uses the rest of this package: errors with explanations,
// notices, and space levels.

func resultCode(error) (int, bool) { return 0, false }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
