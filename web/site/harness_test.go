package site

import (
	"context"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

func TestMain(m *testing.M) { browser.Main(m) }

const host = "site.invalid"

// server is a server as viz site has one.
func server(t testing.TB) http.Handler {
	t.Helper()
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	course, _ := courseWithOwn(t)
	s, err := web.New(web.Config{
		Model: testmodel.Target(t), Draft: testmodel.Draft(t), Course: course, AllowedHosts: []string{host},
		EmbedOrigins: []string{shell.Anywhere}, ModelPlace: model.Place{Opens: true},
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

// courseWithOwn is the course with the worked example of an instructor's own files, and
// these files.
func courseWithOwn(t testing.TB) (*lessons.Course, map[string]string) {
	t.Helper()
	texts, err := lessons.ReadOwn("../../testdata/lessons")
	if err != nil {
		t.Fatal(err)
	}
	course, err := lessons.LoadTexts(lessons.English, texts)
	if err != nil {
		t.Fatal(err)
	}
	return course, texts
}

// program builds the program for browsers, as "make site" does. The go tool leaves a file
// alone that is what it would build, so only the first build after a change takes time.
var program = sync.OnceValues(func() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := fnv.New64a()
	io.WriteString(name, here) // working trees do not share it
	file := filepath.Join(cache, "viz-test", strconv.FormatUint(name.Sum64(), 36)+".wasm")
	build := exec.Command("go", "run", "./cmd/viz/tab/build", "-o", file)
	build.Dir = filepath.Join("..", "..")
	build.Stderr = os.Stderr
	return file, build.Run()
})

// options are those of a quick site with the program.
func options(t testing.TB) Options {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal("building ./cmd/viz/tab for js/wasm:", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Handler: server(t), Host: host, Quick: true}
	_, o.Lessons = courseWithOwn(t)
	o.Program = read(t, file)
	o.Exec = read(t, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	for i, open := range []func() (fs.FS, error){bundled.TargetFiles, bundled.DraftFiles} {
		files, err := open()
		if err != nil {
			t.Fatal(err)
		}
		o.Models = append(o.Models, Model{[]string{testmodel.Target(t).Name(), testmodel.Draft(t).Name()}[i], files})
	}
	return o
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// under is where the sites of tests are on their host.
const under = "/some/course/"

// quick are the files of a site with the program, made once.
var quick struct {
	once  sync.Once
	files fstest.MapFS
	first int64 // bytes that a first visit loads before the model runs
}

// serve serves a site as any file server would, under a path, and returns the site's
// address. change, where not nil, is asked first.
func serve(t testing.TB, change func(http.Handler) http.Handler) string {
	t.Helper()
	quick.once.Do(func() {
		all, sum, err := options(t).files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		quick.files, quick.first = fstest.MapFS{}, sum.First
		for name, data := range all {
			quick.files[name] = &fstest.MapFile{Data: data}
		}
	})
	files := http.StripPrefix(strings.TrimSuffix(under, "/"), http.FileServerFS(quick.files))
	if change != nil {
		files = change(files)
	}
	s := httptest.NewServer(files)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + under
}
