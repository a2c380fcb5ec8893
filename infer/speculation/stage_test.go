package speculation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// untimedSpec returns the stages' JSON without measured times.
func untimedSpec(t *testing.T, stages []Stage) (lines []string) {
	t.Helper()
	for _, st := range stages {
		lines = append(lines, specJSON(t, st))
	}
	return lines
}

func specJSON(t *testing.T, st Stage) string {
	t.Helper()
	timeless := func(c *Cost) { c.Took = 0 }
	switch x := st.(type) {
	case Prefill:
		timeless(&x.Draft)
		timeless(&x.Target)
		st = x
	case Propose:
		timeless(&x.Cost)
		st = x
	case Verify:
		timeless(&x.Cost)
		st = x
	case Extend:
		x.Took = 0
		for _, c := range []*Cost{
			&x.Totals.PrefillDraft, &x.Totals.PrefillTarget, &x.Totals.Draft, &x.Totals.Target,
		} {
			timeless(c)
		}
		st = x
	}
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSpeculationRoundByHand: one round equals values computed by hand. After x, the target gives
// both "a" and "b" a probability of ½ (equal logits), and the draft gives "a" a probability of 1.
// So "a" is accepted with probability ½ / 1. Its replacement is certainly "b", since the residual
// is max(0, ½ − 1), max(0, ½ − 0) = 0, ½.
func TestSpeculationRoundByHand(t *testing.T) {
	target := bigram(t, nil, map[int]map[int]float32{'x': {'a': 0, 'b': 0}, 'a': {'b': 0}, 'b': {endID: 0}})
	draft := bigram(t, nil, map[int]map[int]float32{'x': {'a': 0}, 'a': {'b': 0}, 'b': {endID: 0}})
	outcomes := map[bool]int{}
	for seed := range uint64(20) {
		s := pure(seed)
		sp := newSpeculator(t, target, draft, "x", s, 1)
		stages, err := sp.Round(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var kinds []Kind
		for _, st := range stages {
			kinds = append(kinds, st.Kind())
		}
		u := sampling.UFor(seed, 1, sampling.ForAccept)
		accept := stages[2].(Accept)
		if accept.P != 0.5 || accept.Q != 1 || accept.Probability != 0.5 || accept.U != u ||
			accept.Accepted != (u < 0.5) {
			t.Fatalf("seed %d: %+v, want p ½, q 1 and u %v", seed, accept, u)
		}
		outcomes[accept.Accepted]++
		last := KindCorrect
		if accept.Accepted {
			last = KindBonus
			if b := stages[3].(Bonus); b.Chosen.ID != 'b' || b.Chosen.P != 1 || b.Step != 2 ||
				b.U != sampling.U(seed, 2) {
				t.Errorf("seed %d: bonus %+v, want b", seed, b)
			}
		} else {
			c := stages[3].(Correct)
			if c.Chosen.ID != 'b' || c.Chosen.R != 1 || c.Mass != 0.5 || c.Refused.ID != 'a' || c.Refused.P != 0.5 ||
				c.From != 0 || c.To != 1 {
				t.Errorf("seed %d: correction %+v, want b for a", seed, c)
			}
		}
		if want := []Kind{KindPropose, KindVerify, KindAccept, last, KindExtend}; !slices.Equal(kinds, want) {
			t.Errorf("seed %d: stages %v, want %v", seed, kinds, want)
		}
		if want := fmt.Sprintf(`{"round":1,"stage":"accept","step":1,"token":{"id":97,"text":"a"},`+
			`"p":0.5,"q":1,"ratio":0.5,"probability":0.5,"seed":%d,"u":%v,"accepted":%v}`,
			seed, u, u < 0.5); specJSON(t, accept) != want {
			t.Errorf("%s\nwant\n%s", specJSON(t, accept), want)
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("outcomes %v, want some accepted and some rejected", outcomes)
	}
}

// TestAcceptanceIgnoresUnjudgedDrafts: proposals after a rejected token are never judged, so α does
// not include them.
func TestAcceptanceIgnoresUnjudgedDrafts(t *testing.T) {
	draft := bigram(t, nil, map[int]map[int]float32{'x': {'a': 0}, 'a': {'b': 0}, 'b': {'a': 0}, 'c': {'a': 0}})
	for _, c := range []struct {
		what             string
		target           map[int]map[int]float32
		judged, accepted int
		alpha            float64
	}{
		{
			"the first of three refused",
			map[int]map[int]float32{'x': {'c': 0}, 'a': {'b': 0}, 'b': {'a': 0}, 'c': {'a': 0}},
			1, 0, 0,
		},
		{
			"the second of three refused",
			map[int]map[int]float32{'x': {'a': 0}, 'a': {'c': 0}, 'b': {'a': 0}, 'c': {'a': 0}},
			2, 1, 0.5,
		},
		{"none refused", map[int]map[int]float32{'x': {'a': 0}, 'a': {'b': 0}, 'b': {'a': 0}, 'c': {'a': 0}}, 3, 3, 1},
	} {
		sp := newSpeculator(t, bigram(t, nil, c.target), draft, "x", pure(1), 3)
		if _, err := sp.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := sp.totals
		if got.Drafted != 3 || got.Judged != c.judged || got.Accepted != c.accepted || got.Acceptance() != c.alpha {
			t.Errorf(
				"%s: %+v, α %v; want 3 drafted, %d judged, %d accepted", c.what, got, got.Acceptance(), c.judged,
				c.accepted,
			)
		}
	}
}

// TestSpecStagesOwnTheirData: in every stage, the probabilities of the candidates and the rest sum
// to 1. The candidates include the stage's own tokens; all others can be drawn. Later stages do not
// change the candidates. Under typical-p the most probable tokens may be impossible to draw.
func TestSpecStagesOwnTheirData(t *testing.T) {
	for _, typical := range []float64{0, 0.2} {
		s := pure(4)
		s.TypicalP, s.Stop.MaxTokens = typical, 30
		checkSpecStages(t, s)
	}
}

// checkSpecStages checks all stages of a run of the small model.
func checkSpecStages(t *testing.T, s infer.Settings) {
	t.Helper()
	target := smallModel(t)
	draft := modelOf(t, smallmodel.Small, noisy(smallmodel.Small.Random(7), 0.1, 2))
	sp := newSpeculator(t, target, draft, "Hello", s, 4)
	sp.Rows = 3
	var stages []Stage
	var then []string
	sums := func(c Candidates, what string, of func(Candidate) float64, rest float64) {
		t.Helper()
		for _, row := range c.Rows {
			rest += of(row)
		}
		if !(math.Abs(rest-1) <= 1e-12) || len(c.Rows) > 3 || len(c.Rows)+c.Rest.N != target.Config().Vocab {
			t.Errorf(
				"%s: %d rows and %d others have sum %v; want about 1, len(c.Rows) at most 3, len(c.Rows)+c.Rest.N = %d",
				what, len(c.Rows), c.Rest.N, rest, target.Config().Vocab,
			)
		}
	}
	whole := func(c Candidates, must int, what string, of func(Candidate) float64, rest float64) {
		t.Helper()
		sums(c, what, of, rest)
		if !slices.ContainsFunc(c.Rows, func(row Candidate) bool { return row.ID == must }) {
			t.Errorf("%s: token %d is not listed", what, must)
		}
		for _, row := range c.Rows {
			if of(row) == 0 && row.ID != must {
				t.Errorf("typical-p %v, %s: token %d is listed but cannot be drawn", s.TypicalP, what, row.ID)
			}
		}
	}
	p := func(c Candidate) float64 { return c.P }
	q := func(c Candidate) float64 { return c.Q }
	r := func(c Candidate) float64 { return c.R }
	for {
		st, err := sp.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		stages, then = append(stages, st), append(then, specJSON(t, st))
		switch st := st.(type) {
		case Propose:
			for _, d := range st.Drafted {
				whole(d.Candidates, d.Chosen.ID, "propose", q, d.Rest.Q)
				if d.U < d.From || d.U >= d.To || d.U != sampling.UFor(4, d.Step, sampling.ForDraft) {
					t.Errorf("u %v is not in [%v, %v)", d.U, d.From, d.To)
				}
			}
		case Verify:
			for _, at := range st.Scored {
				if at.Drafted == nil {
					whole(at.Candidates, at.Rows[0].ID, "verify, last", p, at.Rest.P)
					continue
				}
				whole(at.Candidates, at.Drafted.ID, "verify", p, at.Rest.P)
				sums(at.Candidates, "verify", q, at.Rest.Q)
			}
		case Correct:
			whole(st.Candidates, st.Chosen.ID, "correct", r, st.Rest.R)
			sums(st.Candidates, "correct", p, st.Rest.P)
			if st.U < st.From || st.U >= st.To {
				t.Errorf("u %v is not in [%v, %v)", st.U, st.From, st.To)
			}
		case Bonus:
			whole(st.Candidates, st.Chosen.ID, "bonus", p, st.Rest.P)
		}
	}
	if now := untimedSpec(t, stages); !slices.Equal(now, then) {
		t.Error("a stage changed after it had been returned")
	}
}

// TestSpecFieldsAreDocumented: STAGES.md names every field of every stage.
func TestSpecFieldsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../STAGES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Speculation\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("STAGES.md has no section on speculation")
	}
	m, s := smallModel(t), pure(1)
	s.Stop.MaxTokens = 40
	seen := map[Kind]bool{}
	for _, st := range speculate(t, newSpeculator(t, m, other(t), "Hello", s, 3)) {
		seen[st.Kind()] = true
		data, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("%v has the field %s, which STAGES.md does not mention", st.Kind(), name)
			}
		}
	}
	for k := KindPrefill; k <= KindExtend; k++ {
		if !seen[k] {
			t.Errorf("the run has no stage %v", k)
		}
	}
}
