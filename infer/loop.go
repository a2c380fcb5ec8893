package infer

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// DefaultRows is the number of tokens that a stage lists by default.
const DefaultRows = 20

// Loop generates text after a prompt, one stage at a time. It owns a cache and the steps so far.
// Only one goroutine at a time may use it.
type Loop struct {
	// Rows is the number of tokens listed by the stages that Next returns; 0 lists the whole
	// vocabulary. It does not affect the computation.
	Rows int

	model    *Model
	text     chat.Text
	prompt   []int
	settings Settings
	cache    *Cache
	steps    []*Step                // the last step may be in progress
	dist     *sampling.Distribution // of the newest step, from its softmax on
	force    *int                   // the token that the next sample stage must choose
	kept     *constraint            // the last compiled grammar
	columns  int                    // number of prompt columns cached before the run: see Continue
}

// NewLoop prepares to generate text after a prompt. It does not run anything yet. It returns a
// *[terms.RangeError] for invalid settings or an invalid prompt, and a *[terms.Refusal] for a
// grammar that cannot be used.
func NewLoop(m *Model, prompt string, s Settings) (*Loop, error) {
	if err := m.CheckBias(s.LogitBias); err != nil {
		return nil, err
	}
	return NewChat(m, chat.Text{Text: prompt}, s)
}

