package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func testParts() []software {
	return []software{
		{name: standardLibrary, license: "BSD-3-Clause"},
		{name: "example.org/~a/b", version: "v1.0.0+incompatible", license: "MIT"},
		{
			name: "example.org/unused", version: "v0.1.0", license: "Apache-2.0",
			texts: []text{{"LICENSE", "…"}, {"NOTICE", "…"}},
		},
		{name: "inter", license: "OFL-1.1", texts: []text{{"inter-LICENSE.txt", "…"}}},
	}
}

func testInfo() *debug.BuildInfo {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/viz"},
		Deps: []*debug.Module{{Path: "example.org/~a/b", Version: "v1.0.0+incompatible"}},
	}
}

// TestBillOfMaterials: the document contains everything that sections 6 (document), 7 (packages)
// and 11 (relationships) of SPDX 2.3 require.
func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	p := program{platform{"linux", "amd64"}, []byte("program")}
	data, err := bill(testRelease(), p, testInfo(), testParts())
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		SPDXVersion, DataLicense, SPDXID, Name, DocumentNamespace string

		CreationInfo struct {
			Created  string
			Creators []string
		}
		Packages []struct {
			Name, SPDXID, VersionInfo, DownloadLocation, LicenseDeclared string

			FilesAnalyzed *bool
			Checksums     []struct{ Algorithm, ChecksumValue string }
			ExternalRefs  []struct{ ReferenceCategory, ReferenceType, ReferenceLocator string }
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("program")))
	if d.SPDXVersion != "SPDX-2.3" || d.DataLicense != "CC0-1.0" || d.SPDXID != "SPDXRef-DOCUMENT" ||
		d.Name != "viz-v1.2.0-linux-amd64" || d.CreationInfo.Created != "2026-11-23T17:02:40Z" ||
		!slices.Equal(d.CreationInfo.Creators, []string{"Tool: viz-dist-v1.2.0"}) {
		t.Errorf("got document %s, want the header of SPDX 2.3 for viz-v1.2.0-linux-amd64", data)
	}
	if want := "https://spdx.org/spdxdocs/viz-v1.2.0-linux-amd64-" + sum; d.DocumentNamespace != want {
		t.Errorf("namespace %s, want %s", d.DocumentNamespace, want)
	}
	ids := map[string]bool{d.SPDXID: true}
	var packages []string
	for _, p := range d.Packages {
		if ids[p.SPDXID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.SPDXID) {
			t.Errorf("identifier %q is invalid or a duplicate", p.SPDXID)
		}
		ids[p.SPDXID] = true
		if p.DownloadLocation != "NOASSERTION" || p.FilesAnalyzed == nil || *p.FilesAnalyzed {
			t.Errorf("got package %+v, want no download location and files not analyzed", p)
		}
		row := p.Name + " " + p.VersionInfo + " " + p.LicenseDeclared
		for _, r := range p.ExternalRefs {
			row += " " + r.ReferenceCategory + " " + r.ReferenceType + " " + r.ReferenceLocator
		}
		for _, c := range p.Checksums {
			row += " " + c.Algorithm + " " + c.ChecksumValue
		}
		packages = append(packages, row)
	}
	if want := []string{
		"viz v1.2.0 MIT PACKAGE-MANAGER purl pkg:golang/example.org/viz@v1.2.0 SHA256 " + sum,
		"example.org/~a/b v1.0.0+incompatible MIT PACKAGE-MANAGER purl " +
			"pkg:golang/example.org/~a/b@v1.0.0%2Bincompatible",
		standardLibrary + " 1.26.8 BSD-3-Clause PACKAGE-MANAGER purl pkg:golang/stdlib@1.26.8",
		"inter  OFL-1.1",
	}; !slices.Equal(packages, want) {
		t.Errorf("packages %q\nwant %q", packages, want)
	}
	related := map[string]bool{}
	for i, r := range d.Relationships {
		if !ids[r.SPDXElementID] || !ids[r.RelatedSPDXElement] || (r.RelationshipType == "DESCRIBES") != (i == 0) {
			t.Errorf("got relationship %+v, want one between listed elements, DESCRIBES first and only first", r)
		}
		related[r.RelatedSPDXElement] = true
	}
	if len(related) != len(d.Packages) {
		t.Errorf("got %d packages, %d of them in relationships; want all of them", len(d.Packages), len(related))
	}
}

// TestBillOfMaterialsRefusesUnknownModule: a program may not contain a module
// whose license was not collected.
func TestBillOfMaterialsRefusesUnknownModule(t *testing.T) {
	t.Parallel()
	info := testInfo()
	info.Deps = append(info.Deps, &debug.Module{Path: "example.org/unused", Version: "v0.2.0"})
	_, err := bill(testRelease(), program{platform{"linux", "amd64"}, nil}, info, testParts())
	if err == nil || !strings.Contains(err.Error(), "example.org/unused v0.2.0") {
		t.Errorf("error %v, want an error containing %q", err, "example.org/unused v0.2.0")
	}
}

// TestBillOfMaterialsNamesFurtherTexts: if a module has legal texts other than its license, the
// document mentions them.
func TestBillOfMaterialsNamesFurtherTexts(t *testing.T) {
	t.Parallel()
	s := testParts()[2].spdx("LIBRARY")
	if want := "Additional texts in NOTICES.txt: NOTICE"; s.LicenseComments != want {
		t.Errorf("comment %q, want %q", s.LicenseComments, want)
	}
}
