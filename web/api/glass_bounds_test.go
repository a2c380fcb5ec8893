package api

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestRequestListSurvivesShortAbsence: a page that is reopened within two minutes still shows its
// requests; after that, the requests are gone. A shelf without requests is removed when its last
// page is closed. When the limit is reached, a new page evicts the least recently shown shelf.
func TestRequestListSurvivesShortAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlass()
		if g.begin("nobody looks", "POST /v1/completions") != nil {
			t.Fatal("a request is stored although no page shows it")
		}
		_, stop := g.watch("page", "")
		g.begin("page", "POST /v1/completions").ends(usage{}, nil)
		stop()
		fixture.Pass(glassLeft / 2)
		_, stop = g.watch("page")
		fixture.Pass(2 * glassLeft)
		if len(g.list("page")) != 1 {
			t.Error("a reloaded page has lost its requests")
		}
		stop()
		fixture.Pass(2 * glassLeft)
		if len(g.list("page")) != 0 || g.begin("page", "POST /v1/completions") != nil {
			t.Error("requests are still stored for a page that is gone")
		}
		_, stop = g.watch("without a request")
		stop()
		if len(g.shelves) != 1 {
			t.Errorf("there are %d shelves, including the local one, want 1", len(g.shelves))
		}
		for i := range glassPages { // open and close pages with new names, one after another
			_, stop := g.watch(fmt.Sprint("page ", i))
			g.begin(fmt.Sprint("page ", i), "POST /v1/completions")
			stop()
			fixture.Pass(time.Millisecond)
		}
		before := len(g.shelves)
		_, stop = g.watch("one more", "")
		defer stop()
		if before != 1+glassPages || len(g.shelves) != before || g.shelves["page 0"] != nil ||
			g.shelves["page 1"] == nil {
			t.Errorf("%d shelves, then %d with one more page; the first still exists: %v", before, len(g.shelves),
				g.shelves["page 0"] != nil)
		}
	})
}

// TestRequestsExpire: a request is removed fifteen minutes after it ends, but never while it is
// still being answered.
func TestRequestsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlass()
		wake, stop := g.watch("")
		defer stop()
		long, short := g.begin("", "POST /v1/chat/completions"), g.begin("", "POST /v1/completions")
		short.ends(usage{1, 2, 3}, nil)
		short.ends(usage{}, ofStatus(http.StatusInternalServerError, "told a second time"))
		if list := g.list(""); len(list) != 2 || !list[0].Done || list[0].Problem != nil || list[0].Usage.Total != 3 {
			t.Fatalf("got %+v, want 2 elements, [0].Done = true, no error, [0].Usage.Total = 3", list)
		}
		<-wake
		fixture.Pass(glassTime)
		synctest.Wait()
		select {
		case <-wake:
		default:
			t.Error("the page is not notified")
		}
		if list := g.list(""); len(list) != 1 || list[0].ID != long.ID {
			t.Errorf("got %+v, want 1 element, [0].ID = %d", list, long.ID)
		}
		long.ends(usage{}, nil)
		fixture.Pass(glassTime)
		synctest.Wait()
		if len(g.list("")) != 0 {
			t.Error("the long request is never removed")
		}
	})
}

// TestEveryFieldHasAStage: each sampler knob acts at a stage, under all of its names.
func TestEveryFieldHasAStage(t *testing.T) {
	for _, k := range terms.Knobs() {
		if actsAt(k.Key) == 0 {
			t.Errorf("%s acts at no stage", k.Key)
		}
	}
	for _, other := range otherNames {
		if actsAt(other.name) != actsAt(other.key) || actsAt(other.name) == 0 {
			t.Errorf(
				"%s acts at stage %d, but %s at %d; want %d, not 0", other.name, actsAt(other.name), other.key,
				actsAt(other.key), actsAt(other.key),
			)
		}
	}
}
