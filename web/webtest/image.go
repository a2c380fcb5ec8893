package webtest

import (
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/tokenbytoken/viz/web/site/image"
)

// takeImage takes an image of the program, or returns the one that an earlier test took of the same:
// it needs some ten seconds, and with the race detector a minute.
func takeImage(ctx context.Context, in image.Input) (*image.Image, error) {
	root, err := top()
	if err != nil {
		return nil, err
	}
	key, err := keyOf(root, in)
	if err != nil {
		return nil, err
	}
	ending := ".image"
	if in.Lessons != nil {
		ending = "-own.image"
	}
	file, err := cacheFile(treeName(root) + ending)
	if err != nil {
		return nil, err
	}
	if kept, err := readImage(file); err == nil && kept.Key == key {
		return kept.Image, nil
	}
	i, err := image.Take(ctx, in)
	if err != nil {
		return nil, err
	}
	return i, writeImage(file, keptImage{key, i})
}

// keptImage is an image, and the hash of what it was taken from.
type keptImage struct {
	Key   string
	Image *image.Image
}

// keyOf is a hash of all that an image depends on.
func keyOf(root string, in image.Input) (string, error) {
	h := sha256.New()
	sources, err := filepath.Glob(filepath.Join(root, "web", "site", "image", "*.go"))
	if err != nil {
		return "", err
	}
	for _, name := range append(sources, filepath.Join(root, "go.sum")) {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		add(h, data)
	}
	add(h, in.Program)
	add(h, []byte(in.Name))
	for _, f := range in.Files {
		add(h, []byte(f.Name))
		add(h, f.Data)
	}
	add(h, in.Lessons)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func add(h hash.Hash, data []byte) {
	fmt.Fprintf(h, "%d ", len(data))
	h.Write(data)
}

func readImage(file string) (kept keptImage, err error) {
	from, err := os.Open(file)
	if err != nil {
		return kept, err
	}
	defer from.Close()
	err = gob.NewDecoder(from).Decode(&kept)
	return kept, err
}

// writeImage keeps an image. Other packages' tests may do so at the same time.
func writeImage(file string, kept keptImage) error {
	to, err := os.CreateTemp(filepath.Dir(file), "image")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name())
	err = gob.NewEncoder(to).Encode(kept)
	if err := to.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return os.Rename(to.Name(), file)
}
