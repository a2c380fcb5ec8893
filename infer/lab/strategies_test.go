package lab

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

func TestFindCircle(t *testing.T) {
	for _, c := range []struct {
		name          string
		ids           []int
		start, period int
		found         bool
	}{
		{"nothing", nil, 0, 0, false},
		{"all different", []int{1, 2, 3, 4, 5, 6, 7, 8}, 0, 0, false},
		{"one token", []int{9, 8, 7, 7, 7, 7, 7}, 2, 1, true},               // 7 recurs four times
		{"twice is chance", []int{9, 8, 7, 7, 7}, 0, 0, false},              // it recurs only twice
		{"three tokens", []int{5, 1, 2, 3, 1, 2, 3, 1}, 1, 3, true},         // 1 2 3, 1 2 3, 1: four tokens recur
		{"half a round", []int{5, 1, 2, 3, 4, 5, 6, 1, 2}, 0, 0, false},     // only two tokens recur
		{"it ended", []int{1, 2, 1, 2, 1, 2, 1, 2, 3}, 0, 0, false},         // the text has left the circle
		{"whole", []int{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, 0, 5, true},          // two rounds
		{"shortest", []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, 0, 1, true}, // the period is not 2, 3 or 4
	} {
		start, period, found := circleOf(c.ids)
		if start != c.start || period != c.period || found != c.found {
			t.Errorf(
				"%s: from %d every %d (%v), want from %d every %d (%v)", c.name, start, period, found, c.start,
				c.period, c.found,
			)
		}
	}
}

// TestFindCircleStart: the start of a circle is found whatever precedes it. The start is earlier if
// the tokens before the circle happen to continue it backward.
func TestFindCircleStart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		ids := make([]int, random.IntN(20))
		for i := range ids {
			ids[i] = random.IntN(5)
		}
		begins := len(ids)
		period := 1 + random.IntN(6)
		for i := range 2*period + circleTokens + random.IntN(10) {
			if i < period {
				ids = append(ids, random.IntN(5))
			} else {
				ids = append(ids, ids[len(ids)-period])
			}
		}
		start, p, found := circleOf(ids)
		if !found || start > begins || p > period {
			t.Fatalf(
				"%v: found from %d every %d (%v), want from %d every %d, or earlier", ids, start, p, found, begins,
				period,
			)
		}
		for i := start + p; i < len(ids); i++ {
			if ids[i] != ids[i-p] {
				t.Fatalf("%v: %d does not recur at %d", ids, p, i)
			}
		}
	}
}

func TestMeasureRepetition(t *testing.T) {
	// a b a b a b has five pairs, two of them distinct, and three runs of four tokens (abab, baba,
	// abab), of which only the last has occurred before.
	got := measure([]int{1, 2, 1, 2, 1, 2})
	if got.Tokens != 6 || !near(got.Distinct2, 0.4, 1e-12) || !near(got.Repetition, 1.0/3, 1e-12) {
		t.Errorf("got %+v, want Tokens = 6, Distinct2 ≈ 0.4, Repetition ≈ 1.0/3", got)
	}
	if got := measure([]int{1}); got.Distinct2 != 0 || got.Repetition != 0 {
		t.Errorf("one token: got %+v, want Distinct2 = 0, Repetition = 0", got)
	}
	// softmax of 0, ln 3: ¼ and ¾.
	if got := logP([]float32{0, float32(math.Log(3))}, 1); !near(got, math.Log(0.75), 1e-7) {
		t.Errorf("ln p %v, want ln 0.75", got)
	}
}

// tree returns a scorer with invented probabilities. The preceding tokens select a row.
func tree(rows map[int][]float64) scorer {
	return func(_ context.Context, ids []int) ([]float64, error) {
		key := 0
		for _, id := range ids {
			key = key*10 + id + 1
		}
		logs := make([]float64, len(rows[key]))
		for i, p := range rows[key] {
			logs[i] = math.Log(p)
		}
		return logs, nil
	}
}

