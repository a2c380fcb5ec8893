package site

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/site/image"
	"github.com/tokenbytoken/viz/web/tab"
)

//go:embed worker
var worker embed.FS

// A Model is a model of the site: a folder in Hugging Face's format.
type Model struct {
	Name  string // as the program displays it
	Files fs.FS
}

// Options are the inputs for a site.
type Options struct {
	// Handler is the server whose pages are fetched.
	Handler http.Handler
	// Host is a host name that Handler accepts.
	Host string
	// Program is cmd/viz/tab built for js/wasm, and Exec is the wasm_exec.js of the same Go
	// version.
	Program, Exec []byte
	// Target is the main model, and Draft is the draft model.
	Target, Draft Model
	// Lessons are the files of an instructor's own course; see lessons.ReadOwn.
	Lessons map[string]string
	// Public is the site's public address, which ends with a slash; "" if it is not known.
	Public string
	// Take creates the image of the program; nil means [image.Take].
	Take func(context.Context, image.Input) (*image.Image, error)
	// Quick, for tests, compresses only the files that the worker needs, at a fast level.
	Quick bool
}

// files maps the paths of a site's files to their contents.
type files map[string][]byte

// Write writes a site into a folder, which must be empty or missing. No other process should write
// to the folder at the same time.
func Write(ctx context.Context, dir string, o Options) (Summary, error) {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return Summary{}, fmt.Errorf("%s is not empty: it contains %s", dir, list[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Summary{}, err
	}
	all, sum, err := o.Make(ctx)
	if err != nil {
		return Summary{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), all[name]); err != nil {
			return Summary{}, err
		}
	}
	return sum, nil
}

// Summary describes a site that was written.
type Summary struct {
	Pages, Files int
	First        int64 // bytes that a browser loads before the model can run, not counting pages
}

// Make builds a site's files and returns them by path.
func (o Options) Make(ctx context.Context) (_ map[string][]byte, sum Summary, err error) {
	all := files{}
	d := described{Public: o.Public, Files: map[string]bool{}, Pages: map[string]string{}}
	if err := o.addPages(ctx, all, &d); err != nil {
		return nil, sum, err
	}
	if sum.First, err = o.addProgram(ctx, all, &d); err != nil {
		return nil, sum, err
	}
	all["manifest.webmanifest"] = []byte(manifest)
	d.Files["manifest.webmanifest"] = true
	d.Version = all.version()
	if all["worker.js"], err = d.script(); err != nil {
		return nil, sum, err
	}
	if !o.Quick {
		err = all.pack(ctx)
	}
	sum.Pages, sum.Files = len(d.Pages), len(all)-len(d.Pages)
	return all, sum, err
}

// addProgram adds the image of the program and the draft model, and returns the number of bytes
// that a browser loads before the program can run.
func (o Options) addProgram(ctx context.Context, all files, d *described) (first int64, err error) {
	d.Exec = all.addHashed("program/wasm_exec.js", o.Exec)
	for name, to := range map[string]*string{"kept.js": &d.Kept, "weights.js": &d.Adds} {
		script, err := worker.ReadFile("worker/" + name)
		if err != nil {
			return 0, err
		}
		*to = all.addHashed("program/"+name, script)
	}
	i, err := o.image(ctx)
	if err != nil {
		return 0, err
	}
	d.State = i.State
	if d.Program, err = all.addPacked("program/viz.wasm", i.Program, o.level()); err != nil {
		return 0, err
	}
	if d.Memory, err = all.addPacked("program/memory.bin", i.Memory, o.level()); err != nil {
		return 0, err
	}
	if d.Weights, err = all.addPacked("program/weights.bin", i.Weights, o.level()); err != nil {
		return 0, err
	}
	d.Draft, err = all.addModel("models/draft", o.Draft, o.level())
	return int64(d.Program.Bytes + d.Memory.Bytes + d.Weights.Bytes), err
}

