package classroom

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// listedRoom is a room that lists members' questions, unless it is mute. It has no other parts.
type listedRoom struct {
	class.Room
	view *class.View
	list []class.Raised
	mute bool // the owner is a server that does not know the request
	asks int  // requests for the list
}

func (r *listedRoom) View() *class.View { return r.view }

func (r *listedRoom) CanPresent(context.Context, string) (bool, error) { return true, nil }

func (r *listedRoom) Raised(ctx context.Context, _ class.Secret) ([]class.Raised, error) {
	if r.asks++; r.mute {
		<-ctx.Done()
		return nil, class.ErrAway
	}
	return r.list, nil
}

// raisedRoom returns pages, and a room in which somebody has asked "Why?".
func raisedRoom(t *testing.T) (*Pages, *listedRoom) {
	t.Helper()
	st := stateAt(t, infer.KindForward)
	p := &Pages{
		rest: session.New(st.Model, session.Limits{}).State(),
		Deps: Deps{Course: courseworktest.Translated(t, "de"), Access: Access{URL: "http://zzz"}},
	}
	return p, &listedRoom{
		view: &class.View{Seq: 1, Epoch: 1, Raised: 1, Code: "ABC234", State: st},
		list: []class.Raised{{ID: 1, Text: "Why?"}},
	}
}

// panelOf returns the HTML of a panel, or "" if there is none.
func panelOf(panels []wire.Panel, id string) string {
	for _, p := range panels {
		if p.ID == id {
			return p.HTML
		}
	}
	return ""
}

// TestPresenterDoesNotNeedTheQuestions: while the room's server does not list the members' questions, as
// in a rolling upgrade of a cluster, the instructor's page and its updates have everything else. The
// updates leave the list unchanged, and try again.
func TestPresenterDoesNotNeedTheQuestions(t *testing.T) {
	p, r := raisedRoom(t)
	synctest.Test(t, func(t *testing.T) {
		f := &presentFeed{p: p, room: r, view: shell.Numbers}
		update := func(when, want string, wait time.Duration) {
			t.Helper()
			began := time.Now()
			panels, err := f.panels(t.Context(), r.view)
			if err != nil || panelOf(panels, "pr-ctl") == "" {
				t.Fatalf("%s: the update is %d panels, %v; want the controls", when, len(panels), err)
			}
			if got := panelOf(panels, "pr-raised"); !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%s: the list is %q, want %q", when, got, want)
			}
			if got := time.Since(began); got != wait {
				t.Errorf("%s: the update waited %s, want %s", when, got, wait)
			}
		}
		r.mute = true
		update("before any list", "", raisedWait)
		update("at once", "", 0)
		r.mute = false
		<-f.again
		f.tried = false
		update("later", "Why?", 0)
		r.mute, r.view.Raised = true, 2
		update("after a change", "", raisedWait)
		r.view.Raised, r.asks = 0, 0 // a server without questions has taken over
		update("at an earlier version", "No questions.", 0)
		if r.asks != 0 {
			t.Errorf("a server without questions got %d requests, want 0", r.asks)
		}
		w, load := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/class/ABC234/present", nil)
		p.showPresent(w, load, r, class.Secret{}, "p1", nil)
		for _, want := range []string{`id="pr-ctl"`, "No questions."} {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("the page has status %d and %d bytes, want %q", w.Code, w.Body.Len(), want)
			}
		}
	})
}

// TestQuestionsAreSentOnce: an update has the list of questions only if it has changed, since it can have
// 30 KB.
func TestQuestionsAreSentOnce(t *testing.T) {
	t.Parallel()
	p, r := raisedRoom(t)
	f := &presentFeed{p: p, room: r, view: shell.Numbers}
	update := func(what string, want ...string) {
		t.Helper()
		panels, err := f.panels(t.Context(), r.view)
		if err != nil {
			t.Fatal(err)
		}
		list, button := panelOf(panels, "pr-raised"), panelOf(panels, "pr-asked")
		if (list != "") != (len(want) > 0) || (button != "") != (len(want) > 0) {
			t.Errorf("%s: got a list of %d bytes, want %q", what, len(list), want)
		}
		for _, text := range want {
			if !strings.Contains(list, text) {
				t.Errorf("%s: the list is %q, want %q", what, list, text)
			}
		}
	}
	update("at first", "Why?", "questions-off")
	update("the same view")
	r.view.Seq, r.view.Here = 2, 5
	update("more phones")
	r.list = append(r.list, class.Raised{ID: 2, Text: "How?"})
	r.view.Raised = 2
	update("another question", "Why?", "How?")
	r.view.Quiet = true
	update("questions are off", "Why?", "questions-on")
	r.view.Epoch = 2
	update("another server", "Why?")
	update("the same server")
}
