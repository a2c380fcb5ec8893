package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal"
)

// examplesCluster is the folder of the cluster examples. NATS nodes have the addresses 10.0.0.1 to
// 10.0.0.3, and servers have 10.0.0.11 to 10.0.0.13.
const examplesCluster = "examples/cluster"

// TestExampleNATSNodesFormACluster: the three NATS nodes find each other, keep confirmed data
// through a power cut, require a password, and accept the longest record.
func TestExampleNATSNodesFormACluster(t *testing.T) {
	seen := map[string]bool{}
	for i := 1; i <= 3; i++ {
		// NATS itself parses the file, as a node does.
		o, err := server.ProcessConfigFile(filepath.Join(examplesCluster, fmt.Sprintf("nats%d.conf", i)))
		if err != nil {
			t.Fatal(err)
		}
		own := fmt.Sprintf("10.0.0.%d", i)
		if o.Host != own || o.Port != 4222 || o.Cluster.Host != own || o.Cluster.Port != 6222 || seen[o.ServerName] {
			t.Errorf(
				"node %d is %s at %s:%d and %s:%d; want o.Host = %s, o.Port = 4222, o.Cluster.Host = %s, "+
					"o.Cluster.Port = 6222, seen[o.ServerName] = false",
				i, o.ServerName, o.Host, o.Port, o.Cluster.Host, o.Cluster.Port, own, own,
			)
		}
		seen[o.ServerName] = true
		if !o.JetStream || !o.SyncAlways || !filepath.IsAbs(o.StoreDir) || o.JetStreamMaxStore < 1<<30 {
			t.Errorf("node %d: stored data is not safe: %v %v %q", i, o.JetStream, o.SyncAlways, o.StoreDir)
		}
		if o.Username == "" || o.Password == "" || o.Cluster.Username == "" || o.Cluster.Password == o.Password ||
			o.Cluster.Name == "" {
			t.Errorf("node %d: clients need no password, or viz could connect as a node", i)
		}
		if o.MaxPayload != 0 && int(o.MaxPayload) < journal.MaxRecord+16<<10 {
			t.Errorf(
				"node %d accepts messages of %d bytes, want at least %d or no limit", i, o.MaxPayload,
				journal.MaxRecord+16<<10,
			)
		}
		if gone := o.PingInterval * time.Duration(o.MaxPingsOut); gone <= 0 || gone > 10*time.Second {
			t.Errorf(
				"node %d notices after %v that a server is gone; want more than 0 and at most %v", i, gone,
				10*time.Second,
			)
		}
		if o.HTTPHost != "127.0.0.1" || o.HTTPPort != 8222 {
			t.Errorf("node %d has its monitoring at %s:%d, want 127.0.0.1:8222, out of reach", i, o.HTTPHost,
				o.HTTPPort)
		}
		for n, r := range o.Routes {
			secret, _ := r.User.Password()
			if r.Host != fmt.Sprintf("10.0.0.%d:6222", n+1) || r.User.Username() != o.Cluster.Username ||
				secret != o.Cluster.Password {
				t.Errorf(
					"node %d: route %d leads to %s, want to 10.0.0.%d:6222 with the cluster's user and password", i,
					n+1, r.Redacted(), n+1,
				)
			}
		}
		if len(o.Routes) != 3 {
			t.Errorf("node %d has %d routes, want 3", i, len(o.Routes))
		}
	}
}

// TestExampleProxiesReachAllServers: both proxies forward to all three servers, and their limits
// allow everything that the program accepts. Caddy checks whether each server is ready and, while
// none is, whether it is running.
func TestExampleProxiesReachAllServers(t *testing.T) {
	fixture.Long(t)
	caddy, nginx := readExample(t, "cluster/Caddyfile"), readExample(t, "cluster/nginx.conf")
	servers := []string{"10.0.0.11:8080", "10.0.0.12:8080", "10.0.0.13:8080"}
	if to := strings.Fields(caddy.find(t, `reverse_proxy (.*) \{$`)); fmt.Sprint(to) != fmt.Sprint(servers) {
		t.Errorf("Caddy forwards to %v, want %q", to, servers)
	}
	var to []string
	for _, m := range regexp.MustCompile(`(?m)^\tserver (\S+) `).FindAllStringSubmatch(string(nginx), -1) {
		to = append(to, m[1])
	}
	if upstream := nginx.find(t, `upstream (\w+) \{$`); fmt.Sprint(to) != fmt.Sprint(servers) ||
		nginx.find(t, `proxy_pass http://(\S+);`) != upstream {
		t.Errorf("nginx forwards to %v, want %v through its upstream", to, servers)
	}
	first, then := caddy.find(t, `import servers (\S+) 0s$`), caddy.find(t, `import servers (\S+) 5s$`)
	if first != "/readyz" || then != "/livez" {
		t.Errorf("Caddy checks %s first and then %s, want %s and %s", first, then, "/readyz", "/livez")
	}
	if one, other := caddy.find(t, `(\w+\.\w+) \{$`), nginx.find(t, `server_name (\S+);`); one != other {
		t.Errorf("the server is named %s in one example and %s in the other, want the same name", one, other)
	}
	nginx.fits(t)
}

// TestExamplesContainNoSecrets: every password in the examples is a placeholder, so no cluster runs
// with the example's password by mistake.
func TestExamplesContainNoSecrets(t *testing.T) {
	files, err := filepath.Glob(examplesCluster + "/*")
	if err != nil || len(files) < 7 {
		t.Fatalf("got files %v, error %v; want at least 7 files", files, err)
	}
	secret := regexp.MustCompile(`(?i)password:\s*"?([^"\s]+)|nats(?:-route)?://\w+:([^@]+)@`)
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range secret.FindAllStringSubmatch(string(text), -1) {
			found++
			if p := m[1] + m[2]; p != "PASSWORD-OF-VIZ" && p != "PASSWORD-OF-NODES" {
				t.Errorf("%s has the password %s, want a placeholder", name, p)
			}
		}
	}
	if found < 5 {
		t.Errorf("found only %d passwords", found)
	}
}
