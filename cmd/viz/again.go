package main

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/cluster"
)

// again returns the command line that restarts this server with the same environment and flags,
// except for the flags in drop, and with the additional arguments in more. The command line is
// quoted for the system's usual shell, so it can be pasted there.
func (f *flags) again(program string, drop []string, more ...string) string {
	args := programName(program)
	for _, t := range f.texts {
		switch {
		case slices.Contains(drop, t.name):
		case t.name == "cluster":
			args = append(args, "-cluster", cluster.Redacted(t.value)) // a page shows the command
		case f.takes(t.name):
			args = append(args, "-"+t.name, t.value)
		case t.value == "true":
			args = append(args, "-"+t.name)
		default:
			args = append(args, "-"+t.name+"="+t.value)
		}
	}
	args = append(args, more...)
	for i, a := range args {
		args[i] = quoted(runtime.GOOS, a)
	}
	return strings.Join(args, " ")
}

// takes reports whether a flag takes an argument.
func (f *flags) takes(name string) bool {
	return slices.ContainsFunc(f.listed, func(x listed) bool { return x.name == name && x.arg != "" })
}

// programName returns the command that started this program. If go run started it, this is the go
// run command, since go run deletes the binary when the program ends.
func programName(arg0 string) []string {
	if slices.ContainsFunc(
		strings.Split(filepath.ToSlash(arg0), "/"), func(dir string) bool { return strings.HasPrefix(dir, "go-build") },
	) {
		return []string{"go", "run", "./cmd/viz"}
	}
	return []string{arg0}
}

// quoted quotes an argument so that the given system's shell (sh; on Windows, cmd and PowerShell)
// passes it on unchanged.
func quoted(system, arg string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+"
	windows := system == "windows"
	plain := func(r rune) bool { return strings.ContainsRune(safe, r) || windows && r == '\\' }
	switch {
	case arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }):
		return arg
	case windows:
		return `"` + arg + `"` // file names on Windows cannot contain quotes
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
