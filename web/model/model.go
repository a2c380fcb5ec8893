// Package model implements the page about the model that generates the texts: which model it is,
// and how visitors can use one of their own.
//
// On a server, the operator chooses the model. If the program runs in a browser (web/tab), the
// visitor selects the model's files on the page. Its script (static/js/model.js) passes the
// files to the program, which reads them from the visitor's disk.
package model

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// OwnModel describes how visitors can load their own model.
type OwnModel struct {
	// Opens reports whether the page can open a model's files.
	Opens bool
	// Files are the files of the model that the visitor has opened, or nil.
	Files *Files
}

// Files holds facts about the files of an opened model that the model itself does not contain.
type Files struct {
	Format string // such as "GGUF v3"
	Bytes  int64
}

// Deps are the dependencies of the page. Log may be nil.
type Deps struct {
	// Model is the model that generates the texts.
	Model *infer.Model
	// Place describes whether other models can be opened.
	Place OwnModel
	// Caller returns the sender of a request and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Log records failures.
	Log *slog.Logger
}

// Server serves the page.
type Server struct {
	Deps
	shell.Base
}

// New returns a Server.
func New(d Deps) *Server {
	d.Log = cmp.Or(d.Log, slog.Default())
	return &Server{d, shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusedHTML)}
}

// Mount registers the page's route on mux.
func (s *Server) Mount(mux *http.ServeMux) {
	s.Route(mux, shell.Unknown{
		NoForms: "shell.noforms", Head: "shell.missing.below",
		Say: "model.missing",
	}, shell.Routes{"GET /model": s.page})
}

// page handles GET /model.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.HTML(w, r, http.StatusOK, pageHTML(s.view(stage.In(r.Context()))))
}

// A view is the data of the page.
type view struct {
	OwnModel
	Name  string
	Facts []fact
	// Warnings list the parts of the files that the model does not use, in English.
	Warnings []string
	Kinds    []string // the supported architectures
}

// A fact is a line on the page that describes one property of the model.
type fact struct{ Name, Value, Note string }

func (s *Server) view(w stage.Words) view {
	m, c := s.Model, s.Model.Config()
	v := view{OwnModel: s.Place, Name: m.Name(), Kinds: checkpoint.Architectures(), Warnings: m.Warnings()}
	kept := "model.weights.exact"
	if m.Quant() == infer.QuantInt8 {
		kept = "model.weights.rounded"
	}
	heads := "model.heads"
	if c.KVHeads < c.Heads {
		heads = "model.heads.shared"
	}
	v.Facts = []fact{
		{w.T("model.family"), c.Architecture, ""},
		{w.T("model.weights"), terms.Count(m.Parameters()), w.T(kept)},
		{
			w.T("model.blocks"), terms.Count(c.Layers),
			w.T(heads, "heads", w.Counted(c.Heads, "head"), "groups", w.Counted(c.KVHeads, "head")),
		},
		{w.T("model.width"), terms.Count(c.Width), w.T("model.width.note")},
		{w.T("model.vocab"), terms.Count(c.Vocab), w.T("model.vocab.note")},
		{w.T("model.window"), terms.Count(c.Context), w.T("model.window.note")},
	}
	if f := s.Place.Files; f != nil {
		v.Facts = append(v.Facts, fact{
			w.T("model.files"), w.Bytes(f.Bytes), w.T("model.files.note", "format", f.Format),
		})
	}
	return v
}
