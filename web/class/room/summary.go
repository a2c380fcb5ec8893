package room

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
)

// Summary implements [class.Room].
func (r *local) Summary(ctx context.Context, secret class.Secret) (*class.Summary, error) {
	if !r.fits(secret) {
		return nil, class.ErrSecret
	}
	return r.sumUp(ctx)
}

func (r *local) sumUp(ctx context.Context) (*class.Summary, error) {
	return get(ctx, r, func(c *core) (*class.Summary, error) {
		c.flush()
		return c.summary(), nil
	})
}

func (c *core) summary() *class.Summary {
	s := &class.Summary{
		Title: c.data.Title, Code: c.code, Begun: c.begun, Used: c.used, Members: c.active(),
		Texts: slices.Clone(c.texts), Assigned: c.assigned(),
	}
	if w := c.course().Walk(c.data.Walk); w != nil {
		s.Walk, s.WalkSlug = w.Title, w.Slug
	}
	if t, ok := textOf(c.state); ok && !slices.Contains(s.Texts, t) {
		s.Texts = append(s.Texts, t)
	}
	voters := map[int]bool{}
	var stated []predict.Outcome
	for _, p := range c.polls {
		ps := p.summary(c.votes)
		s.Polls = append(s.Polls, ps)
		for n := 1; n <= p.Round; n++ {
			votes := c.votes[round{p.ID, n}]
			for _, id := range slices.Sorted(maps.Keys(votes)) { // the order affects rounding
				v := votes[id]
				voters[id] = true
				if v.Sure > 0 && p.judged() {
					stated = append(stated, predict.Outcome{Confidence: v.Sure, Right: p.isRight(v.Choice)})
				}
			}
		}
		if last := ps.Rounds[p.Round-1]; p.Kind == class.Next && last.Votes > 0 {
			s.NextAsked++
			s.NextRight += float64(last.Right) / float64(last.Votes)
			for i, o := range p.Options {
				s.NextExpected += o.Q * float64(last.Counts[i]) / float64(last.Votes)
			}
		}
	}
	s.Voters, s.Calibration = len(voters), predict.Bins(stated)
	s.MeanScore, s.Stated = predict.MeanScore(stated)
	if s.NextAsked > 0 {
		s.NextRight /= float64(s.NextAsked)
		s.NextExpected /= float64(s.NextAsked)
	}
	return s
}

// ending returns the brief summary of a class that all members see.
func (c *core) ending() *class.Ending {
	e := &class.Ending{Asked: len(c.polls), Texts: len(c.texts), Replay: c.room.ReplayKey()}
	if t, ok := textOf(c.state); ok && !slices.Contains(c.texts, t) {
		e.Texts++
	}
	for _, round := range c.votes {
		e.Votes += len(round)
	}
	return e
}

// summary returns the summary of a poll.
func (p *poll) summary(votes map[round]map[int]vote) class.PollSummary {
	s := class.PollSummary{Poll: *p.view(votes, class.Revealed), Text: p.PromptText, Asked: p.Asked, Distance: -1}
	for n := 1; n <= p.Round; n++ {
		of := *p
		of.Round = n
		v := of.view(votes, class.Revealed)
		r := class.Round{Votes: v.Votes, Options: v.Options, Median: v.Median}
		for _, o := range v.Options {
			r.Counts = append(r.Counts, o.Count)
		}
		for _, b := range votes[of.at()] {
			if p.isRight(b.Choice) {
				r.Right++
			}
		}
		s.Rounds = append(s.Rounds, r)
	}
	if last := s.Rounds[p.Round-1]; p.aboutToken() && last.Votes > 0 {
		s.Distance = distance(p.Options, last.Counts)
	}
	return s
}

// distance returns the total variation distance between votes and the model over the
// options, with their probabilities normalized to a sum of 1.
func distance(options []class.Option, counts []int) float64 {
	var q, d float64
	votes := 0
	for i, o := range options {
		q += o.Q
		votes += counts[i]
	}
	for i, o := range options {
		model := 0.0
		if q > 0 {
			model = o.Q / q
		}
		d += math.Abs(float64(counts[i])/float64(votes)-model) / 2
	}
	return d
}
