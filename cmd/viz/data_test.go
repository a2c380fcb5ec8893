package main

import (
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDefaultDataFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the expected paths are written with slashes")
	}
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"linux", map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/share/viz"},
		{"linux", map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/data/viz"},
		{"linux", map[string]string{"HOME": "/home/ada", "XDG_DATA_HOME": "data"}, "/home/ada/.local/share/viz"},
		{"linux", nil, ""},
		{"freebsd", map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/share/viz"},
		{
			"darwin",
			map[string]string{"HOME": "/Users/ada", "XDG_DATA_HOME": "/data"},
			"/Users/ada/Library/Application Support/viz",
		},
		{"darwin", nil, ""},
		{"windows", map[string]string{"LocalAppData": "/local", "AppData": "/roaming"}, "/local/viz"},
		{"windows", map[string]string{"AppData": "/roaming"}, "/roaming/viz"},
		{"windows", map[string]string{"HOME": "/home/ada"}, ""},
	} {
		if got := dataFolder(c.system, func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.system, c.env, got, c.want)
		}
	}
}

// visit requests a page with the cookies in jar and returns the cookies that jar then contains.
func (s *served) visit(t *testing.T, jar http.CookieJar) []*http.Cookie {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.url+"/loop", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Jar: jar}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return jar.Cookies(req.URL)
}

// TestLearnerSurvivesRestart: with a data folder, the server recognizes a learner after a restart,
// even on another port; two servers cannot share the folder; and the folder's contents are private.
func TestLearnerSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "progress")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	s.out.wait(t, dir) // this line comes after the address
	cookies := s.visit(t, jar)
	if len(cookies) != 1 {
		t.Fatalf("cookies %v, want one", cookies)
	}
	f := try(t, nil, "", "serve", "-no-open", "-addr", "127.0.0.1:0", "-data", dir)
	if f.code != exitFailed || f.out != "" || !strings.Contains(f.errors, "-data") ||
		!strings.Contains(f.errors, "in use by another viz") {
		t.Errorf(
			`a second server on the folder: exit %d, stdout %q, %q; want %d, "", a message with %q and %q`, f.code,
			f.out, f.errors, exitFailed, "-data", "in use by another viz",
		)
	}
	if code := s.end(); code != exitDone {
		t.Fatalf("exit %d, want %d: %s", code, exitDone, s.errors)
	}
	if _, err := os.Stat(filepath.Join(dir, "viz.db-wal")); err == nil {
		t.Error("the log was not moved into the database on shutdown")
	}
	again := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	after := again.visit(t, jar)
	if len(after) != 1 || after[0].Name != cookies[0].Name || after[0].Value != cookies[0].Value {
		t.Errorf(
			"after a restart: got cookies %v, before %v; want 1 element, after[0].Name = %q, after[0].Value = %q",
			after, cookies, cookies[0].Name, cookies[0].Value,
		)
	}
	if code := again.end(); code != exitDone || again.errors.String() != "" {
		t.Errorf("exit %d: %s; want %d, no output", code, again.errors, exitDone)
	}
}

// TestDamagedDatabaseDoesNotPreventStartup: a damaged database is reported, and
// the server starts.
func TestDamagedDatabaseDoesNotPreventStartup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "viz.db"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	if code := s.end(); code != exitDone || !strings.Contains(s.errors.String(), "set aside") {
		t.Errorf("exit %d, stderr %s; want %d with %q", code, s.errors, exitDone, "set aside")
	}
	kept, err := filepath.Glob(filepath.Join(dir, "viz-damaged-*.db"))
	if err != nil || len(kept) != 1 {
		t.Errorf("set aside: got %v, want no error, 1 element", kept)
	}
}

// TestDataFolderFromFlagOrEnvironment: the folder comes from the environment if
// there is no flag, and an empty flag keeps everything in memory.
func TestDataFolderFromFlagOrEnvironment(t *testing.T) {
	home := t.TempDir()
	if runtime.GOOS != "linux" {
		t.Skip("this is Linux's default folder; TestDefaultDataFolder checks the other systems")
	}
	place := func(env map[string]string, args ...string) string {
		t.Helper()
		o := serveOptions{}
		f := o.flags()
		get := func(k string) string { return env[k] }
		if err := f.parse(args, get, nil); err != nil {
			t.Fatal(err)
		}
		return o.folder(f, get)
	}
	env := map[string]string{"HOME": home}
	if got, want := place(env), filepath.Join(home, ".local", "share", "viz"); got != want {
		t.Errorf("the default folder is %q, want %q", got, want)
	}
	env["VIZ_DATA"] = "/elsewhere"
	if got := place(env); got != "/elsewhere" {
		t.Errorf("with VIZ_DATA, the folder is %q, want %q", got, "/elsewhere")
	}
	if got := place(env, "-data", ""); got != "" {
		t.Errorf(`with an empty flag, the folder is %q, want ""`, got)
	}
	if got := place(env, "-data", "here"); got != "here" {
		t.Errorf("with a flag, the folder is %q, want %q", got, "here")
	}
}
