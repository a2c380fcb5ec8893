package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"testing"
	"time"
)

// commitTime is the time of testRelease's commit, with a fraction of a second
// that no archive can store.
var commitTime = time.Date(2026, 11, 23, 19, 2, 40, 5e8, time.FixedZone("", 2*60*60))

func someFiles() []file {
	return []file{
		{name: "viz-1/viz", mode: 0o755, data: bytes.Repeat([]byte("program "), 1000)},
		{name: "viz-1", mode: fs.ModeDir | 0o755},
		{name: "viz-1/data", mode: fs.ModeDir | 0o700, owner: 65532},
		{name: "viz-1/README.txt", mode: 0o644, data: []byte("Read me.\n")},
		{name: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
}

// someListing lists, in order, the contents of an archive of someFiles.
var someListing = []string{
	"tmp/ 1777 0:0 0 B",
	"viz-1/ 755 0:0 0 B",
	"viz-1/README.txt 644 0:0 9 B",
	"viz-1/data/ 700 65532:65532 0 B",
	"viz-1/viz 755 0:0 8000 B",
}

func TestTarballContents(t *testing.T) {
	t.Parallel()
	data, err := tarball(someFiles(), commitTime)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d:%d %d B", h.Name, h.Mode, h.Uid, h.Gid, h.Size))
		if want := time.Date(2026, 11, 23, 17, 2, 40, 0, time.UTC); !h.ModTime.Equal(want) {
			t.Errorf("%s: time %v, want %v", h.Name, h.ModTime, want)
		}
		if h.Uname != "" || h.Gname != "" || h.Format != tar.FormatUSTAR || len(h.PAXRecords) != 0 {
			t.Errorf(
				`%s: owner %q %q, format %v, records %v; want "", "", %v, 0 elements`, h.Name, h.Uname, h.Gname,
				h.Format, h.PAXRecords, tar.FormatUSTAR,
			)
		}
	}
	if !slices.Equal(got, someListing) {
		t.Errorf("got  %q\nwant %q", got, someListing)
	}
}

func TestZipContents(t *testing.T) {
	t.Parallel()
	data, err := zipped(someFiles(), commitTime)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"tmp/ dtrwxrwxrwx ", "viz-1/ drwxr-xr-x ", "viz-1/README.txt -rw-r--r-- Read me.\n", "viz-1/data/ drwx------ ",
		"viz-1/viz -rwxr-xr-x " + string(bytes.Repeat([]byte("program "), 1000)),
	}
	var got []string
	for _, f := range r.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v %s", f.Name, f.Mode(), content))
		if want := time.Date(2026, 11, 23, 17, 2, 40, 0, time.UTC); !f.Modified.Equal(want) {
			t.Errorf("%s: time %v, want %v", f.Name, f.Modified, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestGzipHeaderIsEmpty(t *testing.T) {
	t.Parallel()
	data, err := gzipped([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if want := (gzip.Header{OS: 255}); !reflect.DeepEqual(r.Header, want) {
		t.Errorf("header %+v, want %+v", r.Header, want)
	}
	if text, err := io.ReadAll(r); string(text) != "text" || err != nil {
		t.Errorf("got %q, %v; want %q, <nil>", text, err, "text")
	}
}

// TestArchivesAreReproducible: archives do not depend on the order of the files,
// the time zone, or the current time.
func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	reversed := someFiles()
	slices.Reverse(reversed)
	for name, pack := range map[string]func([]file, time.Time) ([]byte, error){"tar": tarball, "zip": zipped} {
		one, err := pack(someFiles(), commitTime)
		if err != nil {
			t.Fatal(err)
		}
		two, err := pack(reversed, commitTime.UTC().Truncate(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s: two archives of the same files differ", name)
		}
		later, err := pack(someFiles(), commitTime.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(one, later) {
			t.Errorf("%s: the time of the commit is missing", name)
		}
	}
}
