package loop

import (
	"context"
	"net/http"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// Mount adds the Loop's addresses to the server's.
func (s *Server) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /loop", s.page)
	mux.HandleFunc("POST /view", s.switchView)
	mux.HandleFunc("GET /export/{name...}", s.export)
	mux.HandleFunc("/export", shell.NotFound) // the mux would redirect it to the folder, which is not a page
	mux.HandleFunc("GET /storybook", s.storybook)
	mux.HandleFunc("GET /storybook/{name...}", s.storybook)
}

// Part returns the page's live part, which other programs may open too.
func (s *Server) Part() wire.Kind { return wire.Kind{Open: s.open, Programs: true, Ordered: true} }

// page handles GET /loop, which shows a page without a run, and the learner's sentence, if any, as the
// prompt. With ?run=ID, it shows the current state of this learner's run. If that run is gone, it
// shows the run that &log=LINK describes. With ?start=KEY, it redirects to a run that a lesson links
// to. With ?prompt=TEXT, it redirects to a new run. All pages are complete without a socket. A page
// that cannot show the requested run explains why, and is still usable. With &class=CODE, the page
// links back to the class that the learner left to continue alone.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	who, _ := s.Caller(r)
	who.Learner = s.Who(w, r)
	if key := r.URL.Query().Get("start"); key != "" && s.Course != nil {
		s.openStart(w, r, key)
		return
	}
	say := stage.In(r.Context())
	page, status := NewPage(say, s.empty), http.StatusOK
	if prompt := r.URL.Query().Get("prompt"); prompt != "" {
		bad := s.openPrompt(w, r, who, prompt)
		if bad == nil {
			return
		}
		page.Prompt = prompt
		if len(prompt) <= infer.MaxSampleBytes {
			page.Pieces = NewPieces(say, s.Model, chat.Text{Text: prompt})
		}
		page.Notice, status = Notice{Head: bad.head, Say: bad.say}, bad.status
	}
	a := addressOf(r)
	if a == (address{}) && page.Prompt == "" {
		s.offerSentence(r.Context(), &page, who.Learner)
	}
	if a != (address{}) {
		st, bad := s.stateOf(r.Context(), who, a)
		if bad == nil {
			page = NewPage(say, st)
		} else {
			page.Notice, status = Notice{Head: bad.head, Say: bad.say}, bad.status
		}
		// Set these even if the run or the link cannot be opened. The page's socket then requests
		// it again and receives the reason.
		page.Run, page.Link = a.run, a.link
		if st != nil {
			page.Link = session.LinkOf(st)
		}
	}
	if code := r.URL.Query().Get("class"); class.IsCode(code) {
		page.Class = code
	}
	page.View = view(shell.ViewOf(r))
	s.HTML(w, r, status, PageHTML(page))
}

// offerSentence fills a learner's sentence into the prompt of a page without a run, unless the model
// cannot read it.
func (s *Server) offerSentence(ctx context.Context, page *Page, learner string) {
	if s.Sentence == nil {
		return
	}
	text, err := s.Sentence(ctx, learner)
	if err != nil {
		s.Log.Debug("did not read a sentence", "err", err) // the database logs its own failures
	}
	if text == "" {
		return
	}
	if v := NewPieces(stage.In(ctx), s.Model, chat.Text{Text: text}); !v.Over {
		page.Prompt, page.Pieces = text, v
	}
}
