package infer

import (
	"context"
	"runtime"

	"github.com/tokenbytoken/viz/infer/terms"
)

// A Scoring is a text of any length, divided into windows that a model reads one at a time. If the
// text is longer than the context, the windows overlap by half, so every token after the first
// window has at least half a context before it, and each token is scored once.
type Scoring struct {
	m       *Model
	ids     []int
	sizes   []int // bytes of the text that each id covers
	windows []window
}

// A window is a part of a text that is read in one piece: ids[from:to]. Only the tokens from index
// done on are scored, because the previous windows have scored the others.
type window struct{ from, done, to int }

// NewScoring divides a text into windows. It returns a *[terms.RangeError] if the vocabulary cannot
// spell the text, or if the model has no start token and the text has fewer than two tokens.
func (m *Model) NewScoring(text string) (*Scoring, error) {
	if err := m.CheckText(text); err != nil {
		return nil, err
	}
	s := &Scoring{m: m}
	if s.ids, s.sizes = m.encodeSized(text); len(s.ids) < 2 {
		return nil, terms.NewRangeError("text", terms.PhraseOf("got.short"), terms.PhraseOf("want.text.scored"))
	}
	for done := 0; done < len(s.ids); {
		from := max(0, done-m.config.Context/2)
		to := min(from+m.config.Context, len(s.ids))
		s.windows = append(s.windows, window{from, done, to})
		done = to
	}
	return s, nil
}

// Tokens returns the number of tokens in the text, without the start token.
func (s *Scoring) Tokens() int {
	if s.m.config.BOS >= 0 {
		return len(s.ids) - 1
	}
	return len(s.ids)
}

// Windows returns the number of windows that the text is divided into.
func (s *Scoring) Windows() int { return len(s.windows) }

// ScoreAll scores a text with [Scoring.Run].
func (m *Model) ScoreAll(ctx context.Context, text string, each func(ReadToken)) (Surprise, error) {
	s, err := m.NewScoring(text)
	if err != nil {
		return Surprise{}, err
	}
	return s.Run(ctx, each)
}

// Run scores the text. It calls `each`, which may be nil, for every token in order, and returns the
// total surprise. It reads up to one window per processor concurrently.
func (s *Scoring) Run(ctx context.Context, each func(ReadToken)) (sum Surprise, err error) {
	at := len(s.ids) - s.Tokens() // the next token to report
	count := func(list []ReadToken) {
		for _, t := range list {
			if !t.First {
				sum.add(t.LogProb, s.sizes[at])
			}
			at++
			if each != nil {
				each(t)
			}
		}
	}
	workers := s.workers()
	if workers == 1 {
		cache := s.m.NewCache()
		for _, w := range s.windows {
			list, err := s.read(ctx, cache, w)
			if count(list); err != nil {
				return sum, err
			}
		}
		return sum, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	queue := s.readAhead(ctx, workers)
	defer func() {
		cancel()
		for result := range queue { // wait until no worker is running
			<-result
		}
	}()
	for result := range queue {
		r := <-result
		if count(r.list); r.err != nil {
			return sum, r.err
		}
	}
	return sum, ctx.Err()
}

// windowRead is the result of reading a window.
type windowRead struct {
	list []ReadToken
	err  error
}

// readAhead reads the windows with several workers. The returned queue delivers the results in
// order, and is closed after the last result or when ctx ends.
func (s *Scoring) readAhead(ctx context.Context, workers int) <-chan chan windowRead {
	queue := make(chan chan windowRead, workers) // limits how far ahead the workers read
	caches := make(chan *Cache, workers)
	for range workers {
		caches <- s.m.NewCache()
	}
	go func() {
		defer close(queue)
		for _, w := range s.windows {
			if ctx.Err() != nil {
				return
			}
			cache, result := <-caches, make(chan windowRead, 1)
			queue <- result
			go func() {
				list, err := s.read(ctx, cache, w)
				caches <- cache
				result <- windowRead{list, err}
			}()
		}
	}()
	return queue
}

// read reads a window.
func (s *Scoring) read(ctx context.Context, c *Cache, w window) ([]ReadToken, error) {
	ids := s.ids[w.from:w.to]
	if w.from > 0 && s.m.config.BOS >= 0 { // every window begins with the start token
		ids = append([]int{s.ids[0]}, ids[1:]...)
	}
	c.Truncate(0)
	return s.m.scoreFrom(ctx, c, ids, w.done-w.from, 0)
}

// aheadBytes limits the total size of the caches for the windows being read.
const aheadBytes = 256 << 20

// workers returns the number of windows to read concurrently, which is one if a [Runner] runs the
// passes.
func (s *Scoring) workers() int {
	cache := s.m.Shape().KVBytes(s.m.config.Context, 4)
	n := min(runtime.GOMAXPROCS(0), len(s.windows), max(1, int(aheadBytes/max(cache, 1))))
	if s.m.runner != nil {
		return 1
	}
	return n
}
