package labs_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// TestPageExplainsHowToGetAModel: the labs page explains in three lines how to download a good
// small model, how to start the program with it from the download folder, and how to inspect the
// file first. The README names the same model.
func TestPageExplainsHowToGetAModel(t *testing.T) {
	t.Parallel()
	resp, err := http.Get(serve(t) + "/labs")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := d.Find(".getone li code").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
	if len(lines) != 3 || d.Find(".getone li").Length() != 3 {
		t.Fatalf("got %d commands: %q; want 3 on the page", len(lines), lines)
	}
	model, ok := strings.CutPrefix(lines[0], "hf download ")
	if !ok || strings.Count(model, "/") != 1 {
		t.Fatalf("the download command is %q, want a model named OWNER/NAME", lines[0])
	}
	if _, say, _ := strings.Cut(d.Find(".getone").Text(), "name it; "); !strings.HasPrefix(
		say, "the program itself never goes online",
	) {
		t.Error("the page does not state that the program never goes online")
	}
	// Hugging Face's cache has a folder models--OWNER--NAME for the model OWNER/NAME.
	folder := "~/.cache/huggingface/hub/models--" + strings.ReplaceAll(model, "/", "--")
	if want := "go run ./cmd/viz -model " + folder; lines[1] != want {
		t.Errorf("the start command is %q, want %q", lines[1], want)
	}
	if !strings.HasPrefix(lines[2], "go run ./cmd/viz inspect ") {
		t.Errorf("the inspect command is %q, want it to begin with %q", lines[2], "go run ./cmd/viz inspect ")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{lines[0], folder} {
		if !strings.Contains(string(readme), text) {
			t.Errorf("the README does not contain %q", text)
		}
	}
}
