package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// A container image is a folder of blobs, each named by its SHA-256: the layer
// (a compressed tar archive), a configuration, a manifest that names both, and
// an index with one manifest for each architecture. index.json names that index.
// See the OCI Image Format Specification, version 1.1.

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// imageUser is the ID of the user that runs viz in a container. The container has no account for
// it.
const imageUser = 65532

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageIndex struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type imageManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type imageConfig struct {
	Created string `json:"created"`
	imagePlatform
	Config  runConfig      `json:"config"`
	RootFS  rootFS         `json:"rootfs"`
	History []historyEntry `json:"history"`
}

type runConfig struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Entrypoint   []string            `json:"Entrypoint"`
	Cmd          []string            `json:"Cmd"`
	Volumes      map[string]struct{} `json:"Volumes"`
	WorkingDir   string              `json:"WorkingDir"`
	Labels       map[string]string   `json:"Labels"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type historyEntry struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// blobs collects the blobs of a layout.
type blobs struct{ files []file }

// add stores a blob and returns its descriptor.
func (b *blobs) add(mediaType string, data []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	b.files = append(b.files, file{name: "blobs/sha256/" + sum, mode: 0o644, data: data})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

func (b *blobs) addJSON(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, err
	}
	return b.add(mediaType, data), nil
}

// image returns the OCI layout of an image that contains the programs, all of which are for linux,
// and the documents. It contains nothing else.
func image(r release, programs []program, docs []file) ([]file, error) {
	about := map[string]string{
		"org.opencontainers.image.title":    "viz",
		"org.opencontainers.image.version":  r.version,
		"org.opencontainers.image.revision": r.revision,
		"org.opencontainers.image.created":  r.when.Format(time.RFC3339),
		"org.opencontainers.image.licenses": "MIT",
	}
	var b blobs
	index := imageIndex{SchemaVersion: 2, MediaType: typeIndex, Annotations: about}
	for _, p := range programs {
		m, err := b.addImage(r, p, docs, about)
		if err != nil {
			return nil, err
		}
		index.Manifests = append(index.Manifests, m)
	}
	all, err := b.addJSON(typeIndex, index)
	if err != nil {
		return nil, err
	}
	all.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": "viz:" + strings.ReplaceAll(r.version, "+", "-"), // a tag cannot contain +
	}
	top, err := json.Marshal(imageIndex{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{all}})
	if err != nil {
		return nil, err
	}
	return append(
		b.files,
		file{name: "blobs", mode: fs.ModeDir | 0o755},
		file{name: "blobs/sha256", mode: fs.ModeDir | 0o755},
		file{name: "index.json", mode: 0o644, data: top},
		file{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	), nil
}

// addImage adds the layer, the configuration and the manifest for one
// architecture. It returns the manifest's descriptor.
func (b *blobs) addImage(r release, p program, docs []file, about map[string]string) (descriptor, error) {
	root, err := tarball(rootFiles(p, docs), r.when)
	if err != nil {
		return descriptor{}, err
	}
	packed, err := gzipped(root)
	if err != nil {
		return descriptor{}, err
	}
	created := r.when.Format(time.RFC3339)
	at := imagePlatform{Architecture: p.arch, OS: p.os}
	config, err := b.addJSON(typeConfig, imageConfig{
		Created: created, imagePlatform: at,
		Config: runConfig{
			User:         fmt.Sprintf("%d:%d", imageUser, imageUser),
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Entrypoint:   []string{"/viz"},
			Cmd:          []string{"-addr", "0.0.0.0:8080", "-no-open", "-data", "/data"},
			Volumes:      map[string]struct{}{"/data": {}},
			WorkingDir:   "/",
			Labels:       about,
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{fmt.Sprintf("sha256:%x", sha256.Sum256(root))}},
		History: []historyEntry{{Created: created, CreatedBy: "go run ./cmd/viz/dist"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	m, err := b.addJSON(typeManifest, imageManifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: config,
		Layers: []descriptor{b.add(typeLayer, packed)}, Annotations: about,
	})
	m.Platform = &at
	return m, err
}

// rootFiles returns the file system of a container.
func rootFiles(p program, docs []file) []file {
	files := []file{
		{name: "viz", mode: 0o755, data: p.data},
		{name: "data", mode: fs.ModeDir | 0o700, owner: imageUser},
		{name: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777}, // for SQLite's large sorts
		{name: "usr", mode: fs.ModeDir | 0o755},
		{name: "usr/share", mode: fs.ModeDir | 0o755},
		{name: "usr/share/doc", mode: fs.ModeDir | 0o755},
		{name: "usr/share/doc/viz", mode: fs.ModeDir | 0o755},
	}
	for _, d := range docs {
		d.name = "usr/share/doc/viz/" + d.name
		files = append(files, d)
	}
	return files
}
