package webtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/practice"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/site"
	"github.com/tokenbytoken/viz/web/store"
)

// Under is the path of test sites on their host.
const Under = "/some/course/"

// Runs is a script that is true on a site's page while the program runs in its worker.
const Runs = `document.documentElement?.dataset.runs !== undefined`

// SiteHost is the host name of a site's server.
const SiteHost = "site.invalid"

// A Site is a static site with the program, built with fast compression.
type Site struct {
	Files fstest.MapFS
	First int64 // bytes that a first visit loads before the model runs
}

// Serve serves the site under a path until the test ends, as any file server would. It returns the
// site's address, which ends with a slash. change, if not nil, wraps the handler.
func (s *Site) Serve(t testing.TB, change func(http.Handler) http.Handler) string {
	t.Helper()
	files := http.StripPrefix(strings.TrimSuffix(Under, "/"), http.FileServerFS(s.Files))
	if change != nil {
		files = change(files)
	}
	h := httptest.NewServer(files)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL + Under
}

// A keptSite is a [Site] in the cache.
type keptSite struct {
	Files map[string][]byte
	First int64
}

// made is a site that the tests of all packages share. It is rebuilt only if the sources have
// changed.
type made struct {
	once sync.Once
	site *Site
}

var plain, own made

// SiteWithLessons returns a site that includes the worked example of an instructor's own lessons.
func SiteWithLessons(t testing.TB) *Site {
	t.Helper()
	course, texts := CourseWithOwn(t)
	return own.make(t, "-own", course, texts)
}

// PlainSite returns a site as "make site" builds it.
func PlainSite(t testing.TB) *Site {
	t.Helper()
	return plain.make(t, "", Course(t), nil)
}

func (m *made) make(t testing.TB, kind string, course *lessons.Course, texts map[string]string) *Site {
	t.Helper()
	m.once.Do(func() {
		key, err := sourcesKey()
		if err != nil {
			t.Fatal(err)
		}
		file, err := cached(key+kind+".site", func(file string) error {
			fixture.Spend(fixture.Programs, 1) // the program that is started to take its image
			all, sum, err := siteOptions(t, course, texts).Make(t.Context())
			if err != nil {
				return err
			}
			return writeGob(file, keptSite{all, sum.First})
		})
		if err != nil {
			t.Fatal(err)
		}
		var kept keptSite
		if err := readGob(file, &kept); err != nil {
			t.Fatal(err)
		}
		s := &Site{fstest.MapFS{}, kept.First}
		for name, data := range kept.Files {
			s.Files[name] = &fstest.MapFile{Data: data}
		}
		m.site = s
	})
	if m.site == nil {
		t.Fatal("the site could not be built; see an earlier test's failure")
	}
	return m.site
}

// CourseWithOwn returns the course with the worked example of an instructor's own files, together
// with these files.
func CourseWithOwn(t testing.TB) (*lessons.Course, map[string]string) {
	t.Helper()
	root, err := top()
	if err != nil {
		t.Fatal(err)
	}
	texts, err := lessons.ReadOwn(filepath.Join(root, "testdata", "lessons"))
	if err != nil {
		t.Fatal(err)
	}
	course, err := lessons.LoadTexts(texts)
	if err != nil {
		t.Fatal(err)
	}
	return course, texts
}

// SiteServer returns the server that "viz site" uses, with the host name [SiteHost].
func SiteServer(t testing.TB, course *lessons.Course) http.Handler {
	t.Helper()
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	fixture.Spend(fixture.Servers, 1)
	s, err := web.New(web.Config{
		Model: testmodel.Target(t), Draft: testmodel.Draft(t), Course: course, AllowedHosts: []string{SiteHost},
		EmbedOrigins: []string{shell.Anywhere}, OwnModel: model.OwnModel{Opens: true},
		Keeping:  practice.InBrowser,
		Progress: progress.New(journal.For(db), db, course, time.Now), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.Handler()
}

// top returns the folder of the module.
var top = sync.OnceValues(func() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(mod))), err
})

// program builds the program for browsers, as "make site" does, or returns the file that an
// earlier test built from the same sources.
var program = sync.OnceValues(func() (string, error) {
	root, err := top()
	if err != nil {
		return "", err
	}
	key, err := sourcesKey()
	if err != nil {
		return "", err
	}
	return cached(key+".wasm", func(file string) error {
		fixture.Spend(fixture.Programs, 1)
		build := exec.Command("go", "run", "./cmd/viz/tab/build", "-o", file)
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
})

// siteOptions returns options for building a site with the program quickly.
func siteOptions(t testing.TB, course *lessons.Course, own map[string]string) site.Options {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal("building ./cmd/viz/tab for js/wasm:", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := site.Options{Handler: SiteServer(t, course), Host: SiteHost, Lessons: own, Quick: true}
	if o.Program, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	if o.Exec, err = os.ReadFile(script); err != nil {
		t.Fatal(err)
	}
	o.Target.Name, o.Draft.Name = testmodel.Target(t).Name(), testmodel.Draft(t).Name()
	if o.Target.Files, err = bundled.TargetFiles(); err != nil {
		t.Fatal(err)
	}
	if o.Draft.Files, err = bundled.DraftFiles(); err != nil {
		t.Fatal(err)
	}
	return o
}

// Answered returns the file that a server sends to a new visitor at an address.
func Answered(t testing.TB, address string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	SiteServer(t, Course(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://"+SiteHost+address, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, want %d: %.200s", address, w.Code, http.StatusOK, w.Body)
	}
	return w.Body.Bytes()
}
