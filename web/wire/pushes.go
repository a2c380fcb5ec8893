package wire

import (
	"time"

	"github.com/tokenbytoken/viz/web/metrics"
)

// pushBounds are the buckets of [Server.Pushes]. They are chosen around the delay that a person
// notices and the pauses during which messages are merged.
var pushBounds = []time.Duration{
	time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond,
	300 * time.Millisecond, time.Second, 3 * time.Second,
}

// Pushes returns a histogram of how long messages waited: from the time a part sent the oldest
// of several merged messages until the result was written to the connection.
func (s *Server) Pushes() *metrics.Histogram { return s.pushes }
