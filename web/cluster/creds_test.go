package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// signer is the owner of a key that signs claims.
type signer struct {
	t    *testing.T
	pair nkeys.KeyPair
	id   string // the public key
}

func newSigner(t *testing.T, create func() (nkeys.KeyPair, error)) signer {
	t.Helper()
	pair, err := create()
	must(t, err)
	id, err := pair.PublicKey()
	must(t, err)
	return signer{t, pair, id}
}

// creds creates a user of the account, writes the user's credentials to a file, as nsc does, and
// returns the file's path.
func (s signer) creds() string {
	s.t.Helper()
	user := newSigner(s.t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(user.id).Encode(s.pair)
	must(s.t, err)
	seed, err := user.pair.Seed()
	must(s.t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	must(s.t, err)
	file := filepath.Join(s.t.TempDir(), "viz.creds")
	must(s.t, os.WriteFile(file, text, 0o600))
	return file
}

// TestJoinsWithCredentials: a server can join a cluster with the credentials of one of the
// cluster's users. If the user was signed with another key, the server is refused with a message.
func TestJoinsWithCredentials(t *testing.T) {
	t.Parallel()
	operator, account := newSigner(t, nkeys.CreateOperator), newSigner(t, nkeys.CreateAccount)
	system := newSigner(t, nkeys.CreateAccount)
	signed, err := jwt.NewOperatorClaims(operator.id).Encode(operator.pair)
	must(t, err)
	trusted, err := jwt.DecodeOperatorClaims(signed)
	must(t, err)
	claims := jwt.NewAccountClaims(account.id)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit,
	}
	accounts := &server.MemAccResolver{}
	for _, c := range []*jwt.AccountClaims{claims, jwt.NewAccountClaims(system.id)} {
		known, err := c.Encode(operator.pair)
		must(t, err)
		must(t, accounts.Store(c.Subject, known))
	}
	at := listening(t, server.Options{
		JetStream: true, TrustedOperators: []*jwt.OperatorClaims{trusted}, AccountResolver: accounts,
		SystemAccount: system.id,
	})

	c, err := Open(t.Context(), Config{URL: "nats://" + at, Creds: account.creds()})
	must(t, err)
	if err := c.Ready(); err != nil {
		t.Error(err)
	}
	must(t, c.Close())
	for what, creds := range map[string]string{
		"somebody else's": newSigner(t, nkeys.CreateAccount).creds(), "none": "",
	} {
		c, err := Open(t.Context(), Config{URL: "nats://" + at, Creds: creds, Patience: 5 * time.Second})
		if err == nil {
			_ = c.Close()
			t.Errorf("the server has joined with %s credentials, want it to be refused", what)
		} else if want := "rejected the credential"; !strings.Contains(err.Error(), want) {
			t.Errorf("with %s credentials: got error %q, want it to contain %q", what, err, want)
		}
	}
}
