// Package browser drives a real Chromium from tests.
//
// It wraps chromedp and sets the flags that Chromium needs. All tests of a package share one
// Chromium process, and each [Open] is a new visitor: a browser context that shares no cookies,
// storage or cache with others, so tests can run in parallel. A page that logs an error, throws, or
// breaks the content security policy fails the test that opened it.
//
// No test waits for a fixed time: every wait is for a state of the page, bounded by [Patience],
// which only a failing test reaches.
package browser

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// Patience is the maximum time to wait for a state of the page or of its server. It is long because
// a loaded machine is slow, and only a failing test waits that long.
const Patience = 2 * time.Minute

// Eventually waits until is returns true. It polls every few milliseconds, for changes that cause
// no notification, such as freed memory or a closed connection.
func Eventually(t testing.TB, is func() bool) {
	t.Helper()
	late, look := time.After(Patience), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("timed out waiting for the condition")
		}
	}
}

// names are the names under which Chromium may be installed. The headless shell comes first: it is
// the same engine without a window, and runs the same tests in half the processor time. The others
// follow, most likely first.
var names = []string{
	"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
}

// Path returns the path of a Chromium executable: $VIZ_CHROMIUM, or the first known name found in
// $PATH, or "" if there is none.
func Path() string {
	if path := os.Getenv("VIZ_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Find returns the result of [Path]. If there is no Chromium, it skips the test, or fails it if
// CI=true requires all tests to run. Test runs with -short, such as runs with the race detector,
// skip browser tests.
func Find(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped in a short run, since this test uses a browser")
	}
	if path := Path(); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			t.Fatalf("$VIZ_CHROMIUM: %v", err)
		}
		return path
	}
	const what = "no Chromium found (looked for $VIZ_CHROMIUM, chromium-headless-shell, chromium, google-chrome)"
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
	return ""
}

// A Screen describes a screen: its size and other properties.
type Screen struct {
	Width, Height int
	Dark          bool
	Touch         bool // a phone: touch events, mobile viewport
	Forced        bool // the colors of a contrast theme instead of the page's
	Motion        bool // if false, the page uses reduced motion, which is faster to render
}

// The screens on which every page must work.
var (
	Phone      = Screen{Width: 390, Height: 844, Touch: true}
	Chromebook = Screen{Width: 1366, Height: 657}
	Laptop     = Screen{Width: 1440, Height: 900}
	Desktop    = Screen{Width: 1920, Height: 1080}
)

// Screens returns all screens in both themes, by names such as "390-light".
func Screens() map[string]Screen {
	all := map[string]Screen{}
	for _, s := range []Screen{Phone, Chromebook, Laptop, Desktop} {
		all[fmt.Sprintf("%d-light", s.Width)] = s
		s.Dark = true
		all[fmt.Sprintf("%d-dark", s.Width)] = s
	}
	return all
}

// A Suite is a package's tests together with the Chromium that they share. Run stops Chromium after
// the last test. Suite has the method that goleak.VerifyTestMain needs; a package without goleak
// calls [Main].
type Suite struct{ *testing.M }

// Run runs the tests and then stops Chromium.
func (s Suite) Run() int {
	defer func() { quit() }() // quit may be replaced before Run returns
	return fixture.Run(s.M)
}

// Main is a TestMain: it runs the package's tests, stops Chromium and exits.
func Main(m *testing.M) { os.Exit(Suite{m}.Run()) }

// quit stops the Chromium process, if there is one.
var quit = func() {}

// started starts the package's Chromium when the first test needs it. Its context lives as long as
// the process.
var started = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(Path()),
		chromedp.NoSandbox, // needed when tests run as root, as in containers
		chromedp.DisableGPU,
		chromedp.WindowSize(1440, 900),
		chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("allow-pre-commit-input", true),    // do not drop key presses before the first frame
		chromedp.Flag("disable-smooth-scrolling", true),  // do not drop a key press at the end of a scroll
		chromedp.Flag("ignore-certificate-errors", true), // tests sign their own certificates
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	quit = func() {
		_ = chromedp.Cancel(ctx) // waits for the process; its exit status does not matter
		cancel()
		stop()
	}
	// The first call starts the process and ties its lifetime to the context, which therefore must
	// not have a deadline.
	return ctx, chromedp.Do(ctx)
})

// A Tab is one page. If the page does not do what a method requires, the method fails the test.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	screen Screen // as last set
	site   *Site  // the site that the tab uses; nil for a server

	*console
}

// console holds the messages that a page has reported.
type console struct {
	mu     sync.Mutex
	faults []string
	losses bool // refused and broken connections are not faults
}

