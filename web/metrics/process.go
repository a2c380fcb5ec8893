package metrics

import (
	"fmt"
	"os"
	"runtime"
	rtm "runtime/metrics"
	"time"
)

// began is the time at which the process started, accurate to a few milliseconds.
var began = time.Now()

// Process adds the metrics of this process. Metrics that are read from Linux files are
// omitted on other systems.
func (p *Page) Process() {
	p.Gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.",
		float64(began.UnixMilli())/1000)
	if n, ok := resident(); ok {
		p.Gauge("process_resident_memory_bytes", "Resident memory of the process.", float64(n))
	}
	if n, ok := descriptors(); ok {
		p.Gauge("process_open_fds", "Open file descriptors, including connections.", float64(n))
	}
	p.Gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	p.Gauge("go_memory_bytes", "Memory that the Go runtime has obtained from the operating system.",
		float64(goMemory()))
}

// resident returns the resident memory of this process.
func resident() (bytes int64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	var all, pages int64
	if n, _ := fmt.Sscan(string(text), &all, &pages); n != 2 {
		return 0, false
	}
	return pages * int64(os.Getpagesize()), true
}

// descriptors returns the number of open file descriptors, excluding the one used for counting
// them.
func descriptors() (n int, ok bool) {
	list, err := os.ReadDir("/proc/self/fd")
	return len(list) - 1, err == nil
}

func goMemory() uint64 {
	all := []rtm.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	rtm.Read(all)
	return all[0].Value.Uint64() - all[1].Value.Uint64()
}
