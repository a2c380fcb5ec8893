// Command dist builds a release of viz.
//
//	go run ./cmd/viz/dist            build everything, in dist/
//	go run ./cmd/viz/dist notices    write cmd/viz/NOTICES.txt
//
// A release is built from the checked-out commit, which is exported to a separate folder without
// uncommitted changes or ignored files. The release contains
//
//   - an archive for each platform, with the program, a short README, the
//     license and the third-party notices (archive.go);
//   - a bill of materials for each program, in SPDX 2.3 (sbom.go), made from
//     the build information in the program itself;
//   - a container image for linux, as an OCI layout in a tar file (oci.go);
//   - SHA256SUMS.
//
// Releases are reproducible: the same commit and the same version of Go produce the same bytes, in
// any folder. All times in the files are the commit time, or SOURCE_DATE_EPOCH if it is set; files
// are sorted and have no owner; build.go sets everything else that could change the compiler's
// output.
//
// The licenses of all linked modules, and of the embedded fonts and scripts, are collected in
// NOTICES.txt (notices.go), which viz notices prints. The file is committed, and a test fails if it
// is out of date. A module without a license, or with one that license.go does not recognize, is an
// error: a person must review it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("dist: ")
	out := flag.String("o", "dist", "the release's output `folder`, relative to the repository root")
	flag.Parse()
	top, err := topFolder()
	if err != nil {
		log.Fatal(err)
	}
	switch {
	case flag.NArg() == 0:
		if !filepath.IsAbs(*out) {
			*out = filepath.Join(top, *out)
		}
		err = makeRelease(top, *out, platforms, os.Stdout)
	case flag.NArg() == 1 && flag.Arg(0) == "notices":
		err = writeNotices(top)
	default:
		err = fmt.Errorf("unexpected arguments %q; the only command is notices", flag.Args())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// makeRelease builds the checked-out commit of the repository at top for all targets and writes the
// release to the folder out. It reports its progress on w.
func makeRelease(top, out string, targets []platform, w io.Writer) error {
	r, err := describe(top)
	if err != nil {
		return err
	}
	if r.uncommitted > 0 {
		fmt.Fprintf(
			w, "%s not committed and therefore not part of this release\n",
			terms.CountedAs(r.uncommitted, "changed file is", "changed files are"),
		)
	}
	source, err := os.MkdirTemp("", "viz-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(source)
	if err := export(top, source, r.revision); err != nil {
		return err
	}
	parts, err := collect(source)
	if err != nil {
		return err
	}
	if err := checkNotices(source, parts); err != nil {
		return err
	}
	docs, err := documents(source)
	if err != nil {
		return err
	}
	to, err := openOutput(out)
	if err != nil {
		return err
	}
	to.log = w
	var images []program
	for _, p := range targets {
		binary, err := build(source, p, r)
		if err != nil {
			return err
		}
		if err := to.archive(r, binary, docs); err != nil {
			return err
		}
		bill, err := billOfMaterials(r, binary, parts)
		if err != nil {
			return err
		}
		if err := to.write(r.name(p)+".spdx.json", bill); err != nil {
			return err
		}
		if p.os == "linux" {
			images = append(images, binary)
		}
	}
	if len(images) > 0 {
		if err := to.image(r, images, docs); err != nil {
			return err
		}
	}
	return to.close()
}

// documents returns the files that accompany every program.
func documents(source string) ([]file, error) {
	var docs []file
	for name, from := range map[string]string{
		"README.txt":  "cmd/viz/dist/README.txt",
		"LICENSE.txt": "LICENSE",
		"NOTICES.txt": noticesFile,
	} {
		data, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(from)))
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{name: name, mode: 0o644, data: data})
	}
	slices.SortFunc(docs, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return docs, nil
}
