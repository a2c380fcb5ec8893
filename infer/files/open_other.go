//go:build !unix

package files

import "os"

// nonblock is 0, since files in folders are never named pipes on these systems.
const nonblock = 0

// open opens a file. Irregular files have already been rejected.
func open(path string) (*os.File, error) { return os.Open(path) }

// openFolder opens a folder.
func openFolder(path string) (*os.File, error) { return os.Open(path) }
