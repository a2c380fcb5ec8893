// Package static carries the files that pages load: styles, fonts, scripts and
// pictures, embedded in the program.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
)

// The picture in img that only the README shows stays outside of the program.
//
//go:embed css fonts img/*.svg js
var files embed.FS

// FS returns the files, by names such as "css/base.css".
func FS() fs.FS { return files }

// versions holds a short hash of every file's content, worked out once.
var versions = sync.OnceValue(func() map[string]string {
	v := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(name)
		sum := sha256.Sum256(b)
		v[name] = hex.EncodeToString(sum[:6])
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("static: the embedded files cannot be read: %v", err))
	}
	return v
})

// Asset returns the address of a file, "/static/css/base.css?v=<hash>". The
// hash changes with the content, so the answer may be cached for ever. A file
// that does not exist gets no hash.
func Asset(name string) string {
	if v, ok := versions()[name]; ok {
		return "/static/" + name + "?v=" + v
	}
	return "/static/" + name
}
