package progress

import (
	"context"
	"database/sql"
)

// bins is how many steps of confidence a [Calibration] has.
const bins = 10

// Calibration compares the confidence a learner stated with how often they
// were right, over all their predictions.
func (s *Store) Calibration(ctx context.Context, learner string) (Calibration, error) {
	var list []Prediction
	err := s.look(ctx, learner, func(tx *sql.Tx) error {
		list = nil
		return each(ctx, tx, "SELECT confidence, hit, score FROM predictions WHERE learner = ? ORDER BY at, id", func(scan func(...any) error) error {
			var p Prediction
			err := scan(&p.Confidence, &p.Right, &p.Score)
			list = append(list, p)
			return err
		}, learner)
	})
	if err != nil {
		return Calibration{}, err
	}
	return calibrate(list), nil
}

func calibrate(list []Prediction) Calibration {
	c := Calibration{Bins: make([]Bin, bins)}
	for i := range c.Bins {
		c.Bins[i].From, c.Bins[i].To = float64(i)/bins, float64(i+1)/bins
	}
	for _, p := range list {
		b := &c.Bins[bin(p.Confidence)]
		b.N++
		b.Stated += p.Confidence
		c.N++
		c.Stated += p.Confidence
		c.Score += p.Score
		if p.Right {
			b.Right++
			c.Right++
		}
	}
	for i := range c.Bins {
		b := &c.Bins[i]
		b.Stated, b.HitRate = ratio(b.Stated, b.N), ratio(float64(b.Right), b.N)
	}
	c.Stated, c.Score = ratio(c.Stated, c.N), ratio(c.Score, c.N)
	return c
}

// bin is the step that a confidence falls into: the last one whose start it
// reaches. Compared with the starts themselves, 0.3 belongs to 0.3 although
// 0.3 * 10 may round to less than 3.
func bin(confidence float64) int {
	i := bins - 1
	for i > 0 && confidence < float64(i)/bins {
		i--
	}
	return i
}
