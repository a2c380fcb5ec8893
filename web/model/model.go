// Package model is the page about the model that writes here: what it is, and how to have
// one of one's own write instead.
//
// On a server the person who starts it chooses. Where the program runs in a browser
// (web/tab), the page takes the model's files from the visitor's disk. Its script
// (static/js/model.js) hands them to the program, which reads them where they are.
package model

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/pages"
)

// Place says how a visitor comes to a model of their own.
type Place struct {
	// Opens says that the page can take a model's files.
	Opens bool
	// Files are those of the model that the visitor has opened, or nil.
	Files *Files
}

// Files are the files of an opened model, as far as the model does not say itself.
type Files struct {
	Format string // such as "GGUF v3"
	Bytes  int64
}

// Deps is what the page needs. Log may be nil.
type Deps struct {
	// Model is the one that writes.
	Model *infer.Model
	// Place says whether others can be opened.
	Place Place
	// Caller returns who sent a request, and for a new visitor the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Log records failures.
	Log *slog.Logger
}

// Server answers the address of the page.
type Server struct {
	Deps
	pages.Base
}

// New returns the page's server.
func New(d Deps) *Server {
	d.Log = cmp.Or(d.Log, slog.Default())
	return &Server{d, pages.New(pages.Learner(d.Caller), d.Log, refusedHTML)}
}

// Mount adds the page to the server's addresses.
func (s *Server) Mount(mux *http.ServeMux) {
	s.Route(mux, pages.Elsewhere{
		NoForms: "This address does not accept forms.", Head: "There is no page here.",
		Say: "What the model is stands at /model.",
	}, pages.Routes{"GET /model": s.page})
}

// page answers GET /model.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.HTML(w, r, http.StatusOK, pageHTML(s.view()))
}

// view is what the page shows.
type view struct {
	Place
	Name  string
	Facts []fact
	// Warnings say what the files hold and the model leaves out.
	Warnings []string
	Kinds    string // the architectures that are read
}

// fact is a line about the model.
type fact struct{ Name, Value, Note string }

func (s *Server) view() view {
	m, c := s.Model, s.Model.Config()
	v := view{Place: s.Place, Name: m.Name(), Kinds: checkpoint.Architectures(), Warnings: m.Warnings()}
	kept := "as precise as in the file"
	if m.Quant() == infer.QuantInt8 {
		kept = "rounded to 8 bits each, so that they fit"
	}
	heads := fmt.Sprintf("in each: %s of attention", terms.Counted(c.Heads, "head"))
	if c.KVHeads < c.Heads {
		heads += fmt.Sprintf(", which share %s of keys and values", terms.Counted(c.KVHeads, "head"))
	}
	v.Facts = []fact{
		{"Family", c.Architecture, ""},
		{"Weights", terms.Count(m.Parameters()), kept},
		{"Blocks", terms.Count(c.Layers), heads},
		{"Width", terms.Count(c.Width), "numbers stand for each token on its way"},
		{"Vocabulary", terms.Count(c.Vocab), "tokens to choose from"},
		{"Window", terms.Count(c.Context), "tokens at most, prompt included"},
	}
	if f := s.Place.Files; f != nil {
		v.Facts = append(v.Facts, fact{"Files", terms.Bytes(f.Bytes), f.Format + ", on your disk"})
	}
	return v
}
