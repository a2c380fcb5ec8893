package lab

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// partingOf makes two lanes choose at the same step of the model, and tells why
// they part there.
func partingOf(t *testing.T, names string, seed uint64) (Parting, bool) {
	t.Helper()
	lanes, err := parseLanes(names)
	if err != nil {
		t.Fatal(err)
	}
	var steps [2]*infer.Step
	for i := range steps {
		loop, err := infer.NewLoop(
			models(t).Target, story,
			infer.Settings{Settings: lanes[i].Settings, Seed: seed, Stop: infer.Stop{MaxTokens: 1}},
		)
		if err != nil {
			t.Fatal(err)
		}
		if steps[i], err = turn(t.Context(), loop); err != nil {
			t.Fatal(err)
		}
	}
	if steps[0].Chosen == steps[1].Chosen {
		return Parting{}, false
	}
	return parting(models(t).Target, lanes, [2]int{0, 1}, steps[0], steps[1]), true
}

// Each reason names the lane that it is true of, whichever stands first.
func TestWhyLanesPart(t *testing.T) {
	seen := map[string]bool{}
	for seed := uint64(0); seed < 40; seed++ {
		for _, names := range []string{
			"greedy,pure", "pure,greedy", "pure,k=2", "k=2,pure", "pure,t=0.5", "pure,p=0.5", "pure,minp=0.3",
		} {
			p, parted := partingOf(t, names, seed)
			if !parted {
				continue
			}
			lanes, err := parseLanes(names)
			if err != nil {
				t.Fatal(err)
			}
			seen[p.Why+p.CutBy] = true
			checkReason(t, lanes, p)
		}
	}
	for _, why := range []string{
		PartGreedy, PartFilter + string(sampling.RuleTopK), PartFilter + string(sampling.RuleTopP),
		PartFilter + string(sampling.RuleMinP), PartSegment,
	} {
		if !seen[why] {
			t.Errorf("no lanes parted because of %s: the test says little", why)
		}
	}
}

func checkReason(t *testing.T, lanes []Lane, p Parting) {
	t.Helper()
	narrow := 0 // the lane that is greedy, or whose filter cuts
	if lanes[0].Name == "Pure" {
		narrow = 1
	}
	own, other := p.Tokens[narrow].Text, p.Tokens[1-narrow].Text
	var want string
	switch p.Why {
	case PartGreedy:
		want = "Greedy takes the most probable token, “" + own + "”. In Pure, u = "
	case PartFilter:
		want = lanes[narrow].Name + " cannot take “" + other + "”: its "
		if *p.Cut != p.Tokens[1-narrow] {
			t.Errorf("%s: cut %v", p.Say, p.Cut)
		}
	case PartSegment:
		want = "Both keep both tokens, but the segments differ: u = "
	}
	if !strings.HasPrefix(p.Say, want) || !strings.Contains(p.Say, "“"+own+"”") ||
		!strings.Contains(p.Say, "“"+other+"”") {
		t.Errorf("%q does not begin with %q", p.Say, want)
	}
}
