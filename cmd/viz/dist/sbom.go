package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The bill of materials is an SPDX 2.3 document in JSON. The fields are
// described at https://spdx.github.io/spdx-spec/v2.3/.

type spdxDocument struct {
	SPDXVersion       string             `json:"spdxVersion"`
	DataLicense       string             `json:"dataLicense"`
	SPDXID            string             `json:"SPDXID"`
	Name              string             `json:"name"`
	DocumentNamespace string             `json:"documentNamespace"`
	CreationInfo      spdxCreation       `json:"creationInfo"`
	Packages          []spdxPackage      `json:"packages"`
	Relationships     []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name             string         `json:"name"`
	SPDXID           string         `json:"SPDXID"`
	Version          string         `json:"versionInfo,omitempty"`
	FileName         string         `json:"packageFileName,omitempty"`
	Purpose          string         `json:"primaryPackagePurpose"`
	DownloadLocation string         `json:"downloadLocation"`
	FilesAnalyzed    bool           `json:"filesAnalyzed"`
	Checksums        []spdxChecksum `json:"checksums,omitempty"`
	LicenseConcluded string         `json:"licenseConcluded"`
	LicenseDeclared  string         `json:"licenseDeclared"`
	LicenseComments  string         `json:"licenseComments,omitempty"`
	CopyrightText    string         `json:"copyrightText"`
	ExternalRefs     []spdxRef      `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	spdxDocumentID = "SPDXRef-DOCUMENT"
	spdxProgramID  = "SPDXRef-viz"
	noAssertion    = "NOASSERTION"
)

// billOfMaterials lists the contents of a program: Go, the modules in its build information, and
// the embedded fonts and scripts. It returns an error if a module is not among parts, since the
// notices would lack its license.
func billOfMaterials(r release, p program, parts []software) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(p.data))
	if err != nil {
		return nil, err
	}
	return bill(r, p, info, parts)
}

// bill is like billOfMaterials, but uses the given build information.
func bill(r release, p program, info *debug.BuildInfo, parts []software) ([]byte, error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(p.data))
	name := r.name(p.platform)
	d := spdxDocument{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: spdxDocumentID, Name: name,
		DocumentNamespace: "https://spdx.org/spdxdocs/" + name + "-" + sum,
		CreationInfo: spdxCreation{
			Created: r.when.Format(time.RFC3339), Creators: []string{"Tool: viz-dist-" + r.version},
		},
		Packages: []spdxPackage{{
			Name: "viz", SPDXID: spdxProgramID, Version: r.version, FileName: p.executable(),
			Purpose: "APPLICATION", DownloadLocation: noAssertion,
			Checksums:        []spdxChecksum{{"SHA256", sum}},
			LicenseConcluded: noAssertion, LicenseDeclared: "MIT", CopyrightText: noAssertion,
			ExternalRefs: []spdxRef{moduleRef(info.Main.Path, r.version)},
		}},
		Relationships: []spdxRelationship{{spdxDocumentID, "DESCRIBES", spdxProgramID}},
	}
	contains := func(s spdxPackage) {
		d.Packages = append(d.Packages, s)
		d.Relationships = append(d.Relationships, spdxRelationship{spdxProgramID, "CONTAINS", s.SPDXID})
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		i := slices.IndexFunc(parts, func(x software) bool { return x.name == m.Path && x.version == m.Version })
		if i < 0 {
			return nil, fmt.Errorf("%s contains %s %s, which is not listed in %s", name, m.Path, m.Version, noticesFile)
		}
		contains(parts[i].spdx("LIBRARY", moduleRef(m.Path, m.Version)))
	}
	for _, x := range parts {
		switch {
		case x.name == standardLibrary:
			x.version = strings.TrimPrefix(info.GoVersion, "go")
			contains(x.spdx("LIBRARY", moduleRef("stdlib", x.version)))
		case x.version == "":
			contains(x.spdx("FILE"))
		}
	}
	data, err := json.MarshalIndent(d, "", "  ")
	return append(data, '\n'), err
}

// notInID matches characters that are not allowed in an identifier.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// spdx returns the SPDX description of a part.
func (p software) spdx(purpose string, refs ...spdxRef) spdxPackage {
	s := spdxPackage{
		Name: p.name, SPDXID: "SPDXRef-" + notInID.ReplaceAllString(p.title(), "-"), Version: p.version,
		Purpose: purpose, DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: p.license, CopyrightText: noAssertion,
		ExternalRefs: refs,
	}
	if len(p.texts) > 1 {
		var more []string
		for _, t := range p.texts[1:] {
			more = append(more, t.name)
		}
		s.LicenseComments = "Additional texts in NOTICES.txt: " + strings.Join(more, ", ")
	}
	return s
}

// moduleRef returns the package URL of a Go module.
func moduleRef(path, version string) spdxRef {
	version = strings.ReplaceAll(version, "+", "%2B")
	return spdxRef{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + version}
}
