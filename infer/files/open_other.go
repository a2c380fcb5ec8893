//go:build !unix

package files

import "os"

// nonblock needs no flag where no file of a folder is a named pipe.
const nonblock = 0

// open opens a file. What is not a regular one has been refused by its name.
func open(path string) (*os.File, error) { return os.Open(path) }

// openFolder opens a folder.
func openFolder(path string) (*os.File, error) { return os.Open(path) }