// TestGreedyIsNotTheMostProbable: greedy takes the token with probability 0.6, and its best
// continuation has 0.6 · 0.4 = 0.24. The other prefix has 0.4, and its best continuation has 0.4 ·
// 0.9 = 0.36.
func TestGreedyIsNotTheMostProbable(t *testing.T) {
	rows := map[int][]float64{0: {0.6, 0.4}, 1: {0.4, 0.6 * 0.5}, 2: {0.1, 0.9}}
	f, err := searchBest(t.Context(), tree(rows), func(int) bool { return false }, 2, 100)
	if err != nil || !f.exact || !slices.Equal(f.greedy.ids, []int{0, 0}) || !slices.Equal(f.best.ids, []int{1, 1}) {
		t.Fatalf(
			"greedy %v, best %v, exact %v, %v; want %v, %v, true, <nil>", f.greedy.ids, f.best.ids, f.exact, err,
			[]int{0, 0}, []int{1, 1},
		)
	}
	if !near(math.Exp(f.greedy.log), 0.24, 1e-12) || !near(math.Exp(f.best.log), 0.36, 1e-12) {
		t.Errorf("greedy %v, best %v; want about 0.24, about 0.36", math.Exp(f.greedy.log), math.Exp(f.best.log))
	}
	// Five passes: two for greedy, and three for the root and both prefixes (0.6 and 0.4 are above
	// 0.24).
	if f.expanded != 5 {
		t.Errorf("%d passes, want 5", f.expanded)
	}
	// A search that is cut short reports that and keeps greedy's path.
	f, err = searchBest(t.Context(), tree(rows), func(int) bool { return false }, 2, 2)
	if err != nil || f.exact || !slices.Equal(f.best.ids, f.greedy.ids) {
		t.Errorf("cut short: exact %v, best %v, %v; want false, %v, <nil>", f.exact, f.best.ids, err, f.greedy.ids)
	}
}

// TestSearchEqualsExhaustiveSearch: the search finds the same sequence as trying all sequences,
// including sequences that end early.
func TestSearchEqualsExhaustiveSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const vocab, horizon, end = 4, 3, 3
	differs := 0
	for range 300 {
		rows := map[int][]float64{}
		var fill func(key, depth int)
		fill = func(key, depth int) {
			p := make([]float64, vocab)
			sum := 0.0
			for i := range p {
				p[i] = math.Exp(2 * random.NormFloat64())
				sum += p[i]
			}
			for i := range p {
				p[i] /= sum
				if depth > 1 && i != end {
					fill(key*10+i+1, depth-1)
				}
			}
			rows[key] = p
		}
		fill(0, horizon)
		best := 0.0
		var try func(key, depth int, p float64)
		try = func(key, depth int, p float64) {
			for i, q := range rows[key] {
				if i == end || depth == 1 {
					best = max(best, p*q)
				} else {
					try(key*10+i+1, depth-1, p*q)
				}
			}
		}
		try(0, horizon, 1)
		f, err := searchBest(t.Context(), tree(rows), func(id int) bool { return id == end }, horizon, 1000)
		if err != nil || !f.exact || !near(math.Exp(f.best.log), best, 1e-12) {
			t.Fatalf("found %v, want the best, %v (exact %v, %v)", math.Exp(f.best.log), best, f.exact, err)
		}
		if f.best.log > f.greedy.log {
			differs++
		}
		// A limit equal to the number of passes that the search took is enough, although the search
		// then keeps only as many prefixes as it has passes left. A limit that is one lower is not
		// enough.
		enough, err := searchBest(t.Context(), tree(rows), func(id int) bool { return id == end }, horizon, f.expanded)
		if err != nil || !enough.exact || enough.expanded != f.expanded || !slices.Equal(enough.best.ids, f.best.ids) {
			t.Fatalf(
				"with %d passes: found %v, want %v (%v)", f.expanded, enough.best.ids, f.best.ids, err,
			)
		}
		if f.expanded > horizon {
			if short, err := searchBest(
				t.Context(), tree(rows), func(id int) bool { return id == end }, horizon, f.expanded-1,
			); err != nil || short.exact {
				t.Fatalf(
					"one pass fewer: took %d passes of %d, %v; want an incomplete search",
					short.expanded, f.expanded, err,
				)
			}
		}
	}
	if differs < 10 {
		t.Errorf("greedy missed the best sequence only %d times, so the test proves little", differs)
	}
}

