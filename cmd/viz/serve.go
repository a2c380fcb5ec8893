package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/admission"
)

const serveUsage = `Usage: viz [serve] [flags]

Serves the page and opens it in a browser if there is a display. An interrupt
(Ctrl-C) stops it. "viz -version" prints the version.
`

// Timeouts for clients and for shutting down.
const (
	headerTimeout = 10 * time.Second // for a client to send a request's header; a slow phone needs one or two seconds
	readTimeout   = 20 * time.Second // for a client to send a whole request, such as a form; not for sockets
	writeTimeout  = time.Minute      // for a client to read a response, which has at most 200 KB; not for sockets
	idleTimeout   = 2 * time.Minute  // between two requests on one connection
	// requestsEnd is how long requests may continue after a signal. It is short, since browsers
	// keep spare connections open on which they never send a request. The rest of the shutdown may
	// take [web.ShutdownTime]; after that, the stores are closed.
	requestsEnd = 3 * time.Second
	// closingEnd is how long the database may take to close. Its contents are already safe: closing
	// only cleans up its files.
	closingEnd = time.Second
)

// streams is the maximum number of concurrent requests on one HTTP/2 connection, which is more than
// any page sends.
const streams = 100

// serveOptions are the flags of viz serve.
type serveOptions struct {
	addr    string
	hosts   []string
	metrics string // address at which /metrics is served, "" for none
	noOpen  bool
	stories bool
	modelPath
	draft         string
	quant         infer.Quant
	data          string
	lessons       string // a folder with an instructor's own lessons, "" for none
	limit         int64  // maximum size of the database in bytes, 0 for no limit
	version       bool
	cluster       clusterFlags
	clusterSecret string // path of a file
	roomMembers   int    // 0 for the default
	ceiling
	network
	api apiOptions
}

// serve runs viz serve. It returns after ctx has ended and the server has shut down
// gracefully.
func serve(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	o := serveOptions{}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	if o.version {
		_, err := fmt.Fprintln(stdout, version())
		return err
	}
	o.data = o.folder(f, env)
	if err := o.cluster.check(f); err != nil {
		return err
	}
	if err := checkData(o.data); err != nil {
		return usageError{fmt.Errorf("%s %s: %w", f.called("data"), o.data, err)}
	}
	secure, err := o.tls(f)
	if err != nil {
		return err
	}
	model, err := openModel(ctx, o.modelPath, f.called("model"), o.quant, stderr)
	if err != nil {
		return err
	}
	draft, err := openDraft(ctx, model, o.draft, f.called("draft"), o.model == "", o.quant, stderr)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	cfg := web.Config{Model: model, Draft: draft, Logger: logger, Storybook: o.stories}
	kept, err := o.keep(ctx, f, &cfg, logger)
	if err != nil {
		return err
	}
	if cfg.Memory, err = o.apply(f); err != nil {
		return errors.Join(err, kept.Close())
	}
	return errors.Join(o.serve(ctx, f, cfg, secure, env, stdout), closeInTime(kept))
}

// keep opens the stores and loads the lessons.
func (o *serveOptions) keep(ctx context.Context, f *flags, cfg *web.Config, logger *slog.Logger) (io.Closer, error) {
	if _, err := ownLessons(o.lessons); o.lessons != "" && err != nil {
		return nil, usageError{fmt.Errorf("%s %s:\n%w", f.called("lessons"), o.lessons, err)}
	}
	if o.cluster.url != "" {
		return o.keepShared(ctx, f, o.data, cfg, logger)
	}
	kept, err := keep(o.data, o.lessons, o.limit, cfg, logger)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.called("data"), err)
	}
	return kept, nil
}

// folder returns the data folder, or "" if there is none. Without a folder, all data that is not
// stored in a cluster is kept in memory.
func (o *serveOptions) folder(f *flags, env func(string) string) string {
	if f.given("data") || o.cluster.url != "" {
		return o.data
	}
	return dataFolder(runtime.GOOS, env)
}