// Open opens a URL in a new tab, as a first-time visitor.
func Open(t testing.TB, s Screen, url string) *Tab {
	t.Helper()
	return open(t, chromium(t), s, url, chromedp.WithNewBrowserContext())
}

// OpenOnDisk opens a URL in a new tab of the one visitor whose cache is on disk. The other
// visitors' caches are in memory and too small for large files. All tests of a package share this
// visitor, so each test must use its own address.
func OpenOnDisk(t testing.TB, s Screen, url string) *Tab {
	t.Helper()
	return open(t, chromium(t), s, url)
}

// chromium returns the package's Chromium, or fails the test.
func chromium(t testing.TB) context.Context {
	t.Helper()
	Find(t)
	ctx, err := started()
	if err != nil {
		t.Fatalf("start %s: %v", Path(), err)
	}
	return ctx
}

// Another opens another tab for the same visitor.
func (tab *Tab) Another(s Screen, url string) *Tab {
	tab.t.Helper()
	return open(tab.t, tab.ctx, s, url)
}

// As returns the same tab, but reports its failures to another test, such as a subtest of
// the test that opened the tab.
func (tab *Tab) As(t testing.TB) *Tab {
	other := *tab
	other.t = t
	return &other
}

// MayLose declares that the test cuts connections or stops the server, so Chromium's reports about
// lost connections are not faults.
func (tab *Tab) MayLose() {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.losses = true
}

// Fail marks the tab's test as failed and continues.
func (tab *Tab) Fail(format string, args ...any) { tab.t.Helper(); tab.t.Errorf(format, args...) }

func open(t testing.TB, of context.Context, s Screen, url string, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(of, options...)
	tab := &Tab{t: t, ctx: ctx, site: siteAt(url), console: &console{}}
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		t.Fatalf("open a tab: %v", err)
	}
	messages := chromedp.Console(ctx)
	done := make(chan struct{})
	go func() { defer close(done); tab.listen(messages) }()
	t.Cleanup(func() {
		cancel()
		<-done
		for _, f := range tab.Faults() {
			t.Errorf("the page reported: %s", f)
		}
	})
	// Treat every tab as the front tab, however many are open.
	call(
		tab, "keep the focus", emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true},
	)
	// chromedp makes Chromium report every style sheet. No test needs these reports.
	call(tab, "stop style sheet reports", css.Disable, cdp.Empty{})
	flat := true
	// chromedp attaches to service workers. Chromium keeps such a worker running, so a new version of
	// a site would not replace it as it does for visitors.
	call(tab, "leave workers alone", target.SetAutoAttach, target.SetAutoAttachParams{Flatten: &flat})
	tab.Screen(s)
	tab.Go(url)
	if tab.site != nil && tab.site.New != "" && len(options) > 0 {
		tab.Await(tab.site.New)
		tab.Go(url)
	}
	return tab
}

// Screen changes the tab's screen. An open page keeps the input device (touch or mouse) that it was
// loaded with.
func (tab *Tab) Screen(s Screen) {
	tab.t.Helper()
	tab.screen = s
	scheme, motion := "light", "reduce"
	if s.Dark {
		scheme = "dark"
	}
	if s.Motion {
		motion = "no-preference"
	}
	var options []chromedp.EmulateViewportOption
	if s.Touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	tab.do("set the size", chromedp.EmulateViewport(int64(s.Width), int64(s.Height), options...))
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: motion},
	}
	if s.Forced {
		features = append(features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	call(tab, "set the theme", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// listen collects the messages that a developer would see in the console.
func (tab *Tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return // the tab is closed
		}
		if m.IsException() || m.Type == chromedp.ConsoleError {
			tab.mu.Lock()
			tab.faults = append(tab.faults, strings.TrimSpace(m.String()+" "+m.URL))
			tab.mu.Unlock()
		}
	}
}

// Faults returns the faults that the page has reported so far and clears them. It is for tests that
// cause errors on purpose, such as a lost connection.
func (tab *Tab) Faults() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	f := slices.DeleteFunc(tab.faults, func(fault string) bool {
		return tab.losses && (strings.Contains(fault, "WebSocket") || strings.Contains(fault, "net::ERR_"))
	})
	tab.faults = nil
	return f
}

func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}

// ask runs an action that returns a value.
func ask[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	return value
}

// call sends a DevTools protocol command to the tab and ignores the result.
func call[P, R any](tab *Tab, what string, c cdp.Command[P, R], params P) {
	tab.t.Helper()
	tab.do(what, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	}))
}
