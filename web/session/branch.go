package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// maxBranches is the maximum number of saved branches, not counting the current one. If there are
// more, the oldest is dropped. A larger tree would be unreadable.
const maxBranches = 24

// branch is a continuation that the learner has left. It holds the continuation's steps or, after
// an eviction, the log from which they can be restored.
type branch struct {
	id       int
	chosen   []int
	steps    []*infer.Step // nil after an eviction
	settings infer.Settings
	log      infer.Log // set if steps is nil
}

// keepBranch is called before a cut after c. If the cut will drop tokens, keepBranch saves the
// current text as a branch and begins another one.
func (s *Session) keepBranch(c Cursor) {
	if len(s.ghosts(c)) == 0 {
		return
	}
	s.leaveBranch()
	s.lastID++
	s.current = s.lastID
}

// leaveBranch saves the current text as a branch.
func (s *Session) leaveBranch() {
	steps := s.loop.Steps()
	s.others = append(s.others, branch{id: s.current, chosen: chosen(steps), steps: steps, settings: s.loop.Settings()})
	if len(s.others) > maxBranches {
		s.others = slices.Clone(s.others[len(s.others)-maxBranches:])
	}
}

// chosen lists the ids of the tokens that the steps have drawn.
func chosen(steps []*infer.Step) []int {
	var ids []int
	for _, step := range steps {
		if step.Ran >= infer.KindSample {
			ids = append(ids, step.Chosen)
		}
	}
	return ids
}

// branches lists all branches, including the current one, oldest first.
func (s *Session) branches() []Branch {
	list := make([]Branch, 0, len(s.others)+1)
	for _, b := range s.others {
		list = append(list, Branch{ID: b.id, Chosen: b.chosen})
	}
	list = append(list, Branch{ID: s.current, Chosen: chosen(s.loop.Steps()), Current: true})
	slices.SortFunc(list, func(a, b Branch) int { return a.ID - b.ID })
	return list
}

// choose replaces the token that was chosen at a step whose scores are known.
func (s *Session) choose(ctx context.Context, next *State, c Choose) error {
	f := s.state.Frontier()
	if c.Step < 1 || c.Step > f.Step || s.state.Steps[c.Step-1].Ran < infer.KindLogits {
		return terms.RefuseField("step", c.Step, terms.PhraseOf("run.want.step.scored"))
	}
	if c.Token < 0 || c.Token >= s.model.Config().Vocab {
		return terms.RefuseField(
			"token", c.Token, terms.PhraseOf("run.want.token", "last", fmt.Sprint(s.model.Config().Vocab-1)),
		)
	}
	if step := s.state.Steps[c.Step-1]; step.Ran >= infer.KindSample && step.Chosen == c.Token {
		next.Cursor = Cursor{c.Step, infer.KindSample} // the token is already chosen
		return nil
	}
	at := Cursor{c.Step, infer.KindFilter}
	next.Ghosts = s.ghosts(Cursor{c.Step, infer.KindSample}) // the step's own token is replaced
	s.keepBranch(at)
	if err := s.loop.Choose(ctx, c.Step, c.Token); err != nil {
		return err
	}
	next.Cursor, next.Playing, next.Finishing = Cursor{c.Step, infer.KindSample}, false, false
	return nil
}

// takeBranch makes a saved branch the current one.
func (s *Session) takeBranch(ctx context.Context, next *State, id int) error {
	i := slices.IndexFunc(s.others, func(b branch) bool { return b.id == id })
	if i < 0 {
		if id == s.current {
			return nil
		}
		return terms.RefuseField("branch", id, terms.PhraseOf("run.want.branch"))
	}
	target := s.others[i]
	if target.steps == nil {
		loop, err := infer.Replay(ctx, s.model, target.log)
		if err != nil {
			return err
		}
		target.steps = loop.Steps()
	}
	left := s.loop.Steps()
	settings := s.loop.Settings()
	if err := s.loop.Adopt(ctx, target.steps, target.settings); err != nil {
		return err
	}
	s.others = slices.Delete(slices.Clone(s.others), i, i+1)
	if ids := chosen(left); len(ids) > 0 {
		s.others = append(s.others, branch{id: s.current, chosen: ids, steps: left, settings: settings})
	}
	s.current = id
	n := len(target.steps)
	next.Cursor, next.Ghosts = Cursor{n, target.steps[n-1].Ran}, nil
	next.Playing, next.Finishing = false, false
	return nil
}

// whatIf asks the what-if question at the sample stage, or withdraws it.
func whatIf(next *State, c WhatIf) error {
	if c.U == nil {
		next.WhatIf = nil
		return nil
	}
	switch u := *c.U; {
	case next.Cursor.Stage != infer.KindSample:
		return terms.Refuse(CodeOrder, "run.whatif.stage")
	case next.Step().Settings.Greedy():
		return terms.Refuse(CodeOrder, "run.whatif.greedy")
	case !(u >= 0 && u < 1):
		return terms.RefuseField("u", fmt.Sprint(u), terms.PhraseOf("run.want.u"))
	}
	u := unsigned(*c.U)
	next.WhatIf = &u
	return nil
}

// cheapToLook reports whether the early read-outs of all blocks can be computed fast enough (in a
// few milliseconds) to do so automatically.
func cheapToLook(m *infer.Model) bool {
	return m.Shape().Output().Total()*int64(m.Config().Layers) <= 50e6
}

// look records the internal values of the forward pass, if the stage shown needs them.
func (s *Session) look(next *State) {
	step := next.Step()
	if !next.Looking || next.Cursor.Stage != infer.KindForward || next.Finishing {
		next.Look = nil
		return
	}
	if next.Look != nil && s.state.Step() != nil && s.state.Step().N == step.N && sameText(
		s.state.Steps, next.Steps, step.N,
	) {
		return // the same pass as before
	}
	// The cache still contains the columns that the pass read, up to and including this step's own,
	// even if more columns were added after them. Inspect fails only if its context ends, which
	// this one never does.
	next.Look, _ = s.model.Inspect(
		context.Background(), s.loop.Cache(), step.Input[len(step.Input)-1], step.Positions()-1,
	)
}

// sameText reports whether two runs have read the same text up to step n.
func sameText(a, b []*infer.Step, n int) bool {
	if len(a) < n || len(b) < n {
		return false
	}
	for i := range n {
		if !slices.Equal(a[i].Input, b[i].Input) {
			return false
		}
	}
	return true
}

// unsigned removes the sign of a negative zero, which pages would show.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}
