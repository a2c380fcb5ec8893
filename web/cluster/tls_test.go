package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // path of its certificate
	made int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.file, _ = a.signed("authority", true)
	return a
}

// signed creates a certificate for 127.0.0.1 and returns the paths of the certificate and its key.
// If the authority has no certificate yet, the new one is self-signed.
func (a *authority) signed(name string, isCA bool) (cert, key string) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	a.made++
	c := &x509.Certificate{
		SerialNumber: big.NewInt(a.made), Subject: pkix.Name{CommonName: name}, IsCA: isCA, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if a.cert == nil {
		a.cert, a.key = c, private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &private.PublicKey, a.key)
	must(a.t, err)
	if isCA {
		a.cert, err = x509.ParseCertificate(der)
		must(a.t, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(a.t, err)
	dir := a.t.TempDir()
	write := func(file, kind string, der []byte) string {
		path := filepath.Join(dir, file)
		must(a.t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}

// TestJoinsWithACertificate: a server with a certificate and a password can join a cluster that
// requires both. It reports an error if its own or a node's certificate was issued by an unknown
// authority, if it has no certificate, or if its password is wrong.
func TestJoinsWithACertificate(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	nodeCert, nodeKey := ours.signed("node", false)
	pair, err := tls.LoadX509KeyPair(nodeCert, nodeKey)
	must(t, err)
	known := x509.NewCertPool()
	known.AddCert(ours.cert)
	at := listening(t, server.Options{
		JetStream: true, TLS: true, TLSVerify: true, Username: "viz", Password: "right", TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientCAs: known, ClientAuth: tls.RequireAndVerifyClientCert,
		},
	})
	cert, key := ours.signed("viz", false)
	strange, strangeKey := others.signed("viz", false)
	right := Config{URL: "tls://viz:right@" + at, CA: ours.file, Cert: cert, Key: key}
	c, err := Open(t.Context(), right)
	must(t, err)
	if err := c.Ready(); err != nil {
		t.Error(err)
	}
	must(t, c.Close())

	right.Patience = 5 * time.Second // NATS may close the connection without giving a reason
	for want, change := range map[string]func(*Config){
		"signed by an unknown authority": func(c *Config) { c.CA = others.file },
		"rejected this server's certif":  func(c *Config) { c.Cert, c.Key = strange, strangeKey },
		"rejected this server":           func(c *Config) { c.Cert, c.Key = "", "" },
		"rejected the credential":        func(c *Config) { c.URL = "tls://viz:wrong@" + at },
	} {
		cfg := right
		change(&cfg)
		c, err := Open(t.Context(), cfg)
		if err == nil {
			_ = c.Close()
			t.Errorf("the server has joined, want the error %q", want)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("got error %q, want it to contain %q", err, want)
		}
	}
}
