package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// fixtures is the folder with small random models in several formats.
const fixtures = "../../testdata/models"

// TestOwnModelWritesTheSame: a model from the disk, either a file or the files in a folder,
// generates exactly the same text in the tab as in the test process. If the worker is stopped, the
// model is opened again, since the page keeps references to its files. A damaged file is refused
// with the reason, and the previous model stays in use.
// Promise: Your own model generates the same text in a static site as on a server.
func TestOwnModelWritesTheSame(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t, nil)+"model/")
	tab.Wait("the program", runs)
	site := tab.Text(".lead b")
	folder := filepath.Join(fixtures, "qwen3")
	tab.Files("#model-files", filesOf(t, folder)...)
	opened(tab, "your model")
	writesAs(t, tab, folder)

	file := filepath.Join(fixtures, "llama-mixed.gguf")
	tab.Files("#model-files", file)
	opened(tab, "llama-mixed")
	writesAs(t, tab, file)
	tab.Audit("the page with the visitor's own model")
	tab.FullShot("model-own.png")

	tab.Files("#model-files", damaged(t, file))
	tab.Wait("a refusal", `document.querySelector("#model-bad li")`)
	tab.FullShot("model-refused.png")
	for _, want := range []string{"can’t be opened", "The previous model stays in use", "extend beyond its end"} {
		if say := tab.Text("#model-bad"); !strings.Contains(say, want) {
			t.Errorf("the refusal does not say %q: %q", want, say)
		}
	}
	writesAs(t, tab, file)

	tab.Click(`main a[href$="loop/"]`)
	tab.Wait("a live page", runs+` && document.documentElement.dataset.conn === "live"`)
	tab.StopWorkers()
	tab.Wait("the page live in another worker", `document.documentElement.dataset.conn !== "live"`)
	tab.Wait("the page live in another worker", `document.documentElement.dataset.conn === "live"`)
	writesAs(t, tab, file)

	tab.Eval(`location.href = "../model/"`)
	opened(tab, "llama-mixed")
	tab.Click("[data-model-back]")
	opened(tab, site)
}

// TestModelDroppedOnThePage: a file or a folder that is dropped on the page is opened as if it had
// been chosen. Refusals give the same reasons as on a server. A 16-bit model of 270 MB fits. A
// model that does not fit is refused at once with a message, and its weights are never read.
func TestModelDroppedOnThePage(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, serve(t, nil)+"model/")
	tab.Wait("the program", runs)
	const page = "main h1"
	file := filepath.Join(fixtures, "llama-mixed.gguf")
	tab.Drop(page, file)
	opened(tab, "llama-mixed")
	writesAs(t, tab, file)

	short := damaged(t, file)
	tab.Drop(page, short)
	tab.Wait("a refusal", `document.querySelector("#model-bad li")`)
	_, err := checkpoint.OpenPath(short)
	for _, why := range checkpoint.Reasons(err)[:1] {
		if say := tab.Text("#model-bad"); !strings.Contains(say, why) {
			t.Errorf("want the server's reason %q, got %q", why, say)
		}
	}

	folder := filepath.Join(fixtures, "qwen3")
	tab.Drop(page, folder)
	opened(tab, "qwen3")
	writesAs(t, tab, folder)

	large := filepath.Join(t.TempDir(), "large.gguf")
	writeGGUF(t, large, 12, true)
	tab.Drop(page, large)
	opened(tab, "large")
	writesAs(t, tab, large)

	huge := filepath.Join(t.TempDir(), "huge.gguf")
	writeGGUF(t, huge, 400, false)
	tab.Drop(page, huge)
	tab.Wait("a refusal", `document.querySelector("#model-bad p")`)
	if say := tab.Text("#model-bad"); !strings.Contains(say, "too large for a browser") {
		t.Errorf("the refusal says %q, want it to contain %q", say, "too large for a browser")
	}
	writesAs(t, tab, large)
}

// filesOf returns the paths of a folder's files.
func filesOf(t *testing.T, folder string) (paths []string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		paths = append(paths, filepath.Join(folder, e.Name()))
	}
	return paths
}

// damaged returns the path of a truncated copy of a file.
func damaged(t *testing.T, path string) string {
	t.Helper()
	data := read(t, path)
	short := filepath.Join(t.TempDir(), "short.gguf")
	if err := os.WriteFile(short, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	return short
}

// opened waits until the page about the model shows the given name.
func opened(tab *browser.Tab, name string) {
	tab.Wait("the model "+name, runs+fmt.Sprintf(` && document.querySelector(".lead b")?.textContent === %q`, name))
}

// writesAs compares the text that the tab generates with the text that the model at the
// given path generates in the test process.
func writesAs(t *testing.T, tab *browser.Tab, path string) {
	t.Helper()
	c, err := checkpoint.OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	const tokens, seed = 8, 3
	s := infer.DefaultSettings()
	s.Stop.MaxTokens = tokens
	s.Set("seed", seed)
	stages := webtest.Stages(t, tab, map[string]any{"cmd": "set", "n": 1, "seed": seed}, "Hello", tokens)
	compare(t, m, "Hello", s, stages)
	if m.Hash() == testmodel.Target(t).Hash() {
		t.Error("the model is the site's own, which proves nothing")
	}
}