// serve runs the server until ctx ends.
func (o *serveOptions) serve(
	ctx context.Context, f *flags, cfg web.Config, secure *tls.Config, env func(string) string, stdout io.Writer,
) error {
	listener, err := listen(ctx, o.addr)
	if err != nil {
		return fmt.Errorf("%s %s cannot be used: %w", f.called("addr"), cmp.Or(o.addr, "127.0.0.1:0"), err)
	}
	address := newAddress(o.addr, listener.Addr())
	address.secure = secure != nil
	allowed := o.allowed(o.hosts)
	cfg.AllowedHosts, cfg.TrustedProxies, cfg.EmbedOrigins = address.hosts(allowed), o.proxies, o.embeds
	cfg.Classes.Members = o.roomMembers
	cfg.Classes.TTL, cfg.Classes.Access = o.roomTTL, o.access(address, func(drop []string, more ...string) string {
		return f.again(os.Args[0], drop, more...)
	})
	// A server with additional host names or proxies is meant for visitors on other machines.
	local := cfg.Classes.Access.Local && len(o.hosts) == 0 && len(o.proxies) == 0
	if cfg.API, err = o.api.access(f, local); err != nil {
		return errors.Join(err, listener.Close())
	}
	phones := o.phones(terms.In(ctx), address, listener.Addr(), secure, stdout, cfg.Logger)
	cfg.Classes.Phones = phones.Phones
	app, err := web.New(cfg)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	phones.handler = app.Handler()
	metrics, at, err := o.serveMetrics(ctx, f, app, cfg.Logger)
	if err != nil {
		return errors.Join(err, listener.Close(), shutDown(&http.Server{}, app))
	}
	defer metrics.Close()
	defer serveControl(o.data, app, cfg.Logger).Close()
	server := newHTTP(app.Handler(), cfg.Logger)
	failed := make(chan error, 1)
	go func() {
		if server.TLSConfig = secure; secure != nil {
			failed <- server.ServeTLS(listener, "", "") // the certificate is in TLSConfig
			return
		}
		failed <- server.Serve(listener)
	}()

	o.greet(terms.In(ctx), stdout, address, cfg, at)
	if !o.noOpen {
		openBrowser(address.url(), env)
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	phones.End()
	defer phones.wg.Wait()
	return errors.Join(err, shutDown(server, app))
}

// greet prints the first lines of a server's output. metrics is the URL of the metrics, or "" if
// they are not served.
func (o *serveOptions) greet(w *terms.Language, stdout io.Writer, a address, cfg web.Config, metrics string) {
	fmt.Fprintln(stdout, w.T("cmd.serve.at", "url", a.url()))
	if tell(w, stdout, a, cfg.Classes.Access, cfg.AllowedHosts); cfg.Classes.Phones != nil {
		fmt.Fprintln(stdout, w.T("cmd.serve.button"))
	}
	if metrics != "" {
		fmt.Fprintln(stdout, w.T("cmd.serve.metrics", "url", metrics))
	}
	fmt.Fprintln(stdout, w.T("cmd.serve.api", "url", strings.TrimSuffix(a.url(), "/")+"/v1"))
	fmt.Fprintf(stdout, "%s\n%s\n", o.keptWhere(w), w.T("cmd.serve.stop"))
}

// newHTTP returns an HTTP server with the timeouts above.
func newHTTP(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    web.HeaderBytes,
		ReadTimeout:       readTimeout,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: streams},
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

var errAddr = errors.New("must be HOST:PORT, with a port from 0 to 65535")

func (o *serveOptions) flags() *flags {
	f := newFlags(serveUsage)
	f.value("addr", "HOST:PORT", "the address to listen on, which must not be in use; port 0 selects a free port "+
		"(default 127.0.0.1:8080, or the next free port)", func(s string) error {
		if !validAddr(s) {
			return errAddr
		}
		o.addr = s
		return nil
	})
	f.value("allow-host", "NAMES", "additional names that browsers may use for this server, HOST or HOST:PORT, "+
		"separated by commas", func(s string) error {
		for name := range strings.SplitSeq(s, ",") {
			if !validHost(name) {
				return errors.New("must be a comma-separated list of HOST or HOST:PORT")
			}
			o.hosts = append(o.hosts, name)
		}
		return nil
	})
	f.toggle("no-open", "do not open a browser", &o.noOpen)
	f.toggle("storybook", "serve /storybook, which shows every state of the page", &o.stories)
	o.modelPath.flags(f)
	f.text("draft", "PATH", draftHelp, &o.draft)
	f.quant(&o.quant)
	f.text("data", "DIR", "the folder for progress, which only one server can use at a time; \"\" keeps progress "+
		"in memory (default: ~/.local/share/viz, on a Mac ~/Library/Application Support/viz, on Windows "+
		"%LocalAppData%\\viz)", &o.data)
	f.text("lessons", "DIR", "a folder with your own lessons, questions, cards and walkthroughs, added to the "+
		"built-in ones (viz lessons check DIR checks it)", &o.lessons)
	o.limit = defaultDataLimit
	f.value("data-limit", "SIZE", "maximum size of the database, from 16MiB to 1TiB, or none; the last "+
		"tenth is reserved for answers, card reviews and votes (default 2GiB)", func(s string) (err error) {
		o.limit, err = parseLimit(s)
		return err
	})
	o.cluster.flags(f, "store progress and classes in a NATS cluster shared by several servers: nats:// or "+
		"tls://HOST:PORT, separated by commas; -data then contains only this server's notices and control socket")
	f.text("cluster-secret", "FILE", "the secret for signing cookies, the same on every server: 64 hexadecimal "+
		"digits, as generated by openssl rand -hex 32", &o.clusterSecret)
	members := admission.DefaultLimits().Members
	f.value("room-members", "N", fmt.Sprintf("maximum number of members in a class, from %d to %d; an eighth is "+
		"reserved for members whose cookies are older than ten minutes, and newcomers from one address may "+
		"fill the rest (default %d, with at most %d newcomers from one address)",
		leastMembers, mostMembers, members.Most, members.PerAddress),
		func(s string) (err error) {
			o.roomMembers, err = parseMembers(s)
			return err
		})
	o.ceiling.flags(f)
	o.network.flags(f)
	o.api.flags(f)
	f.value("metrics", "HOST:PORT", metricsHelp, func(s string) error {
		if !validAddr(s) {
			return errAddr
		}
		o.metrics = s
		return nil
	})
	f.set.BoolVar(&o.version, "version", false, "") // no environment variable, since this flag does not start a server
	return f
}

// closeInTime closes the stores. It waits at most closingEnd.
func closeInTime(kept io.Closer) error {
	closed := make(chan error, 1)
	go func() { closed <- kept.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(closingEnd):
		return fmt.Errorf("the database did not close within %v; its contents are safe", closingEnd)
	}
}

// shutDown ends a server: it accepts no new connections, saves rooms, closes every socket with
// code 1012, and lets requests in progress continue for a short time.
func shutDown(server *http.Server, app *web.Server) error {
	ended := make(chan error, 1)
	go func() { ended <- app.Shutdown(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), requestsEnd)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		server.Close() // cuts the remaining connections, except for WebSockets, which app.Shutdown closes
	}
	return <-ended
}

// listen listens at addr or, if addr is "", at the first free loopback port from 8080 to 8099, or
// else at any free port.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	const first, last = 8080, 8099
	var config net.ListenConfig
	if addr != "" {
		return config.Listen(ctx, "tcp", addr)
	}
	for port := first; port <= last; port++ {
		if l, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
	}
	return config.Listen(ctx, "tcp", "127.0.0.1:0")
}
