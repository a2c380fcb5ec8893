package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAPIAccess: a server that only this machine can reach does not require a key. With a key file,
// or if others can reach it, it accepts only the keys in the file.
// Promise: The API needs a key on a server that others can reach, but not on one that only your machine can reach.
func TestAPIAccess(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	for _, row := range []struct {
		file  string // "" for none
		local bool
		open  bool
		keys  []string
		wrong string
	}{
		{"", true, true, nil, ""},
		{"", false, false, nil, ""},
		{"# a comment\n\n  " + key + "\r\n", false, false, []string{key}, ""},
		{key + "\n" + key + "2", true, false, []string{key, key + "2"}, ""},
		{"short\n", false, false, nil, "line 1: a key must be at least 16"},
		{key + "\na key with a space", false, false, nil, "line 2"},
		{"# none\n", false, false, nil, "contains no keys"},
	} {
		o := apiOptions{}
		if row.file != "" {
			o.keyFile = filepath.Join(t.TempDir(), "keys")
			if err := os.WriteFile(o.keyFile, []byte(row.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, err := o.access(newFlags(""), row.local)
		switch {
		case row.wrong != "":
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%q: %v, want %s", row.file, err, row.wrong)
			}
		case err != nil || a.Open != row.open || !slices.Equal(a.Keys, row.keys):
			t.Errorf(
				"keys file %q, local %v: got %+v, %v; want open %t, keys %q, <nil>", row.file, row.local, a, err,
				row.open, row.keys,
			)
		}
	}
	for origin, want := range map[string]bool{
		"https://notebook.example": true, "http://localhost:3000": true, "https://a.example/": false, "*": false,
		"null": false, "ftp://a.example": false, "https://": false, "a.example": false,
	} {
		if validOrigin(origin) != want {
			t.Errorf("validOrigin(%q) = %v, want %t", origin, !want, want)
		}
	}
}
