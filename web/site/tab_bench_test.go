package site_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/site"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A sender counts the bytes that a file server sends.
type sender struct {
	files      http.Handler
	compresses bool // the host itself compresses the program
	mu         sync.Mutex
	plain      int64           // bytes of files that are sent uncompressed
	gz         map[string]bool // files that are compressed, on the fly or by the site
}

func (s *sender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, zipped := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, under), ".gz")
	if zipped || s.compresses && path.Ext(name) == ".wasm" {
		s.mu.Lock()
		s.gz[name] = true
		s.mu.Unlock()
	} else {
		w = &counted{w, s}
	}
	s.files.ServeHTTP(w, r)
}

type counted struct {
	http.ResponseWriter
	*sender
}

func (c *counted) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.plain += int64(len(b))
	c.mu.Unlock()
	return c.ResponseWriter.Write(b)
}

// sent returns the number of bytes that a visit has loaded so far, with compression as in "viz
// site".
func (s *sender) sent(b *testing.B) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.plain
	for name := range s.gz {
		zipped, err := site.Zip(webtest.SiteWithLessons(b).Files[name].Data, gzip.BestCompression)
		if err != nil {
			b.Fatal(err)
		}
		n += int64(len(zipped))
	}
	return n
}

// BenchmarkTab measures a site in Chromium, from a host that does not compress and from one that
// does. It measures the bytes that a first visit loads until the program runs; the time from
// opening the page to the first token on the third visit, with all files cached; the rate at which
// the program sends the stages of tokens; and the resident memory of the largest process, both
// immediately and after the browser has collected its garbage. "make site-figures" runs it on one
// core.
func BenchmarkTab(b *testing.B) {
	for _, compresses := range []bool{false, true} {
		name := map[bool]string{false: "plain", true: "compressing"}[compresses]
		b.Run("host="+name, func(b *testing.B) { benchmarkTab(b, compresses) })
	}
}

// memoryAim is the maximum memory of a page, in bytes, after the browser has collected the garbage
// from startup.
const memoryAim = 250_000_000

// settled returns the memory of the page's process as soon as it has dropped to memoryAim. If that
// takes too long, it returns the current value.
func settled() int64 {
	began := time.Now()
	for range time.Tick(time.Second) {
		if n := largestRenderer(); n <= memoryAim || time.Since(began) > browser.Patience {
			return n
		}
	}
	panic("a ticker does not end")
}

func benchmarkTab(b *testing.B, compresses bool) {
	host := &sender{gz: map[string]bool{}, compresses: compresses}
	files := webtest.SiteWithLessons(b).Files
	url := serve(b, func(h http.Handler) http.Handler {
		if host.files = h; compresses {
			host.files = &compressor{files: h, zipped: func(name string) []byte { return files[name+".gz"].Data }}
		}
		return host
	})
	tab := browser.OpenOnDisk(b, browser.Laptop, url)
	tab.Wait("the program", runs)
	loaded := host.sent(b)
	write := func(tokens int) time.Duration {
		began := time.Now()
		tab.Await(fmt.Sprintf(webtest.Traced, fmt.Sprintf(`[{"cmd":"stop","n":1,"max_tokens":%d},`+
			`{"cmd":"start","n":2,"prompt":"Once upon a time there was a"},{"cmd":"finish","n":3}]`, tokens)))
		return time.Since(began)
	}
	const tokens = 100
	visit := func() (first, all time.Duration) {
		tab.StopWorkers()
		began := time.Now()
		tab.Go(url + "loop/")
		tab.Wait("the program", runs)
		write(1)
		first = time.Since(began)
		return first, write(tokens)
	}
	write(tokens)
	visit() // while the browser keeps as much memory as it wants
	var first, all time.Duration
	for b.Loop() {
		first, all = visit()
	}
	b.ReportMetric(float64(loaded)/1e6, "MB-first-visit")
	b.ReportMetric(first.Seconds(), "s-first-token")
	b.ReportMetric(tokens/all.Seconds(), "tokens/s")
	b.ReportMetric(float64(largestRenderer())/1e6, "MB-memory-at-once")
	b.ReportMetric(float64(settled())/1e6, "MB-memory")
	b.ReportMetric(0, "ns/op")
}

// descends reports whether a process is a descendant of this one.
func descends(pid int) bool {
	for pid > 1 && pid != os.Getpid() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, ok := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if err != nil || !ok || len(fields) < 2 {
			return false
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	return pid == os.Getpid()
}

// largestRenderer returns the resident memory, in bytes, of the largest renderer process of this
// test's Chromium. It returns 0 if there is no /proc.
func largestRenderer() (most int64) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		line, err := os.ReadFile(name)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || !strings.Contains(string(line), "--type=renderer") || !descends(pid) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(name), "statm"))
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 {
			continue
		}
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		most = max(most, pages*int64(os.Getpagesize()))
	}
	return most
}
