package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func testRelease() release {
	return release{version: "v1.2.0", revision: strings.Repeat("c6", 20), when: commitTime.UTC()}
}

// layout reads an image. It is written from the specification, independently of the code that
// writes images.
type layout struct {
	t     *testing.T
	files map[string][]byte
	used  map[string]bool
}

func readLayout(t *testing.T, archive []byte) *layout {
	t.Helper()
	l := &layout{t: t, files: map[string][]byte{}, used: map[string]bool{}}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return l
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if l.files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// object parses a JSON object.
func (l *layout) object(data []byte) map[string]any {
	l.t.Helper()
	var o map[string]any
	if err := json.Unmarshal(data, &o); err != nil {
		l.t.Fatalf("%v in %s", err, data)
	}
	return o
}

// blob returns the blob that a descriptor refers to, and checks its media type, digest and size.
func (l *layout) blob(d any, mediaType string) []byte {
	l.t.Helper()
	o := d.(map[string]any)
	digest := o["digest"].(string)
	name := "blobs/" + strings.Replace(digest, ":", "/", 1)
	data, found := l.files[name]
	if !found {
		l.t.Fatalf("no blob %s", name)
	}
	l.used[name] = true
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); got != digest {
		l.t.Errorf("blob %s has the hash %s, want %s", name, got, digest)
	}
	if int(o["size"].(float64)) != len(data) || o["mediaType"] != mediaType {
		l.t.Errorf("blob of %d bytes, want %s; its descriptor is %v", len(data), mediaType, o)
	}
	return data
}

// TestImageHasBothArchitectures: a reader independent of the writer finds both architectures in the
// image, each with the right files, and every blob is used.
func TestImageHasBothArchitectures(t *testing.T) {
	t.Parallel()
	docs := []file{{name: "NOTICES.txt", mode: 0o644, data: []byte("Thanks.\n")}}
	programs := []program{
		{platform{"linux", "amd64"}, []byte("amd64's program")},
		{platform{"linux", "arm64"}, []byte("arm64's program")},
	}
	files, err := image(testRelease(), programs, docs)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := tarball(files, testRelease().when)
	if err != nil {
		t.Fatal(err)
	}
	l := readLayout(t, archive)
	if got := l.object(l.files["oci-layout"])["imageLayoutVersion"]; got != "1.0.0" {
		t.Errorf("layout version %v, want %v", got, "1.0.0")
	}
	top := l.object(l.files["index.json"])["manifests"].([]any)
	if len(top) != 1 {
		t.Fatalf("index.json has %d manifests, want the index", len(top))
	}
	tag := top[0].(map[string]any)["annotations"].(map[string]any)["org.opencontainers.image.ref.name"]
	if tag != "viz:v1.2.0" {
		t.Errorf("the image is called %v, want %v", tag, "viz:v1.2.0")
	}
	index := l.object(l.blob(top[0], "application/vnd.oci.image.index.v1+json"))
	manifests := index["manifests"].([]any)
	if len(manifests) != len(programs) || index["schemaVersion"] != 2.0 {
		t.Fatalf("got index %v, want version 2 and %d manifests", index, len(programs))
	}
	for i, d := range manifests {
		want := map[string]any{"os": "linux", "architecture": programs[i].arch}
		if got := d.(map[string]any)["platform"]; !reflect.DeepEqual(got, want) {
			t.Errorf("platform %v, want %v", got, want)
		}
		l.checkImage(d, programs[i])
	}
	for name := range l.files {
		if strings.HasPrefix(name, "blobs/") && !l.used[name] {
			t.Errorf("%s: nothing refers to it", name)
		}
	}
	again, err := image(testRelease(), programs, docs)
	if err != nil || !reflect.DeepEqual(files, again) {
		t.Errorf("two images of the same files differ (%v)", err)
	}
}

// checkImage checks the image of one architecture.
func (l *layout) checkImage(d any, p program) {
	l.t.Helper()
	manifest := l.object(l.blob(d, "application/vnd.oci.image.manifest.v1+json"))
	config := l.object(l.blob(manifest["config"], "application/vnd.oci.image.config.v1+json"))
	if config["os"] != "linux" || config["architecture"] != p.arch || config["created"] != "2026-11-23T17:02:40Z" {
		l.t.Errorf("got configuration %v, want linux, %s, created 2026-11-23T17:02:40Z", config, p.arch)
	}
	run := config["config"].(map[string]any)
	delete(run, "Labels")
	if want := map[string]any{
		"User": "65532:65532", "WorkingDir": "/", "Entrypoint": []any{"/viz"},
		"Cmd":          []any{"-addr", "0.0.0.0:8080", "-no-open", "-data", "/data"},
		"ExposedPorts": map[string]any{"8080/tcp": map[string]any{}},
		"Volumes":      map[string]any{"/data": map[string]any{}},
	}; !reflect.DeepEqual(run, want) {
		l.t.Errorf("the image runs %v, want %v", run, want)
	}
	layers := manifest["layers"].([]any)
	if len(layers) != 1 {
		l.t.Fatalf("%d layers, want 1", len(layers))
	}
	r, err := gzip.NewReader(bytes.NewReader(l.blob(layers[0], "application/vnd.oci.image.layer.v1.tar+gzip")))
	if err != nil {
		l.t.Fatal(err)
	}
	root, err := io.ReadAll(r)
	if err != nil {
		l.t.Fatal(err)
	}
	ids := config["rootfs"].(map[string]any)["diff_ids"].([]any)
	if want := []any{fmt.Sprintf("sha256:%x", sha256.Sum256(root))}; !reflect.DeepEqual(ids, want) {
		l.t.Errorf("diff_ids %v, want %v", ids, want)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(root)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			l.t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			l.t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d:%d %s", h.Name, h.Mode, h.Uid, h.Gid, data))
	}
	if want := []string{
		"data/ 700 65532:65532 ", "tmp/ 1777 0:0 ", "usr/ 755 0:0 ", "usr/share/ 755 0:0 ", "usr/share/doc/ 755 0:0 ",
		"usr/share/doc/viz/ 755 0:0 ", "usr/share/doc/viz/NOTICES.txt 644 0:0 Thanks.\n",
		"viz 755 0:0 " + string(p.data),
	}; !slices.Equal(got, want) {
		l.t.Errorf("the layer has %q\nwant %q", got, want)
	}
}
