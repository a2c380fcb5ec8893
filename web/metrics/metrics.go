// Package metrics encodes a server's metrics in the text format that Prometheus scrapes (version
// 0.0.4, https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
//
// A [Page] is one response. The server adds families of samples to it, each with a name, a help
// text and a type. The server takes the values from counters that it maintains anyway. Only
// durations need a separate data structure, a [Histogram].
//
// Each label has a fixed set of values defined by the program, such as reasons or classes of status
// codes. User input, room codes and ids are never used as label values.
package metrics

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// ContentType is the media type of a [Page].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A Page is one response. The zero Page is empty.
type Page struct {
	text  bytes.Buffer
	names map[string]bool
}

// Value is a sample of a family with a label.
type Value struct {
	Label string // the label's value
	Value float64
}

// Gauge adds a gauge, a value that can go up and down.
func (p *Page) Gauge(name, help string, value float64) {
	p.family(name, help, "gauge")
	p.sample(name, "", value)
}

// Counter adds a counter, a value that only increases. The name must end in _total.
func (p *Page) Counter(name, help string, value float64) {
	p.family(name, help, "counter")
	p.sample(name, "", value)
}

// Gauges adds a gauge for every value of a label.
func (p *Page) Gauges(name, help, label string, values ...Value) {
	p.labeled(name, help, "gauge", label, values)
}

// Counters adds a counter for every value of a label.
func (p *Page) Counters(name, help, label string, values ...Value) {
	p.labeled(name, help, "counter", label, values)
}

func (p *Page) labeled(name, help, kind, label string, values []Value) {
	p.family(name, help, kind)
	for _, v := range values {
		p.sample(name, label+`="`+escapeLabel.Replace(v.Label)+`"`, v.Value)
	}
}

// Histogram adds the distribution of durations, in seconds.
func (p *Page) Histogram(name, help string, h *Histogram) {
	p.family(name, help, "histogram")
	sum, n := h.sum.Load(), uint64(0)
	for i, bound := range h.bounds {
		n += h.counts[i].Load()
		p.sample(name+"_bucket", `le="`+number(bound.Seconds())+`"`, float64(n))
	}
	n += h.counts[len(h.bounds)].Load()
	p.sample(name+"_bucket", `le="+Inf"`, float64(n))
	p.sample(name+"_sum", "", time.Duration(sum).Seconds())
	p.sample(name+"_count", "", float64(n))
}

var (
	validName   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// family begins a family. It panics if the name is invalid or used twice.
func (p *Page) family(name, help, kind string) {
	if p.names == nil {
		p.names = map[string]bool{}
	}
	if !validName.MatchString(name) || p.names[name] {
		panic("metrics: the name " + name + " is invalid or used twice")
	}
	p.names[name] = true
	fmt.Fprintf(&p.text, "# HELP %s %s\n# TYPE %s %s\n", name, escapeHelp.Replace(help), name, kind)
}

func (p *Page) sample(name, label string, value float64) {
	if label != "" {
		name += "{" + label + "}"
	}
	fmt.Fprintf(&p.text, "%s %s\n", name, number(value))
}

// number formats a value so that Go's ParseFloat can parse it, as the text format requires.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteTo implements [io.WriterTo].
func (p *Page) WriteTo(w io.Writer) (int64, error) { return p.text.WriteTo(w) }

// Histogram counts durations in buckets. Its methods can be called from any goroutine.
type Histogram struct {
	bounds []time.Duration
	counts []atomic.Uint64 // per bucket, not cumulative; the last bucket is for durations beyond all bounds
	sum    atomic.Int64    // in nanoseconds
}

// NewHistogram returns an empty histogram. The bounds must be in ascending order.
func NewHistogram(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(h.bounds) && d > h.bounds[i] {
		i++
	}
	h.sum.Add(int64(d))
	h.counts[i].Add(1)
}
