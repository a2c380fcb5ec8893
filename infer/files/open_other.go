//go:build !unix

package files

import "os"

// nonblock is no flag, since files in folders are never named pipes here.
const nonblock = 0

// open opens a file. Irregular files have been rejected before.
func open(path string) (*os.File, error) { return os.Open(path) }

// openFolder opens a folder.
func openFolder(path string) (*os.File, error) { return os.Open(path) }
