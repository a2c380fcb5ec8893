package practice_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/progress/saved"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestCardsAreSaved: the browser saves both flashcard files, with the same content as a server's.
func TestCardsAreSaved(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, _ := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/cards")
	downloads := tab.Downloads()
	for address, name := range map[string]string{
		"/cards/export.txt": "token-by-token.txt", "/cards/export.csv": "token-by-token.csv",
	} {
		tab.Click(`a[href="` + address + `"]`)
		if got, want := downloads.File(name), webtest.Answered(t, address); !bytes.Equal(got, want) {
			t.Errorf(
				"%s: saved %d bytes, but a server sends %d: got %.60q, want %.60q", address, len(got), len(want), got,
				want,
			)
		}
	}
}

// TestProgressFileRestoresProgress: an exported progress file can be imported in a new browser and
// handed in with an assignment. A file with an error is refused, and the message contains the
// location of the error.
func TestProgressFileRestoresProgress(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	url, course := serve(t)
	tab := browser.Open(t, browser.Laptop, url+"/cards")
	tab.Keys(" 3")
	tab.WaitText(".deck__said", "Saved: good. This card comes back in 10 min.")
	file, kept := export(t, tab, url+"/progress")
	if len(kept.Reviews) != 1 || kept.Reviews[0].Card != course.Cards[0].ID {
		t.Fatalf(
			"after grading one card, the file has %+v, want 1 element, [0].Card = %q", kept.Reviews,
			course.Cards[0].ID,
		)
	}
	if _, again := export(t, tab, url+"/assigned?do=practice/softmax"); !sameKept(again, kept) {
		t.Errorf("the file to hand in contains %+v, want the saved progress %+v", again, kept)
	}

	other := browser.Open(t, browser.Laptop, url+"/progress")
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, bytes.Replace(file, []byte(`"good"`), []byte(`"splendid"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	bring(t, other, bad)
	other.Wait("a refusal", `document.querySelector("#import-error")?.innerText.includes("reviews[0].grade")`)
	other.Faults() // expected: the refusal in the browser's console
	good := filepath.Join(t.TempDir(), "good.json")
	if err := os.WriteFile(good, file, 0o600); err != nil {
		t.Fatal(err)
	}
	bring(t, other, good)
	other.Wait("the imported data", `document.querySelector("main")?.innerText.includes("Imported: 1 card review.")`)
	if _, got := export(t, other, url+"/progress"); !sameKept(got, kept) {
		t.Errorf("imported %+v, want the saved %+v", got, kept)
	}
}

// export saves the progress with the button on the given page.
func export(t *testing.T, tab *browser.Tab, page string) ([]byte, saved.File) {
	t.Helper()
	tab.Go(page)
	downloads := tab.Downloads()
	tab.Click(`a[href="/progress/export"]`)
	data := downloads.File("token-by-token-progress.json")
	file, err := saved.Parse(data)
	if err != nil {
		t.Fatalf("the saved file is refused: %v", err)
	}
	return data, file
}

// bring selects a file in the import form and imports it.
func bring(t *testing.T, tab *browser.Tab, path string) {
	t.Helper()
	tab.Files("#file", path)
	tab.Click(`form[action="/progress/import"] button`)
}

// sameKept reports whether two files have the same content, except for the time of their export.
func sameKept(a, b saved.File) bool {
	a.Exported = b.Exported
	return reflect.DeepEqual(a, b)
}
