// Package embed lets other sites show parts of this program in their own pages: the Loop at the
// state in a link, an experiment from a lesson, or a drill.
//
// An embedded page is the same page without its header. The same handlers serve it below /embed,
// and web/shell records in the request's context that the page is in a frame. Such a page neither
// sends nor receives cookies, and nothing that a visitor does on it is saved. [shell.Embeds]
// defines which sites can show it, and browsers enforce this.
//
// Other sites embed pages with one script, /embed/viz.js (static/js/module/viz.js), or with an
// iframe. Programs that support oEmbed request /embed/oembed.
package embed

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/shell"
)

// Deps holds the dependencies of the package. If Course is nil, only the Loop can be embedded.
type Deps struct {
	// Course contains the experiments.
	Course *lessons.Course
	// Pages serves the pages that can be embedded, at their usual addresses.
	Pages http.Handler
	// Origins are the sites that can embed pages, such as "https://school.example".
	Origins []string
	// Caller returns the sender of a request and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	Log    *slog.Logger
}

// A Room serves the addresses below /embed.
type Room struct {
	Deps
	shell.Base
}

// New returns a Room.
func New(d Deps) *Room {
	return &Room{d, shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusal)}
}

// Mount registers the package's routes on mux.
func (o *Room) Mount(mux *http.ServeMux) {
	routes := shell.Routes{
		"GET /embed":        o.page,
		"GET /embed/oembed": o.oEmbed,
		"GET /embed/viz.js": o.script,
		"GET /embed/loop":   o.inner,
	}
	if o.Course != nil {
		routes["GET /embed/learn/widget/{id}"] = o.inner
		routes["GET /embed/practice/{drill}"] = o.inner
		routes["POST /embed/practice/{drill}/check"] = o.inner
	}
	o.Route(mux, shell.Unknown{
		NoForms: "shell.noforms", Head: "shell.missing.below",
		Say: "embed.missing",
	}, routes)
}

// inner serves the page inside the frame.
func (o *Room) inner(w http.ResponseWriter, r *http.Request) { o.Pages.ServeHTTP(w, shell.Unframed(r)) }

// scriptName is the file that other sites load.
const scriptName = "js/module/viz.js"

// scriptAge is how long a browser caches the script without revalidating it.
const scriptAge = time.Hour

// script handles GET /embed/viz.js. Browsers show the frames that this script creates only on the
// allowed sites; see [shell.Embeds].
func (o *Room) script(w http.ResponseWriter, r *http.Request) { sendScript(w, r) }

func sendScript(w http.ResponseWriter, r *http.Request) {
	f, err := static.Open(scriptName)
	if err != nil {
		shell.Text(w, http.StatusNotFound, terms.In(r.Context()).T("shell.file.none"))
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age="+strconv.Itoa(int(scriptAge/time.Second)))
	w.Write(f.Data)
}

// Front returns a handler that sends the script to pages of the allowed origins, which load it as a
// module, and passes all other requests to next. It must come before the gate, which refuses
// requests from other origins. Although the file is the same for everyone, pages of origins that
// are not allowed cannot read it.
func Front(origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Origin")
		known := from != "" && slices.Contains(origins, strings.ToLower(from))
		if !known || r.Method != http.MethodGet || r.URL.Path != shell.EmbedPath+"/viz.js" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Access-Control-Allow-Origin", from)
		w.Header().Set("Vary", "Origin")
		sendScript(w, r)
	})
}

// one describes a single page that can be embedded.
type one struct {
	Name    string
	Address string // address of the page outside a frame
	Tag     string // the HTML that embeds it
}

// A group holds pages that can be embedded, under a heading.
type group struct {
	Head, Say string
	List      []one
}

// groups returns all pages that can be embedded, in groups.
func (o *Room) groups(ctx context.Context) []group {
	l := terms.In(ctx)
	list := []group{{
		l.T("embed.loop"), l.T("embed.loop.say"),
		[]one{{l.T("embed.loop"), "/loop", `<viz-loop prompt="Once upon a time there was a"></viz-loop>`}},
	}}
	if o.Course == nil {
		return list
	}
	experiments := group{Head: l.T("embed.experiments"), Say: l.T("embed.experiments.say")}
	for _, lesson := range o.Course.In(ctx).Lessons {
		for _, s := range lesson.Sections {
			for _, b := range s.Blocks {
				if w, ok := b.(lessons.Widget); ok {
					experiments.List = append(experiments.List, one{
						l.T("embed.experiment", "lesson", lesson.Title, "section", s.Title), "/learn/widget/" + w.ID,
						`<viz-widget experiment="` + w.ID + `"></viz-widget>`,
					})
				}
			}
		}
	}
	drills := group{Head: l.T("embed.drills"), Say: l.T("embed.drills.say")}
	for _, d := range drill.Kinds(l) {
		drills.List = append(drills.List, one{
			d.Title, "/practice/" + string(d.Kind), `<viz-widget drill="` + string(d.Kind) + `"></viz-widget>`,
		})
	}
	return append(list, experiments, drills)
}

// page handles GET /embed, which lists the pages that can be embedded and explains how to embed
// them.
func (o *Room) page(w http.ResponseWriter, r *http.Request) {
	o.HTML(w, r, http.StatusOK, pageHTML(o.groups(r.Context()), o.Origins))
}

// refusal returns the error page.
func refusal(head, say string) templ.Component { return refusalHTML(head, say) }
