package api

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestShelvesAreBounded: there is room for so many pages that look, a page that comes back
// within two minutes finds its requests, and later they are gone.
func TestShelvesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlass()
		var stops []func()
		for i := range glassShelves - 1 { // the machine's own is there already
			_, stop := g.watch(fmt.Sprint("page ", i), "")
			stops = append(stops, stop)
		}
		if wake, _ := g.watch("one more", ""); wake != nil {
			t.Fatal("there are more shelves than there may be")
		}
		if wake, stop := g.watch("page 7"); wake == nil {
			t.Fatal("a second page of one learner is refused")
		} else {
			stop()
		}
		if g.begin("nobody looks", "POST /v1/completions") != nil {
			t.Fatal("a request that nobody looks at is kept")
		}
		g.begin("page 7", "POST /v1/completions").ends(usage{}, nil)
		stops[7]()
		fixture.Pass(glassLeft / 2)
		_, stop := g.watch("page 7")
		fixture.Pass(2 * glassLeft)
		if len(g.list("page 7")) != 1 {
			t.Error("a page that was reloaded has lost its requests")
		}
		stop()
		fixture.Pass(2 * glassLeft)
		if len(g.list("page 7")) != 0 || g.begin("page 7", "POST /v1/completions") != nil {
			t.Error("requests are kept for a page that has gone")
		}
		if wake, _ := g.watch("one more"); wake == nil {
			t.Error("the place of a page that has gone is not given to another")
		}
	})
}

// TestRequestsAreForgotten: fifteen minutes after it has ended a request is gone, and one
// that is still being answered stays.
func TestRequestsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGlass()
		wake, stop := g.watch("")
		defer stop()
		long, short := g.begin("", "POST /v1/chat/completions"), g.begin("", "POST /v1/completions")
		short.ends(usage{1, 2, 3}, nil)
		short.ends(usage{}, ofStatus(http.StatusInternalServerError, "told a second time"))
		if list := g.list(""); len(list) != 2 || !list[0].Done || list[0].Problem != nil || list[0].Usage.Total != 3 {
			t.Fatalf("%+v", list)
		}
		<-wake
		fixture.Pass(glassTime)
		synctest.Wait()
		select {
		case <-wake:
		default:
			t.Error("the page is not told")
		}
		if list := g.list(""); len(list) != 1 || list[0].ID != long.ID {
			t.Errorf("%+v", list)
		}
		long.ends(usage{}, nil)
		fixture.Pass(glassTime)
		synctest.Wait()
		if len(g.list("")) != 0 {
			t.Error("the long request is kept for ever")
		}
	})
}

// TestEveryFieldHasAStage: each knob of the sampler acts at a stage, under all its names.
func TestEveryFieldHasAStage(t *testing.T) {
	for _, k := range terms.Knobs() {
		if actsAt[k.Key] == 0 {
			t.Errorf("%s acts at no stage", k.Key)
		}
	}
	for _, other := range otherNames {
		if actsAt[other.name] != actsAt[other.key] || actsAt[other.name] == 0 {
			t.Errorf("%s acts at stage %d, %s at %d", other.name, actsAt[other.name], other.key, actsAt[other.key])
		}
	}
}
