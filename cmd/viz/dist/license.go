package main

import (
	"regexp"
	"strings"
)

// licenses are the known licenses of modules, each with a phrase that no other license contains. A
// person must read any other license before a release may include it.
var licenses = []struct{ id, words string }{
	{"0BSD", "Zero-Clause BSD"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-2-Clause", bsd},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International Public License"},
	{"FTL OR GPL-2.0-or-later", "your choice of exactly one of the following two licenses: * The FreeType License"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"OFL-1.1", "This Font Software is licensed under the SIL Open Font License, Version 1.1"},
}

// bsd is the text that both BSD licenses share.
const bsd = "Redistribution and use in source and binary forms, with or without modification, are permitted"

var blanks = regexp.MustCompile(`\s+`)

// identify returns the SPDX expression for the licenses in a text, or "" if it recognizes none.
func identify(text string) string {
	text = strings.ToLower(blanks.ReplaceAllString(text, " "))
	has := func(words string) bool { return strings.Contains(text, strings.ToLower(words)) }
	var found []string
	for _, l := range licenses {
		switch {
		case !has(l.words):
		case l.id == "BSD-2-Clause" && has("may be used to endorse or promote"): // the third clause follows
		case strings.Contains(l.id, " OR "):
			found = append(found, "("+l.id+")")
		default:
			found = append(found, l.id)
		}
	}
	if len(found) == 1 {
		return strings.Trim(found[0], "()")
	}
	return strings.Join(found, " AND ")
}