// image takes the image of the program with the main model and an instructor's lessons.
func (o Options) image(ctx context.Context) (*image.Image, error) {
	in := image.Input{Program: o.Program, Name: o.Target.Name}
	list, err := fs.ReadDir(o.Target.Files, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		data, err := fs.ReadFile(o.Target.Files, entry.Name())
		if err != nil {
			return nil, err
		}
		in.Files = append(in.Files, image.File{Name: entry.Name(), Data: data})
	}
	if len(o.Lessons) > 0 {
		if in.Lessons, err = json.Marshal(o.Lessons); err != nil {
			return nil, err
		}
	}
	take := o.Take
	if take == nil {
		take = image.Take
	}
	return take(ctx, in)
}

// level returns the gzip level for files that the worker loads.
func (o Options) level() int {
	if o.Quick {
		return gzip.BestSpeed
	}
	return gzip.BestCompression
}

// manifest makes the site installable. Its addresses are relative to the manifest.
const manifest = `{
  "name": "Token by Token",
  "short_name": "Token by Token",
  "description": "How a language model writes, one token at a time",
  "start_url": "./",
  "scope": "./",
  "display": "standalone",
  "icons": [{"src": "static/img/icon.svg", "sizes": "any", "type": "image/svg+xml"}]
}
`

// described is the worker's configuration. worker.js documents the fields.
type described struct {
	Version string            `json:"version"`
	Public  string            `json:"public"`
	Exec    string            `json:"exec"`
	Kept    string            `json:"kept"`
	Adds    string            `json:"adds"`
	Program packed            `json:"program"`
	Memory  packed            `json:"memory"`
	Weights packed            `json:"weights"`
	State   image.State       `json:"state"`
	Draft   packedModel       `json:"draft"`
	Files   map[string]bool   `json:"files"`
	Pages   map[string]string `json:"pages"`
}

type packedModel struct {
	Name  string   `json:"name"`
	Files []packed `json:"files"`
}

// packed is a compressed file.
type packed struct {
	Name  string `json:"name,omitempty"`
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Size  int    `json:"size"` // uncompressed
}

// script returns the worker's script.
func (d *described) script() ([]byte, error) {
	text, err := worker.ReadFile("worker/worker.js")
	if err != nil {
		return nil, err
	}
	site, err := json.Marshal(d)
	return fmt.Appendf(nil, "const site = %s;\n%s", site, text), err
}

// addHashed adds a file under a name that includes a hash of its content, and returns its path. A
// browser that has cached an older version of the file therefore cannot confuse the two.
func (f files) addHashed(name string, data []byte) string {
	sum := sha256.Sum256(data)
	ending := path.Ext(name)
	at := strings.TrimSuffix(name, ending) + "-" + hex.EncodeToString(sum[:4]) + ending
	f[at] = data
	return at
}

// addPacked adds a file and its compressed form, which the worker downloads.
func (f files) addPacked(name string, data []byte, level int) (packed, error) {
	at := f.addHashed(name, data)
	zipped, err := zip(data, level)
	f[at+".gz"] = zipped
	return packed{path.Base(name), at + ".gz", len(zipped), len(data)}, err
}

// addModel adds the model files that are directly in the model's folder.
func (f files) addModel(to string, m Model, level int) (packedModel, error) {
	list, err := fs.ReadDir(m.Files, ".")
	if err != nil {
		return packedModel{}, err
	}
	p := packedModel{Name: m.Name}
	for _, entry := range list {
		data, err := fs.ReadFile(m.Files, entry.Name())
		if err != nil {
			return packedModel{}, err
		}
		name := entry.Name()
		if path.Ext(name) == ".safetensors" {
			if data, err = tab.PackWeights(data); err != nil {
				return packedModel{}, fmt.Errorf("%s of the model %s: %w", name, m.Name, err)
			}
			name += tab.Packed
		}
		one, err := f.addPacked(to+"/"+name, data, level)
		if err != nil {
			return packedModel{}, err
		}
		p.Files = append(p.Files, one)
	}
	return p, nil
}

// version returns a short hash of all files.
func (f files) version() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(f[name]))
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// tabSite returns what the site's pages must know about the site.
func (o Options) tabSite() tab.Site { return tab.Site{Public: o.Public} }
