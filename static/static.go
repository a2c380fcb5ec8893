// Package static holds the files that pages load: styles, fonts, scripts and pictures, embedded
// in the program. A page loads all of its styles as one file, and all of its scripts as another;
// see [Bundle].
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
)

// Pictures in img that are not SVG files are only for the README and are not part of the program.
//
//go:embed css fonts img/*.svg js
var embedded embed.FS

// File is a file in the form in which it is served.
type File struct {
	Name    string // such as "css/base.css" or "bundle/tokens+base.css"
	Data    []byte
	Version string // a short hash of Data, in hexadecimal

	kept   bool // whether a page uses the file, so that it stays in memory
	zip    sync.Once
	zipped []byte
}

// Address returns the file's address: "/static/css/base.css?v=<hash>". The hash
// changes with the content, so the response may be cached forever.
func (f *File) Address() string { return "/static/" + f.Name + "?v=" + f.Version }

// Zipped returns the data compressed with gzip. It is compressed only once. Zipped returns nil for
// a file that no page uses, since such a file would have to be compressed for each request.
func (f *File) Zipped() []byte {
	if !f.kept {
		return nil
	}
	f.zip.Do(func() {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(f.Data)
		if err = errors.Join(err, z.Close()); err != nil {
			panic(fmt.Sprintf("static: cannot compress %s in memory: %v", f.Name, err))
		}
		f.zipped = b.Bytes()
	})
	return f.zipped
}

// known holds the files that pages use, by name.
var known sync.Map

// Asset returns the address of an embedded file. It panics if the file does not exist, since
// names are constants in the program.
func Asset(name string) string { return address(name) }

// Bundle returns the address of a file that joins the named files in order: style sheets, or
// scripts together with the modules that they import. With separate files, each file would cost a
// request and each level of imports a round trip, which takes seconds on a slow network. Bundle
// panics unless the names are embedded files that are all styles or all scripts.
func Bundle(names ...string) string {
	dot := path.Ext(names[0])
	var stems []string
	for _, name := range names {
		stems = append(stems, strings.TrimSuffix(strings.TrimPrefix(name, dot[1:]+"/"), dot))
	}
	return address(bundles + strings.Join(stems, "+") + dot)
}

// address returns the address of a file. It keeps the file in memory, so that it is built only
// once.
func address(name string) string {
	if f, ok := known.Load(name); ok {
		return f.(*File).Address()
	}
	f, err := build(name)
	if err != nil {
		panic(fmt.Sprintf("static: %v", err))
	}
	f.kept = true
	kept, _ := known.LoadOrStore(name, f)
	return kept.(*File).Address()
}

// Open returns a file or a bundle by its name. Only files that pages use are kept in memory, so
// that requests cannot exhaust it.
func Open(name string) (*File, error) {
	if f, ok := known.Load(name); ok {
		return f.(*File), nil
	}
	return build(name)
}

// build builds the file with the given name. The error wraps [io/fs.ErrNotExist] if the file, or
// a part of it, does not exist.
func build(name string) (*File, error) {
	read := embedded.ReadFile
	if strings.HasPrefix(name, bundles) {
		read = bundle
	}
	data, err := read(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &File{Name: name, Data: data, Version: hex.EncodeToString(sum[:6])}, nil
}
