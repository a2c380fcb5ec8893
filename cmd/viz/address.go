package main

import (
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/web/shell"
)

// address describes where the server listens and whether it uses HTTPS there.
type address struct {
	host, port string
	secure     bool
}

// newAddress combines the host given by the user ("" means 127.0.0.1) with the listener's port.
func newAddress(given string, got net.Addr) address {
	a := address{host: "127.0.0.1"}
	_, a.port, _ = net.SplitHostPort(got.String())
	if given != "" {
		a.host, _, _ = net.SplitHostPort(given)
	}
	return a
}

func (a address) String() string { return net.JoinHostPort(a.host, a.port) }

// everywhere reports whether the server listens on all of the machine's addresses.
func (a address) everywhere() bool {
	ip := net.ParseIP(a.host)
	return a.host == "" || (ip != nil && ip.IsUnspecified())
}

// loopback reports whether only this machine can reach the address.
func (a address) loopback() bool {
	ip := net.ParseIP(a.host)
	return a.host == "localhost" || (ip != nil && ip.IsLoopback())
}

// url returns the URL at which a browser on this machine reaches the server.
func (a address) url() string {
	if a.everywhere() {
		a.host = "127.0.0.1"
	}
	scheme := "http://"
	if a.secure {
		scheme = "https://"
	}
	return scheme + a.String()
}

// hosts returns the Host values that the server accepts: this machine's own names, the address
// itself, the addresses of all network interfaces if the server listens on all of them, and the
// allowed names. Requests sent through DNS rebinding have another site's name as their Host, so the
// server rejects them.
func (a address) hosts(allowed []string) []string {
	list := shell.LoopbackHosts(a.String())
	add := func(host string) {
		list = append(list, net.JoinHostPort(host, a.port))
		if a.port == "80" {
			list = append(list, strings.TrimSuffix(net.JoinHostPort(host, a.port), ":80"))
		}
	}
	switch {
	case a.everywhere():
		for _, host := range interfaceHosts() {
			add(host)
		}
	default:
		add(a.host)
	}
	for _, name := range allowed {
		list = append(list, name)
		if _, _, err := net.SplitHostPort(name); err != nil { // no port: a proxy's name, or the server's own
			list = append(list, name+":"+a.port)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// interfaceHosts returns the addresses of this machine's network interfaces, omitting addresses
// that need a zone.
func interfaceHosts() (hosts []string) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, addr := range addrs {
		if n, ok := addr.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts
}

func validAddr(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && validPort(port)
}

// validHost reports whether s is a valid Host header.
func validHost(s string) bool {
	u, err := url.Parse("http://" + s)
	if err != nil || s == "" || u.Host != s || u.Hostname() == "" || strings.Contains(s, "*") {
		return false
	}
	return !strings.HasSuffix(s, ":") && (u.Port() == "" || validPort(u.Port()))
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// browserCommand returns the command that opens an address in a browser. It returns nil if the user
// would not see the browser: on macOS and Windows, over SSH; on other systems, without DISPLAY and
// WAYLAND_DISPLAY.
func browserCommand(system, address string, env func(string) string) []string {
	remote := env("SSH_CONNECTION") != ""
	switch {
	case system == "darwin" && !remote:
		return []string{"open", address}
	case system == "windows" && !remote:
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case system != "darwin" && system != "windows" && (env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""):
		return []string{"xdg-open", address}
	}
	return nil
}

// openBrowser opens an address in a browser if there is a display. It ignores failures, since the
// address has already been printed.
func openBrowser(address string, env func(string) string) {
	command := browserCommand(runtime.GOOS, address, env)
	if command == nil {
		return
	}
	c := exec.Command(command[0], command[1:]...)
	if c.Start() == nil {
		go c.Wait() // avoids a zombie
	}
}
