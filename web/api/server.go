package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/shell"
)

// Access defines who can use the API.
type Access struct {
	// Open means that requests are accepted without a key or with any key. It is meant for a server
	// that can be reached only from its own machine.
	Open bool
	// Keys are the keys that are accepted if Open is false. If there are none, the API is off.
	Keys []string
	// Origins are the origins of other sites whose pages can use the API, in lower case, such as
	// "https://notebook.example".
	Origins []string
}

// Deps holds the dependencies of the API.
type Deps struct {
	// Context ends when the server shuts down.
	Context context.Context
	// Model is the model that generates the answers.
	Model *infer.Model
	// Runs executes the requests.
	Runs *runs.Registry
	// Slot returns a slot for scoring texts without generating any.
	Slot func() *pool.Slot
	// Caller returns the sender of a request.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Places limits the number of requests that are answered at the same time.
	Places *admission.Pool
	// Access defines who can use the API.
	Access Access
	// MAC returns a code that only this server can compute.
	MAC func(message string) []byte
	// Log records failures, but never users' texts.
	Log *slog.Logger
}

// Server serves the API's addresses.
type Server struct {
	Deps
	began time.Time
	keys  map[[sha256.Size]byte]bool // hashes, so that a comparison takes the same time for any key
	base  shell.Base
	glass *glass
	// lookers limits the pages that show requests.
	lookers *admission.Pool
	turns   *admission.Queue // for texts to be tokenized
}

// New returns the API.
func New(d Deps) *Server {
	s := &Server{
		Deps: d, began: time.Now(), keys: map[[sha256.Size]byte]bool{}, glass: newGlass(),
		lookers: admission.NewPool(glassShare, nil), turns: admission.NewQueue(admission.DefaultLimits().Links, 0),
	}
	for _, key := range d.Access.Keys {
		s.keys[sha256.Sum256([]byte(key))] = true
	}
	return s
}

// Mount registers the routes of the API.
func (s *Server) Mount(mux *http.ServeMux) {
	s.mountPage(mux)
	mux.HandleFunc("GET /v1/models", s.answer(s.models))
	mux.HandleFunc("GET /v1/models/{model}", s.answer(s.model))
	mux.HandleFunc("POST /v1/completions", s.answer(s.completions(false)))
	mux.HandleFunc("POST /v1/chat/completions", s.answer(s.completions(true)))
	for _, at := range []string{"", "/v1"} { // some clients omit /v1
		mux.HandleFunc("POST "+at+"/tokenize", s.answer(s.tokenize))
		mux.HandleFunc("POST "+at+"/detokenize", s.answer(s.detokenize))
	}
	for _, at := range []string{"/v1/", "/tokenize", "/detokenize"} {
		mux.HandleFunc(at, s.answer(elsewhere(mux)))
	}
}

// elsewhere returns the handler for requests with an unknown address or an unsupported method.
func elsewhere(mux *http.ServeMux) func(http.ResponseWriter, *http.Request, admission.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, _ admission.Caller) error {
		if allowed := shell.Allowed(mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return ofStatus(
				http.StatusMethodNotAllowed, "This endpoint only accepts "+strings.Join(allowed, " and ")+".",
			)
		}
		return ofStatus(http.StatusNotFound, "There is no such endpoint. The endpoints are GET /v1/models, "+
			"POST /v1/completions, POST /v1/chat/completions, POST /tokenize and POST /detokenize.")
	}
}

// answer returns a handler that checks access, calls f, and sends problems in the API's format.
func (s *Server) answer(f func(http.ResponseWriter, *http.Request, admission.Caller) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, refused := s.enter(r)
		if refused != nil {
			refused.send(w)
			return
		}
		err := fault.Do(s.Log, "an API request", func() error { return f(w, r, who) })
		if err == nil || r.Context().Err() != nil && !unread(err) {
			return
		}
		p, logged := problemOf(err)
		if logged {
			s.Log.Error("API request failed", "path", r.URL.Path, "err", err)
		}
		if !errors.As(err, new(errSent)) {
			p.send(w)
		}
	}
}

// open reports whether a caller can use the API without a key. Phones that are admitted while the
// server is running are other machines, so they need a key.
func (s *Server) open(who admission.Caller) bool { return s.Access.Open && !who.Phone }

// enter returns the sender of a request. Requests with the same key or, if no key is needed, from
// the same address have the same sender. A sender's name contains a space, so it never equals a
// learner's id.
func (s *Server) enter(r *http.Request) (admission.Caller, *problem) {
	who, _ := s.Caller(r)
	key := keyOf(r)
	hash := sha256.Sum256([]byte(key))
	if before, _, ok := cutCode(key); ok && !s.keys[hash] {
		hash = sha256.Sum256([]byte(before))
	}
	switch {
	case s.open(who):
		who.Learner, who.Fresh = "api at "+who.Address.String(), false
		return who, nil
	case len(s.keys) == 0:
		return who, ofStatus(http.StatusUnauthorized, "Other machines can reach this server, so the API requires "+
			"a key, but none is configured. The operator can set keys with -api-key-file.")
	case key == "":
		return who, ofStatus(http.StatusUnauthorized, "This server requires an API key, but none was sent. Send it as "+
			"\"Authorization: Bearer KEY\".")
	case !s.keys[hash]:
		return who, ofStatus(http.StatusUnauthorized, "This API key is not valid. Send a valid one as "+
			"\"Authorization: Bearer KEY\".")
	}
	who.Learner, who.Fresh, who.Since = "api key "+hex.EncodeToString(hash[:8]), false, time.Time{}
	return who, nil
}

// A modelView describes the model in the API's list of models.
type modelView struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // when this server loaded it
	OwnedBy string `json:"owned_by"`
}

func (s *Server) view() modelView {
	return modelView{ID: s.Model.Name(), Object: "model", Created: s.began.Unix(), OwnedBy: "this server"}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request, _ admission.Caller) error {
	reply(w, http.StatusOK, struct {
		Object string      `json:"object"`
		Data   []modelView `json:"data"`
	}{"list", []modelView{s.view()}})
	return nil
}

func (s *Server) model(w http.ResponseWriter, r *http.Request, _ admission.Caller) error {
	if err := s.named(r.PathValue("model")); err != nil {
		return err
	}
	reply(w, http.StatusOK, s.view())
	return nil
}

// named returns an error unless name is the name of the server's model.
func (s *Server) named(name string) error {
	if name == s.Model.Name() {
		return nil
	}
	p := wrong("model", "model_not_found", "This server has no model %s. Its model is %s.",
		terms.Quoted(name), terms.Quoted(s.Model.Name()))
	p.status = http.StatusNotFound
	return p
}
