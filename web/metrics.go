package web

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/metrics"
	"github.com/tokenbytoken/viz/web/shell"
)

// answers counts responses by the class of their status codes, from 1xx to 5xx.
type answers [5]atomic.Int64

// count counts the responses of next.
func (a *answers) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &counted{ResponseWriter: w, all: a}
		defer c.end()
		next.ServeHTTP(c, r)
	})
}

// counted is a response that is counted as soon as its status is known, and only once. A connection
// that becomes a socket counts as 1xx.
type counted struct {
	http.ResponseWriter
	all  *answers
	done bool
}

func (c *counted) note(status int) {
	if i := status/100 - 1; !c.done && i >= 0 && i < len(c.all) {
		c.done = true
		c.all[i].Add(1)
	}
}

// end counts a response to which the handler wrote nothing. Its status is 200, unless the handler
// panicked and the connection is cut.
func (c *counted) end() {
	if v := recover(); v != nil {
		panic(v)
	}
	c.note(http.StatusOK)
}

// WriteHeader implements [http.ResponseWriter].
func (c *counted) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols { // other 1xx statuses precede the final one
		c.note(status)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *counted) Write(b []byte) (int, error) {
	c.note(http.StatusOK)
	return c.ResponseWriter.Write(b)
}

// Hijack implements [http.Hijacker], for sockets.
func (c *counted) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.note(http.StatusSwitchingProtocols)
	}
	return conn, rw, err
}

// Unwrap gives an [http.ResponseController] access to the underlying writer.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Metrics returns a handler that serves only GET /metrics, for Prometheus, and only if the
// request's host is in hosts. Serve it on its own listener, because the limits of the pages do not
// apply to it.
func (s *Server) Metrics(hosts []string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		l := terms.In(r.Context())
		if r.URL.Path != "/metrics" {
			shell.Text(w, http.StatusNotFound, l.T("server.metrics.only"))
			return
		}
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			shell.Text(w, http.StatusMethodNotAllowed, l.T("shell.methods", "methods", http.MethodGet))
			return
		}
		w.Header().Set("Content-Type", metrics.ContentType)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = s.figures().WriteTo(w) // the scraper may have disconnected
	})
	return shell.Gate(hosts, nil, "", s.cfg.Logger, mux)
}

// figures collects the server's metrics.
func (s *Server) figures() *metrics.Page {
	p := &metrics.Page{}
	p.Process()
	s.traffic(p)
	s.admissions(p)
	s.computed(p)
	s.classes(p)
	s.stored(p)
	if s.cfg.Figures != nil {
		s.cfg.Figures(p)
	}
	return p
}

func (s *Server) traffic(p *metrics.Page) {
	var list []metrics.Value
	for i := range s.answers {
		list = append(list, metrics.Value{Label: strconv.Itoa(i+1) + "xx", Value: float64(s.answers[i].Load())})
	}
	p.Counters("viz_http_responses_total",
		"Responses by status class; WebSocket upgrades count as 1xx.", "code", list...)
	p.Gauge("viz_sockets", "Open WebSocket connections.", float64(s.limiter.Sockets.Stats().Held))
	p.Histogram("viz_push_seconds",
		"Time from an update until it has been written to the page's connection.", s.wire.Pushes())
}

func (s *Server) admissions(p *metrics.Page) {
	sockets, runs := s.limiter.Sockets.Stats(), s.runs.Stats()
	p.Counters("viz_refusals_total", "Requests refused, by limit.", "reason",
		metrics.Value{Label: "requests", Value: float64(s.limiter.Requests.Stats().Refused)},
		metrics.Value{Label: "new_learners", Value: float64(s.limiter.NewLearners.Stats().Refused)},
		metrics.Value{Label: "openings", Value: float64(s.limiter.Openings.Stats().Refused)},
		metrics.Value{Label: "sockets_full", Value: float64(sockets.Full)},
		metrics.Value{Label: "sockets_own", Value: float64(sockets.OwnFull)},
		metrics.Value{Label: "runs_full", Value: float64(runs.Full)},
		metrics.Value{Label: "runs_own", Value: float64(runs.OwnFull)},
		metrics.Value{Label: "new_rooms", Value: float64(s.limiter.NewRooms.Stats().Refused)},
	)
	p.Counters("viz_evictions_total", "Connections and runs closed to make room for those of other clients.",
		"of", metrics.Value{Label: "sockets", Value: float64(sockets.Evicted)},
		metrics.Value{Label: "runs", Value: float64(s.limiter.Runs.Stats().Evicted)})
	p.Counter("viz_delayed_messages_total", "WebSocket messages delayed by a limit.",
		float64(s.limiter.Messages.Stats().Refused))
	p.Counter("viz_wrong_codes_total", "Wrong room codes and wrong instructor secrets.",
		float64(s.limiter.WrongCodes.Stats().Spent))
}

func (s *Server) computed(p *metrics.Page) {
	runs := s.runs.Stats()
	p.Gauges("viz_runs", "Runs of the model: playing, waiting for a command, or without an open page.",
		"state", metrics.Value{Label: "playing", Value: float64(runs.Playing)},
		metrics.Value{Label: "waiting", Value: float64(runs.Waiting)},
		metrics.Value{Label: "unseen", Value: float64(runs.Unseen)})
	p.Gauge("viz_cache_bytes", "Memory used by the caches and traces of all runs.", float64(runs.Bytes))
	pools := []*pool.Pool{s.targets}
	names := []string{"target"}
	if pool := s.drafts.opened(); pool != nil {
		pools, names = append(pools, pool), append(names, "draft")
	}
	var passes, tokens []metrics.Value
	for i, pool := range pools {
		stats := pool.Stats()
		passes = append(passes, metrics.Value{Label: names[i], Value: float64(stats.Rounds)})
		tokens = append(tokens, metrics.Value{Label: names[i], Value: float64(stats.Positions)})
	}
	p.Counters("viz_passes_total", "Passes through the weights; a pass can serve several texts.", "model", passes...)
	p.Counters("viz_tokens_total", "Tokens computed, both in prompts and in generated text.", "model", tokens...)
	p.Gauge("viz_labs", "Lab measurements running or waiting.", float64(s.labs.Waiting()))
}

func (s *Server) classes(p *metrics.Page) {
	if s.hub == nil {
		return
	}
	stats := s.hub.Stats()
	p.Gauge("viz_rooms", "Class rooms.", float64(stats.Rooms))
	p.Gauge("viz_members", "Members of all rooms.", float64(stats.Members))
	p.Gauge("viz_members_here", "Members' open pages.", float64(stats.Here))
}

func (s *Server) stored(p *metrics.Page) {
	db := s.cfg.Database
	if db == nil {
		return
	}
	p.Histogram("viz_commit_seconds",
		"Duration of commits to the database, including the wait for their turn.", db.Commits())
	p.Counter("viz_commit_failures_total", "Transactions that failed and stored nothing.",
		float64(db.FailedCommits()))
	p.Gauge("viz_database_bytes", "Size of the database and its log on disk; 0 if data is kept in memory.",
		float64(db.Size()))
}
