package progress

import "context"

// Calibration compares the confidence that a learner has stated in their predictions with how often
// they were right.
func (s *Store) Calibration(ctx context.Context, learnerID string) (c Calibration, err error) {
	err = s.glance(ctx, learnerID, func(st *state) {
		c = st.Guesses.calibration()
	})
	return c, err
}

func (g *guesses) calibration() Calibration {
	c := Calibration{Right: g.Right, Stated: g.Sums.Stated(), Bins: g.Sums.Bins()}
	for _, b := range c.Bins {
		c.N += b.N
	}
	if c.N > 0 {
		c.Score = float64(g.Score) / scoreUnit / float64(c.N)
	}
	return c
}