// TestKeepMostProbable: keep retains the most probable prefixes, and they still form a heap.
func TestKeepMostProbable(t *testing.T) {
	open := &prefixes{}
	for i, log := range []float64{-5, -1, -4, -2, -3, -1} {
		heap.Push(open, prefix{ids: []int{i}, log: log})
	}
	if least := open.keep(3); least != -2 || open.Len() != 3 {
		t.Fatalf("%d kept, the minimum %v; want 3, -2", open.Len(), least)
	}
	heap.Push(open, prefix{ids: []int{9}, log: -1.5})
	var got []int
	for open.Len() > 0 {
		got = append(got, heap.Pop(open).(prefix).ids[0])
	}
	if !slices.Equal(got, []int{1, 5, 9, 3}) { // −1 twice (the lower id first), −1.5, −2
		t.Errorf("got the order %v, want %v", got, []int{1, 5, 9, 3})
	}
}

func TestPossibleSaturates(t *testing.T) {
	if n := possible(4096, 3); n != 68_719_476_736 { // 2^36
		t.Errorf("possible(4096, 3) = %d, want 68_719_476_736", n)
	}
	if n := possible(4096, 6); n != math.MaxInt64 { // 2^72
		t.Errorf("possible(4096, 6) = %d, want %d", n, math.MaxInt64)
	}
}

// TestStrategyLanesEqualLoops: each lane's text equals the text of a loop with the same settings, all
// lanes use the same u, and the reason why two lanes diverge is correct.
func TestStrategyLanesEqualLoops(t *testing.T) {
	env := models(t)
	s, _ := result[*Strategies](
		t, "strategies", terms.Values{"tokens": "30", "runs": "3", "lanes": "greedy,pure,top_k,top_p,t=1.5 k=3,t=0.5"},
	)
	for i, lane := range s.Lanes {
		loop, err := infer.NewLoop(
			env.Target, story, infer.Settings{Settings: lane.Settings, Seed: 42, Stop: infer.Stop{MaxTokens: 30}},
		)
		if err != nil {
			t.Fatal(err)
		}
		text, err := write(t.Context(), loop)
		if err != nil || text != lane.Text || s.Runs[i].Texts[0].Text != text || s.Runs[i].Runs != 3 {
			t.Errorf(
				"%s generated %q, alone %q (%v); want no error, text = %q, s.Runs[i].Texts[0].Text = %q, "+
					"s.Runs[i].Runs = 3",
				lane.Name, lane.Text, text, err, lane.Text, text,
			)
		}
		for _, x := range lane.Steps {
			if s.U[x.Step-1] != sampling.U(42, x.Step) || x.LogP > 0 || x.P <= 0 {
				t.Errorf(
					"%s at %d: u %v, ln p %v, p %v; want %v, 0, more than 0", lane.Name, x.Step, s.U[x.Step-1], x.LogP,
					x.P, sampling.U(42, x.Step),
				)
			}
			if u := s.U[x.Step-1]; lane.Settings.Temperature > 0 && (u < x.From || u >= x.To) {
				t.Errorf("%s at %d: u %v is not within %v to %v", lane.Name, x.Step, u, x.From, x.To)
			}
		}
	}
	if s.Runs[0].DistinctTexts != 1 || s.Runs[1].DistinctTexts != 3 {
		t.Errorf("got %d greedy texts and %d pure ones, want 1 and 3", s.Runs[0].DistinctTexts, s.Runs[1].DistinctTexts)
	}
	if len(s.Partings) == 0 {
		t.Fatal("no two lanes diverge")
	}
	for _, p := range s.Partings {
		checkParting(t, s, p)
	}
}

