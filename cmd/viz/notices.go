package main

import (
	_ "embed"
	"fmt"
	"io"
)

//go:generate go run ./dist notices

// notices are the licenses of all third-party software in this binary.
//
//go:embed NOTICES.txt
var notices string

// printNotices runs viz notices.
func printNotices(args []string, stdout io.Writer) error {
	if len(args) > 0 && !isHelp(args[0]) {
		return usageError{fmt.Errorf("unexpected argument %q; viz notices takes no arguments", args[0])}
	}
	_, err := io.WriteString(stdout, notices)
	return err
}
