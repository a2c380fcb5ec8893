package lab

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// partingOf runs one step of the model with the settings of two lanes, and returns why they diverge
// there.
func partingOf(t *testing.T, names string, seed uint64) (Parting, bool) {
	t.Helper()
	lanes, err := Env{}.parseLanes(names)
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

// TestLanePartingReasons: each reason names the lane that it applies to, regardless of the order in
// which the lanes are listed.
func TestLanePartingReasons(t *testing.T) {
	seen := map[string]bool{}
	for seed := uint64(0); seed < 40; seed++ {
		for _, names := range []string{
			"greedy,pure", "pure,greedy", "pure,k=2", "k=2,pure", "pure,t=0.5", "pure,p=0.5", "pure,minp=0.3",
		} {
			p, parted := partingOf(t, names, seed)
			if !parted {
				continue
			}
			lanes, err := Env{}.parseLanes(names)
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
			t.Errorf("no lanes diverged because of %s, so the test proves little", why)
		}
	}
}

// TestLaneNames: different lanes have different names, even if they are greedy, and names contain
// numbers as they were typed.
func TestLaneNames(t *testing.T) {
	for text, want := range map[string]string{
		"t=0": "Greedy", "t=0 k=5": "T 0, top-k 5", "t=0 p=0.5": "T 0, top-p 0.5", "k=1000": "T 1, top-k 1000",
		"t=0.7 p=0.9": "Common", "t=0.7 minp=0.05 typical=0.2": "T 0.7, min-p 0.05, typical-p 0.2",
		"t=0.7 p=0.9 rep=1.2": "T 0.7, repetition penalty 1.2, top-p 0.9",
	} {
		if lane, err := (Env{}).parseLane(text); err != nil || lane.Name.String() != want {
			t.Errorf("%s is named %q (%v), want %q", text, lane.Name, err, want)
		}
	}
	_, err := Env{}.parseLane("t=1 seed=3")
	want := `lanes is "t=1 seed=3", where seed is not a lane setting; it must be ` +
		terms.English.T("lab.refused.lanes")
	if err == nil || err.Error() != want {
		t.Errorf("a seed was rejected with\n%v\nwant\n%s", err, want)
	}
}

// TestLanePartingWithTopTokenCut: after the story, typical-p 0.2 keeps eleven tokens and cuts the
// most probable ones. So a kept token has a segment even if its rank is above eleven, and a cut
// token has none even if its rank is lower.
func TestLanePartingWithTopTokenCut(t *testing.T) {
	beyond, before := 0, 0
	for seed := range uint64(60) {
		p, parted := partingOf(t, "typical=0.2,pure", seed)
		if !parted {
			continue
		}
		d := firstDistribution(t, 0.2)
		for token, at := range p.Segments[0] {
			r := d.RankOf(int32(p.Tokens[token].ID))
			if (at.To > at.From) != d.Stays(r) {
				t.Errorf(
					"seed %d: rank %d, kept %v, has the segment %v; want one only if the token is kept", seed, r+1,
					d.Stays(r), at,
				)
			}
			if d.Stays(r) && r >= d.Keep {
				beyond++
			}
			if !d.Stays(r) && r < d.Keep {
				before++
			}
		}
		if own := p.Segments[0][0]; !(own.From <= p.U && p.U < own.To) {
			t.Errorf("seed %d: u = %v, the chosen token has the segment %v, want it to contain u", seed, p.U, own)
		}
		if p.Why != PartFilter && p.Why != PartSegment || p.Why == PartFilter && p.CutBy != "typical_p" {
			t.Errorf(
				"seed %d: got reason %s %s, want another segment, or a filter, which is typical_p", seed, p.Why,
				p.CutBy,
			)
		}
	}
	if beyond == 0 || before == 0 {
		t.Errorf("%d kept tokens above rank eleven, %d cut ones below, so the test proves little", beyond, before)
	}
}

// firstDistribution returns the distribution of the first token after the story, under
// typical-p.
func firstDistribution(t *testing.T, typical float64) *sampling.Distribution {
	t.Helper()
	s := infer.Settings{Settings: sampling.Pure, Stop: infer.Stop{MaxTokens: 1}}
	s.TypicalP = typical
	loop, err := infer.NewLoop(models(t).Target, story, s)
	if err != nil {
		t.Fatal(err)
	}
	step, err := turn(t.Context(), loop)
	if err != nil {
		t.Fatal(err)
	}
	return step.Distribution()
}

func checkReason(t *testing.T, lanes []Lane, p Parting) {
	t.Helper()
	narrow := 0 // index of the lane that is greedy, or whose filter cuts the other's token
	if lanes[0].Name.String() == "Pure" {
		narrow = 1
	}
	own, other := p.Tokens[narrow].Text, p.Tokens[1-narrow].Text
	var want string
	switch p.Why {
	case PartGreedy:
		want = "Greedy takes the most probable token, “" + own + "”. In Pure, u = "
	case PartFilter:
		want = lanes[narrow].Name.String() + " cannot take “" + other + "”: its "
		if *p.Cut != p.Tokens[1-narrow] {
			t.Errorf("%s: got cut %v, want the other lane's token, %v", p.Say, p.Cut, p.Tokens[1-narrow])
		}
	case PartSegment:
		want = "Both keep both tokens, but the segments differ: u = "
	}
	if say := p.Say.String(); !strings.HasPrefix(say, want) || !strings.Contains(say, "“"+own+"”") ||
		!strings.Contains(say, "“"+other+"”") {
		t.Errorf("%q does not begin with %q", p.Say, want)
	}
}