func checkParting(t *testing.T, s *Strategies, p Parting) {
	t.Helper()
	a, b := s.Lanes[p.Lanes[0]].Steps, s.Lanes[p.Lanes[1]].Steps
	for i := range p.Step - 1 {
		if a[i].Token != b[i].Token {
			t.Errorf("lanes %v already diverge at step %d, before %d", p.Lanes, i+1, p.Step)
		}
	}
	if a[p.Step-1].Token != p.Tokens[0] || b[p.Step-1].Token != p.Tokens[1] || p.Tokens[0] == p.Tokens[1] ||
		p.Say.IsZero() {
		t.Errorf(
			"lanes %v at %d: %v; want a[p.Step-1].Token = %+v, b[p.Step-1].Token = %+v, p.Tokens[0] other "+
				"than %+v, p.Say not empty",
			p.Lanes, p.Step, p.Tokens, p.Tokens[0], p.Tokens[1], p.Tokens[1],
		)
	}
	within := func(lane int) bool {
		x := p.Segments[lane][lane]
		return p.U >= x.From && p.U < x.To
	}
	none := func(x Segment) bool { return x.From == x.To }
	greedyLane := s.Lanes[p.Lanes[0]].Settings.Greedy() || s.Lanes[p.Lanes[1]].Settings.Greedy()
	switch p.Why {
	case PartGreedy:
		if !greedyLane {
			t.Errorf("lanes %v: neither is greedy", p.Lanes)
		}
	case PartFilter:
		if cutBy := none(p.Segments[0][1]) && *p.Cut == p.Tokens[1] || none(p.Segments[1][0]) &&
			*p.Cut == p.Tokens[0]; !cutBy || p.CutBy == "" || greedyLane {
			t.Errorf("lanes %v: got %+v; want cutBy = true, CutBy not empty, greedyLane = false", p.Lanes, p)
		}
	case PartSegment:
		if !within(0) || !within(1) || none(p.Segments[0][1]) || none(p.Segments[1][0]) || greedyLane {
			t.Errorf("lanes %v: got %+v, want u on each lane's own segment, and not on the other's", p.Lanes, p)
		}
	default:
		t.Errorf("lanes %v diverge because of %q, want a filter or a segment", p.Lanes, p.Why)
	}
}

// TestSearchBeatsGreedyOnTheModel: in a search with the model, the probabilities equal the loop's,
// and the best sequence is more probable than greedy's if it differs.
func TestSearchBeatsGreedyOnTheModel(t *testing.T) {
	s, _ := result[*Strategies](t, "strategies", terms.Values{
		"tokens": "2", "runs": "1", "lanes": "greedy", "horizon": "2",
	})
	b := s.Best
	if b == nil || !b.Exact || len(b.Greedy.Tokens) != 2 || b.Possible != possible(models(t).Target.Config().Vocab, 2) {
		t.Fatalf(
			"got %+v, want an exact search over %d sequences of 2 tokens", b,
			possible(models(t).Target.Config().Vocab, 2),
		)
	}
	for _, q := range []Sequence{b.Greedy, b.Best} {
		product := 1.0
		for _, p := range q.Each {
			product *= p
		}
		if !near(product/q.P, 1, 1e-9) {
			t.Errorf("%q: got p %v, want the product of its tokens' p, %v", q.Text, q.P, product)
		}
	}
	if b.Differs != (b.Best.P > b.Greedy.P) || b.Best.P < b.Greedy.P {
		t.Errorf("differs %v: %v and %v", b.Differs, b.Best.P, b.Greedy.P)
	}
	if b.Prompt == story {
		for i, x := range s.Lanes[0].Steps {
			if x.Token != b.Greedy.Tokens[i] || !near(x.P, b.Greedy.Each[i], 1e-6) {
				t.Errorf(
					"greedy's token %d is %v at %v, want the lane's %v at %v", i, b.Greedy.Tokens[i], b.Greedy.Each[i],
					x.Token, x.P,
				)
			}
		}
	}
}
