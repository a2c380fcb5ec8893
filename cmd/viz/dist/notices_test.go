package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository is the top folder of the repository.
var repository = filepath.Join("..", "..", "..")

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const mit = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software …\n"

// TestNoticesAreUpToDate: NOTICES.txt lists every module that is linked on any platform, in the
// version that go.mod requires.
func TestNoticesAreUpToDate(t *testing.T) {
	t.Parallel()
	parts, err := collect(repository)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkNotices(repository, parts); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"modernc.org/sqlite", "github.com/mattn/go-isatty", "inter", "idiomorph"} {
		if !slices.ContainsFunc(parts, func(p software) bool { return p.name == want }) {
			t.Errorf("%s is missing", want)
		}
	}
	if slices.ContainsFunc(parts, func(p software) bool { return strings.Contains(p.name, "chromedp") }) {
		t.Error("chromedp is listed, but only tests use it")
	}
}

// TestReadModuleFindsLicenses: a module's legal texts are found in its top folder and in the
// folders between that folder and the linked packages.
func TestReadModuleFindsLicenses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"LICENSE": mit, "NOTICE.md": "Mind\r\nthis.\f", "LICENSE-FONT": "Umlaut: \xfc", "licenses/more.txt": "more",
		"license.go": "package a", "README.md": "no", "noticeable.txt": "no",
		"a/b/COPYING": "linked", "a/c/LICENSE": "not linked",
	})
	p, err := read("example.org/m", "v1.0.0", dir, []string{dir, filepath.Join(dir, "a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	want := []text{
		{"LICENSE", mit},
		{"LICENSE-FONT", "Umlaut: ü\n"},
		{"NOTICE.md", "Mind\nthis.\n"},
		{"licenses/more.txt", "more\n"},
		{"a/b/COPYING", "linked\n"},
	}
	if p.license != "MIT" || !slices.Equal(p.texts, want) {
		t.Errorf("license %s, texts %q\nwant %q", p.license, p.texts, want)
	}
}

func TestReadModuleRefusesUnknownLicenses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no license":        {map[string]string{"README": mit, "NOTICE": mit}, "no license file in"},
		"only another text": {map[string]string{"LICENSE-FONT": mit}, "no license file in"},
		"license not known": {map[string]string{"LICENSE": "Pay me."}, "unrecognized license in LICENSE"},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, c.files)
		_, err := read("example.org/m", "v1.0.0", dir, []string{dir})
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "example.org/m v1.0.0") {
			t.Errorf("%s: error %v, want an error containing %q and %q", name, err, c.want, "example.org/m v1.0.0")
		}
	}
}

// TestVendoredFilesHaveLicenses: every embedded third-party file has a license file next to it.
func TestVendoredFilesHaveLicenses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"inter-LICENSE.txt": mit, "inter-latin.woff2": "", "inter.js": ""})
	if parts, err := vendored(dir); err != nil || len(parts) != 1 || parts[0].title() != "inter" {
		t.Errorf("parts %v, %v; want no error, 1 element, parts[0].title() = %q", parts, err, "inter")
	}
	writeFiles(t, dir, map[string]string{"international.woff2": ""})
	want := "no license file next to " + filepath.Join(dir, "international.woff2")
	if _, err := vendored(dir); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestIdentifyLicense(t *testing.T) {
	t.Parallel()
	two := bsd + " provided that the following conditions are met:\n"
	three := two + "may be used\nto endorse or promote products  derived from this software"
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"You may use this.", ""},
		{mit, "MIT"},
		{two, "BSD-2-Clause"},
		{three, "BSD-3-Clause"},
		{"   Apache License\n   Version 2.0, January 2004\n" + three + mit, "Apache-2.0 AND BSD-3-Clause AND MIT"},
		{
			"your choice of exactly one of\nthe following two licenses:\n\n  * The FreeType License, or",
			"FTL OR GPL-2.0-or-later",
		},
	} {
		if got := identify(c.text); got != c.want {
			t.Errorf("%.40q: %q, want %q", c.text, got, c.want)
		}
	}
}
