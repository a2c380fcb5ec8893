// Package browser drives a real Chromium from tests.
//
// It wraps chromedp and the flags that Chromium needs. (Package web's own tests
// look inside the server while they drive the page, and use chromedp directly.)
// A page that logs an error, throws, or breaks the
// content security policy fails the test that opened it.
package browser

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait for the page. It is long because a loaded
// machine is slow, and it is only ever reached by a test that fails.
const patience = 30 * time.Second

// names under which Chromium is installed, most likely first.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// Path returns the path of a Chromium: $VIZ_CHROMIUM, or the first known name
// on the path, or "" where there is none.
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

// Find returns [Path]. Without a Chromium the test is skipped, or failed where
// CI=true says that everything must run. A run with -short leaves browsers out:
// that is what the race detector's is for.
func Find(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a browser: not in a short run")
	}
	if path := Path(); path != "" {
		return path
	}
	const what = "no Chromium found (looked for $VIZ_CHROMIUM, chromium, google-chrome)"
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
	return ""
}

// Screen is a window to look through.
type Screen struct {
	Width, Height int
	Dark          bool
	Touch         bool // a phone: touch events, mobile viewport
	ReducedMotion bool
}

// The screens that every page must work on.
var (
	Phone   = Screen{Width: 390, Height: 844, Touch: true}
	Laptop  = Screen{Width: 1440, Height: 900}
	Desktop = Screen{Width: 1920, Height: 1080}
)

// Browser is one Chromium process. Its tabs share cookies.
type Browser struct{ ctx context.Context }

// New starts a Chromium that ends with the test.
func New(t testing.TB) *Browser {
	t.Helper()
	path := Find(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // needed where tests run as root, as in containers
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() { stop(); cancel() })
	// The first call starts the process and ties its life to the context it is
	// given, so that one must have no deadline.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return &Browser{ctx}
}

// Use is a browser whose process somebody else has started, and ends: ctx is
// that of its first tab.
func Use(ctx context.Context) *Browser { return &Browser{ctx} }

// Tab is one page. Its methods fail the test when the page does not do as told.
type Tab struct {
	t   testing.TB
	ctx context.Context

	*console
}

// console holds what a page has reported.
type console struct {
	mu     sync.Mutex
	faults []string
}

// Open opens a tab on a URL.
func (b *Browser) Open(t testing.TB, s Screen, url string) *Tab {
	t.Helper()
	return b.open(t, s, url)
}

// Stranger opens a tab that shares no cookies with any other.
func (b *Browser) Stranger(t testing.TB, s Screen, url string) *Tab {
	t.Helper()
	return b.open(t, s, url, chromedp.WithNewBrowserContext())
}

// Another opens another tab beside this one, of the same person.
func (tab *Tab) Another(s Screen, url string) *Tab {
	tab.t.Helper()
	return (&Browser{tab.ctx}).open(tab.t, s, url)
}

// As is the same tab, whose failures are those of another test, such as a part
// of the one that opened it.
func (tab *Tab) As(t testing.TB) *Tab {
	other := *tab
	other.t = t
	return &other
}

func (b *Browser) open(t testing.TB, s Screen, url string, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, options...)
	tab := &Tab{t: t, ctx: ctx, console: &console{}}
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
	tab.Screen(s)
	tab.Go(url)
	return tab
}

// Screen changes what the tab is seen through.
func (tab *Tab) Screen(s Screen) {
	tab.t.Helper()
	scheme, motion := "light", "no-preference"
	if s.Dark {
		scheme = "dark"
	}
	if s.ReducedMotion {
		motion = "reduce"
	}
	var options []chromedp.EmulateViewportOption
	if s.Touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: motion},
	}}
	tab.do("set the screen", chromedp.EmulateViewport(int64(s.Width), int64(s.Height), options...),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
			return err
		}))
}

// listen collects what a careful developer would see in the console.
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

// Faults returns what the page has reported so far and forgets it: for tests
// that provoke errors, such as a lost connection.
func (tab *Tab) Faults() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	f := tab.faults
	tab.faults = nil
	return f
}

func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}

// ask runs an action that returns a value.
func ask[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	return value
}
