package model_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// at returns the page about the fixture model. place describes how visitors can open other models.
func at(t *testing.T, place model.OwnModel) *goquery.Document {
	t.Helper()
	return of(t, testmodel.Target(t), place)
}

// of returns the page about the given model.
func of(t *testing.T, m *infer.Model, place model.OwnModel) *goquery.Document {
	t.Helper()
	mux := http.NewServeMux()
	model.New(model.Deps{
		Model: m, Place: place,
		Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{}, nil },
	}).Mount(mux)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/model", nil))
	d, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d, %v; want %d, <nil>", w.Code, err, http.StatusOK)
	}
	return d
}

// TestModelPageIsInTheCatalog: the page's words come from the catalogs, no matter which models can
// be opened.
func TestModelPageIsInTheCatalog(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	data := pseudo.NewData(append(checkpoint.Architectures(), m.Name(), m.Config().Architecture, "GGUF v3"))
	ctx := terms.With(t.Context(), pseudo.Language(t))
	files := &model.Files{Format: "GGUF v3", Bytes: 3 << 20}
	for _, place := range []model.OwnModel{{}, {Opens: true}, {Opens: true, Files: files}} {
		mux := http.NewServeMux()
		model.New(model.Deps{
			Model: m, Place: place,
			Caller: func(*http.Request) (admission.Caller, *http.Cookie) { return admission.Caller{}, nil },
		}).Mount(mux)
		for _, path := range []string{"/model", "/model/none"} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil).WithContext(ctx))
			if left, err := data.OfPage(w.Body.String()); err != nil || len(left) > 0 {
				t.Errorf("%s: the words %q, %v are in no catalog, want none", path, left, err)
			}
		}
	}
}

// TestModelPageOffersWhatIsPossible: the page describes the model, and offers what is possible
// where the program runs. On a server, it shows a command that starts the server with another
// model. In a browser, visitors can open files and return from their own model to the site's.
func TestModelPageOffersWhatIsPossible(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	for _, c := range []struct {
		name                 string
		place                model.OwnModel
		command, files, back int
		says                 string
	}{
		{"a server", model.OwnModel{}, 1, 0, 0, "It’s called"},
		{"a browser", model.OwnModel{Opens: true}, 0, 2, 0, "nothing is uploaded"},
		{
			"an own model",
			model.OwnModel{Opens: true, Files: &model.Files{Format: "GGUF v3", Bytes: 3 << 20}},
			0, 2, 1,
			"3.0 MiB",
		},
	} {
		d := at(t, c.place)
		text := d.Find("main").Text()
		for _, want := range []string{
			c.says, m.Name(), terms.Count(m.Parameters()), terms.Count(m.Config().Vocab), "gemma3", "qwen2",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not contain %q", c.name, want)
			}
		}
		command, files := d.Find("pre").Length(), d.Find("[type=file]").Length()
		back := d.Find("[data-model-back]").Length()
		if command != c.command || files != c.files || back != c.back {
			t.Errorf(
				"%s: got %d commands, %d fields for files, %d ways back; want %d, %d, %d", c.name, command, files, back,
				c.command, c.files, c.back,
			)
		}
	}
}

// TestModelPageShowsWarnings: the page lists the parts of the model's files that the model does
// not use.
func TestModelPageShowsWarnings(t *testing.T) {
	t.Parallel()
	c, err := checkpoint.OpenPath("../../testdata/models/llama3")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Warnings = []string{"An <adapter> is not applied."}
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	if text := of(t, m, model.OwnModel{}).Find("main").Text(); !strings.Contains(text, c.Warnings[0]) {
		t.Errorf("got %q, want it to contain %q", text, c.Warnings[0])
	}
}

// TestModelPageIsAccessible: axe-core reports no problems on the page.
func TestModelPageIsAccessible(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t, browser.Laptop, webtest.Serve(t, webtest.Options{})+"/model")
	tab.Audit("the page about the model")
}
