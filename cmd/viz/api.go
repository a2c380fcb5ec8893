package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/web/api"
)

// Limits on an API key file.
const (
	maxKeyFile = 64 << 10
	leastKey   = 16 // in bytes; a shorter key could be guessed
)

// apiOptions are the flags that control access to the API.
type apiOptions struct {
	keyFile string
	origins []string
}

func (o *apiOptions) flags(f *flags) {
	f.text("api-key-file", "FILE", "API keys for /v1, required if other machines can reach the server: one per "+
		"line, at least 16 characters each; lines that begin with # are comments", &o.keyFile)
	f.value("api-origin", "ORIGINS", "comma-separated list of sites whose pages may use the API, such as "+
		"https://notebook.example (default: none)", func(s string) error { return addOrigins(&o.origins, s) })
}

// addOrigins parses comma-separated origins.
func addOrigins(to *[]string, s string) error {
	for origin := range strings.SplitSeq(strings.ToLower(s), ",") {
		if !validOrigin(origin) {
			return errors.New("must be a comma-separated list of origins of the form http://HOST[:PORT] or " +
				"https://HOST[:PORT]")
		}
		*to = append(*to, origin)
	}
	return nil
}

// validOrigin reports whether s is an origin in the form that browsers send.
func validOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && validHost(u.Host) &&
		s == u.Scheme+"://"+u.Host
}

// access returns the access rules of the API. local reports whether only this machine can reach the
// server; if so, no key is needed unless there is a key file.
func (o *apiOptions) access(f *flags, local bool) (api.Access, error) {
	a := api.Access{Open: local && o.keyFile == "", Origins: o.origins}
	if o.keyFile == "" {
		return a, nil
	}
	text, err := files.ReadText(o.keyFile, maxKeyFile)
	if err != nil {
		return a, fmt.Errorf("%s %s: %w", f.called("api-key-file"), o.keyFile, err)
	}
	for i, line := range strings.Split(text, "\n") {
		key := strings.TrimSpace(line)
		switch {
		case key == "" || strings.HasPrefix(key, "#"):
			continue
		case len(key) < leastKey || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
			return a, usageError{fmt.Errorf("%s %s, line %d: a key must be at least %d printable ASCII characters "+
				"without spaces", f.called("api-key-file"), o.keyFile, i+1, leastKey)}
		}
		a.Keys = append(a.Keys, key)
	}
	if len(a.Keys) == 0 {
		return a, usageError{fmt.Errorf("%s %s contains no keys", f.called("api-key-file"), o.keyFile)}
	}
	return a, nil
}
