package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// noticesFile is the path of the committed and embedded file that contains the notices.
const noticesFile = "cmd/viz/NOTICES.txt"

// software is third-party software in the program.
type software struct {
	name    string // a module's path, or the name of the embedded files
	version string // for a module
	license string // an SPDX expression
	texts   []text // the license comes first
}

// text is a file with a license or a notice.
type text struct{ name, body string }

// standardLibrary is the name under which Go itself is listed.
const standardLibrary = "Go standard library and runtime"

// legal matches the names of files and folders that contain licenses and notices; primary matches
// the names of files that contain the license of a whole module.
var (
	legal   = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notices?|patents|third[-_ ]party.*)([-_.].*)?$`)
	primary = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.(md|txt|rst))?$`)
)

// collect returns all third-party parts of the program on any platform: Go, the modules and the
// embedded files. It reads the module cache.
func collect(top string) ([]software, error) {
	goRoot, err := command(top, os.Environ(), "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std, err := read(standardLibrary, "", strings.TrimSpace(string(goRoot)), nil)
	if err != nil {
		return nil, err
	}
	modules, err := linked(top)
	if err != nil {
		return nil, err
	}
	parts := []software{std}
	for _, m := range modules {
		p, err := read(m.path, m.version, m.folder, m.packages)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	for _, folder := range []string{"static/fonts", "static/js/vendor"} {
		embedded, err := vendored(filepath.Join(top, filepath.FromSlash(folder)))
		if err != nil {
			return nil, err
		}
		parts = append(parts, embedded...)
	}
	return parts, nil
}

// module is a module with its linked packages.
type module struct {
	path, version, folder string
	packages              []string // their folders
}

// linked lists the modules with at least one package that is linked into the program on some
// platform.
func linked(top string) ([]module, error) {
	found := map[string]module{}
	for _, p := range platforms {
		out, err := command(
			top, p.environment(), "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/viz",
		)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 {
				continue // a package of this program's own module, or of Go
			}
			m := found[f[0]]
			m.path, m.version, m.folder = f[0], f[1], f[2]
			if !slices.Contains(m.packages, f[3]) {
				m.packages = append(m.packages, f[3])
			}
			found[f[0]] = m
		}
	}
	if len(found) == 0 {
		return nil, errors.New("go list printed no modules")
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return cmp.Compare(a.path, b.path) }), nil
}

// read collects the legal texts of a module: the texts in its top folder, in the folders of its
// linked packages, and in the folders between them. It returns an error if the top folder has no
// license, or an unknown one.
func read(name, version, folder string, packages []string) (software, error) {
	p := software{name: name, version: version}
	folders := map[string]bool{folder: true}
	for _, dir := range packages {
		for ; dir != folder && strings.HasPrefix(dir, folder); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		texts, err := legalTexts(folder, dir)
		if err != nil {
			return p, err
		}
		p.texts = append(p.texts, texts...)
	}
	i := slices.IndexFunc(p.texts, func(t text) bool { return primary.MatchString(t.name) })
	if i < 0 {
		return p, fmt.Errorf("%s %s: no license file in %s", name, version, folder)
	}
	license := p.texts[i]
	p.texts = slices.Insert(slices.Delete(p.texts, i, i+1), 0, license)
	if p.license = identify(license.body); p.license == "" {
		return p, fmt.Errorf(
			"%s %s: unrecognized license in %s; review it and add it to license.go", name, version, license.name,
		)
	}
	return p, nil
}

// legalTexts reads the legal files in dir, and all files in its legal folders.
// The names are relative to top.
func legalTexts(top, dir string) ([]text, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, e := range entries {
		if !legal.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		err := filepath.WalkDir(filepath.Join(dir, e.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			t, err := readText(top, path)
			texts = append(texts, t)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// readText reads a legal text and converts it to UTF-8, with plain line ends and without form
// feeds.
func readText(top, path string) (text, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return text{}, err
	}
	if !utf8.Valid(data) { // older texts are in Latin-1, in which each byte is a code point
		var b bytes.Buffer
		for _, c := range data {
			b.WriteRune(rune(c))
		}
		data = b.Bytes()
	}
	name, err := filepath.Rel(top, path)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\f"), nil)
	return text{filepath.ToSlash(name), strings.Trim(string(data), "\n") + "\n"}, err
}

// licenseSuffix is the suffix of the license files next to embedded third-party files:
// inter-LICENSE.txt is the license of inter-latin-wght-normal.woff2.
const licenseSuffix = "-LICENSE.txt"

// vendored returns a part for each third-party file embedded from the given folder. Each file must
// have a license next to it.
func vendored(folder string) (parts []software, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, isLicense := strings.CutSuffix(e.Name(), licenseSuffix)
		if !isLicense {
			continue
		}
		t, err := readText(folder, filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		p := software{name: name, license: identify(t.body), texts: []text{t}}
		if p.license == "" {
			return nil, fmt.Errorf(
				"%s: unrecognized license; review it and add it to license.go", filepath.Join(folder, e.Name()),
			)
		}
		parts = append(parts, p)
	}
	for _, e := range entries {
		licensed := func(p software) bool {
			rest, found := strings.CutPrefix(e.Name(), p.name)
			return found && (rest[0] == '-' || rest == path.Ext(rest))
		}
		if !slices.ContainsFunc(parts, licensed) {
			return nil, fmt.Errorf("no license file next to %s", filepath.Join(folder, e.Name()))
		}
	}
	return parts, nil
}

const noticesHead = `Token by Token contains third-party software and fonts. This file contains their
licenses and notices, verbatim. It is generated by "go generate ./cmd/viz".

`

// notices returns the text of the notices file.
func notices(parts []software) []byte {
	var b bytes.Buffer
	b.WriteString(noticesHead)
	for _, p := range parts {
		fmt.Fprintf(&b, "  %s\n      %s\n", p.title(), p.license)
	}
	for _, p := range parts {
		for _, t := range p.texts {
			fmt.Fprintf(&b, "\n%s\n%s: %s\n%s\n\n%s", strings.Repeat("=", 79), p.title(), t.name,
				strings.Repeat("=", 79), t.body)
		}
	}
	return b.Bytes()
}

// title returns the name with the version.
func (p software) title() string { return strings.TrimSpace(p.name + " " + p.version) }

func writeNotices(top string) error {
	parts, err := collect(top)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(top, filepath.FromSlash(noticesFile)), notices(parts), 0o644)
}

// checkNotices returns an error if the notices file does not match the parts.
func checkNotices(top string, parts []software) error {
	old, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(noticesFile)))
	if err != nil {
		return err
	}
	if !bytes.Equal(old, notices(parts)) {
		return fmt.Errorf("%s is out of date: run go generate ./cmd/viz and commit the result", noticesFile)
	}
	return nil
}