// NewChat is like [NewLoop], but for a chat, whose text contains special tokens.
func NewChat(m *Model, prompt chat.Text, s Settings) (*Loop, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	ids, err := m.Fit(prompt)
	if err != nil {
		return nil, err
	}
	l := &Loop{Rows: DefaultRows, model: m, text: prompt, prompt: ids, settings: s, cache: m.NewCache()}
	if s.Grammar != "" {
		if _, err := l.constraint(s.Grammar); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// turn lists the seven stages of one turn of the loop, in order. Each stage fills in its part of
// the step.
var turn = [...]func(*Loop, context.Context, *Step) error{
	KindForward: (*Loop).forward, // run the new tokens through every block
	KindLogits:  (*Loop).logits,  // score every token of the vocabulary
	KindSoftmax: (*Loop).softmax, // turn the scores into probabilities
	KindFilter:  (*Loop).filter,  // cut unlikely tokens, rescale the rest
	KindSample:  (*Loop).sample,  // draw one
	KindAppend:  (*Loop).append,  // add it to the text, unless a stop condition fires
	KindCache:   (*Loop).grow,    // keep the pass's keys and values; start over
}

// Next runs the next stage and returns it. Once a stop condition has fired and that turn is
// finished, Next returns io.EOF. Any other error leaves the loop unchanged.
func (l *Loop) Next(ctx context.Context) (Stage, error) {
	kind, err := l.Advance(ctx)
	if err != nil {
		return nil, err
	}
	return l.model.Stage(l.steps[len(l.steps)-1], kind, l.dist, l.Rows), nil
}

// Advance is like Next, but does not build the stage's value: it runs the next stage and returns
// its kind.
func (l *Loop) Advance(ctx context.Context) (Kind, error) {
	if l.BetweenTurns() && l.Stopped() != StopNone {
		return 0, io.EOF
	}
	return l.run(ctx)
}

// run runs the next stage, ignoring the stop conditions.
func (l *Loop) run(ctx context.Context) (Kind, error) {
	s := l.open()
	kind := s.Ran + 1
	if err := turn[kind](l, ctx, s); err != nil {
		return 0, err
	}
	s.Ran = kind
	l.put(s)
	return kind, nil
}

// Distribution returns the newest step's distribution, which exists from the step's softmax until
// the loop is changed. At other times, it returns nil; use [Step.Distribution] instead.
func (l *Loop) Distribution() *sampling.Distribution { return l.dist }

// BetweenTurns reports whether the next stage to run is a forward pass.
func (l *Loop) BetweenTurns() bool {
	return len(l.steps) == 0 || l.steps[len(l.steps)-1].Ran == KindCache
}

// open returns a modifiable copy of the step in progress, or a new step.
func (l *Loop) open() *Step {
	if !l.BetweenTurns() {
		s := *l.steps[len(l.steps)-1]
		return &s
	}
	s := &Step{
		N: len(l.steps) + 1, Settings: l.settings, Input: l.prompt[l.columns:], Start: l.columns, tok: l.model.tok,
	}
	if l.columns > 0 {
		s.before = &past{l.prompt[:l.columns], nil}
	}
	if len(l.steps) > 0 {
		last := l.steps[len(l.steps)-1]
		s.Input, s.Start = []int{last.Chosen}, last.Positions()
		s.before, s.state, s.fits = &past{last.Input, last.before}, last.next, l.fitsAfter(last)
	}
	l.dist = nil
	return s
}

// put makes s the newest step. Steps returned earlier do not change.
func (l *Loop) put(s *Step) {
	if s.N > len(l.steps) {
		l.steps = append(l.steps, s)
		return
	}
	l.steps = append(l.steps[:s.N-1:s.N-1], s)
}

func (l *Loop) forward(ctx context.Context, s *Step) (err error) {
	start := time.Now()
	s.last, s.Blocks, err = l.model.Forward(ctx, l.cache, s.Input)
	s.Took[KindForward] = time.Since(start) - l.model.Waited()
	return err
}

func (l *Loop) logits(_ context.Context, s *Step) (err error) {
	start := time.Now()
	s.Logits, s.Output, err = l.model.Logits(s.last)
	s.Took[KindLogits] = time.Since(start) - l.model.Waited()
	return err
}

func (l *Loop) softmax(_ context.Context, s *Step) error {
	if err := l.constrain(s); err != nil {
		return err
	}
	start := time.Now()
	scores := s.context().Score(s.Logits, s.Settings.Settings)
	p, max, sum := scores.Softmax()
	s.Took[KindSoftmax] = time.Since(start)
	s.Entropy = sampling.SoftmaxEntropy(scores.Z, scores.T, p, max, sum)
	// The filter is computed along with the softmax because a page may preview which tokens will be
	// kept. It is timed separately.
	start = time.Now()
	l.dist = s.context().Filter(scores, p, max, sum, sampling.Rank(scores.Z), s.Settings.Settings)
	s.Took[KindFilter] = time.Since(start)
	return nil
}

func (l *Loop) filter(_ context.Context, s *Step) error {
	if l.dist == nil {
		l.dist = s.Distribution()
	}
	return nil
}

func (l *Loop) sample(_ context.Context, s *Step) error {
	if l.dist == nil {
		l.dist = s.Distribution()
	}
	start := time.Now()
	rank := l.dist.KeptRank(0)
	if !s.Settings.Greedy() {
		s.U = sampling.U(s.Settings.Seed, s.N)
		rank = l.dist.Draw(s.U)
	}
	s.Took[KindSample] = time.Since(start)
	s.Drawn = int(l.dist.Order[rank])
	if l.force != nil {
		s.Forced, rank = true, l.dist.RankOf(int32(*l.force))
	}
	s.Chosen, s.Rank = int(l.dist.Order[rank]), rank+1
	s.P, s.Q, s.next = l.dist.P[s.Chosen], l.dist.Q(rank), l.dist.Next(rank)
	return nil
}

func (l *Loop) append(_ context.Context, s *Step) error {
	if l.dist == nil {
		l.dist = s.Distribution()
	}
	start := time.Now()
	var all []byte
	var shown int // bytes released by all earlier steps
	for _, old := range l.steps[:s.N-1] {
		all = append(all, l.model.tok.Bytes(old.Chosen)...)
		shown = len(all) - len(old.Held)
	}
	fresh := l.model.tok.Bytes(s.Chosen) // none for a special token
	all = append(all, fresh...)

	var safe int
	s.Stop, s.StopString, safe = l.model.ending(s.Chosen, s.N, s.Positions(), all, len(fresh), s.Settings.Stop)
	// Released text cannot be taken back, even if it now looks like the beginning of a stop string
	// because a stop string was set or a limit was raised after the release.
	safe = max(safe, shown)
	s.Text = ValidText(all[shown:safe])
	s.Held = slices.Clone(all[safe:])
	s.Took[KindAppend] = time.Since(start)
	s.Conditions = l.conditions(s, all)
	return nil
}

func (l *Loop) grow(_ context.Context, s *Step) error {
	shape := l.model.Shape()
	s.TotalCached = s.Blocks.Plus(s.Output).Total()
	s.TotalRecomputed = shape.Pass(s.Positions()).Total()
	if s.N > 1 {
		last := l.steps[s.N-2]
		s.TotalCached += last.TotalCached
		s.TotalRecomputed += last.TotalRecomputed
	}
	return nil
}

// conditions returns how close each stop condition is to firing after step s. `all` holds the
// generated bytes, including those of step s.
func (l *Loop) conditions(s *Step, all []byte) []Condition {
	stop := s.Settings.Stop
	list := []Condition{{Kind: StopMaxTokens, Have: s.N, Limit: stop.MaxTokens}}
	if len(l.model.eos) > 0 {
		c := Condition{Kind: StopEOS}
		for i, id := range l.model.config.EOS {
			if !slices.Contains(l.model.config.EOS[:i], id) { // a file may list a token twice
				c.P += l.dist.P[id]
				c.Kept = c.Kept || l.dist.Keeps(int32(id))
			}
		}
		list = append(list, c)
	}
	for _, str := range stop.Strings {
		list = append(list, Condition{Kind: StopString, String: str, Matched: matched(all, str)})
	}
	list = append(list, Condition{Kind: StopContext, Have: s.Positions(), Limit: l.model.config.Context})
	for i := range list {
		c := &list[i]
		if c.Fired = c.Kind == s.Stop && c.String == s.StopString; c.Fired && c.Kind == StopString {
			c.Matched = len(c.String)
		}
	}
	return list
}
