package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// subjectsSince is the commit after which every commit subject follows the rules in
// CONTRIBUTING.md.
const subjectsSince = "d2588d79"

var subjectForm = regexp.MustCompile(`^[a-z0-9./_-]+(, [a-z0-9./_-]+)*: [a-z]`)

// badSubject describes what is wrong with a commit subject. It returns "" if the subject is valid.
func badSubject(subject string) string {
	switch {
	case len([]rune(subject)) > 72:
		return "longer than 72 characters"
	case !subjectForm.MatchString(subject):
		return `not "package: imperative verb …"`
	case strings.HasSuffix(subject, "."):
		return "ends with a period"
	}
	return ""
}

// TestCommitSubjects checks the commit subjects if the repository's history is available.
func TestCommitSubjects(t *testing.T) {
	t.Parallel()
	for subject, bad := range map[string]bool{
		"web/loop: keep the scroll position":       false,
		"web, infer/chat: rename Turn to Message":  false,
		"Keep the scroll position":                 true,
		"web/loop: Keep the scroll position":       true,
		"web/loop: keep the scroll position.":      true,
		"web/loop: " + strings.Repeat("keep ", 20): true,
	} {
		if got := badSubject(subject); (got != "") != bad {
			t.Errorf("badSubject(%q) = %q, want a fault: %t", subject, got, bad)
		}
	}
	log, err := exec.Command("git", "log", "--no-merges", "--format=%h %s", subjectsSince+"..HEAD").Output()
	if err != nil {
		t.Skipf("the history since %s is missing: %v", subjectsSince, err)
	}
	for line := range strings.Lines(string(log)) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if wrong := badSubject(subject); wrong != "" {
			t.Errorf("%s %q: %s", hash, subject, wrong)
		}
	}
}
