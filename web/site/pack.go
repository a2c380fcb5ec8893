package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"path"

	"github.com/andybalholm/brotli"
)

// quality is the brotli level; the highest is 11. Each higher level doubles the time and saves only
// one percent.
const quality = 6

// small is the size, in bytes, up to which files are not compressed, because compressing them would
// not reduce the number of packets.
const small = 1000

// shrinks lists the extensions of files that compression makes smaller.
var shrinks = map[string]bool{
	".html": true, ".css": true, ".js": true, ".json": true, ".svg": true, ".wasm": true, ".webmanifest": true,
	".safetensors": true,
}

// pack adds each file compressed with gzip and brotli, as NAME.gz and NAME.br, for hosts
// that send such files to browsers that accept them.
func (f files) pack(ctx context.Context) error {
	more := files{}
	for name, data := range f {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !shrinks[path.Ext(name)] || len(data) < small {
			continue
		}
		if f[name+".gz"] == nil {
			zipped, err := zip(data, gzip.BestCompression)
			if err != nil {
				return err
			}
			more[name+".gz"] = zipped
		}
		var b bytes.Buffer
		w := brotli.NewWriterLevel(&b, quality)
		_, err := w.Write(data)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
		more[name+".br"] = b.Bytes()
	}
	for name, data := range more {
		f[name] = data
	}
	return nil
}

// zip compresses data with gzip. The header contains no timestamp, so the same data always produces
// the same bytes.
func zip(data []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close()) // Close writes the last bytes
	return b.Bytes(), err
}
