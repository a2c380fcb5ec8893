package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/classroom"
)

// network describes how clients reach a server and how long the server keeps their data.
type network struct {
	public  *url.URL          // the public address, nil if not given
	proxies admission.Proxies // from -trusted-proxy
	cert    string            // certificate and key files, both or neither
	key     string
	roomTTL time.Duration
	embeds  []string // origins from -embed-origins
}

// defaultRoomTTL is how long a class's unused room is kept by default, which is long enough for the
// next few lessons.
const defaultRoomTTL = 30 * day

// The bounds of -room-ttl.
const (
	day        = 24 * time.Hour
	leastTTL   = time.Hour
	longestTTL = 400 * day
)

func (n *network) flags(f *flags) {
	n.roomTTL = defaultRoomTTL
	f.value("public-url", "URL", "the address that others type to reach this server, such as "+
		"http://192.168.0.7:8080 or, behind a proxy, https://class.example; it is shown to classes, and its "+
		"host is allowed",
		func(s string) (err error) {
			n.public, err = parsePublic(s)
			return err
		})
	f.value("trusted-proxy", "ADDRESSES", "comma-separated addresses of proxies in front of this server, or "+
		"networks such as 10.0.0.0/8; limits then apply to the client's address in their X-Forwarded-For header "+
		"(default: none)",
		func(s string) (err error) {
			n.proxies, err = parseProxies(s)
			return err
		})
	f.value("embed-origins", "ORIGINS", "comma-separated list of sites that may embed the Loop, experiments "+
		"and drills (see /embed), such as https://school.example (default: none)",
		func(s string) error { return addOrigins(&n.embeds, s) })
	f.text("tls-cert", "FILE", "a certificate (PEM) for serving HTTPS; requires -tls-key", &n.cert)
	f.text("tls-key", "FILE", "the certificate's private key (PEM)", &n.key)
	f.value("room-ttl", "TIME", "how long a class's room is kept after its last use, from 1h to 400d (default 30d)",
		func(s string) (err error) {
			n.roomTTL, err = parseTTL(s)
			return err
		})
}

// parsePublic parses the address of a server, which consists of a scheme and a host.
func parsePublic(s string) (*url.URL, error) {
	wrong := errors.New("must be http://HOST[:PORT] or https://HOST[:PORT], with nothing after it")
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !validHost(u.Host) {
		return nil, wrong
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return nil, wrong
	}
	return u, nil
}

