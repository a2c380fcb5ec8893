package progress

import (
	"context"
	"database/sql"

	"github.com/tokenbytoken/viz/lessons/predict"
)

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
	var c Calibration
	outcomes := make([]predict.Outcome, len(list))
	for i, p := range list {
		outcomes[i] = predict.Outcome{Confidence: p.Confidence, Right: p.Right}
		c.N++
		c.Stated += p.Confidence
		c.Score += p.Score
		if p.Right {
			c.Right++
		}
	}
	c.Stated, c.Score = ratio(c.Stated, c.N), ratio(c.Score, c.N)
	c.Bins = predict.Bins(outcomes)
	return c
}
