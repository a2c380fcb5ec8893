package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

// platforms are the platforms that a release is built for.
var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// environment returns the environment of a go command for the platform. It overrides the settings
// that change the output of the compiler or the linker. The output of viz version includes the
// version of Go and its experiments (GOTOOLCHAIN, GOEXPERIMENT).
func (p platform) environment() []string {
	return append(
		os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", // if empty, the value from go env -w would apply
		"GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off",
	)
}

// executable returns the name of the program's file.
func (p platform) executable() string {
	if p.os == "windows" {
		return "viz.exe"
	}
	return "viz"
}

// program is viz, built for a platform.
type program struct {
	platform
	data []byte
}

// release describes the release to build.
type release struct {
	version     string    // the tag, or the last tag followed by the hash of the commit
	revision    string    // the full hash of the commit
	when        time.Time // the commit's time, or SOURCE_DATE_EPOCH
	uncommitted int       // number of changed and new files, which the release omits
}

// name returns the name of the platform's archive, without the suffix.
func (r release) name(p platform) string { return "viz-" + r.version + "-" + p.os + "-" + p.arch }

// hashDigits is the length of a commit's hash in a version without a tag. Git
// would otherwise choose a length based on the number of objects in the clone.
const hashDigits = 12

// describe returns the release for the commit that is checked out at top, according to git.
func describe(top string) (r release, err error) {
	if r.version, err = git(top, "describe", "--tags", "--always", "--abbrev="+strconv.Itoa(hashDigits)); err != nil {
		return r, err
	}
	r.version = strings.ReplaceAll(r.version, "/", "-") // it becomes part of file names
	commit, err := git(top, "log", "-1", "--format=%H %ct")
	if err != nil {
		return r, err
	}
	revision, seconds, _ := strings.Cut(commit, " ")
	r.revision = revision
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 {
		return r, fmt.Errorf("invalid SOURCE_DATE_EPOCH %q; want a number of seconds since 1970", seconds)
	}
	r.when = time.Unix(n, 0).UTC()
	changed, err := git(top, "status", "--porcelain")
	r.uncommitted = len(strings.FieldsFunc(changed, func(c rune) bool { return c == '\n' }))
	return r, err
}

// git runs a git command in dir and returns its output.
func git(dir string, args ...string) (string, error) {
	out, err := command(dir, os.Environ(), "git", args...)
	return strings.TrimSpace(string(out)), err
}

// command runs a command in dir and returns its standard output. Errors include
// the command's standard error.
func command(dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, env
	out, err := c.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.Stderr)
	} else if err != nil {
		return nil, err
	}
	return out, nil
}

// topFolder returns the top folder of the repository.
func topFolder() (string, error) {
	mod, err := command("", os.Environ(), "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	path := strings.TrimSpace(string(mod))
	if filepath.Base(path) != "go.mod" {
		return "", errors.New("not inside the repository: no go.mod found")
	}
	return filepath.Dir(path), nil
}

// export writes the files of a commit to a folder.
func export(top, to, revision string) error {
	data, err := command(top, os.Environ(), "git", "archive", "--format=tar", revision)
	if err != nil {
		return err
	}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		path := filepath.Join(to, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, h.FileInfo().Mode().Perm())
			}
		case tar.TypeXGlobalHeader: // holds only the commit's hash
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

// build compiles viz from an exported commit.
//
// The version is set by the linker instead of by Go's own stamp (-buildvcs),
// which needs a full clone and finds nothing in a linked worktree.
func build(source string, p platform, r release) (program, error) {
	folder, err := os.MkdirTemp("", "viz-build-")
	if err != nil {
		return program{}, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, p.executable())
	if _, err := command(
		source, p.environment(), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X main.release="+r.version, "-o", path, "./cmd/viz",
	); err != nil {
		return program{}, err
	}
	data, err := os.ReadFile(path)
	return program{p, data}, err
}
