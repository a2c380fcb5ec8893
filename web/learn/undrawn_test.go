package learn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
)

// TestExperimentHidesTheDraw: up to stage 4, an experiment does not depend on the token that its
// seed is going to draw: it is the same byte for byte, both on the page and over its feed. Only the
// seed and the link that contains it differ. At stage 5, experiments with different draws differ.
func TestExperimentHidesTheDraw(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetTurn)
	for _, s.View = range []shell.View{shell.Story, shell.Numbers} {
		for at := 1; at <= 5; at++ {
			looks := map[string]bool{}
			for seed := 1; seed <= 4; seed++ {
				inputs := map[string]string{"at": fmt.Sprint(at), "seed": fmt.Sprint(seed)}
				page := s.alone(spec, inputs).Find(".w__body")
				page.Find(".w__set, .w__open, .w-facts div:contains(Took)").Remove()
				html, err := page.Html()
				if err != nil || !strings.Contains(html, "w-stage") {
					t.Fatalf("got %v: %s; want <nil> and HTML that contains %q", err, html, "w-stage")
				}
				looks[html] = true
			}
			if at < 5 && len(looks) > 1 {
				t.Errorf("%s, stage %d: the page depends on the seed, want it to hide the draw", s.View, at)
			}
			if at == 5 && len(looks) == 1 {
				t.Errorf("%s: four seeds draw the same, so nothing is compared", s.View)
			}
		}
	}
}
