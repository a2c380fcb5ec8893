package polls

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
)

// summary returns the summary of a poll.
func (p *Poll) summary(votes map[Round]map[int]Vote) class.PollSummary {
	s := class.PollSummary{Poll: *p.view(votes, class.Revealed), Text: p.PromptText, Asked: p.Asked, Distance: -1}
	for n := 1; n <= p.Round; n++ {
		of := *p
		of.Round = n
		v := of.view(votes, class.Revealed)
		r := class.Round{Votes: v.Votes, Options: v.Options, Median: v.Median}
		for _, o := range v.Options {
			r.Counts = append(r.Counts, o.Count)
		}
		for _, b := range votes[of.At()] {
			if p.isRight(b.Choice) {
				r.Right++
			}
		}
		s.Rounds = append(s.Rounds, r)
	}
	if last := s.Rounds[p.Round-1]; p.AboutToken() && last.Votes > 0 {
		s.Distance = Distance(p.Options, last.Counts)
	}
	return s
}

// letters returns the members' choices in the first round, in which they have not seen each other's, as
// in [class.Summary]. If the poll is not on a question with choices, the result is "".
func (p *Poll) letters(votes map[int]Vote) string {
	if p.Kind != class.Question || !p.judged() {
		return ""
	}
	var letters []byte
	for _, id := range slices.Sorted(maps.Keys(votes)) {
		if i := p.option(votes[id].Choice); i >= 0 && len(p.Options[i].Key) == 1 {
			letters = append(letters, bytes.Repeat([]byte("-"), id-1-len(letters))...)
			letters = append(letters, p.Options[i].Key[0])
		}
	}
	return string(letters)
}

// Distance returns the total variation distance between votes and the model over the
// options, with their probabilities normalized to a sum of 1.
func Distance(options []class.Option, counts []int) float64 {
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

// SumUp adds the polls of a class and the statistics on their votes to its summary.
func SumUp(s *class.Summary, list []*Poll, all Votes) {
	voters := map[int]bool{}
	var stated []predict.Outcome
	for _, p := range list {
		if letters := p.letters(all[Round{p.ID, 1}]); letters != "" {
			if s.Letters == nil {
				s.Letters = map[int]string{}
			}
			s.Letters[p.ID-1] = letters
		}
		ps := p.summary(all)
		s.Polls = append(s.Polls, ps)
		for n := 1; n <= p.Round; n++ {
			votes := all[Round{p.ID, n}]
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
}
