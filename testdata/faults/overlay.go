package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// generate adds the Go files that follow from changed templates.
func (c *changed) generate(tree string) error {
	for file, text := range c.files {
		stem, isTemplate := strings.CutSuffix(file, ".templ")
		if !isTemplate {
			continue
		}
		made, err := generated(tree, file, text)
		if err != nil {
			return err
		}
		c.files[stem+"_templ.go"] = made
	}
	return nil
}

// generated runs templ on a copy of a template. The generated code names the
// template's path in its errors, so the copy's path is replaced there.
func generated(tree, file, text string) (string, error) {
	dir, err := os.MkdirTemp("", "fault")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
		return "", err
	}
	var out, problems bytes.Buffer
	c := exec.Command("go", "tool", "templ", "generate", "-f", copied, "-stdout")
	c.Dir, c.Stdout, c.Stderr = tree, &out, &problems
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("templ generate %s: %w\n%s", file, err, problems.String())
	}
	if from, err := filepath.Rel(tree, copied); err == nil {
		return strings.ReplaceAll(out.String(), filepath.ToSlash(from), file), nil
	}
	return out.String(), nil
}

// overlay writes the changed files into dir and returns the path of the list
// that go's flag -overlay reads.
func (c *changed) overlay(tree, dir string) (string, error) {
	replace := map[string]string{}
	for file, text := range c.files {
		copied := filepath.Join(dir, strconv.Itoa(len(replace))+"-"+filepath.Base(file))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(tree, filepath.FromSlash(file))] = copied
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, b, 0o600)
}