// parseProxies parses addresses and networks.
func parseProxies(s string) (list admission.Proxies, err error) {
	for name := range strings.SplitSeq(s, ",") {
		p, err := netip.ParsePrefix(name)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(name); err != nil {
				return nil, errors.New("must be a comma-separated list of IP addresses or networks such as 10.0.0.0/8")
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// parseTTL parses a time in days ("30d") or in Go's format ("12h").
func parseTTL(s string) (time.Duration, error) {
	ttl, err := time.ParseDuration(s)
	if days, isDays := strings.CutSuffix(s, "d"); isDays {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		ttl = time.Duration(n) * day
	}
	if err != nil || ttl < leastTTL || ttl > longestTTL {
		return 0, fmt.Errorf("must be between 1h and %dd", longestTTL/day)
	}
	return ttl, nil
}

// tls returns a server's HTTPS settings, or nil without HTTPS. Pages and files use HTTP/2; for a
// WebSocket, browsers open a separate HTTP/1.1 connection.
func (n *network) tls(f *flags) (*tls.Config, error) {
	switch {
	case n.cert == "" && n.key == "":
		return nil, nil
	case n.cert == "":
		return nil, usageError{fmt.Errorf("%s requires -tls-cert", f.called("tls-key"))}
	case n.key == "":
		return nil, usageError{fmt.Errorf("%s requires -tls-key", f.called("tls-cert"))}
	}
	pair, err := readPair(n.cert, n.key)
	if err != nil {
		return nil, usageError{
			fmt.Errorf("%s %s with %s %s: %w", f.called("tls-cert"), n.cert, f.called("tls-key"), n.key, err),
		}
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	}, nil
}

// maxPEM is the maximum size of a certificate or key file, far above any real one.
const maxPEM = 1 << 20

// readPair reads a certificate and its key.
func readPair(cert, key string) (tls.Certificate, error) {
	c, err := files.ReadText(cert, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	k, err := files.ReadText(key, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair([]byte(c), []byte(k))
}

// allowed returns the additional names that browsers may use for this server: hosts, and the host
// of the public address.
func (n *network) allowed(hosts []string) []string {
	if n.public == nil {
		return hosts
	}
	return append(hosts[:len(hosts):len(hosts)], n.public.Host)
}

// access describes how a class reaches a server that listens at the address a, for use on pages and
// in the server's startup output. again returns the command that restarts the server without the
// flags in drop and with the arguments in more.
func (n *network) access(a address, again func(drop []string, more ...string) string) classroom.Access {
	local := a.loopback() && n.public == nil
	x := classroom.Access{
		Local: local,
		Clear: !local && !a.secure && (n.public == nil || n.public.Scheme == "http"),
	}
	switch {
	case n.public != nil:
		x.URL = n.public.String()
	case !a.loopback():
		x.URL = (address{firstHost(a), a.port, a.secure}).url()
	}
	secure := func(where, host string) string {
		return again([]string{
			"addr", "public-url", "tls-cert", "tls-key",
		}, "-addr", where, "-public-url", "https://"+host,
			"-tls-cert", cmp.Or(n.cert, "cert.pem"), "-tls-key", cmp.Or(n.key, "key.pem"))
	}
	switch everywhere, host := "0.0.0.0:"+a.port, net.JoinHostPort(lanHost(), a.port); {
	case local:
		x.Secure = secure(everywhere, host)
		if !a.secure {
			x.Command = again([]string{"addr", "public-url"}, "-addr", everywhere, "-public-url", "http://"+host)
		}
	case x.Clear && n.public != nil && !a.loopback():
		x.Secure = secure(a.String(), n.public.Host)
	case x.Clear && !a.loopback():
		x.Secure = secure(a.String(), net.JoinHostPort(firstHost(a), a.port))
	}
	return x
}

// firstHost returns the host under which other machines can reach the address a. a must not be a
// loopback address.
func firstHost(a address) string {
	if a.everywhere() {
		return lanHost()
	}
	return a.host
}

// lanHost returns the address at which a class's phones can most likely reach this machine: the
// first private IPv4 address, or else any other address, or else a placeholder.
func lanHost() string {
	best := "ADDRESS-OF-THIS-MACHINE"
	for _, host := range interfaceHosts() {
		ip := net.ParseIP(host)
		if ip.IsLoopback() {
			continue
		}
		if ip.To4() != nil && ip.IsPrivate() {
			return host
		}
		if net.ParseIP(best) == nil {
			best = host
		}
	}
	return best
}

// tell prints how a class reaches this server.
func tell(w *terms.Language, out io.Writer, a address, x classroom.Access, hosts []string) {
	if x.Local {
		fmt.Fprintln(out, w.T("cmd.serve.local"))
		if x.Command != "" {
			fmt.Fprintf(out, "  %s\n%s\n", x.Command, w.T("cmd.serve.local.secure"))
		}
		fmt.Fprintf(out, "  %s\n", x.Secure)
		return
	}
	if x.URL != "" {
		fmt.Fprintln(out, w.T("cmd.serve.class", "url", x.URL))
	}
	others := slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		name, _, err := net.SplitHostPort(host)
		if err != nil { // host has no port
			name = strings.Trim(host, "[]")
		}
		return address{host: name}.loopback()
	})
	if !a.loopback() && len(others) > 0 {
		fmt.Fprintf(
			out, "%s\n  %s\n%s\n", w.T("cmd.serve.others"), strings.Join(others, "\n  "), w.T("cmd.serve.allow"),
		)
	}
	if x.Clear {
		fmt.Fprint(out, clearWarning(w))
	}
}

// clearWarning returns the warning that is printed if the server is reachable over plain HTTP, so
// that others on the network can read the traffic.
func clearWarning(w *terms.Language) string {
	return strings.Join(wrap(strings.Fields(w.T("cmd.serve.warning")), 82), "\n") + "\n"
}
