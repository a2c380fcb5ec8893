package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// sums is the name of the file that lists the hashes of all others.
const sums = "SHA256SUMS"

// output is the folder that a release is written to.
type output struct {
	folder string
	sums   map[string][sha256.Size]byte
	log    io.Writer
}

// openOutput creates the folder. If it contains an earlier release, the files
// that its SHA256SUMS lists are removed. Any other file is an error.
func openOutput(folder string) (*output, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	old := []string{sums}
	text, err := os.ReadFile(filepath.Join(folder, sums))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if _, name, found := strings.Cut(strings.TrimSpace(line), "  "); found && filepath.Base(name) == name {
			old = append(old, name)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !slices.Contains(old, e.Name()) {
			return nil, fmt.Errorf(
				"%s is not part of an earlier release: move or delete it", filepath.Join(folder, e.Name()),
			)
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
			return nil, err
		}
	}
	o := &output{folder: folder, sums: map[string][sha256.Size]byte{}, log: io.Discard}
	return o, o.writeSums() // lets a later run recognize the remains of an interrupted one
}

// archive writes the archive of one program.
func (o *output) archive(r release, p program, docs []file) error {
	folder := r.name(p.platform)
	files := []file{{name: folder, mode: os.ModeDir | 0o755}}
	for _, f := range append(slices.Clone(docs), file{name: p.executable(), mode: 0o755, data: p.data}) {
		f.name = folder + "/" + f.name
		files = append(files, f)
	}
	if p.os == "windows" {
		data, err := zipped(files, r.when)
		if err != nil {
			return err
		}
		return o.write(folder+".zip", data)
	}
	data, err := tarball(files, r.when)
	if err != nil {
		return err
	}
	if data, err = gzipped(data); err != nil {
		return err
	}
	return o.write(folder+".tar.gz", data)
}

// image writes the container image.
func (o *output) image(r release, programs []program, docs []file) error {
	layout, err := image(r, programs, docs)
	if err != nil {
		return err
	}
	data, err := tarball(layout, r.when)
	if err != nil {
		return err
	}
	return o.write("viz-"+r.version+"-image.tar", data)
}

// write writes one file of the release. Its hash is recorded first, so SHA256SUMS always lists
// every file in the folder.
func (o *output) write(name string, data []byte) error {
	o.sums[name] = sha256.Sum256(data)
	if err := o.writeSums(); err != nil {
		return err
	}
	fmt.Fprintf(o.log, "%10s  %s\n", terms.BytesShort(len(data)), name)
	return os.WriteFile(filepath.Join(o.folder, name), data, 0o644)
}

func (o *output) writeSums() error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.sums)) {
		fmt.Fprintf(&b, "%x  %s\n", o.sums[name], name)
	}
	return os.WriteFile(filepath.Join(o.folder, sums), []byte(b.String()), 0o644)
}

// close prints the location of the release.
func (o *output) close() error {
	_, err := fmt.Fprintf(o.log, "wrote %d files and %s to %s\n", len(o.sums), sums, o.folder)
	return err
}
