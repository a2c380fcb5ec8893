package infer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
)

func penalized(seed uint64) Settings {
	s := DefaultSettings()
	s.Seed, s.RepetitionPenalty, s.Stop.MaxTokens = seed, 1.4, 20
	return s
}

// TestLoopPenalizesTheTextBefore: at every step of a loop, the tokens of the text before it are
// penalized, including the prompt's tokens. The distribution that is derived later from the step
// alone equals the distribution that its token was drawn from.
func TestLoopPenalizesTheTextBefore(t *testing.T) {
	m := bundledModel(t)
	for _, temperature := range []float64{0, 0.7} {
		s := penalized(3)
		s.Temperature = temperature
		l := newLoop(t, m, holePrompt, s)
		finish(t, l)
		text := slices.Clone(l.Prompt())
		for _, step := range l.Steps() {
			want := sampling.Context{Text: text}.Decide(step.Logits, s.Settings)
			got := step.Distribution()
			if !slices.Equal(got.P, want.P) || step.P != want.P[step.Chosen] ||
				got.Score(text[0]) == step.Logits[text[0]] {
				t.Fatalf("T = %v: step %d is not penalized by the text before it", temperature, step.N)
			}
			if got.Entropy() != step.Entropy {
				t.Fatalf("got entropy %v, want the step's %v", got.Entropy(), step.Entropy)
			}
			text = append(text, step.Chosen)
		}
		free := penalized(3)
		free.Temperature, free.RepetitionPenalty = temperature, 0
		other := newLoop(t, m, holePrompt, free)
		finish(t, other)
		if textOf(other) == textOf(l) {
			t.Errorf("T = %v: the penalty changes no token, so the test proves little", temperature)
		}
	}
}

// TestPenaltyAfterGoingBack: if the penalty is turned on midway, a log replays bit for bit, and so
// does a step after going back. In a branch, the tokens of the branch's own text are penalized.
func TestPenaltyAfterGoingBack(t *testing.T) {
	m := bundledModel(t)
	s := penalized(5)
	s.RepetitionPenalty = 0
	l := newLoop(t, m, holePrompt, s)
	advance := func(l *Loop, steps int) {
		t.Helper()
		for len(l.Steps()) < steps || !l.BetweenTurns() {
			if _, err := l.Advance(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	advance(l, 4)
	if err := l.Set(penalized(5)); err != nil {
		t.Fatal(err)
	}
	advance(l, 12)
	first := chosenTokens(l)
	again, err := Replay(context.Background(), m, l.Log())
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range again.Steps() {
		old := l.Steps()[i]
		if step.Chosen != old.Chosen || step.P != old.P || step.Q != old.Q || step.Entropy != old.Entropy {
			t.Fatalf("step %d replays as %d with p %v, want %d with %v", i+1, step.Chosen, step.P, old.Chosen, old.P)
		}
	}
	seventh := l.Steps()[6]
	if err := l.Choose(context.Background(), 7, int(seventh.Distribution().Order[1])); err != nil {
		t.Fatal(err)
	}
	advance(l, 9)
	if d, id := l.Steps()[8].Distribution(), l.Steps()[6].Chosen; d.Score(id) >= l.Steps()[8].Logits[id] &&
		l.Steps()[8].Logits[id] != 0 {
		t.Errorf("the chosen token still has score %v, want a lower one", d.Score(id))
	}
	if err := l.Cut(7, KindFilter); err != nil {
		t.Fatal(err)
	}
	advance(l, 12)
	if got := chosenTokens(l); !slices.Equal(got, first) {
		t.Errorf("after going back, got %v, want %v as before", got, first)
	}
}

// TestLogitsListPenalizedScores: stage 2 lists the changed scores with their
// original values; a token that occurs twice in the prompt is listed once.
func TestLogitsListPenalizedScores(t *testing.T) {
	m := bundledModel(t)
	s := penalized(1)
	s.Stop.MaxTokens = 1
	l := newLoop(t, m, "the dog and the cat and the", s)
	finish(t, l)
	step := l.Steps()[0]
	distinct := slices.Compact(slices.Sorted(slices.Values(l.Prompt())))
	st := m.Stage(step, KindLogits, nil, 3).(Logits)
	if st.Penalty == nil || st.Penalty.N != len(distinct) || len(st.Penalty.Tokens) != 3 ||
		st.Penalty.By.RepetitionPenalty != 1.4 {
		t.Fatalf("%+v, want %d tokens", st.Penalty, len(distinct))
	}
	all := m.Stage(step, KindLogits, nil, 0).(Logits)
	for _, r := range all.Rows.Rows {
		want := step.Logits[r.ID]
		if slices.Contains(distinct, r.ID) {
			if want > 0 {
				want /= 1.4
			} else {
				want *= 1.4
			}
		}
		if r.Z != want || r.Raw != step.Logits[r.ID] {
			t.Errorf("token %d has score %v (originally %v), want %v", r.ID, r.Z, r.Raw, want)
		}
	}
	if len(all.Penalty.Tokens) != len(distinct) || all.Penalty.Tokens[0].Z < all.Penalty.Tokens[1].Z {
		t.Errorf(
			"got %+v, want len(Tokens) = %d, Tokens[0].Z at least %v", all.Penalty, len(distinct),
			all.Penalty.Tokens[1].Z,
		)
	}
	data, err := json.Marshal(all)
	if err != nil || strings.Count(string(data), `"z_raw"`) != 2*len(distinct) {
		t.Errorf(
			"got %d scores with z_raw, %v; want %d, <nil>", strings.Count(string(data), `"z_raw"`), err,
			2*len(distinct),
		)
	}
	s.RepetitionPenalty = 0
	l = newLoop(t, m, "the dog and the cat and the", s)
	finish(t, l)
	data, err = json.Marshal(m.Stage(l.Steps()[0], KindLogits, nil, 0))
	if err != nil || strings.Contains(string(data), "penalty") || strings.Contains(string(data), "z_raw") {
		t.Errorf("without a penalty, stage 2 has its fields, %v", err)
	}
}
