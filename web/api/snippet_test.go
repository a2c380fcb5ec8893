package api_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/webtest"
)

// odd is a prompt with characters that have a special meaning in shells and programming
// languages.
const odd = "It's \"a\" \\ $HOME `x` %s {y} é 🦊\n\tand\u2028a line"

// examples returns the programs that the page shows for a request, by language, and the text that
// they should print.
func examples(t *testing.T, server, prompt string) (programs map[string]string, want string) {
	t.Helper()
	page, _ := pageAt(t, server, sent("prompt", prompt, "temperature", " 0.8"))
	programs = map[string]string{}
	page.Find(".apip__lang").Each(func(_ int, one *goquery.Selection) {
		programs[strings.TrimSpace(one.Find("summary").Text())] = one.Find("code").Text()
	})
	body, err := json.Marshal(map[string]any{
		"model": model, "prompt": prompt, "max_tokens": 24, "seed": 4, "temperature": 0.8, "top_p": 0.95,
	})
	if err != nil {
		t.Fatal(err)
	}
	return programs, textOf(t, send(t, server+"/v1/completions", string(body)).Body)
}

// textOf returns the text of an answer.
func textOf(t *testing.T, body io.Reader) string {
	t.Helper()
	var answer struct{ Choices []struct{ Text string } }
	err := json.NewDecoder(body).Decode(&answer)
	if err != nil || len(answer.Choices) != 1 || answer.Choices[0].Text == "" {
		t.Fatalf("got %+v, %v; want no error, len(Choices) = 1, Choices[0].Text not empty", answer, err)
	}
	return answer.Choices[0].Text
}

// saved writes a program to a file, as a user who tries it out would.
func saved(t *testing.T, folder, name, program string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExamplesRun: the page's curl example, run exactly as shown, returns the API's answer,
// whatever the prompt contains.
// Promise: The curl example on the /api page runs as it is shown.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("curl is missing")
	}
	server := webtest.Serve(t, webtest.Options{})
	for _, prompt := range []string{"The wizard lived in a", odd} {
		programs, want := examples(t, server, prompt)
		got := textOf(t, strings.NewReader(fixture.Output(t, ".", "sh", "-c", programs["curl"])))
		if got != want {
			t.Errorf("curl returns %q, want %q as from the API", got, want)
		}
	}
}

// TestExamplesRunInEveryLanguage runs the page's other examples exactly as shown. Go and
// JavaScript use the published clients. Python uses a stand-in (testdata/clients/python), since
// the tests cannot install its client.
func TestExamplesRunInEveryLanguage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	installed := fixture.Npm(t, clients)
	python := filepath.Join(installed, "python")
	for _, prompt := range []string{"The wizard lived in a", odd} {
		programs, want := examples(t, server, prompt)
		for language, got := range map[string]string{
			"Go": fixture.Output(t, "../..", "go", "run", saved(t, t.TempDir(), "main.go", programs["Go"])),
			"JavaScript": fixture.Output(t, installed,
				fixture.Node(t, installed), saved(t, installed, "example.mjs", programs["JavaScript"])),
			"Python": fixture.Output(t, python,
				"python3", "-X", "utf8", saved(t, python, "example.py", programs["Python"])),
		} {
			if got != want {
				t.Errorf("%s prints %q, want %q as from the API", language, got, want)
			}
		}
	}
}
